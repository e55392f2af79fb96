import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import DataError, ModelError
from capsrl.frames.index import FrameIndex, FrameRole, Roleset
from capsrl.predict.inventory import (
    MAX_PATTERNS,
    NO_ROLE,
    NO_ROLE_ID,
    PADDING,
    PADDING_ID,
    UNKNOWN,
    UNKNOWN_ID,
    Inventory,
    Vocab,
    build_inventory,
    character_vocab,
    lemma_of,
    pattern_of,
    sense_from,
)
from tests.helpers.tiny_sentences import SENTENCES, edit_json, sentence


def senses_of(inventory, lemma):
    return [inventory.senses[i] for i in inventory.candidates_of(lemma)]


def test_roles_are_sorted_by_frequency():
    inventory = build_inventory(SENTENCES)
    assert inventory.roles[NO_ROLE_ID] == NO_ROLE
    assert list(inventory.roles) == ["_", "A0", "A1", "AM-TMP"]
    assert inventory.role_id("A1") == 2
    assert inventory.role_id("AM-NEVER") == NO_ROLE_ID


def test_senses_by_lemma():
    more = [sentence("I see", (1, "see.02", {}), lemmas="i see")] * 3
    inventory = build_inventory([*SENTENCES, *more])
    assert senses_of(inventory, "see") == ["see.02", "see.01"]
    assert inventory.senses[0] == "see.02" and inventory.sense_counts[0] == 4
    assert senses_of(inventory, "zzz") == []


@pytest.mark.parametrize(
    ("sense", "lemma", "pattern"),
    [
        ("sign.01", "sign", "{}.01"),
        ("podepsat", "podepsat", "{}"),
        ("be.01", "sein", "be.01"),
        ("Haus.2", "haus", "{}.2"),
        ("x.01", "", "x.01"),
        # Lower case of İ is two characters long: counted in the sense, not in the lemma.
        ("İ.01", "i̇", "İ.01"),
    ],
)
def test_patterns(sense, lemma, pattern):
    assert pattern_of(sense, lemma) == pattern
    assert sense_from(pattern, lemma).lower() == sense.lower()


@given(st.text(min_size=1).map(str.lower), st.from_regex(r"\.[0-9]{1,2}", fullmatch=True))
def test_pattern_round_trip(lemma, number):
    sense = lemma + number
    assert sense_from(pattern_of(sense, lemma), lemma).lower() == sense.lower()


def test_patterns_are_counted_by_lemma():
    """`be` is used often, but a new lemma is not like it."""
    often = [sentence("is", (0, "be.03", {}), lemmas="be")] * 50
    inventory = build_inventory([*SENTENCES, *often])
    patterns = list(inventory.patterns)
    assert patterns[0] == "{}.01"
    assert set(patterns) == {"{}.01", "{}.02", "{}.03"}
    assert inventory.pattern_id("jump.02", "jump") == patterns.index("{}.02")
    assert inventory.pattern_id("jump.77", "jump") is None


def test_number_of_patterns_is_limited():
    foreign = [sentence("w", (0, f"s{n}.01", {}), lemmas=f"l{n}") for n in range(200)]
    assert len(build_inventory(foreign).patterns) == MAX_PATTERNS


def test_lemma_of():
    assert lemma_of(sentence("Dogs Bark"), 1) == "bark"
    assert lemma_of(sentence("Dogs Bark", lemmas="Dog BARK"), 0) == "dog"


def test_frames_add_senses():
    see = (("v", "see"),)
    frames = FrameIndex.from_rolesets(
        [
            Roleset("see.01", see),
            Roleset("see.07", see),
            Roleset("fly.01", (("v", "fly"),), (FrameRole("A0", description="pilot"),)),
        ]
    )
    inventory = build_inventory(SENTENCES, frames=frames)
    assert senses_of(inventory, "see") == ["see.01", "see.02", "see.07"]
    assert senses_of(inventory, "fly") == ["fly.01"]
    assert inventory.sense_counts[inventory.senses.index("fly.01")] == 0
    assert inventory.frames is frames


def test_partial_sentences_add_senses_but_no_roles_and_tags():
    yodel = sentence("Ann yodels", (1, "yodel.01", {0: "A9"}), lemmas="ann yodel")
    partial = [dataclasses.replace(yodel, tags=("NNP", "ODD"))] * 2
    inventory = build_inventory(SENTENCES, partial=partial)
    assert senses_of(inventory, "yodel") == ["yodel.01"]
    assert "yodels" in inventory.words
    alone = build_inventory(SENTENCES)
    assert (inventory.roles, inventory.tags) == (alone.roles, alone.tags)


def test_no_senses_are_refused():
    with pytest.raises(DataError, match="no predicate has a sense"):
        build_inventory([SENTENCES[3]])


def test_json_round_trip():
    inventory = build_inventory(SENTENCES)
    assert Inventory.from_dict(json.loads(json.dumps(inventory.to_dict()))) == inventory


def test_older_models_have_no_language():
    data = dataclasses.replace(build_inventory(SENTENCES), language="de").to_dict()
    assert Inventory.from_dict(data).language == "de"
    del data["language"]
    assert Inventory.from_dict(data).language == ""


def test_descriptions_of_older_models():
    data = build_inventory(SENTENCES).to_dict()
    assert not len(Inventory.from_dict({**data, "descriptions": {}}).frames)
    old = Inventory.from_dict({**data, "descriptions": {"see.01": {"A0": "viewer", "A1": ""}}})
    assert old.frames.meaning("see.01", "R-A0") == "viewer"
    assert old.frames.meaning("see.01", "A1") is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"roles": None, "tags": None}, "here: no entry roles, tags"),
        ({"words": "abc"}, "here: words: expected a list of strings, got str"),
        ({"words": ["", "a"]}, "here: words: expected an entry <unk>"),
        ({"characters": ["a"]}, "here: characters: expected an entry <unk>"),
        ({"senses": ["a", "a"]}, "here: senses: expected distinct entries, got 'a' twice"),
        ({"sense_counts": [1, 2]}, "here: expected 6 sense_counts, got 2"),
        ({"candidates": []}, "here: expected candidates to be a JSON object, got list"),
        ({"descriptions": 3}, "here: expected descriptions to be a JSON object, got int"),
        ({"candidates": {"see": [6]}}, r"candidates of 'see' from 0 to 5, got \[6\]"),
        ({"candidates": {"see": ["a"]}}, r"candidates of 'see' from 0 to 5, got \['a'\]"),
    ],
)
def test_damaged_json(tmp_path, changes, message):
    file = tmp_path / "vocab.json"
    file.write_text(json.dumps(build_inventory(SENTENCES).to_dict()))
    edit_json(file, **changes)
    with pytest.raises(ModelError, match=message):
        Inventory.from_dict(json.loads(file.read_text()), source="here")


def test_order():
    vocab = Vocab.from_counts({"b": 2, "a": 2, "rare": 1, "the": 9}, min_count=2)
    assert list(vocab) == [PADDING, UNKNOWN, "the", "a", "b"]
    assert (vocab[PADDING_ID], vocab[UNKNOWN_ID]) == (PADDING, UNKNOWN)
    assert vocab.ids(["a", "rare", "the"]) == [3, UNKNOWN_ID, 2]


def test_without_unknown():
    roles = Vocab.from_counts({"A0": 3, "_": 50}, first=("_",))
    assert list(roles) == ["_", "A0"]
    with pytest.raises(KeyError, match="AM-TMP"):
        roles.id("AM-TMP")


def test_corpus_with_the_unknown_symbol():
    vocab = Vocab.from_counts({UNKNOWN: 5, "a": 1})
    assert list(vocab) == [PADDING, UNKNOWN, "a"]


@given(st.dictionaries(st.text(), st.integers(1, 5)), st.integers(1, 3))
def test_vocabulary_round_trip(counts, min_count):
    vocab = Vocab.from_counts(counts, min_count=min_count)
    back = Vocab.from_list(json.loads(json.dumps(list(vocab))))
    assert back == vocab and hash(back) == hash(vocab) and list(back) == list(vocab)
    assert [vocab.id(entry) for entry in vocab] == list(range(len(vocab)))
    assert [vocab[id] for id in range(len(vocab))] == list(vocab)
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
    assert list(vocab) == ["", "<unk>", "<w>", "</w>", "b", "a"]
