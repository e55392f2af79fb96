"""Sentences for the scorer's tests: written by hand in short, and random ones."""

from hypothesis import strategies as st

from capsrl.sentence import Argument, Proposition, Sentence

SENSES = (
    *("see.01", "see.1", "see.02", "eye.01", "see", "eye", "see.x", "see.LV", "1", "01", "00"),
    *(".01", "see.", "a.b.01", "a..01", "see.01.", "_", "-", "see.²", None),
)
ROLES = ("A0", "A1", "C-A0", "R-A0", "C-A1", "R-A1", "AM-TMP", "R-AM-TMP", "C-V", "GA")


def sentence(words, *propositions):
    """`sentence("a b c", (1, "see.01", "A0:0 A1:2"))`: predicate, sense, role:word ..."""
    return Sentence(
        tuple(words.split()),
        tuple(
            Proposition(predicate, sense, tuple(_argument(part) for part in arguments.split()))
            for predicate, sense, arguments in propositions
        ),
    )


def _argument(part):
    role, _, word = part.rpartition(":")
    return Argument(role, int(word))


@st.composite
def labeled(draw, words):
    """Those words with random propositions, as a strategy."""
    positions = st.integers(0, len(words) - 1)
    arguments = st.lists(st.builds(Argument, st.sampled_from(ROLES), positions), max_size=5)
    predicates = draw(st.lists(positions, unique=True, max_size=4))
    return Sentence(
        words,
        tuple(
            Proposition(predicate, draw(st.sampled_from(SENSES)), tuple(draw(arguments)))
            for predicate in sorted(predicates)
        ),
    )


@st.composite
def pairs(draw):
    """A gold sentence and a prediction for it."""
    words = tuple("abcdefgh"[: draw(st.integers(1, 8))])
    return draw(labeled(words)), draw(labeled(words))
