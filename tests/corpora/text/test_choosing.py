from collections import Counter

import pytest

from capsrl.sentence import Sentence
from capsrl.text.sentences import read_text
from corpora.held_out import HeldOut
from corpora.text.choosing import (
    choose,
    has_usual_length,
    is_headline,
    is_prose,
    limit_alike,
    sample,
)
from corpora.text.markup import CUT


@pytest.mark.parametrize(
    "text",
    [
        "The old boat was sold to a friend of Ann .",
        "thanks so much",
        "Stir well again",  # a recipe
        "do n't u think so ?",
        "He paid $ 40 for it , and left .",
    ],
)
def test_prose(text):
    assert is_prose(tuple(text.split()))


@pytest.mark.parametrize(
    "text",
    [
        "Yes .",
        "very " * 71,
        "the " + "x" * 31 + " is long",
        "set x = the value of y",
        "write to the office @ noon",
        "see the page at example.com for more",
        "call us at 555 123 4567 for more of it",
        "no no no no it is not",
        "it is * * * so",
        f"the value of {CUT} is small",
        "on 12 / 11 / 1999 at 10 : 45",
        "это был the старый дом",
        "a b c d e is the x",
        "el barco viejo de la isla era grande",
        "Aleppo Governorate Kilis Province Border",
    ],
)
def test_not_prose(text):
    assert not is_prose(tuple(text.split()))


def test_headlines_need_no_function_words():
    headline = tuple("Mayor accused lying council about harbor money".split())
    assert is_headline(headline)
    assert not is_prose(headline[:3] + ("Harbor", "Council", "Money"))
    assert not is_headline(("Mayor", "=", "liar"))


def test_usual_lengths():
    assert [has_usual_length(("#",) * n) for n in (2, 3, 70, 71)] == [False, True, True, False]


def chosen(texts, *, held_out=()):
    left_out = Counter()
    sentences = [sentence for text in texts for sentence in read_text(text)]
    held = HeldOut(Sentence(tuple(text.split())) for text in held_out)
    words = choose(sentences, check=is_prose, seen=set(), held_out=held, left_out=left_out)
    return [" ".join(each) for each in words], dict(left_out)


def test_each_sentence_once_by_its_letters_and_digits():
    assert chosen(["It is the boat. IT IS, the boat! It is the 2nd boat."]) == (
        ["It is the boat .", "It is the 2nd boat ."],
        {"sentences that repeat another": 1},
    )


def test_held_out_sentences():
    held_out = ["She sold the old boat to a friend of Ann in May ."]
    assert chosen(
        ["Yes, she sold the old boat to a friend.", "She sold the old boat."], held_out=held_out
    ) == (
        ["She sold the old boat ."],
        {"sentences that overlap held-out sentences": 1},
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- tie the knot well", "tie the knot well"),
        ("** 2) tie the knot well", "tie the knot well"),
        ("20 of the boats were sold", "20 of the boats were sold"),
    ],
)
def test_bullets(text, words):
    assert chosen([text])[0] == [words]


def test_sentences_cut_inside_a_name():
    cut = Sentence(
        ("open", "the", "file"), text="open the file.conf", offsets=((0, 4), (5, 8), (9, 13))
    )
    inside = Sentence(("it", "is", "on"), text="a.it is on", offsets=((2, 4), (5, 7), (8, 10)))
    after = Sentence(("it", "is", "so"), text="it is so2", offsets=((0, 2), (3, 5), (6, 8)))
    left_out = Counter()
    found = choose(
        [cut, inside, after], check=is_prose, seen=set(), held_out=HeldOut(), left_out=left_out
    )
    assert [" ".join(words) for words in found] == ["open the file"]
    assert left_out == {"sentences that are not prose": 2}


def test_few_that_begin_alike():
    sentences = [("It", "is", "a", "boat", str(n)) for n in range(4)] + [("Another", "one")]
    assert list(limit_alike(sentences, 2)) == [*sentences[:2], sentences[4]]


def test_a_sample_keeps_the_order_and_hardly_depends_on_the_others():
    sentences = [("boat", str(n)) for n in range(100)]
    some = sample(sentences, 30)
    assert len(some) == 30
    assert some == sorted(some, key=sentences.index)
    assert some != sentences[:30]
    fewer = sample(sentences[:50] + sentences[51:], 30)
    assert len(set(some) & set(fewer)) >= 29
    assert sample(sentences[:10], 30) == sentences[:10]
