import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.formats.bio import bio_tags, bracketed, format_allennlp, format_brackets
from capsrl.formats.formats import read_sentences
from capsrl.formats.phrase_file import phrase_file_of
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.text.phrases import with_phrases

SOLD = Proposition(
    1,
    "sell.01",
    (
        Argument("A0", 0, phrase=Phrase(0, 0)),
        Argument("A1", 4, phrase=Phrase(2, 4)),
        Argument("AM-TMP", 5),
    ),
)
MIRA = Sentence(("Mira", "sold", "her", "old", "bicycle", "yesterday", "."), (SOLD,))


def tags(predicate, *arguments, n=6):
    """The tags for arguments (role, head, first, last, probability)."""
    parts = tuple(
        Argument(role, word, *probability, phrase=Phrase(first, last))
        for role, word, first, last, *probability in arguments
    )
    sentence = Sentence(tuple("abcdef"[:n]), (Proposition(predicate, None, parts),))
    return " ".join(bio_tags(sentence, sentence.propositions[0]))


def test_tags():
    assert bio_tags(MIRA, SOLD) == ["B-A0", "B-V", "B-A1", "I-A1", "I-A1", "B-AM-TMP", "O"]


def test_brackets():
    assert bracketed(MIRA, SOLD) == "[A0 Mira] [V sold] [A1 her old bicycle] [AM-TMP yesterday] ."
    assert format_brackets(MIRA) == bracketed(MIRA, SOLD) + "\n"
    assert format_brackets(Sentence(("Well", "."))) == "Well .\n"
    twice = Sentence(("Go", "sit"), (Proposition(0), Proposition(1)))
    assert format_brackets(twice) == "[V Go] sit\nGo [V sit]\n"


def test_allennlp():
    sentence = Sentence(
        ("who", "left", "–", "we"),
        (Proposition(1, "leave.01", (Argument("R-A0", 0), Argument("C-AM-TMP", 3))),),
    )
    line = format_allennlp(sentence)
    assert line.endswith("}\n") and line.count("\n") == 1
    assert json.loads(line) == {
        "verbs": [
            {
                "verb": "left",
                "description": "[R-ARG0: who] [V: left] – [C-ARGM-TMP: we]",
                "tags": ["B-R-ARG0", "B-V", "O", "B-C-ARGM-TMP"],
            }
        ],
        "words": ["who", "left", "–", "we"],
    }
    assert json.loads(format_allennlp(Sentence(("Well",)))) == {"verbs": [], "words": ["Well"]}


def test_phrases_of_a_parse():
    words = ("The", "man", "left")
    parsed = Sentence(words, (Proposition(2, None, (Argument("A0", 1),)),), heads=(1, 2, None))
    assert bio_tags(parsed, parsed.propositions[0]) == ["O", "B-A0", "B-V"]
    found = with_phrases(parsed)
    assert bio_tags(found, found.propositions[0]) == ["B-A0", "I-A0", "B-V"]


def test_the_shorter_phrase_keeps_its_words():
    assert tags(5, ("A0", 1, 0, 2), ("A1", 3, 0, 4)) == "B-A0 I-A0 I-A0 B-A1 I-A1 B-V"
    assert tags(5, ("A1", 0, 0, 4), ("A0", 2, 1, 3)) == "B-A1 B-A0 I-A0 I-A0 O B-V"


def test_every_argument_keeps_its_head():
    assert tags(5, ("A0", 1, 0, 1), ("A1", 0, 0, 4)) == "B-A1 B-A0 O O O B-V"


def test_the_predicate_cuts_a_phrase():
    assert tags(2, ("A1", 4, 0, 5)) == "O O B-V B-A1 I-A1 I-A1"


def test_a_word_with_two_roles_has_the_more_probable():
    two = [("A0", 1, 0, 1, 0.6), ("A1", 1, 1, 2, 0.9)]
    assert tags(5, *two) == tags(5, *two[::-1]) == "O B-A1 I-A1 O O B-V"
    assert tags(1, ("A1", 1, 0, 1)) == "O B-V O O O O"


def decoded(found):
    """The chunks of valid BIO tags: (role, first, last)."""
    chunks = []
    for word, tag in enumerate(found):
        if tag.startswith("B-"):
            chunks.append([tag[2:], word, word])
        elif tag != "O":
            assert tag == f"I-{chunks[-1][0]}" and chunks[-1][2] == word - 1
            chunks[-1][2] = word
    return [tuple(chunk) for chunk in chunks]


@given(st.data())
def test_any_phrases_give_valid_tags(data):
    n = data.draw(st.integers(1, 8))
    words = st.integers(0, n - 1)
    arguments = []
    for head in data.draw(st.lists(words, unique=True, max_size=4)):
        first, last = data.draw(st.integers(0, head)), data.draw(st.integers(head, n - 1))
        arguments.append(Argument(f"A{len(arguments)}", head, phrase=Phrase(first, last)))
    predicate = data.draw(words)
    proposition = Proposition(predicate, None, tuple(arguments))
    sentence = Sentence(("w",) * n, (proposition,))
    chunks = decoded(bio_tags(sentence, proposition))
    found = {role: (first, last) for role, first, last in chunks}
    assert len(found) == len(chunks)
    tagged = [argument for argument in arguments if argument.word != predicate]
    assert found.keys() == {"V", *(argument.role for argument in tagged)}
    assert found["V"] == (predicate, predicate)
    for argument in tagged:
        first, last = found[argument.role]
        assert argument.phrase.first <= first <= argument.word <= last <= argument.phrase.last
        others = [a for a in tagged if a is not argument]
        alone = all(
            other.phrase.last < argument.phrase.first or argument.phrase.last < other.phrase.first
            for other in others
        )
        if alone and not argument.phrase.first <= predicate <= argument.phrase.last:
            assert (first, last) == (argument.phrase.first, argument.phrase.last)
    text = bracketed(sentence, proposition)
    assert text.count("[") == len(chunks) and text.count("w") == n


@pytest.mark.parametrize("name", ["en_ewt/test"])
def test_gold_phrases_come_back_from_tags(shared, name):
    corpus = shared / "data" / f"{name}.conll09.xz"
    for sentence in read_sentences(corpus, phrases=phrase_file_of(corpus)):
        for proposition in sentence.propositions:
            chunks = decoded(bio_tags(sentence, proposition))
            expected = [(a.role, a.phrase.first, a.phrase.last) for a in proposition.arguments]
            predicate = ("V", proposition.predicate, proposition.predicate)
            assert sorted(chunks) == sorted([*expected, predicate])
