"""Subwords of BERT are those of the package tokenizers."""

import json
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from capsrl.errors import ModelError
from capsrl.files.opening import read_lines
from capsrl.formats.conll09 import read_conll09
from capsrl.models import shipped_models
from capsrl.predict.subwords import read_tokenizer
from capsrl.predict.wordpiece import WordPiece, read_wordpiece

FILE = shipped_models()["en"] / "transformer/tokenizer.json"
SETTINGS = json.loads(FILE.read_text(encoding="utf-8"))
# Their category was another one when the tables of the package were made.
CHANGED = {"\u166d", "\u1734", "\u1885", "\u1886"}
OLD = [
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs", "Co")
]


def oracle(settings: dict[str, object]) -> Tokenizer:
    tokenizer = Tokenizer.from_str(json.dumps(settings))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


ORACLE = oracle(SETTINGS)
OURS = WordPiece(SETTINGS)


def both(words, *, ours=OURS, theirs=ORACLE, special=False):
    """(ids, word_ids) of our tokenizer, and of the package."""
    asked = {"is_pretokenized": True, "add_special_tokens": special}
    mine, wanted = ours.encode(words, **asked), theirs.encode(words, **asked)
    return (mine.ids, mine.word_ids), (wanted.ids, wanted.word_ids)


def changed(**settings):
    """Other settings of the normalizer."""
    return SETTINGS | {"normalizer": SETTINGS["normalizer"] | settings}


def test_every_character_of_old_unicode():
    differ = {each for each in OLD if OURS.encode_word(f"a{each}b") != both([f"a{each}b"])[1][0]}
    assert differ == CHANGED


@given(st.lists(st.text(st.sampled_from([*"aAsXi1.'-$é[]\t ΣİßıÅ中日\u0301\u200d😀#", *OLD]))))
def test_words_of_any_characters(words):
    words = ["".join(character for character in word if character not in CHANGED) for word in words]
    mine, wanted = both(words)
    assert mine == wanted


@pytest.mark.parametrize(
    "words",
    [
        ["Mira", "sold", "her", "bicycle", "unaffordably", "."],
        ["don't", "e-mail", "U.S.", "$5.00", "C++", "a_b", "###"],
        ["ΟΔΥΣΣΕΥΣ", "İstanbul", "Straße", "naïve", "cafe\u0301", "Ångström"],
        ["東京", "a東b", "한국어", "ไทย", "नमस्ते"],
        ["[SEP]", "x[MASK]y", "[sep]", "[CLS][CLS]", "[", "[UNK"],
        ["", "\u200b", "\0", "a\u200bb", "a b", "\t"],
        ["x" * 100, "x" * 101, "-" * 200, "☃", "a☃"],
        [],
    ],
)
@pytest.mark.parametrize("special", [False, True])
def test_words_by_hand(words, special):
    mine, wanted = both(words, special=special)
    assert mine == wanted


def test_a_text_is_split_at_blanks():
    text = "Mira sold\u00a0it,  didn't\nshe?"
    assert OURS.encode(text).ids == ORACLE.encode(text).ids


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [True, False, None])
@pytest.mark.parametrize("handle_chinese_chars", [True, False])
def test_other_settings(lowercase, strip_accents, handle_chinese_chars):
    settings = changed(
        lowercase=lowercase, strip_accents=strip_accents, handle_chinese_chars=handle_chinese_chars
    )
    words = ["Café", "cafe\u0301", "ÅNGSTRÖM", "東京tower", "plain", "naïve"]
    mine, wanted = both(words, ours=WordPiece(settings), theirs=oracle(settings))
    assert mine == wanted


def test_the_words_of_the_treebank(shared):
    lines = read_lines(shared / "data/en_ewt/dev.conll09.xz")
    words = sorted({word for sentence in read_conll09(lines) for word in sentence.words})
    assert len(words) > 5000
    mine, wanted = both(words)
    assert mine == wanted


def test_special_tokens_of_the_older_kind():
    old = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
    settings = SETTINGS | {"post_processor": old}
    mine, wanted = both(["a"], ours=WordPiece(settings), theirs=oracle(settings), special=True)
    assert mine == wanted == ([101, 1037, 102], [None, 0, None])


@pytest.mark.parametrize("token", ["[UNK]", "[PAD]", "the", "##s", "<unk>"])
def test_ids_of_tokens(token):
    assert OURS.token_to_id(token) == ORACLE.token_to_id(token)


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS | {"normalizer": None},
        SETTINGS | {"pre_tokenizer": {"type": "WhitespaceSplit"}},
        SETTINGS | {"post_processor": None},
        SETTINGS | {"model": {"type": "WordPiece"}},
        SETTINGS | {"added_tokens": [SETTINGS["added_tokens"][0] | {"lstrip": True}]},
        SETTINGS | {"added_tokens": ["[CLS]"]},
        SETTINGS | {"added_tokens": [SETTINGS["added_tokens"][0] | {"id": float("inf")}]},
        changed(clean_text=False),
        [],
    ],
)
def test_other_tokenizers_are_left_to_the_package(settings, tmp_path: Path):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(settings))
    assert read_wordpiece(file) is None


def test_what_other_tokenizers_need(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    (tmp_path / "tokenizer.json").write_text(json.dumps(changed(clean_text=False)))
    message = r"tokenizers unlike that of BERT need tokenizers: pip install 'capsrl\[tokenizers\]'"
    with pytest.raises(ModelError, match=message):
        read_tokenizer(tmp_path)


def test_settings_tell_tokenizers_apart():
    padded = WordPiece(SETTINGS | {"padding": None, "truncation": None})
    assert OURS.to_str() == padded.to_str() != WordPiece(changed(lowercase=False)).to_str()
