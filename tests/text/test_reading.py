import math

import numpy as np
import pandas
import pytest

from capsrl.errors import DataError
from capsrl.text.reading import is_missing, to_sentences

MISSING = [None, math.nan, np.float64("nan"), pandas.NA, pandas.NaT]


@pytest.mark.parametrize("value", MISSING)
def test_missing_texts(value):
    assert is_missing(value)
    with pytest.raises(DataError, match=r"text 7: expected a string or a Sentence, got .*; leave "):
        to_sentences(value, position=7)


@pytest.mark.parametrize("value", ["", "nan", 0, 1.5, [], np.array([1.0, 2.0])])
def test_values_that_are_not_missing(value):
    assert not is_missing(value)


def test_what_is_not_text():
    with pytest.raises(DataError, match=r"text: expected a string or a Sentence, got 5$"):
        to_sentences(5)
