import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capsrl.predict.subwords
from capsrl.errors import ModelError
from capsrl.predict.subwords import (
    SubwordReader,
    Subwords,
    read_encoder_config,
    read_tokenizer,
)
from capsrl.sentence import Sentence
from tests.helpers.tiny_networks import write_encoder

WORDS = st.lists(st.text(alphabet="abcdef \x00é€", max_size=6), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    write_encoder(folder, limit=24)
    return folder


def make_reader(folder):
    return SubwordReader(folder, read_encoder_config(folder))


@given(sentences=st.lists(WORDS, min_size=1, max_size=4))
def test_kept_subwords_are_those_of_the_whole_sentence(folder, sentences):
    reader = make_reader(folder)
    for words in [*sentences, *sentences]:
        encoding = reader.tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        of_words = [[] for _ in words]
        for subword, word in zip(encoding.ids, encoding.word_ids, strict=True):
            of_words[word].append(subword)
        expected = [ids or [reader.unknown] for ids in of_words]
        found = reader.read(Sentence(tuple(words)))
        ends = [*found.firsts[1:], len(found.ids)]
        parts = [found.ids[a:b].tolist() for a, b in zip(found.firsts, ends, strict=True)]
        assert parts == expected


def test_a_tokenizer_of_another_encoder(folder):
    config = read_encoder_config(folder)
    reader = SubwordReader(folder, dict(config) | {"vocab_size": 31})
    assert reader.collate([reader.read(Sentence(("a",)))])
    with pytest.raises(ModelError, match=r"tokenizer.json: expected ids below vocab_size, 31, got"):
        reader.collate([reader.read(Sentence(("xyz",)))])
    reader = SubwordReader(folder, dict(config) | {"vocab_size": 2})
    with pytest.raises(ModelError, match="expected ids below vocab_size, 2, got"):
        reader.collate([reader.read(Sentence(("a",)))])


def test_tokenizers_with_missing_subwords(folder, tmp_path):
    pytest.importorskip("tokenizers")
    data = json.loads((folder / "tokenizer.json").read_text())
    data["normalizer"] = None  # or it would be read without the package
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    assert read_tokenizer(tmp_path).token_to_id("[UNK]") is not None
    template = [{"SpecialToken": {"id": "[NONE]", "type_id": 0}}]
    post = {"type": "TemplateProcessing", "single": template, "pair": template}
    for changes in (
        {"model": data["model"] | {"unk_token": "[NONE]"}},
        {"post_processor": post | {"special_tokens": {}}},  # the library panics
    ):
        (tmp_path / "tokenizer.json").write_text(json.dumps(data | changes))
        with pytest.raises(ModelError, match="tokenizer.json: not a tokenizer: "):
            read_tokenizer(tmp_path)


def test_few_words_are_kept(folder, monkeypatch):
    reader = make_reader(folder)
    before = [reader.read(Sentence((word, "ab"))).ids.tolist() for word in "abcdef"]
    monkeypatch.setattr(capsrl.predict.subwords, "_MAX_KEPT", 3)
    reader = make_reader(folder)
    after = [reader.read(Sentence((word, "ab"))).ids.tolist() for word in "abcdef"]
    assert after == before
    assert len(reader._kept) <= 4


@given(lengths=st.lists(st.lists(st.integers(1, 4), max_size=5), min_size=1, max_size=6))
def test_rows_are_windows(folder, lengths):
    """Sentences that all fit into one window, arranged together and one window after another."""
    reader = make_reader(folder)
    items = [
        Subwords(
            np.arange(7, 7 + sum(each), dtype=np.int64),
            np.cumsum([0, *each[:-1]], dtype=np.int64)[: len(each)],
        )
        for each in lengths
    ]
    found = reader.collate(items)
    windows = [item.ids for item in items]
    chosen = [
        (np.full(len(i.firsts), n), i.firsts + len(reader.opening)) for n, i in enumerate(items)
    ]
    expected = reader._pad(windows, [np.zeros_like(ids) for ids in windows], chosen)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
