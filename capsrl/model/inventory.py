"""Training sentences in, what the model may answer with out: roles, senses, words.

Senses are kept per lemma of the predicate word, because each annotation has its own way from one to
the other: `sign.01` on *sign* (PropBank), *podepsat* itself (Czech, Japanese), or an English
roleset on a German verb (Universal PropBank). For a lemma never seen the inventory has patterns
learned from the corpus: `{}.01`, `{}`, or whatever sense many lemmas share.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from capsrl.data.frames import Frames
from capsrl.errors import DataError, ModelError
from capsrl.model.vocabulary import Vocab, character_vocab
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmas

NO_ROLE = "_"
NO_ROLE_ID = 0
MAX_PATTERNS = 64  # a pattern must make senses of many lemmas to be of use for new ones


@dataclass(frozen=True)
class Inventory:
    """Everything string-like that the network knows by number.

    roles         NO_ROLE first
    senses        every sense, by falling frequency
    sense_counts  how often each was seen in training; 0 for those only frame files have
    candidates    lemma -> ids of its senses, most frequent first
    lemmas        those of the training predicates, for predicates that are looked up
    patterns      how a lemma becomes a sense, `{}` standing for the lemma
    words, characters, tags  what else embeddings and the tagger know
    descriptions  sense -> role -> what the role means, from frame files
    lemmatiser    for sentences that come without lemmas; English only
    """

    roles: Vocab
    senses: tuple[str, ...]
    sense_counts: tuple[int, ...]
    candidates: Mapping[str, tuple[int, ...]]
    lemmas: Vocab
    patterns: Vocab
    words: Vocab
    characters: Vocab
    tags: Vocab
    descriptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lemmatiser: Lemmas | None = None

    def role_id(self, role: str) -> int:
        """The id of a role; one never seen in training counts as none."""
        return self.roles.id(role) if role in self.roles else NO_ROLE_ID

    def candidates_of(self, lemma: str) -> tuple[int, ...]:
        """Ids of the senses of a lemma, most frequent first; empty if it was never seen."""
        return self.candidates.get(lemma, ())

    def pattern_id(self, sense: str, lemma: str) -> int | None:
        """The pattern that makes this sense from this lemma, None if it is not a kept one."""
        pattern = pattern_of(sense, lemma)
        return self.patterns.id(pattern) if pattern in self.patterns else None

    def to_dict(self) -> dict[str, Any]:
        """The inventory as JSON holds it."""
        vocabs = {name: getattr(self, name).to_list() for name in _VOCABS}
        return {
            **vocabs,
            "senses": list(self.senses),
            "sense_counts": list(self.sense_counts),
            "candidates": {lemma: list(ids) for lemma, ids in self.candidates.items()},
            "descriptions": {sense: dict(roles) for sense, roles in self.descriptions.items()},
            "lemmatiser": None if self.lemmatiser is None else self.lemmatiser.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, source: str = "vocab.json") -> "Inventory":
        """What `to_dict` gave; raises ModelError naming `source` and what is missing."""
        names = (*_VOCABS, "senses", "sense_counts", "candidates", "descriptions", "lemmatiser")
        missing = [name for name in names if name not in data]
        if missing:
            raise ModelError(f"{source}: expected {', '.join(missing)}, got no such entry")
        vocabs = {name: Vocab.from_list(data[name], source=f"{source}: {name}") for name in _VOCABS}
        _check_senses(data, source)
        return cls(
            **vocabs,
            senses=tuple(data["senses"]),
            sense_counts=tuple(data["sense_counts"]),
            candidates={lemma: tuple(ids) for lemma, ids in data["candidates"].items()},
            descriptions=data["descriptions"],
            lemmatiser=None
            if data["lemmatiser"] is None
            else Lemmas.from_dict(data["lemmatiser"], source=source),
        )


_VOCABS = ("roles", "lemmas", "patterns", "words", "characters", "tags")


def _check_senses(data: Mapping[str, Any], source: str) -> None:
    n_senses = len(Vocab.from_list(data["senses"], source=f"{source}: senses"))
    n_counts = len(data["sense_counts"]) if isinstance(data["sense_counts"], list) else 0
    if n_counts != n_senses:
        raise ModelError(f"{source}: expected {n_senses} sense_counts, got {n_counts}")
    for name in ("candidates", "descriptions"):
        if not isinstance(data[name], dict):
            found = type(data[name]).__name__
            raise ModelError(f"{source}: expected {name} to be a JSON object, got {found}")
    for lemma, ids in data["candidates"].items():
        if not isinstance(ids, list) or not all(type(i) is int and 0 <= i < n_senses for i in ids):
            raise ModelError(
                f"{source}: expected candidates of {lemma!r} from 0 to {n_senses - 1}, got {ids}"
            )


def build_inventory(
    sentences: Iterable[Sentence], *, frames: Frames | None = None, source: str = "training corpus"
) -> Inventory:
    """Count what training sentences hold.

    frames  their senses become candidates of their lemmas too, their descriptions are kept
    source  what messages call the sentences
    Raises DataError if there is nothing to learn from.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("role", "word", "tag", "sense")}
    of_lemma: dict[str, Counter[str]] = {}
    for sentence in sentences:
        counts["word"].update(sentence.words)
        counts["tag"].update(sentence.tags or ())
        for proposition in sentence.propositions:
            counts["role"].update(argument.role for argument in proposition.arguments)
            if proposition.sense is not None:
                lemma = lemma_of(sentence, proposition.predicate)
                counts["sense"][proposition.sense] += 1
                of_lemma.setdefault(lemma, Counter())[proposition.sense] += 1
    if not counts["sense"]:
        raise DataError(
            f"{source}: expected predicates with senses, got none; one cannot train on a blind file"
        )
    patterns = _count_patterns(of_lemma)
    lemmas = Vocab.from_counts(dict.fromkeys(of_lemma, 1))
    for lemma, more in (frames.senses if frames else {}).items():
        for sense in more:
            counts["sense"][sense] += 0
            of_lemma.setdefault(lemma, Counter())[sense] += 0
    senses = _by_frequency(counts["sense"])
    number = {sense: i for i, sense in enumerate(senses)}
    candidates = {
        lemma: tuple(number[sense] for sense in _by_frequency(of_lemma[lemma]))
        for lemma in sorted(of_lemma)
    }
    return Inventory(
        roles=Vocab.from_counts(counts["role"], first=(NO_ROLE,)),
        senses=tuple(senses),
        sense_counts=tuple(counts["sense"][sense] for sense in senses),
        candidates=candidates,
        lemmas=lemmas,
        patterns=Vocab(patterns),
        words=Vocab.from_counts(counts["word"], min_count=2),
        characters=character_vocab(counts["word"], min_count=2),
        tags=Vocab.from_counts(counts["tag"]),
        descriptions=frames.descriptions if frames else {},
    )


def lemma_of(sentence: Sentence, position: int) -> str:
    """The key under which a predicate's senses are kept: its lemma, or its form, in lower case."""
    lemmas = sentence.lemmas or sentence.words
    return lemmas[position].lower()


def pattern_of(sense: str, lemma: str) -> str:
    """How this sense comes from this lemma: `{}.01` for sign.01 of sign; be.01 itself of *sein*."""
    if lemma and sense[: len(lemma)].lower() == lemma:
        return "{}" + sense[len(lemma) :].replace("{", "").replace("}", "")
    return sense


def sense_from(pattern: str, lemma: str) -> str:
    """The sense that a pattern makes for a lemma."""
    return lemma + pattern[2:] if pattern.startswith("{}") else pattern


def _count_patterns(of_lemma: Mapping[str, Counter[str]]) -> Sequence[str]:
    """The patterns that most lemmas share; lemmas are counted, not their uses.

    A new lemma is a rare one, and says little about be and have.
    """
    shared: Counter[str] = Counter()
    for lemma, senses in of_lemma.items():
        shared.update({pattern_of(sense, lemma) for sense in senses})
    return _by_frequency(shared)[:MAX_PATTERNS]


def _by_frequency(counts: Mapping[str, int]) -> list[str]:
    """Strings by falling count, equal ones by the alphabet."""
    return sorted(counts, key=lambda entry: (-counts[entry], entry))
