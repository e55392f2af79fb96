"""Sentences with all that annotation tools carry, for property-based tests."""

from dataclasses import replace

from hypothesis import strategies as st

from capsrl import Argument, Phrase, Proposition, Sentence

ROLES = st.sampled_from(["A0", "A1", "AM-TMP", "C-A1", "R-A0", "AM-NEG"])
# Anything that a word may be: blanks inside, line breaks, control characters, emoji, XML.
LETTERS = st.characters(exclude_categories=["Cs"])
WORDS = st.one_of(
    st.sampled_from(["Mira", "sold", "😀", "a b", "\t", "<&>", "\n", "\x00", "{", '"']),
    st.text(LETTERS, min_size=1, max_size=6),
)
PROBABILITIES = st.none() | st.floats(0, 1)
SENSES = st.none() | st.sampled_from(["sell.01", "give_up.07", "a b", "null", '"x"', "{", "7"])
GAPS = st.sampled_from(["", " ", "  ", "\n", "\t"])


@st.composite
def sentences(draw, *, words=WORDS, senses=SENSES):
    chosen = tuple(draw(st.lists(words, max_size=6)))
    sentence = Sentence(chosen, id=draw(st.none() | st.just("s 1")))
    if draw(st.booleans()):
        text, offsets = draw(GAPS), []
        for word in chosen:
            offsets.append((len(text), len(text) + len(word)))
            text += word + draw(GAPS)
        sentence = replace(sentence, text=text, offsets=tuple(offsets))
    if draw(st.booleans()) and chosen:
        sentence = replace(sentence, tags=("NN",) * len(chosen), lemmas=chosen)
    n = len(chosen)
    return sentence.with_propositions(
        draw(st.lists(propositions(n, senses), max_size=3)) if n else ()
    )


@st.composite
def propositions(draw, n, senses):
    word = st.integers(0, n - 1)
    return Proposition(
        draw(word),
        draw(senses),
        tuple(draw(st.lists(arguments(n), max_size=3))),
        probability=draw(PROBABILITIES),
        predicate_probability=draw(PROBABILITIES),
        joint_probability=draw(PROBABILITIES),
        guessed=draw(st.booleans()),
        frames=draw(st.sampled_from([(), ("verbnet:give-13.1",)])),
        definition=draw(st.none() | st.just("to sell | a thing")),
    )


@st.composite
def arguments(draw, n):
    head = draw(st.integers(0, n - 1))
    phrase = Phrase(draw(st.integers(0, head)), draw(st.integers(head, n - 1)))
    return Argument(
        draw(ROLES),
        head,
        probability=draw(PROBABILITIES),
        phrase=draw(st.none() | st.just(phrase)),
        meaning=draw(st.none() | st.just("Agent")),
    )
