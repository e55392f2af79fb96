import copy
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from capsrl.data.files import open_writer, read_lines
from capsrl.data.jsonl import (
    format_jsonl,
    json_schema,
    read_jsonl,
    sentence_from_dict,
    sentence_to_dict,
)
from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence, Trace
from capsrl.show import role_histories

VALIDATOR = Draft202012Validator(json_schema())

DOGS = {
    "id": "s1",
    "text": "Dogs bark.",
    "start": 12,
    "words": ["Dogs", "bark", "."],
    "offsets": [[0, 4], [5, 9], [9, 10]],
    "lemmas": ["dog", "bark", "."],
    "tags": ["NNS", "VBP", "."],
    "heads": [1, None, 1],
    "relations": ["nsubj", "root", "punct"],
    "propositions": [
        {
            "predicate": 1,
            "form": "bark",
            "sense": "bark.01",
            "probability": 0.75,
            "start": 5,
            "end": 9,
            "arguments": [
                {
                    "role": "A0",
                    "word": 0,
                    "form": "Dogs",
                    "probability": 0.5,
                    "start": 0,
                    "end": 4,
                }
            ],
            "trace": {
                "roles": ["_", "A0"],
                "beliefs": [
                    [[0.5, 0.25], [1.0, 0.0], [0.25, 0.5]],
                    [[0.5, 0.5], [1.0, 0.0], [0.75, 0.125]],
                ],
            },
        }
    ],
    "columns": {"MISC": ["_", "SpaceAfter=No", "_"]},
    "comments": ["# note"],
}
# Of its four roles two were never the most probable one of any word.
TRACE = Trace(
    ("_", "A1", "A0", "A2"),
    np.array(
        [
            [[0.5, 0.125, 0.25, 0.125], [1, 0, 0, 0], [0.25, 0.25, 0.5, 0]],
            [[0.5, 0, 0.5, 0], [1, 0, 0, 0], [0.75, 0.125, 0.125, 0]],
        ],
        dtype=np.float32,
    ),
)
SENTENCE = Sentence(
    ("Dogs", "bark", "."),
    (Proposition(1, "bark.01", (Argument("A0", 0, 0.5, 0, 4),), 0.75, 5, 9, TRACE),),
    lemmas=("dog", "bark", "."),
    tags=("NNS", "VBP", "."),
    heads=(1, None, 1),
    relations=("nsubj", "root", "punct"),
    text="Dogs bark.",
    offsets=((0, 4), (5, 9), (9, 10)),
    id="s1",
    columns={"MISC": ("_", "SpaceAfter=No", "_")},
    comments=("# note",),
    start=12,
)


def read(*lines):
    return list(read_jsonl(lines, source="x.jsonl"))


def test_worked_example():
    assert sentence_to_dict(SENTENCE) == DOGS
    assert sentence_from_dict(DOGS) == SENTENCE
    VALIDATOR.validate(DOGS)


def test_traces_come_back_without_the_roles_nobody_had():
    (proposition,) = sentence_from_dict(DOGS).propositions
    assert proposition.trace is not None
    assert proposition.trace.roles == ("_", "A0")
    assert proposition.trace.beliefs.tolist() == TRACE.beliefs[:, :, [0, 2]].tolist()
    assert proposition.trace.beliefs.dtype == np.float32
    assert role_histories(proposition) == role_histories(SENTENCE.propositions[0])
    assert [(m.word, m.role, m.kept) for m in role_histories(proposition)] == [
        (0, "A0", True),
        (2, "A0", False),
    ]


def test_the_probabilities_of_a_trace_have_six_digits():
    trace = Trace(("_", "A0"), np.array([[[1 / 3, 2 / 3]]], dtype=np.float32))
    data = sentence_to_dict(Sentence(("Go",), (Proposition(0, "go.01", trace=trace),)))
    assert data["propositions"][0]["trace"]["beliefs"] == [[[0.333333, 0.666667]]]


def test_words_are_enough():
    assert read('{"words": ["Go"]}', "", '{"words": []}') == [Sentence(("Go",)), Sentence(())]
    assert sentence_to_dict(Sentence(("Go",))) == {"words": ["Go"], "propositions": []}


def test_a_sense_that_is_not_known():
    sentence = Sentence(("Go",), (Proposition(0),))
    data = sentence_to_dict(sentence)
    assert data["propositions"] == [{"predicate": 0, "form": "Go", "sense": None, "arguments": []}]
    assert sentence_from_dict(data) == sentence
    assert sentence_from_dict({"words": ["Go"], "propositions": [{"predicate": 0}]}) == sentence


def test_whole_floats_are_positions():
    data = {"words": ["Go"], "propositions": [{"predicate": 0.0, "probability": 1}]}
    VALIDATOR.validate(data)
    (proposition,) = sentence_from_dict(data).propositions
    assert proposition == Proposition(0, probability=1.0)
    assert type(proposition.predicate) is int
    assert type(proposition.probability) is float


def test_what_utf8_and_line_readers_cannot_take_is_escaped(tmp_path):
    sentence = Sentence(("\ud800", "é中", "\u2028\x85\n", "😀"), id="\udfff")
    line = format_jsonl(sentence)
    assert line.encode().decode().splitlines() == [line[:-1]]
    assert "é中" in line
    path = tmp_path / "x.jsonl"
    with open_writer(path) as file:
        file.write(line)
    assert list(read_jsonl(read_lines(path))) == [sentence]


def test_no_number_is_the_callers_mistake():
    with pytest.raises(ValueError, match="not JSON compliant"):
        format_jsonl(Sentence(("Go",), (Proposition(0, probability=math.nan),)))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"x.jsonl:1: expected a JSON object, got '\{': Expecting property name"),
        ('{"words": [NaN]}', r"x.jsonl:1: expected a JSON object, .*: NaN is no JSON"),
        ("[" * 100_000, r"x.jsonl:1: expected a JSON object, got '\[\[\[.*\.\.\.: max.*recursion"),
        ("1" * 5000, r"x.jsonl:1: expected a JSON object, got '111.*\.\.\.: Exceeds"),
        ("[" * 300 + "]" * 300, r"x.jsonl:1: expected an object, got an array"),
        ("null", r"x.jsonl:1: expected an object, got null"),
        ("{}", r"x.jsonl:1: expected the key 'words', got none"),
        ('{"id": "a"}', r"x.jsonl:1: expected the key 'words', got 'id'"),
        ('{"words": ["a"], "wrods": 1}', r"x.jsonl:1: expected the keys id, .*, got 'wrods'"),
    ],
)
def test_bad_lines(line, message):
    with pytest.raises(DataError, match=message):
        read(line)


def test_the_line_is_named():
    with pytest.raises(DataError, match=r"^x.jsonl:3: words: expected an array, got 'Go'"):
        read('{"words": []}', "", '{"words": "Go"}')


PROPOSITION = ("propositions", 0)
ARGUMENT = ("propositions", 0, "arguments", 0)
TRACED = ("propositions", 0, "trace")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("words", 1), 5, r"x: words\[1\]: expected a string, got 5"),
        (("lemmas",), ["dog"], r"x: lemmas: expected 3 entries, one per word, got 1"),
        (("tags",), {}, r"x: tags: expected an array, got an object"),
        (("heads", 0), 3, r"x: heads\[0\]: expected a position of one of 3 words.*, got 3"),
        (("heads", 0), -1, r"x: heads\[0\]: expected an integer from 0, got -1"),
        (("heads", 0), True, r"x: heads\[0\]: expected an integer from 0, got true"),
        (("heads", 0), 0.5, r"x: heads\[0\]: expected an integer from 0, got 0.5"),
        (("heads",), [], r"x: heads: expected 3 entries, one per word, got 0"),
        (("relations",), ["a"] * 4, r"x: relations: expected 3 entries, one per word, got 4"),
        (("text",), None, r"x: text: expected a string, got null"),
        (("id",), 7, r"x: id: expected a string, got 7"),
        (("offsets",), [[0, 4]], r"x: offsets: expected 3 entries, one per word, got 1"),
        (("offsets", 1), [5], r"x: offsets\[1\]: expected \[start, end\], got 1 entries"),
        (("offsets", 1), [9, 5], r"x: offsets\[1\]: expected start <= end <= 10, .*, got 9 and 5"),
        (("offsets", 2, 1), 11, r"x: offsets\[2\]: expected start <= end <= 10, .*, got 9 and 11"),
        (("offsets", 2, 0), "9", r"x: offsets\[2\].start: expected an integer from 0, got '9'"),
        (("columns",), [], r"x: columns: expected an object, got an array"),
        (("columns", "MISC"), ["_"], r"x: 'MISC': expected 3 entries, one per word, got 1"),
        (("columns", "MISC", 0), 1, r"x: column 'MISC'\[0\]: expected a string, got 1"),
        (("comments", 0), False, r"x: comments\[0\]: expected a string, got false"),
        (("propositions",), "p", r"x: propositions: expected an array, got 'p'"),
        ((*PROPOSITION, "predicate"), 3, r"x: propositions\[0\].predicate: .* of 3 words.* got 3"),
        (
            (*PROPOSITION, "form"),
            "barks",
            r"x: propositions\[0\].form: expected 'bark', word 1, got",
        ),
        (
            (*PROPOSITION, "sense"),
            1,
            r"x: propositions\[0\].sense: expected a string or null, got 1",
        ),
        ((*PROPOSITION, "probability"), 1.5, r"\[0\].probability: expected .* 0 to 1, got 1.5"),
        ((*PROPOSITION, "probability"), None, r"\[0\].probability: expected .* 0 to 1, got null"),
        ((*PROPOSITION, "end"), 4, r"x: propositions\[0\]: expected start <= end .* got 5 and 4"),
        (
            (*PROPOSITION, "frame"),
            "x",
            r"x: propositions\[0\]: expected the keys predicate, .*'frame'",
        ),
        (("start",), -1, r"x: start: expected an integer from 0, got -1"),
        ((*TRACED, "roles"), ["_"], r"\.trace.roles: expected 'A0' among them, got \['_'\]"),
        ((*TRACED, "roles"), [], r"\[0\].trace.roles: expected '_' among them, got \[\]"),
        (
            (*TRACED, "roles"),
            ["A0", "_"],
            r"trace.roles\[0\]: expected '_', which is no role, got 'A0'",
        ),
        ((*TRACED, "beliefs"), [], r"trace.beliefs: expected one array per iteration, got an"),
        ((*TRACED, "beliefs", 1), [], r"trace.beliefs\[1\]: expected 3 entries, .*, got 0"),
        (
            (*TRACED, "beliefs", 1, 2),
            [0.5],
            r"trace.beliefs\[1\]\[2\]: expected 2 entries, one per role, got 1",
        ),
        ((*TRACED, "beliefs", 0, 1, 0), 2, r"beliefs\[0\]\[1\]: expected .* 0 to 1, got 2"),
        ((*ARGUMENT, "role"), None, r"x: propositions\[0\].arguments\[0\].role: .* got null"),
        ((*ARGUMENT, "word"), "0", r"\.arguments\[0\].word: expected an integer from 0, got '0'"),
        ((*ARGUMENT, "form"), "a" * 99, r"\.form: expected 'Dogs', word 0, got 'a{56}\.\.\.$"),
        (ARGUMENT, [], r"x: propositions\[0\].arguments\[0\]: expected an object, got an array"),
    ],
)
def test_bad_parts(path, value, message):
    with pytest.raises(DataError, match=message):
        sentence_from_dict(changed(DOGS, path, value), where="x")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ((*PROPOSITION, "predicate"), r"expected the key 'predicate', got 'form', 'sense'"),
        ((*ARGUMENT, "role"), r"expected the key 'role', got 'word'"),
        ((*ARGUMENT, "start"), r"arguments\[0\]: expected start and end together, got one of them"),
        ((*PROPOSITION, "end"), r"propositions\[0\]: expected start and end together, got one"),
    ],
)
def test_missing_parts(path, message):
    data = changed(DOGS, path, None)
    del container(data, path)[path[-1]]
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(DataError, match=message):
        sentence_from_dict(data)


def container(data, path):
    for key in path[:-1]:
        data = data[key]
    return data


def changed(data, path, value):
    data = copy.deepcopy(data)
    container(data, path)[path[-1]] = value
    return data


def paths(data, path=()):
    """Every place in a JSON value but the root."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


def accepted(data):
    try:
        sentence_from_dict(json.loads(json.dumps(data)))
    except DataError:
        return False
    return True


# Where the kind is another than before, schema and reader must say the same. Where it is not, the
# reader also checks what a schema cannot: positions, lengths, forms.
VALUES = [None, True, False, -1, 0.5, 2, "x", {}, {"words": []}, [None], [True]]


@pytest.mark.parametrize("path", list(paths(DOGS)), ids=repr)
def test_schema_and_reader_agree(path):
    for value in VALUES:
        data = changed(DOGS, path, value)
        if type(container(DOGS, path)[path[-1]]) is type(value):
            # The schema may accept what the reader has more reasons to refuse, never the reverse.
            assert VALIDATOR.is_valid(data) or not accepted(data), value
        else:
            assert VALIDATOR.is_valid(data) == accepted(data), value


@pytest.mark.parametrize("path", list(paths(DOGS)), ids=repr)
def test_schema_and_reader_want_the_same_keys(path):
    data = copy.deepcopy(DOGS)
    holder = container(data, path)
    if isinstance(holder, dict):
        del holder[path[-1]]
        assert VALIDATOR.is_valid(data) == accepted(data)
        unknown = changed(DOGS, (*path[:-1], "unknown"), ["a", "b", "c"])
        assert VALIDATOR.is_valid(unknown) == accepted(unknown)


@pytest.mark.parametrize("pair", [[], [5], [5, 9, 9]])
def test_schema_and_reader_want_pairs(pair):
    data = changed(DOGS, ("offsets", 1), pair)
    assert not VALIDATOR.is_valid(data)
    assert not accepted(data)


def test_schema_is_a_schema():
    Draft202012Validator.check_schema(json_schema())


def test_every_field_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    schema = json_schema()
    kinds = {"sentence": schema} | schema["$defs"]
    for kind in ("sentence", "proposition", "argument", "trace"):
        _, _, table = text.partition(f"\n| {kind} | | |\n")
        rows = table.split("\n\n")[0].split("\n")[1:]
        names = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
        assert sorted(names) == sorted(kinds[kind]["properties"])
    example = json.loads(text.split("```json\n")[1].split("```")[0])
    VALIDATOR.validate(example)
    assert sentence_to_dict(sentence_from_dict(example)) == example


# Any character, and half a surrogate pair. Both halves side by side are one character to JSON.
STRING = st.text(max_size=6) | st.sampled_from(["\ud83d", "a\udc00", "\udc00\ud83d"])


@st.composite
def sentences(draw):
    """Any sentence at all."""
    words = tuple(draw(st.lists(STRING, max_size=5)))
    n = len(words)
    text = draw(st.none() | st.text(max_size=20))
    limit = 30 if text is None else len(text)
    span = st.tuples(st.integers(0, limit), st.integers(0, limit)).map(
        lambda pair: tuple(sorted(pair))
    )
    probability = st.none() | st.floats(0, 1)

    def per_word(each):
        return draw(st.none() | st.lists(each, min_size=n, max_size=n).map(tuple))

    def spanned(kind, *fields):
        both = st.none() | span
        return st.builds(
            lambda given, pair: kind(*given, *(pair or (None, None))), st.tuples(*fields), both
        )

    propositions = st.just([])
    if n:
        position = st.integers(0, n - 1)
        argument = spanned(Argument, STRING, position, probability)
        arguments = st.lists(argument, max_size=3).map(tuple)
        proposition = spanned(Proposition, position, st.none() | STRING, arguments, probability)
        propositions = st.lists(proposition, max_size=3)
    heads = st.none() | st.integers(0, n - 1) if n else st.none()
    columns = st.lists(STRING, min_size=n, max_size=n).map(tuple)
    return Sentence(
        words,
        tuple(draw(propositions)),
        lemmas=per_word(STRING),
        tags=per_word(STRING),
        heads=per_word(heads),
        relations=per_word(STRING),
        text=text,
        offsets=per_word(span),
        id=draw(st.none() | STRING),
        columns=draw(st.dictionaries(STRING, columns, max_size=2)),
        comments=tuple(draw(st.lists(STRING, max_size=2))),
        start=draw(st.none() | st.integers(0, 10**9)),
    )


@settings(deadline=None)
@given(st.lists(sentences(), max_size=3))
def test_what_is_written_is_read_and_fits_the_schema(corpus):
    lines = "".join(map(format_jsonl, corpus)).encode().decode().split("\n")
    assert list(read_jsonl(lines)) == corpus
    for line in filter(None, lines):
        VALIDATOR.validate(json.loads(line))


@settings(deadline=None, max_examples=300)
@given(
    st.integers(0, 800),
    st.integers(0, 4),
    st.binary(max_size=3) | st.sampled_from(list('[]{}:,"0-9e.\\')).map(str.encode),
)
def test_damage_is_refused_or_read(tmp_path_factory, place, n_deleted, inserted):
    content = format_jsonl(SENTENCE).encode()
    place %= len(content)
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(content[:place] + inserted + content[place + n_deleted :])
    try:
        found = list(read_jsonl(read_lines(path), source="damaged"))
    except DataError as error:
        assert str(error).startswith(("damaged:", str(path)))
    else:
        assert list(read_jsonl("".join(map(format_jsonl, found)).split("\n"))) == found
