"""Find sentences that overlap the held-out ones.

Frame files quote texts that are in dev and test files.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmatizer

N_WORDS = 8  # in a row; shorter sequences often coincide by chance


class HeldOut:
    """The word sequences of held-out sentences.

    Words are compared by their letters and digits, in lower case.
    """

    def __init__(self, sentences: Iterable[Sentence] = ()) -> None:
        self._sequences = {
            sequence for sentence in sentences for sequence in _sequences(sentence.words)
        }

    def overlaps(self, words: Sequence[str]) -> bool:
        """Test if a held-out sentence has the same words, or N_WORDS of them in a row."""
        return not self._sequences.isdisjoint(_sequences(words))


class HeldOutPairs:
    """The pairs of words in held-out sentences, compared by their lemmas."""

    def __init__(self, sentences: Iterable[Sentence] = ()) -> None:
        self._sentences = defaultdict[str, set[int]](set)  # lemma -> numbers of sentences
        lemmatizer = Lemmatizer()
        for number, sentence in enumerate(sentences):
            for word in sentence.words:
                self._sentences[word.lower()].add(number)
                for tag in ("NNS", "VBD"):  # whether it is a noun or a verb is not known
                    self._sentences[lemmatizer.find(word, tag)].add(number)

    def overlap(self, sentence: Sentence) -> bool:
        """Test if a held-out sentence has a predicate of this one and the head of an argument.

        Pronouns, modals and other function words do not count.
        """
        lemmas, tags = sentence.lemmas or (), sentence.tags or ()
        return any(
            tags[argument.word].startswith(("N", "V", "J"))
            and self._of(lemmas[proposition.predicate]) & self._of(lemmas[argument.word])
            for proposition in sentence.propositions
            for argument in proposition.arguments
        )

    def _of(self, lemma: str) -> set[int]:
        return self._sentences.get(lemma.lower(), set())


def _sequences(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every sequence of N_WORDS words, or all words of a shorter sentence."""
    letters = ("".join(filter(str.isalnum, word)).lower() for word in words)
    kept = tuple(filter(None, letters))
    if kept:
        for first in range(max(1, len(kept) - N_WORDS + 1)):
            yield kept[first : first + N_WORDS]
