"""Process raw text: sentences, words, spacing, lemmas and phrases."""
