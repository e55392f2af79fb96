"""Find the senses that a predicate can have in its sentence, and score those without training.

The candidates are the senses that the lemma had in training and the rolesets that PropBank's frames
list for it, also by an alias: *resignation* has resign.01. The frames are English, so models of
other languages have the senses of training alone. A sense that needs other words, such as a
particle, is a candidate only where they are (`capsrl.frames.english`). Where the frames know the
part of speech of the predicate, senses of others are left out: *the contest* cannot have a sense
that only the verb has.

The network scores the candidates that training had. The others are scored here, by what is known
of them: their number (as a pattern), their roles, and the tag and distance of their particle.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from capsrl.frames.english import (
    Context,
    aliases_of,
    can_follow,
    context_of,
    nearest_lemma,
    particle_odds,
    previous_word,
    senses_by_pos,
    spellings_of,
)
from capsrl.frames.index import FrameIndex, unnumbered
from capsrl.predict import Floats
from capsrl.predict.inventory import Inventory, sense_from
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import predicate_pos

# Log-odds of all other senses that training did not have: so low that they are chosen only where no
# sense of training is possible. 1.1 % of EWT dev have such senses, but more of them are then lost.
UNTRAINED_ODDS = -30.0
FIRST_SENSE = "{}.01"
_MAX_ENTRIES = 1 << 16  # lemmas, as one part of speech, whose senses are kept


@dataclass(frozen=True, slots=True)
class Untrained:
    """A sense that training did not have.

    pattern  its pattern, None if the inventory does not have it
    odds     log-odds that the predicate has this sense or another with the same odds: those of the
             particle that follows, if training had no sense with it
    """

    sense: str
    pattern: int | None
    odds: float = UNTRAINED_ODDS


@dataclass(frozen=True, slots=True)
class Candidates:
    """The senses that a predicate can have.

    ids        those that training had, which the network scores
    untrained  the others
    lemma      of the predicate
    guessed    neither training nor frames have the lemma: the candidates, if any, are those of a
               lemma that is spelled like it
    """

    ids: tuple[int, ...]
    untrained: tuple[Untrained, ...]
    lemma: str
    guessed: bool


@dataclass(frozen=True, slots=True)
class _Sense:
    """A sense of a lemma.

    id       in the inventory, None if training did not have it
    context  the words that it needs
    """

    name: str
    id: int | None
    pattern: int | None
    context: Context


@dataclass(frozen=True, slots=True)
class _Entry:
    """The senses of a lemma as one part of speech.

    is_known  training or frames have the lemma
    before    the words that some senses need before the predicate
    after     the first words that some senses need behind it
    usual     the candidates where none of these words is there
    """

    senses: tuple[_Sense, ...]
    is_known: bool
    before: frozenset[str]
    after: frozenset[str]
    usual: Candidates


class CandidateFinder:
    """Finds the candidates of predicates; what is found is kept by lemma and part of speech.

    The frames are those of the model: others, which explain its answers, must not change them.
    """

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.frames = inventory.frames
        self._is_english = inventory.lemmatizer is not None
        self._ids = {sense: number for number, sense in enumerate(inventory.senses)}
        self._entry_of = lru_cache(_MAX_ENTRIES)(self._make_entry)

    def find(self, sentence: Sentence, position: int, lemma: str) -> Candidates:
        """The candidates of a predicate, whose lemma is in lower case."""
        tag = sentence.tags[position] if sentence.tags else None
        entry = self._entry_of(lemma, predicate_pos(tag))
        if can_follow(entry.after, sentence, position) or (
            entry.before and previous_word(sentence, position) in entry.before
        ):
            distances = [sense.context.distance(sentence, position) for sense in entry.senses]
            return _choose(entry.senses, distances, lemma, entry.is_known, sentence, position)
        return entry.usual

    def is_predicate(self, sentence: Sentence, position: int, candidates: Candidates) -> bool:
        """Whether a word that the network takes for a predicate can be one.

        The frames have the nouns and adjectives that are predicates in PropBank: of 23 others that
        were found in en_ewt dev, one was a predicate. A verb that they do not have may be new, but
        `=` and `<pause>`, taken for verbs, are not words.
        """
        if not candidates.guessed or not self.inventory.has_propbank or not sentence.tags:
            return True
        is_word = candidates.lemma.replace("-", "").replace("'", "").isalpha()
        return is_word and predicate_pos(sentence.tags[position]) == "verb"

    def _make_entry(self, lemma: str, pos: str) -> _Entry:
        senses, is_known = self._find_senses(lemma, pos)
        needed = [sense.context for sense in senses]
        usual = [None if each.before or each.after else 0 for each in needed]
        return _Entry(
            senses,
            is_known,
            before=frozenset(each.before for each in needed if each.before),
            after=frozenset(each.after[0] for each in needed if each.after),
            usual=_choose(senses, usual, lemma, is_known),
        )

    def _find_senses(self, lemma: str, pos: str) -> tuple[tuple[_Sense, ...], bool]:
        """The senses of a lemma, and whether it is known.

        A lemma without senses has those of another spelling of it or of the verb it is a form of.
        If there is none, it is not known, and has the senses of a lemma that is spelled like it.
        """
        if not self._is_english:
            trained = tuple(self._sense(sense, Context()) for sense in self._trained(lemma))
            return trained, bool(trained)
        found = next(filter(self._is_known, spellings_of(lemma)), None)
        name = nearest_lemma(lemma, self._by_letter.get(lemma[:1], ())) if found is None else found
        if name is None:
            return (), False
        senses = senses_by_pos(name, pos, self._trained(name), self.frames)
        return tuple(
            self._sense(sense, context_of(sense, name, self.frames, is_listed=is_listed))
            for sense, is_listed in senses.items()
        ), found is not None

    def _trained(self, lemma: str) -> list[str]:
        return [self.inventory.senses[i] for i in self.inventory.candidates_of(lemma)]

    @cached_property
    def _by_letter(self) -> Mapping[str, Sequence[str]]:
        """The known lemmas by their first letters; none without frames."""
        groups: dict[str, list[str]] = {}
        if self.inventory.has_propbank:
            known = {*self.inventory.candidates, *self.frames.senses_by_lemma()}
            for lemma in sorted(filter(str.isalpha, known)):
                groups.setdefault(lemma[0], []).append(lemma)
        return groups

    def _is_known(self, lemma: str) -> bool:
        return bool(self.inventory.candidates_of(lemma) or aliases_of(lemma, self.frames))

    def _sense(self, name: str, context: Context) -> _Sense:
        pattern = self.inventory.pattern_id(name, unnumbered(name).partition("_")[0])
        return _Sense(name, self._ids.get(name), pattern, context)


def _choose(
    senses: Sequence[_Sense],
    distances: Sequence[int | None],
    lemma: str,
    is_known: bool,
    sentence: Sentence | None = None,
    position: int = 0,
) -> Candidates:
    """The senses whose words are there, with their odds; all, if there is none.

    distances  see `Context.distance`
    """
    fitting = [pair for pair in zip(senses, distances, strict=True) if pair[1] is not None]
    if not fitting:  # every sense needs a particle, which may be misspelled
        fitting = [(sense, None) for sense in senses]
    trained = {sense.context.after for sense, _ in fitting if sense.id is not None}
    return Candidates(
        ids=tuple(sense.id for sense, _ in fitting if sense.id is not None),
        untrained=tuple(
            Untrained(
                sense.name,
                sense.pattern,
                particle_odds(sentence, position, distance)
                if sentence and distance and sense.context.after not in trained
                else UNTRAINED_ODDS,
            )
            for sense, distance in fitting
            if sense.id is None
        ),
        lemma=lemma,
        guessed=not is_known,
    )


def choose_sense(
    candidates: Candidates,
    logits: Floats,
    patterns: Floats,
    roles: Set[str],
    inventory: Inventory,
) -> tuple[str, float]:
    """The most probable candidate and its probability; a guess, if there are no candidates.

    logits    C  of the trained candidates, then padding
    patterns  K
    roles     the numbered roles of the predicate
    """
    if not candidates.ids and not candidates.untrained:
        return guess_sense(candidates.lemma, patterns, inventory)
    logits = logits[: len(candidates.ids)]
    more, logits = score_senses(candidates, logits, patterns, roles, inventory.frames)
    best = int(logits.argmax())
    senses = (*(inventory.senses[id] for id in candidates.ids), *more)
    return senses[best], probability_of(best, logits)


def score_senses(
    candidates: Candidates, logits: Floats, patterns: Floats, roles: Set[str], frames: FrameIndex
) -> tuple[tuple[str, ...], Floats]:
    """Score the candidates without training together with those the network has scored.

    logits    of the trained candidates
    patterns  K  logits of the patterns
    roles     the numbered roles that the predicate has: A0, A1
    ->        the untrained candidates, and logits of all candidates, the trained ones first
    """
    groups: dict[float, list[Untrained]] = {}  # senses with the same odds share them
    for sense in sorted(candidates.untrained, key=lambda sense: sense.odds != UNTRAINED_ODDS):
        groups.setdefault(sense.odds, []).append(sense)
    for odds, group in groups.items():
        logits = _append(logits, _score_untrained(group, patterns, roles, frames), odds)
    return tuple(sense.sense for group in groups.values() for sense in group), logits


def guess_sense(lemma: str, patterns: Floats, inventory: Inventory) -> tuple[str, float]:
    """The sense of a lemma that nothing is known of, and the probability of its pattern.

    An English lemma gets its first sense, since rare words have one; other languages have other
    patterns.
    """
    is_first = inventory.lemmatizer is not None and FIRST_SENSE in inventory.patterns
    best = inventory.patterns.id(FIRST_SENSE) if is_first else int(patterns.argmax())
    return sense_from(inventory.patterns[best], lemma), probability_of(best, patterns)


def probability_of(best: int, logits: Floats) -> float:
    """The probability of one class, in double precision: most are very near to 1."""
    powers = np.exp(logits.astype(np.float64) - logits.max())
    return 1.0 - float(np.delete(powers, best).sum() / powers.sum())


def _score_untrained(
    senses: Sequence[Untrained], patterns: Floats, roles: Set[str], frames: FrameIndex
) -> Floats:
    """Score senses by their patterns, less 1 for every role of the predicate they do not have."""
    lowest = patterns.min(initial=0.0)
    scores = [
        (lowest if sense.pattern is None else patterns[sense.pattern])
        - len(roles - {role.name for role in frames.roles_of(sense.sense)})
        for sense in senses
    ]
    return np.array(scores, dtype=np.float32)


def _append(logits: Floats, scores: Floats, odds: float) -> Floats:
    """Add classes that together have these log-odds against the others, divided by their scores."""
    if not len(logits):
        return scores
    return np.concatenate([logits, _log_sum(logits) + odds + scores - _log_sum(scores)])


def _log_sum(logits: Floats) -> float:
    highest = logits.max()
    return float(highest + np.log(np.exp(logits - highest).sum()))
