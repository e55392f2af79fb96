import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from capsrl.errors import DataError
from capsrl.files.opening import open_writer, read_lines
from capsrl.formats.jsonl import (
    format_jsonl,
    json_schema,
    read_jsonl,
    sentence_from_dict,
    sentence_to_dict,
)
from capsrl.sentence import Argument, Phrase, Proposition, Sentence, Trace
from capsrl.show.formatting import role_histories

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
    assert [(m.word, m.role, bool(m.argument)) for m in role_histories(proposition)] == [
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
        ('{"words": [NaN]}', r"x.jsonl:1: expected a JSON object, .*: NaN is not JSON"),
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


def test_schema_is_a_schema():
    Draft202012Validator.check_schema(json_schema())


def test_every_field_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    schema = json_schema()
    kinds = {"sentence": schema} | schema["$defs"]
    for kind in ("sentence", "proposition", "argument", "phrase", "trace"):
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
        argument = st.builds(
            lambda argument, edges, pair: replace(
                argument,
                phrase=edges
                and Phrase(
                    min(edges[0], argument.word), max(edges[1], argument.word), *(pair or ())
                ),
            ),
            spanned(Argument, STRING, position, probability),
            st.none() | st.tuples(position, position),
            st.none() | span,
        )
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
