"""Raw text: sentences, words, spacing, lemmas and phrases."""
