import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import ModelError
from capsrl.predict.vocabulary import (
    PADDING,
    PADDING_ID,
    UNKNOWN,
    UNKNOWN_ID,
    Vocab,
    character_vocab,
)


def test_order():
    vocab = Vocab.from_counts({"b": 2, "a": 2, "rare": 1, "the": 9}, min_count=2)
    assert vocab.to_list() == [PADDING, UNKNOWN, "the", "a", "b"]
    assert (vocab[PADDING_ID], vocab[UNKNOWN_ID]) == (PADDING, UNKNOWN)
    assert vocab.ids(["a", "rare", "the"]) == [3, UNKNOWN_ID, 2]


def test_without_unknown():
    roles = Vocab.from_counts({"A0": 3, "_": 50}, first=("_",))
    assert roles.to_list() == ["_", "A0"]
    with pytest.raises(KeyError, match="AM-TMP"):
        roles.id("AM-TMP")


def test_corpus_with_the_unknown_symbol():
    vocab = Vocab.from_counts({UNKNOWN: 5, "a": 1})
    assert vocab.to_list() == [PADDING, UNKNOWN, "a"]


@given(st.dictionaries(st.text(), st.integers(1, 5)), st.integers(1, 3))
def test_json_round_trip(counts, min_count):
    vocab = Vocab.from_counts(counts, min_count=min_count)
    back = Vocab.from_list(json.loads(json.dumps(vocab.to_list())))
    assert back == vocab and hash(back) == hash(vocab) and list(back) == list(vocab)
    assert [vocab.id(entry) for entry in vocab] == list(range(len(vocab)))
    assert [vocab[id] for id in range(len(vocab))] == vocab.to_list()
    for entry, count in counts.items():
        assert (entry in vocab) == (count >= min_count or entry in (PADDING, UNKNOWN))


def test_order_of_counting_does_not_matter():
    assert Vocab.from_counts({"x": 1, "y": 1}) == Vocab.from_counts({"y": 1, "x": 1})
    assert Vocab(["x"]) != Vocab(["y"])


def test_errors_of_a_caller():
    with pytest.raises(ValueError, match="distinct entries, got 'a' twice"):
        Vocab(["a", "b", "a"])
    with pytest.raises(IndexError, match="from 0 to 1, got -1"):
        Vocab(["a", "b"])[-1]
    assert repr(Vocab(["a", "b"])) == "Vocab(2 entries)"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"a": 0}, "words: expected a list of strings, got dict"),
        (["a", 7], "words: expected a string as entry 1, got 7"),
        (["a", "a"], "words: expected distinct entries, got 'a' twice; the file is damaged"),
    ],
)
def test_damaged_file(entries, message):
    with pytest.raises(ModelError, match=message):
        Vocab.from_list(entries, source="words")


def test_character_vocab():
    vocab = character_vocab({"ab": 2, "b": 1, "c": 1}, min_count=2)
    assert vocab.to_list() == ["", "<unk>", "<w>", "</w>", "b", "a"]
