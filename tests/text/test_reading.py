import math

import numpy as np
import pandas
import pytest

from capsrl.errors import DataError
from capsrl.sentence import Sentence
from capsrl.text.reading import is_missing, mark_predicates, outside, to_sentences

TEXT = "Dogs bark. He left, I saw."
MISSING = [None, math.nan, np.float64("nan"), np.float32("nan"), pandas.NA, pandas.NaT]


@pytest.mark.parametrize("value", MISSING)
def test_missing_texts(value):
    assert is_missing(value)
    with pytest.raises(DataError) as raised:
        to_sentences(value, position=7)
    assert str(raised.value) == (
        f"text 7: expected a string or a Sentence, got {value!r}; leave out rows without text, "
        "or use label_many(texts, missing='empty')"
    )


@pytest.mark.parametrize("value", ["", "nan", 0, 1.5, [], np.array([1.0, 2.0])])
def test_values_that_are_not_missing(value):
    assert not is_missing(value)


def test_what_is_not_text():
    with pytest.raises(DataError, match=r"text: expected a string or a Sentence, got 5$"):
        to_sentences(5)


def test_every_character_of_a_word_marks_it():
    sentences = to_sentences(TEXT)
    for position, character in enumerate(TEXT):
        if character == " ":
            assert outside(sentences, [position]) == {position}
            with pytest.raises(
                DataError, match=f"^at: expected an offset inside .*got {position}$"
            ):
                mark_predicates(sentences, [position])
            continue
        marked = mark_predicates(sentences, [position])
        [proposition] = [each for sentence in marked for each in sentence.propositions]
        assert proposition.start <= position < proposition.end
        assert TEXT[proposition.start : proposition.end] == proposition.form


def test_several_positions():
    sentences = to_sentences(TEXT)
    assert outside(sentences, [0, 4, 7, 10, 26, 99, -1]) == {4, 10, 26, 99, -1}
    marked = mark_predicates(sentences, [22, 5, 6, 14])
    forms = [[each.form for each in sentence.propositions] for sentence in marked]
    assert forms == [["bark"], ["left", "saw"]]


def test_words_without_text():
    sentence = Sentence(("Dogs", "bark"))
    assert outside([sentence], [0, 1, 2]) == {2}
    assert mark_predicates([sentence], [1])[0].predicates == (1,)
    with pytest.raises(DataError, match="^at: expected the position of a word, got 2$"):
        mark_predicates([sentence], [2])
