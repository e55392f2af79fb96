"""Find sentences that overlap the held-out ones.

Frame files quote texts that are in dev and test files.
"""

from collections.abc import Iterable, Iterator, Sequence

from capsrl.sentence import Sentence

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


def _sequences(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every sequence of N_WORDS words, or all words of a shorter sentence."""
    letters = ("".join(filter(str.isalnum, word)).lower() for word in words)
    kept = tuple(filter(None, letters))
    if kept:
        for first in range(max(1, len(kept) - N_WORDS + 1)):
            yield kept[first : first + N_WORDS]
