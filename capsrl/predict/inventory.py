"""The inventory of a model, all that it refers to by ids: roles, senses, words, characters, tags.

Senses are listed by the lemma of the predicate, because annotations relate the two in different
ways: `sign.01` for *sign* (PropBank), *podepsat* itself (Czech, Japanese), or an English roleset
for a German verb (Universal PropBank). For a lemma that training did not have, the inventory has
patterns counted in the corpus: `{}.01`, `{}`, or a sense that many lemmas share.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from capsrl.errors import DataError, ModelError
from capsrl.frames.index import NO_FRAMES, FrameIndex, FrameRole, Roleset
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmatizer

PADDING = ""  # no word, tag or role of a corpus is empty
UNKNOWN = "<unk>"
PADDING_ID = 0
UNKNOWN_ID = 1
WORD_START, WORD_END = "<w>", "</w>"  # longer than one character, so they cannot clash with one
NO_ROLE = "_"
NO_ROLE_ID = 0
# Of `Inventory.is_foreign`: the fewest words of a text and of a vocabulary that tell, and how many
# words of a corpus are frequent.
MIN_FOREIGN, MIN_VOCABULARY, N_FREQUENT = 6, 5000, 150
MAX_PATTERNS = 64  # only patterns of many lemmas are useful for unseen ones


class Vocab:
    """Distinct strings, whose positions are their ids; by default id 0 is padding, 1 UNKNOWN.

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
        frequent = {e: n for e, n in counts.items() if n >= min_count and e not in first}
        return cls([*first, *_by_frequency(frequent)])

    @classmethod
    def from_list(cls, entries: object, *, source: str = "vocab.json") -> "Vocab":
        """The vocabulary of a list from JSON; raises ModelError naming `source`."""
        if not isinstance(entries, list):
            raise ModelError(f"{source}: expected a list of strings, got {type(entries).__name__}")
        if not set(map(type, entries)) <= {str}:
            number, entry = next(pair for pair in enumerate(entries) if type(pair[1]) is not str)
            raise ModelError(f"{source}: expected a string as entry {number}, got {entry!r}")
        try:
            return cls(entries)
        except ValueError as error:
            raise ModelError(f"{source}: {error}; the file is damaged") from None

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


@dataclass(frozen=True)
class Inventory:
    """All strings that the network refers to by id.

    roles         NO_ROLE first
    senses        all senses, by decreasing frequency
    sense_counts  frequency of each sense in training; 0 for those only in frame files
    candidates    lemma -> ids of its senses, most frequent first
    patterns      senses with `{}` in place of the lemma
    words, characters, tags  the vocabularies of learned embeddings and of the tagger
    lemmatizer    for sentences without lemmas; English only
    language      code of the language, by whose rules raw text is split; of older models empty
    frames        PropBank's rolesets, in a file of their own; not compared
    """

    roles: Vocab
    senses: tuple[str, ...]
    sense_counts: tuple[int, ...]
    candidates: Mapping[str, tuple[int, ...]]
    patterns: Vocab
    words: Vocab
    characters: Vocab
    tags: Vocab
    lemmatizer: Lemmatizer | None = None
    language: str = ""
    frames: FrameIndex = field(default=NO_FRAMES, compare=False)

    @property
    def has_propbank(self) -> bool:
        """Whether senses and roles are those of English PropBank, with its frames."""
        return self.lemmatizer is not None and len(self.frames) > 0

    def role_id(self, role: str) -> int:
        """The id of a role; NO_ROLE for one that training did not have."""
        return self.roles.id(role) if role in self.roles else NO_ROLE_ID

    def fill_lemmas(self, sentence: Sentence) -> Sentence:
        """The sentence with lemmas, if it has none and there is a lemmatizer."""
        return sentence if self.lemmatizer is None else self.lemmatizer.fill(sentence)

    def is_foreign(self, words: Sequence[str]) -> bool:
        """Whether words are plainly of another language than those of the training corpus.

        Hardly one of them is frequent in the corpus, and many are not in it at all. Always false
        for a handful of words, and for corpora that are too small to tell.
        """
        letters = [word.lower() for word in words if word.isalpha()]
        if len(letters) < MIN_FOREIGN or len(self.words) < MIN_VOCABULARY:
            return False
        frequent = set(islice((word for word in self.words if word.isalpha()), N_FREQUENT))
        n_frequent = sum(word in frequent for word in letters)
        n_known = sum(word in self.words for word in letters)
        return n_frequent <= len(letters) / 8 and n_known <= 0.7 * len(letters)

    def candidates_of(self, lemma: str) -> tuple[int, ...]:
        """Ids of the senses of a lemma, most frequent first; empty for an unseen lemma."""
        return self.candidates.get(lemma, ())

    def pattern_id(self, sense: str, lemma: str) -> int | None:
        """The id of the pattern of this sense of this lemma, None if it is not in the inventory."""
        pattern = pattern_of(sense, lemma)
        return self.patterns.id(pattern) if pattern in self.patterns else None

    def to_dict(self) -> dict[str, Any]:
        """The inventory without its frames as plain data for JSON."""
        vocabs = {name: list(getattr(self, name)) for name in _VOCAB_KEYS}
        return {
            **vocabs,
            "senses": list(self.senses),
            "sense_counts": list(self.sense_counts),
            "candidates": {lemma: list(ids) for lemma, ids in self.candidates.items()},
            _LEMMATIZER: None if self.lemmatizer is None else self.lemmatizer.to_dict(),
            "language": self.language,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, source: str = "vocab.json") -> "Inventory":
        """The inverse of `to_dict`; raises ModelError naming `source` and the bad entry."""
        names = (*_VOCAB_KEYS, "senses", "sense_counts", "candidates", _LEMMATIZER)
        missing = [name for name in names if name not in data]
        if missing:
            raise ModelError(f"{source}: no entry {', '.join(missing)}")
        vocabs = {
            name: Vocab.from_list(data[name], source=f"{source}: {name}") for name in _VOCAB_KEYS
        }
        for name in ("words", "characters", "tags"):
            if len(vocabs[name]) and UNKNOWN not in vocabs[name]:
                raise ModelError(f"{source}: {name}: expected an entry {UNKNOWN}")
        _check_senses(data, source)
        return cls(
            **vocabs,
            senses=tuple(data["senses"]),
            sense_counts=tuple(data["sense_counts"]),
            candidates={lemma: tuple(ids) for lemma, ids in data["candidates"].items()},
            lemmatizer=None
            if data[_LEMMATIZER] is None
            else Lemmatizer.from_dict(data[_LEMMATIZER], source=source),
            language=str(data.get("language", "")),
            frames=_frames_of(data.get("descriptions") or {}),
        )


_VOCAB_KEYS = ("roles", "patterns", "words", "characters", "tags")
_LEMMATIZER = "lemmatiser"  # the key in vocab.json, spelled as in the models that exist


def _check_senses(data: Mapping[str, Any], source: str) -> None:
    n_senses = len(Vocab.from_list(data["senses"], source=f"{source}: senses"))
    n_counts = len(data["sense_counts"]) if isinstance(data["sense_counts"], list) else 0
    if n_counts != n_senses:
        raise ModelError(f"{source}: expected {n_senses} sense_counts, got {n_counts}")
    for name in ("candidates", "descriptions"):
        if not isinstance(data.get(name, {}), dict):
            found = type(data[name]).__name__
            raise ModelError(f"{source}: expected {name} to be a JSON object, got {found}")
    if not _are_ids(data["candidates"].values(), n_senses):
        lemma, ids = next(
            pair for pair in data["candidates"].items() if not _are_ids(pair[1:], n_senses)
        )
        raise ModelError(
            f"{source}: expected candidates of {lemma!r} from 0 to {n_senses - 1}, got {ids}"
        )


def _are_ids(lists: Collection[Any], count: int) -> bool:
    """Whether all are lists of integers from 0 to `count` - 1; many are checked at a time."""
    if not set(map(type, lists)) <= {list}:
        return False
    ids = list(chain.from_iterable(lists))
    return set(map(type, ids)) <= {int} and (not ids or (0 <= min(ids) and max(ids) < count))


def _frames_of(descriptions: Mapping[str, Mapping[str, str]]) -> FrameIndex:
    """The index of a model of format 1 that was trained with frame files: sense -> role -> text."""
    rolesets = (
        Roleset(
            sense, roles=tuple(FrameRole(name, description=text) for name, text in roles.items())
        )
        for sense, roles in descriptions.items()
    )
    return FrameIndex.from_rolesets(rolesets)


def build_inventory(
    sentences: Iterable[Sentence],
    *,
    partial: Iterable[Sentence] = (),
    frames: FrameIndex = NO_FRAMES,
    source: str = "training corpus",
) -> Inventory:
    """Collect the inventory of training sentences.

    partial  partially annotated sentences: their words, lemmas and senses are added, but not their
             roles and tags
    frames   rolesets, whose senses become candidates too
    source   the name of the sentences in messages
    Raises DataError if no predicate has a sense.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("role", "word", "tag", "sense")}
    senses_of_lemma: dict[str, Counter[str]] = {}
    for sentence in sentences:
        counts["word"].update(sentence.words)
        counts["tag"].update(sentence.tags or ())
        for proposition in sentence.propositions:
            counts["role"].update(argument.role for argument in proposition.arguments)
        _count_senses(sentence, counts["sense"], senses_of_lemma)
    if not counts["sense"]:
        raise DataError(
            f"{source}: no predicate has a sense; a file without senses cannot be used for training"
        )
    for sentence in partial:
        counts["word"].update(sentence.words)
        _count_senses(sentence, counts["sense"], senses_of_lemma)
    patterns = _count_patterns(senses_of_lemma)
    for lemma, more in frames.senses_by_lemma().items():
        for sense in more:
            counts["sense"][sense] += 0
            senses_of_lemma.setdefault(lemma, Counter())[sense] += 0
    senses = _by_frequency(counts["sense"])
    number = {sense: i for i, sense in enumerate(senses)}
    candidates = {
        lemma: tuple(number[sense] for sense in _by_frequency(senses_of_lemma[lemma]))
        for lemma in sorted(senses_of_lemma)
    }
    return Inventory(
        roles=Vocab.from_counts(counts["role"], first=(NO_ROLE,)),
        senses=tuple(senses),
        sense_counts=tuple(counts["sense"][sense] for sense in senses),
        candidates=candidates,
        patterns=Vocab(patterns),
        words=Vocab.from_counts(counts["word"], min_count=2),
        characters=character_vocab(counts["word"], min_count=2),
        tags=Vocab.from_counts(counts["tag"]),
        frames=frames,
    )


def _count_senses(
    sentence: Sentence, senses: Counter[str], senses_of_lemma: dict[str, Counter[str]]
) -> None:
    for proposition in sentence.propositions:
        if proposition.sense is not None:
            lemma = lemma_of(sentence, proposition.predicate)
            senses[proposition.sense] += 1
            senses_of_lemma.setdefault(lemma, Counter())[proposition.sense] += 1


def lemma_of(sentence: Sentence, position: int) -> str:
    """The lemma of a word, or its form if the sentence has no lemmas, in lower case."""
    lemmas = sentence.lemmas or sentence.words
    return lemmas[position].lower()


def pattern_of(sense: str, lemma: str) -> str:
    """The pattern of a sense: `{}.01` for sign.01 of *sign*, but be.01 itself for *sein*."""
    if lemma and sense[: len(lemma)].lower() == lemma:
        return "{}" + sense[len(lemma) :].replace("{", "").replace("}", "")
    return sense


def sense_from(pattern: str, lemma: str) -> str:
    """The sense of a lemma by a pattern, the inverse of `pattern_of`."""
    return lemma + pattern[2:] if pattern.startswith("{}") else pattern


def _count_patterns(senses_of_lemma: Mapping[str, Counter[str]]) -> Sequence[str]:
    """The patterns that most lemmas share.

    Lemmas are counted, not predicates: an unseen lemma is a rare one, for which the frequent senses
    of *be* and *have* are not evidence.
    """
    shared: Counter[str] = Counter()
    for lemma, senses in senses_of_lemma.items():
        shared.update({pattern_of(sense, lemma) for sense in senses})
    return _by_frequency(shared)[:MAX_PATTERNS]


def _by_frequency(counts: Mapping[str, int]) -> list[str]:
    """Strings by decreasing count, then in alphabetical order."""
    return sorted(counts, key=lambda entry: (-counts[entry], entry))


def character_vocab(word_counts: Mapping[str, int], *, min_count: int = 1) -> Vocab:
    """The characters of words, weighted by the counts of the words, and WORD_START and WORD_END."""
    counts: dict[str, int] = {}
    for word, count in word_counts.items():
        for character in word:
            counts[character] = counts.get(character, 0) + count
    first = (PADDING, UNKNOWN, WORD_START, WORD_END)
    return Vocab.from_counts(counts, min_count=min_count, first=first)
