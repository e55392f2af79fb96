"""Find the senses that a predicate can have in its sentence, and score those without training.

The candidates are the senses that the lemma had in training and the rolesets that PropBank's frames
list for it, also by an alias: *resignation* has resign.01. The frames are English, so models of
other languages have the senses of training alone. A verb with a particle (give_up.07) is a
candidate only where the particle follows, a compound (wheelspin.01 for *spin*) only where its first
part precedes. Where the frames know the part of speech of the predicate, senses of others are left
out: *the contest* cannot have a sense that only the verb has.

The network scores the candidates that training had. The others are scored here, by what is known
of them: their number (as a pattern), their roles, and the tag and distance of their particle.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from os.path import commonprefix

import numpy as np
from numpy.typing import NDArray

from capsrl.frames.index import FrameIndex, name_of
from capsrl.predict.inventory import Inventory, pattern_of, sense_from
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmatizer, predicate_pos

WINDOW = 6  # no particle of EWT is farther behind its verb
# Log-odds that a verb has the sense of the particle behind it, by tag and distance of the particle,
# counted in EWT: whether *look up* is look_up.05 or look.01 with a direction.
PARTICLE_ODDS = {("RP", 1): 3.0, ("RP", 2): 2.1, ("RP", 3): 0.8, ("RB", 1): -0.2, ("RB", 2): -0.7}
OTHER_PARTICLE_ODDS = -2.5
# Log-odds of all other senses that training did not have: so low that they are chosen only where no
# sense of training is possible. 1.1 % of EWT dev have such senses, but more of them are then lost.
UNTRAINED_ODDS = -30.0
FIRST_SENSE = "{}.01"
_KEPT = 1 << 16  # lemmas whose senses are kept
# An unknown lemma is a misspelling of a known one that is as similar as *influnce* and *influence*,
# or derived from one with which it shares the first letters, all but the last ones of that lemma.
_SIMILARITY, _ROOT, _ENDING = 0.88, 4, 3
_LETTERS = {"verb": ("v", "m"), "noun": ("n",), "adjective": ("j",)}  # of aliases in the frames
_ALIASES = ("v", "m", "n", "j", "r", "p", "x", "f", "_")  # all but l: *take* is not walk.01
_ANYONE = ("", "ones", "one's", "oneself")  # stand for other words in the names of senses
# British -> American spelling of a lemma.
_AMERICAN = tuple(
    (re.compile(british), american)
    for british, american in (
        *(("is(e|ation|er|able)$", r"iz\1"), ("ys(e|er)$", r"yz\1"), ("our", "or")),
        *(("ll(ing|ment)?$", r"l\1"), ("ence$", "ense"), ("tre$", "ter"), ("ogue$", "og")),
    )
)

Scores = NDArray[np.float32]


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

    id      in the inventory, None if training did not have it
    before  the word that must precede, "" if none
    after   the words that must follow
    """

    name: str
    id: int | None
    pattern: int | None
    before: str
    after: tuple[str, ...]


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
        self._kept: dict[tuple[str, str], _Entry] = {}

    def find(self, sentence: Sentence, position: int, lemma: str) -> Candidates:
        """The candidates of a predicate, whose lemma is in lower case."""
        tag = sentence.tags[position] if sentence.tags else None
        entry = self._entry_of(lemma, predicate_pos(tag))
        if _can_follow(entry.after, sentence, position) or (
            entry.before and _previous(sentence, position) in entry.before
        ):
            distances = [_distance(sense, sentence, position) for sense in entry.senses]
            return _choose(entry.senses, distances, lemma, entry.is_known, sentence, position)
        return entry.usual

    def is_predicate(self, sentence: Sentence, position: int, candidates: Candidates) -> bool:
        """Whether a word that the network takes for a predicate can be one.

        The frames have the nouns and adjectives that are predicates in PropBank: of 23 others that
        were found in en_ewt dev, one was a predicate. A verb that they do not have may be new, but
        `=` and `<pause>`, taken for verbs, are not words.
        """
        if not candidates.guessed or not self._has_frames or not sentence.tags:
            return True
        is_word = candidates.lemma.replace("-", "").replace("'", "").isalpha()
        return is_word and predicate_pos(sentence.tags[position]) == "verb"

    def _entry_of(self, lemma: str, pos: str) -> _Entry:
        entry = self._kept.get((lemma, pos))
        if entry is None:
            entry = _make_entry(lemma, *self._find_senses(lemma, pos))
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[lemma, pos] = entry
        return entry

    def _find_senses(self, lemma: str, pos: str) -> tuple[tuple[_Sense, ...], bool]:
        """The senses of a lemma, and whether it is known.

        A lemma without senses has those of another spelling of it or of the verb it is a form of.
        If there is none, it is not known, and has the senses of a lemma that is spelled like it.
        """
        spellings = _spellings(lemma) if self._is_english else [lemma]
        found = next(filter(self._is_known, spellings), None)
        name = self._nearest(lemma) if found is None else found
        return tuple(self._senses_by_pos(name, pos) if name else ()), found is not None

    def _senses_by_pos(self, lemma: str, pos: str) -> Iterator[_Sense]:
        trained = [self.inventory.senses[i] for i in self.inventory.candidates_of(lemma)]
        listed = self._listed(lemma)
        # A model that was trained with frames has walk.01 for *take*, by its alias *take a walk*.
        light = self.frames.rolesets_of(lemma, "l") if self._is_english else ()
        for name in dict.fromkeys([*trained, *listed]):
            if _has_pos(listed, name, pos) if name in listed else name not in light:
                yield self._sense(name, lemma, is_listed=name in listed)

    def _nearest(self, lemma: str) -> str | None:
        """The known lemma that a lemma is a misspelling of, or derived from: laugh for laughter."""
        known = self._by_letter.get(lemma[:1], ())
        if alike := get_close_matches(lemma, known, n=1, cutoff=_SIMILARITY):
            return alike[0]
        shared = {each: len(commonprefix([each, lemma])) for each in known}
        roots = [each for each in known if shared[each] >= max(_ROOT, len(each) - _ENDING)]
        return max(roots, key=lambda each: (shared[each], -len(each)), default=None)

    @cached_property
    def _by_letter(self) -> Mapping[str, Sequence[str]]:
        """The known lemmas by their first letters; none without frames."""
        groups: dict[str, list[str]] = {}
        if self._has_frames:
            known = {*self.inventory.candidates, *self.frames.senses_by_lemma()}
            for lemma in sorted(filter(str.isalpha, known)):
                groups.setdefault(lemma[0], []).append(lemma)
        return groups

    @property
    def _has_frames(self) -> bool:
        return self._is_english and len(self.frames) > 0

    def _is_known(self, lemma: str) -> bool:
        return bool(self.inventory.candidates_of(lemma) or self._listed(lemma))

    def _listed(self, lemma: str) -> Mapping[str, Set[str]]:
        """The senses that the frames have for a lemma -> the parts of speech of the aliases."""
        listed: dict[str, set[str]] = {}
        for letter in _ALIASES if self._is_english else ():
            for sense in self.frames.rolesets_of(lemma, letter):
                listed.setdefault(sense, set()).add(letter)
        return listed

    def _sense(self, name: str, lemma: str, *, is_listed: bool) -> _Sense:
        verb = name_of(name).partition("_")[0]
        pattern = pattern_of(name, verb)
        particle = self.frames.particle_of(name, lemma) if self._is_english else None
        is_compound = self._is_english and not is_listed and self.frames.has(name)
        first = name_of(name).lower().removesuffix(lemma).rstrip("-")
        return _Sense(
            name,
            self._ids.get(name),
            self.inventory.patterns.id(pattern) if pattern in self.inventory.patterns else None,
            before=first if is_compound and first != name_of(name).lower() else "",
            after=tuple(word for word in (particle or "").split("_") if word not in _ANYONE),
        )


def _make_entry(lemma: str, senses: tuple[_Sense, ...], is_known: bool) -> _Entry:
    usual = [None if sense.before or sense.after else 0 for sense in senses]
    return _Entry(
        senses,
        is_known,
        before=frozenset(sense.before for sense in senses if sense.before),
        after=frozenset(sense.after[0] for sense in senses if sense.after),
        usual=_choose(senses, usual, lemma, is_known),
    )


def _choose(
    senses: Sequence[_Sense],
    distances: Sequence[int | None],
    lemma: str,
    is_known: bool,
    sentence: Sentence | None = None,
    position: int = 0,
) -> Candidates:
    """The senses whose words are there, with their odds; all, if there is none.

    distances  see `_distance`
    """
    fitting = [pair for pair in zip(senses, distances, strict=True) if pair[1] is not None]
    if not fitting:  # every sense needs a particle, which may be misspelled
        fitting = [(sense, None) for sense in senses]
    trained = {sense.after for sense, _ in fitting if sense.id is not None}
    return Candidates(
        ids=tuple(sense.id for sense, _ in fitting if sense.id is not None),
        untrained=tuple(
            Untrained(
                sense.name,
                sense.pattern,
                _odds(sentence, position, distance)
                if sentence and distance and sense.after not in trained
                else UNTRAINED_ODDS,
            )
            for sense, distance in fitting
            if sense.id is None
        ),
        lemma=lemma,
        guessed=not is_known,
    )


def score_senses(
    candidates: Candidates, logits: Scores, patterns: Scores, roles: Set[str], frames: FrameIndex
) -> tuple[tuple[str, ...], Scores]:
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


def guess_sense(lemma: str, patterns: Scores, inventory: Inventory) -> tuple[str, float]:
    """The sense of a lemma that nothing is known of, and the probability of its pattern.

    An English lemma gets its first sense, since rare words have one; other languages have other
    patterns.
    """
    is_first = inventory.lemmatizer is not None and FIRST_SENSE in inventory.patterns
    best = inventory.patterns.id(FIRST_SENSE) if is_first else int(patterns.argmax())
    return sense_from(inventory.patterns[best], lemma), probability_of(best, patterns)


def probability_of(best: int, logits: Scores) -> float:
    """The probability of one class, in double precision: most are very near to 1."""
    powers = np.exp(logits.astype(np.float64) - logits.max())
    return 1.0 - float(np.delete(powers, best).sum() / powers.sum())


def _score_untrained(
    senses: Sequence[Untrained], patterns: Scores, roles: Set[str], frames: FrameIndex
) -> Scores:
    """Score senses by their patterns, less 1 for every role of the predicate they do not have."""
    lowest = patterns.min(initial=0.0)
    scores = [
        (lowest if sense.pattern is None else patterns[sense.pattern])
        - len(roles - {role.name for role in frames.roles_of(sense.sense)})
        for sense in senses
    ]
    return np.array(scores, dtype=np.float32)


def _append(logits: Scores, scores: Scores, odds: float) -> Scores:
    """Add classes that together have these log-odds against the others, divided by their scores."""
    if not len(logits):
        return scores
    return np.concatenate([logits, _log_sum(logits) + odds + scores - _log_sum(scores)])


def _log_sum(logits: Scores) -> float:
    highest = logits.max()
    return float(highest + np.log(np.exp(logits - highest).sum()))


def _has_pos(listed: Mapping[str, Set[str]], name: str, pos: str) -> bool:
    """Whether a sense has an alias of a part of speech, or no sense of the lemma has."""
    letters = _LETTERS.get(pos, ())
    is_decided = any(not found.isdisjoint(letters) for found in listed.values())
    return not is_decided or not listed[name].isdisjoint(letters)


def _distance(sense: _Sense, sentence: Sentence, position: int) -> int | None:
    """How far behind the predicate the particle of a sense begins, 0 if it has none.

    None if the words that the sense needs are not there.
    """
    if sense.before and sense.before != _previous(sentence, position):
        return None
    found = first = 0
    for word in sense.after:
        found = _next(word, sentence, position + found, position + WINDOW) - position
        if found <= 0:
            return None
        first = first or found
    return first


def _can_follow(first_words: Set[str], sentence: Sentence, position: int) -> bool:
    """Whether one of these words is near enough behind the predicate to belong to it."""
    if not first_words:
        return False
    behind = sentence.words[position + 1 : position + WINDOW + 1]
    return any(word.lower() in first_words for word in behind)


def _next(word: str, sentence: Sentence, start: int, last: int) -> int:
    """The next position of a word after `start`, before the next verb; -1 if there is none."""
    for position in range(start + 1, min(last + 1, len(sentence.words))):
        if sentence.words[position].lower() == word:
            return position
        if sentence.tags and sentence.tags[position].startswith("V"):
            break
    return -1


def _previous(sentence: Sentence, position: int) -> str:
    """The word before a position, in lower case; that before a hyphen, if one precedes."""
    before = [word for word in sentence.words[max(0, position - 2) : position] if word != "-"]
    return before[-1].lower() if before else ""


def _odds(sentence: Sentence, position: int, distance: int) -> float:
    tag = sentence.tags[position + distance] if sentence.tags else "RP"
    return PARTICLE_ODDS.get((tag, distance), OTHER_PARTICLE_ODDS)


def _spellings(lemma: str) -> Iterator[str]:
    """A lemma and its other spellings, then the verb that it may be a form of."""
    joined = lemma.replace("-", "").replace("'", "")
    american = [_to_american(each) for each in dict.fromkeys((lemma, joined))]
    spellings = (lemma, joined, *american)
    yield from spellings
    for spelling in spellings:
        yield Lemmatizer().find(spelling, "VBN")  # surfing, or *said* taken for an adjective


def _to_american(lemma: str) -> str:
    for british, american in _AMERICAN:
        lemma = british.sub(american, lemma)
    return lemma
