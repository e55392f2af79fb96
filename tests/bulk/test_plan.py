"""Plans: shards of rows, writing and reading, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.bulk.plan import Piece, Plan, check_settings, read_plan
from capsrl.bulk.storage import Folder
from capsrl.errors import ConfigError, DataError
from tests.helpers.bulk_plans import SETTINGS, source


def make_plan(counts, size):
    sources = [source(f"{number}.csv", count, size) for number, count in enumerate(counts)]
    return Plan(SETTINGS, size, sources)


def test_a_large_input_has_a_shard_for_each_part():
    plan = make_plan([25], 10)
    assert (plan.n_shards, plan.n_rows) == (3, 25)
    assert plan.pieces(0) == [Piece("0.csv", 250, 0, 10, 0)]
    assert plan.pieces(2) == [Piece("0.csv", 250, 20, 25, 200)]
    assert [plan.n_rows_of(shard) for shard in range(3)] == [10, 10, 5]


def test_small_inputs_share_a_shard():
    plan = make_plan([4, 3, 0, 3, 1, 12], 10)
    found = [
        [(piece.path, len_of(piece)) for piece in plan.pieces(n)] for n in range(plan.n_shards)
    ]
    assert found == [
        [("0.csv", 4), ("1.csv", 3), ("3.csv", 3)],
        [("4.csv", 1)],
        [("5.csv", 10)],
        [("5.csv", 2)],
    ]


def len_of(piece):
    return piece.stop - piece.first


@given(st.lists(st.integers(0, 40), max_size=20), st.integers(1, 15))
def test_every_row_is_in_one_shard_and_in_order(counts, size):
    plan = make_plan(counts, size)
    expected = [(f"{n}.csv", row) for n, count in enumerate(counts) for row in range(count)]
    found = []
    for shard in range(plan.n_shards):
        pieces = plan.pieces(shard)
        rows = [(piece.path, row) for piece in pieces for row in range(piece.first, piece.stop)]
        assert 1 <= len(rows) == plan.n_rows_of(shard) <= size
        assert all(piece.offset == 10 * piece.first for piece in pieces)
        found += rows
    assert found == expected
    assert plan.n_rows == len(expected)


def test_what_is_written_is_read(tmp_path):
    folder = Folder(str(tmp_path))
    assert read_plan(folder) is None
    plan = Plan(SETTINGS, 10, [source("a.csv", 25, 10), source("b.parquet", 5, 10, offsets=False)])
    plan.write(folder)
    again = read_plan(folder)
    assert again.digest() == plan.digest()
    assert again.settings == SETTINGS
    assert [again.pieces(n) for n in range(3)] == [plan.pieces(n) for n in range(3)]
    assert again.pieces(2)[1] == Piece("b.parquet", 50, 0, 5, None)


def test_only_the_name_of_a_shard_means_done(tmp_path):
    plan, folder = make_plan([50], 10), Folder(str(tmp_path))
    assert not plan.find_done(folder).any()
    names = [plan.name(1), plan.name(4), "data/part-9999999.jsonl", "data/part-2.jsonl"]
    names += ["data/part-0000003.csv", "data/.part-0000003.jsonl", "data/part-x.jsonl"]
    for name in names:
        folder.write(name, b"")
    assert np.flatnonzero(plan.find_done(folder)).tolist() == [1, 4]
    assert plan.name(4) == "data/part-0000004.jsonl"


@pytest.mark.parametrize(
    ("changes", "shard_size", "message"),
    [
        ({"to": "csv"}, None, 'got to "csv" instead of "jsonl"; give'),
        (
            {"options": {"threshold": 0.5, "pos": ["verb"]}},
            None,
            r'got options.pos \["verb"\] instead of null; options.threshold 0.5 instead of 0.0;',
        ),
        ({}, 11, "got shard_size 11 instead of 10"),
        ({"new": 1}, None, "got new 1 instead of null"),
    ],
)
def test_other_settings_are_refused(changes, shard_size, message):
    plan = make_plan([25], 10)
    check_settings(plan, SETTINGS, None, "out")
    check_settings(plan, SETTINGS, 10, "out")
    with pytest.raises(ConfigError, match=f"^out: expected the settings with which .*{message}"):
        check_settings(plan, {**SETTINGS, **changes}, shard_size, "out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a plan of capsrl bulk, got "),
        ("[1]\n", "expected a plan of capsrl bulk, got "),
        ('{"format": 1}\n{"path": 1}\n', "expected a plan of capsrl bulk, got 'firsts'"),
        ('{"format": 2}\n', "expected a plan of format 1, got 2; use the version"),
    ],
)
def test_damaged_plans(tmp_path, text, message):
    (tmp_path / "plan.jsonl").write_text(text)
    with pytest.raises(DataError, match=f"plan.jsonl: {message}"):
        read_plan(Folder(str(tmp_path)))


def test_a_plan_is_readable_by_others(tmp_path):
    make_plan([25, 3], 10).write(Folder(str(tmp_path)))
    head, *inputs = map(json.loads, (tmp_path / "plan.jsonl").read_text().splitlines())
    assert head == {"format": 1, "shard_size": 10, "settings": SETTINGS}
    assert [each["path"] for each in inputs] == ["0.csv", "1.csv"]
