"""What all views of a proposition show: its words, probabilities and the history of its roles."""

import html
import re
import unicodedata
from dataclasses import dataclass

from capsrl.sentence import Argument, Proposition, Sentence

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# In hundredths of the font size: the wider of DejaVu Sans and Arial, since the viewer's font is
# unknown and words must not overlap in either.
_WIDTHS = dict.fromkeys("'Iijl,./:;\\| ", 35) | dict.fromkeys('!()-[]ftr"*J`', 48)
_WIDTHS |= dict.fromkeys("cszkvxyL?_", 60) | dict.fromkeys("#+<=>^w~M%Wm@", 105)
_LOWER, _UPPER, _WIDE = 65, 80, 105
NONE = "none"  # name of the absence of a role in tables
_NO_ROLE = 0  # its position in Trace.roles
GUESS_NOTE = "A sense with ? is a guess: its lemma is in neither PropBank nor the training corpus."


def show_sense(proposition: Proposition) -> str:
    """The sense, with a question mark if it is a guess; only that if there is none."""
    sense = visible(proposition.sense or "")
    return f"{sense}?" if proposition.guessed or not sense else sense


def visible(text: str) -> str:
    """The text with a visible symbol for each character that would break XML or a terminal.

    Control characters become control pictures (a tab is U+2409); lone surrogates and
    noncharacters become U+FFFD.
    """
    return _UNPRINTABLE.sub(_symbol, text)


def escaped(text: str) -> str:
    """The text escaped for XML or HTML, for an element or a quoted attribute."""
    return html.escape(visible(text))


def text_width(text: str, size: float) -> float:
    """A generous estimate of the width of sans-serif text of this font size."""
    return size / 100 * sum(map(_width, visible(text)))


def show_probability(probability: float | None) -> str:
    """Two decimals, or nothing if unknown."""
    return "" if probability is None else f"{probability:.2f}"


def show_percent(probability: float) -> str:
    """Whole percent; only what is certain has 100 % or 0 %."""
    if 0 < probability < 0.005:
        return "< 1 %"
    return f"{min(round(100 * probability), 99 if probability < 1 else 100)} %"


def phrase_words(part: Argument) -> range:
    """The positions of the words of a phrase; that of the head word if it is unknown."""
    phrase = part.phrase
    return range(phrase.first, phrase.last + 1) if phrase else range(part.word, part.word + 1)


def show_offsets(part: Argument | Proposition, sentence: Sentence) -> str:
    """The offsets of a word in the whole text, `16-24`, or nothing if unknown."""
    if part.start is None or part.end is None:
        return ""
    before = sentence.start or 0
    return f"{before + part.start}-{before + part.end}"


def _symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def _width(character: str) -> int:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0  # combines with the character before
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _WIDE
    return _LOWER if character.islower() or character.isdecimal() else _UPPER


@dataclass(frozen=True, slots=True)
class RoleHistory:
    """The probability of a role of a word before and after each of N iterations."""

    word: int
    role: str
    argument: Argument | None  # the word with this role in the result; None if it is not there
    probs: tuple[float, ...] = ()  # N+1 probabilities of `role`; empty without a trace
    best: tuple[str, ...] = ()  # N+1 most probable roles of the word, `none` included; likewise

    @property
    def states(self) -> str:
        """N+1 letters: n, the word has the role; p, it had it before; f, it did not have it yet."""
        kept = self.argument is not None
        has = [*(best == self.role for best in self.best[:-1]), kept][: len(self.best)]
        return "".join("n" if now else "fp"[any(has[:step])] for step, now in enumerate(has))


def role_histories(proposition: Proposition, *, steps: bool = True) -> list[RoleHistory]:
    """A history for each role that a word had after any iteration, in the order of the words.

    Roles that are not in the result are included. Without a trace, or without steps, only those
    of the arguments, without numbers. Raises ValueError for the trace of another proposition.
    """
    trace = proposition.trace
    if trace is None or not steps:
        return [RoleHistory(part.word, part.role, part) for part in proposition.arguments]
    numbers = {role: number for number, role in enumerate(trace.roles)}
    best = trace.beliefs.argmax(-1)  # N+1 T
    final = {part.word: part.role for part in proposition.arguments}
    if not all(word < best.shape[1] and role in numbers for word, role in final.items()):
        raise ValueError(
            f"trace: expected the roles and words of {final}, "
            f"got {len(trace.roles)} roles and {best.shape[1]} words"
        )
    kept = {(part.word, numbers[part.role]): part for part in proposition.arguments}
    held = {(word, role) for step in best.tolist() for word, role in enumerate(step)}
    return [
        RoleHistory(
            word,
            trace.roles[role],
            kept.get((word, role)),
            probs=tuple(trace.beliefs[:, word, role].tolist()),
            best=tuple(trace.roles[step] if step != _NO_ROLE else NONE for step in best[:, word]),
        )
        for word, role in sorted(kept.keys() | held)
        if role != _NO_ROLE
    ]
