"""Propositions with their arguments and phrases, in sentences and alone."""

import pytest

from capsrl.sentence import Argument, Phrase, Proposition, Sentence


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("sold Ben  & Jo", "Ben  & Jo"),
        ("sold Ben <i>&amp;</i> Jo", "Ben & Jo"),
    ],
)
def test_the_text_of_a_phrase_has_no_tags(text, phrase):
    words = ("sold", "Ben", "&", "Jo")
    starts = [text.index(part) for part in ("sold", "Ben", "&", "Jo")]
    offsets = tuple((start, start + len(word)) for start, word in zip(starts, words, strict=True))
    argument = Argument("A1", 1, phrase=Phrase(1, 3))
    bare = Sentence(words, text=text, offsets=offsets)
    [proposition] = bare.with_propositions([Proposition(0, "sell.01", (argument,))]).propositions
    found = proposition.arguments[0].phrase
    assert (found.text, found.start, found.end) == (phrase, 5, len(text))


def test_phrases_are_checked_and_get_their_text():
    argument = Argument("A0", 0, phrase=Phrase(0, 2))
    with pytest.raises(ValueError, match=r"positions of 2 words, got \[1, 0, 0, 2\] in 'Dogs"):
        Sentence(("Dogs", "bark"), (Proposition(1, None, (argument,)),))
    text = "my  dogs bark"
    words = Sentence(("my", "dogs", "bark"), text=text, offsets=((0, 2), (4, 8), (9, 13)))
    argument = Argument("A0", 1, phrase=Phrase(0, 1))
    labeled = words.with_propositions([Proposition(2, None, (argument,))])
    [found] = labeled.propositions[0].arguments
    assert (found.phrase, found.phrase.text) == (Phrase(0, 1, 0, 8), "my  dogs")


def test_what_continues_an_argument_belongs_to_it():
    """Nobody reads *the talks* and *with Oslo* apart."""
    words = ("The", "talks", "ended", "with", "Oslo")
    arguments = (
        Argument("A1", 1, phrase=Phrase(0, 1)),
        Argument("C-A1", 4, phrase=Phrase(3, 4)),
        Argument("R-A1", 0),
    )
    [ended] = Sentence(words, (Proposition(2, "end.01", arguments),)).propositions
    assert ended["A1"].text == "The talks Oslo" and ended["A1"].rest == (ended.arguments[1],)
    assert ended.get("A0") is None and "A0" not in ended and "A1" in ended
    with pytest.raises(KeyError, match="A0"):
        ended["A0"]


def test_a_proposition_alone_has_no_words():
    alone = Proposition(1, "sell.01", (Argument("A0", 0, form="Mira"),), form="sold")
    assert (alone.lemma, alone.negated, alone.voice, alone.tense) == ("sell", False, None, None)
    assert (alone["A0"].text, alone["A0"].marker) == ("Mira", None)
