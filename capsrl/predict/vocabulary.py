"""Immutable vocabularies, which map strings to ids and back.

By default id 0 is padding and id 1 represents every string that is not in the vocabulary.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from capsrl.errors import ModelError

PADDING = ""  # no word, tag or role of a corpus is empty
UNKNOWN = "<unk>"
PADDING_ID = 0
UNKNOWN_ID = 1
WORD_START, WORD_END = "<w>", "</w>"  # longer than one character, so they cannot clash with one


class Vocab:
    """Distinct strings, whose positions are their ids.

    A vocabulary that contains UNKNOWN returns its id for all other strings; one that does not, such
    as that of the roles, raises KeyError.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._entries = tuple(entries)
        self._ids = dict(zip(self._entries, range(len(self._entries)), strict=True))
        if len(self._ids) < len(self._entries):
            twice = next(e for number, e in enumerate(self._entries) if self._ids[e] != number)
            raise ValueError(f"expected distinct entries, got {twice!r} twice")
        self._unknown_id = self._ids.get(UNKNOWN)

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        *,
        min_count: int = 1,
        first: Sequence[str] = (PADDING, UNKNOWN),
    ) -> "Vocab":
        """`first`, then the strings counted at least `min_count` times, most frequent first.

        Equally frequent strings are in alphabetical order, so the ids do not depend on the order
        in which the counts were made.
        """
        reserved = set(first)
        frequent = (e for e, count in counts.items() if count >= min_count and e not in reserved)
        return cls([*first, *sorted(frequent, key=lambda entry: (-counts[entry], entry))])

    @classmethod
    def from_list(cls, entries: object, *, source: str = "vocab.json") -> "Vocab":
        """The inverse of `to_list`, for data from JSON; raises ModelError naming `source`."""
        if not isinstance(entries, list):
            raise ModelError(f"{source}: expected a list of strings, got {type(entries).__name__}")
        if not set(map(type, entries)) <= {str}:
            number, entry = next(pair for pair in enumerate(entries) if type(pair[1]) is not str)
            raise ModelError(f"{source}: expected a string as entry {number}, got {entry!r}")
        try:
            return cls(entries)
        except ValueError as error:
            raise ModelError(f"{source}: {error}; the file is damaged") from None

    def to_list(self) -> list[str]:
        """The entries in the order of their ids, for JSON."""
        return list(self._entries)

    def id(self, entry: str) -> int:
        """The id of a string, or of UNKNOWN; raises KeyError if the vocabulary has neither."""
        found = self._ids.get(entry, self._unknown_id)
        if found is None:
            raise KeyError(entry)
        return found

    def ids(self, entries: Iterable[str]) -> list[int]:
        """The id of each string."""
        return [self.id(entry) for entry in entries]

    def __getitem__(self, id: int) -> str:
        if not 0 <= id < len(self._entries):  # a negative id is a bug, not an index from the end
            raise IndexError(f"expected an id from 0 to {len(self._entries) - 1}, got {id}")
        return self._entries[id]

    def __contains__(self, entry: object) -> bool:
        return entry in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocab) and self._entries == other._entries

    def __hash__(self) -> int:
        return hash(self._entries)

    def __repr__(self) -> str:
        return f"Vocab({len(self)} entries)"


def character_vocab(word_counts: Mapping[str, int], *, min_count: int = 1) -> Vocab:
    """The characters of words, weighted by the counts of the words, and WORD_START and WORD_END."""
    counts: dict[str, int] = {}
    for word, count in word_counts.items():
        for character in word:
            counts[character] = counts.get(character, 0) + count
    first = (PADDING, UNKNOWN, WORD_START, WORD_END)
    return Vocab.from_counts(counts, min_count=min_count, first=first)
