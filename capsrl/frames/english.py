"""English lemmas and PropBank's senses: spellings, aliases, and the words that a sense needs.

A verb with a particle (give_up.07) is possible only where the particle follows, a compound
(wheelspin.01 for *spin*) only where its first part precedes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from os.path import commonprefix

from capsrl.frames.index import FrameIndex, unnumbered
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmatizer

WINDOW = 6  # no particle of EWT is farther behind its verb
# Log-odds that a verb has the sense of the particle behind it, by tag and distance of the particle,
# counted in EWT: whether *look up* is look_up.05 or look.01 with a direction.
PARTICLE_ODDS = {("RP", 1): 3.0, ("RP", 2): 2.1, ("RP", 3): 0.8, ("RB", 1): -0.2, ("RB", 2): -0.7}
OTHER_PARTICLE_ODDS = -2.5
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


@dataclass(frozen=True, slots=True)
class Context:
    """The words that a sense needs around its predicate.

    before  the word that must precede, "" if none
    after   the words that must follow
    """

    before: str = ""
    after: tuple[str, ...] = ()

    def distance(self, sentence: Sentence, position: int) -> int | None:
        """How far behind the predicate the particle begins, 0 if there is none to begin.

        None if the words are not there.
        """
        if self.before and self.before != previous_word(sentence, position):
            return None
        found = first = 0
        for word in self.after:
            found = _next(word, sentence, position + found, position + WINDOW) - position
            if found <= 0:
                return None
            first = first or found
        return first


def context_of(sense: str, lemma: str, frames: FrameIndex, *, is_listed: bool) -> Context:
    """The words that a sense of a lemma needs.

    is_listed  the frames list the sense for the lemma
    """
    name = unnumbered(sense).lower()
    first = name.removesuffix(lemma).rstrip("-")
    is_compound = not is_listed and frames.has(sense) and first != name and "_" not in first
    particle = frames.particle_of(sense, lemma) or ""
    return Context(
        before=first if is_compound else "",
        after=tuple(word for word in particle.split("_") if word not in _ANYONE),
    )


def senses_by_pos(
    lemma: str, pos: str, trained: Sequence[str], frames: FrameIndex
) -> dict[str, bool]:
    """The senses of a lemma as a part of speech -> whether the frames list them for the lemma.

    trained  those that it had in training
    """
    listed = aliases_of(lemma, frames)
    # A model that was trained with frames has walk.01 for *take*, by its alias *take a walk*.
    light = frames.rolesets_of(lemma, "l")
    return {
        sense: sense in listed
        for sense in dict.fromkeys([*trained, *listed])
        if (_has_pos(listed, sense, pos) if sense in listed else sense not in light)
    }


def aliases_of(lemma: str, frames: FrameIndex) -> Mapping[str, Set[str]]:
    """The senses that the frames have for a lemma -> the parts of speech of the aliases."""
    listed: dict[str, set[str]] = {}
    for letter in _ALIASES:
        for sense in frames.rolesets_of(lemma, letter):
            listed.setdefault(sense, set()).add(letter)
    return listed


def _has_pos(listed: Mapping[str, Set[str]], sense: str, pos: str) -> bool:
    """Whether a sense has an alias of a part of speech, or no sense of the lemma has."""
    letters = _LETTERS.get(pos, ())
    is_decided = any(not found.isdisjoint(letters) for found in listed.values())
    return not is_decided or not listed[sense].isdisjoint(letters)


def spellings_of(lemma: str) -> Iterator[str]:
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


def nearest_lemma(lemma: str, known: Sequence[str]) -> str | None:
    """The known lemma that a lemma is a misspelling of, or derived from: laugh for laughter.

    known  those that begin with the same letter
    """
    if alike := get_close_matches(lemma, known, n=1, cutoff=_SIMILARITY):
        return alike[0]
    shared = {each: len(commonprefix([each, lemma])) for each in known}
    roots = [each for each in known if shared[each] >= max(_ROOT, len(each) - _ENDING)]
    return max(roots, key=lambda each: (shared[each], -len(each)), default=None)


def can_follow(first_words: Set[str], sentence: Sentence, position: int) -> bool:
    """Whether one of these words is near enough behind the predicate to belong to it."""
    if not first_words:
        return False
    behind = sentence.words[position + 1 : position + WINDOW + 1]
    return any(word.lower() in first_words for word in behind)


def previous_word(sentence: Sentence, position: int) -> str:
    """The word before a position, in lower case; that before a hyphen, if one precedes."""
    before = [word for word in sentence.words[max(0, position - 2) : position] if word != "-"]
    return before[-1].lower() if before else ""


def particle_odds(sentence: Sentence, position: int, distance: int) -> float:
    """The log-odds that a verb has a sense with the particle that begins so far behind it."""
    tag = sentence.tags[position + distance] if sentence.tags else "RP"
    return PARTICLE_ODDS.get((tag, distance), OTHER_PARTICLE_ODDS)


def _next(word: str, sentence: Sentence, start: int, last: int) -> int:
    """The next position of a word after `start`, before the next verb; -1 if there is none."""
    for position in range(start + 1, min(last + 1, len(sentence.words))):
        if sentence.words[position].lower() == word:
            return position
        if sentence.tags and sentence.tags[position].startswith("V"):
            break
    return -1
