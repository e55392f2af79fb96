"""Plans: shards of rows, writing and reading, and what is refused."""

import hashlib
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.bulk.plan import (
    Plan,
    check_settings,
    choose_shard_size,
    find_added,
    has_plan,
    read_plan,
    scan,
)
from capsrl.bulk.storage import Folder
from capsrl.errors import ConfigError, DataError
from capsrl.tables.documents import make_input
from capsrl.tables.reading import FilePart
from tests.helpers import bulk_plans
from tests.helpers.bulk_plans import LINES, SETTINGS, TEXTS, planned, write_gz


def make_plan(counts, size):
    inputs = [planned(f"{number}.csv", count, size) for number, count in enumerate(counts)]
    return Plan(SETTINGS, size, inputs)


def test_a_large_input_has_a_shard_for_each_part():
    plan = make_plan([25], 10)
    assert (plan.n_shards, plan.n_rows) == (3, 25)
    assert plan.parts(0) == [FilePart(0, 10, 0, "0.csv", 250, 10)]
    assert plan.parts(2) == [FilePart(20, 25, 200, "0.csv", 250, 5)]
    assert [plan.n_rows_of(shard) for shard in range(3)] == [10, 10, 5]


def test_small_inputs_share_a_shard():
    plan = make_plan([4, 3, 0, 3, 1, 12], 10)
    found = [[(part.path, len_of(part)) for part in plan.parts(n)] for n in range(plan.n_shards)]
    assert found == [
        [("0.csv", 4), ("1.csv", 3), ("3.csv", 3)],
        [("4.csv", 1)],
        [("5.csv", 10)],
        [("5.csv", 2)],
    ]


def len_of(part):
    return part.stop - part.first


@given(st.lists(st.integers(0, 40), max_size=20), st.integers(1, 15))
def test_every_row_is_in_one_shard_and_in_order(counts, size):
    plan = make_plan(counts, size)
    expected = [(f"{n}.csv", row) for n, count in enumerate(counts) for row in range(count)]
    found = []
    for shard in range(plan.n_shards):
        parts = plan.parts(shard)
        rows = [(part.path, row) for part in parts for row in range(part.first, part.stop)]
        assert 1 <= len(rows) == plan.n_rows_of(shard) <= size
        assert all(part.offset == 10 * part.first for part in parts)
        found += rows
    assert found == expected
    assert plan.n_rows == len(expected)


def test_what_is_written_is_read(tmp_path):
    folder = Folder(str(tmp_path))
    assert read_plan(folder) is None
    plan = Plan(
        SETTINGS, 10, [planned("a.csv", 25, 10), planned("b.parquet", 5, 10, offsets=False)]
    )
    plan.write(folder)
    again = read_plan(folder)
    assert again.digest() == plan.digest()
    assert again.settings == SETTINGS
    assert [again.parts(n) for n in range(3)] == [plan.parts(n) for n in range(3)]
    assert again.parts(2)[1] == FilePart(0, 5, None, "b.parquet", 50, 5)


def test_only_the_name_of_a_shard_means_done(tmp_path):
    plan, folder = make_plan([50], 10), Folder(str(tmp_path))
    assert plan.output_sizes(folder).tolist() == [-1] * 5
    names = [plan.name(1), plan.name(4), "data/part-9999999.jsonl", "data/part-2.jsonl"]
    names += ["data/part-0000003.csv", "data/.part-0000003.jsonl", "data/part-x.jsonl"]
    for name in names:
        folder.write(name, b"abc")
    assert plan.output_sizes(folder).tolist() == [-1, 3, -1, -1, 3]
    assert plan.name(4) == "data/part-0000004.jsonl"


@pytest.mark.parametrize(
    ("changes", "shard_size", "message"),
    [
        ({"to": "csv"}, None, 'to was "jsonl", now "csv"; give'),
        (
            {"options": {"threshold": 0.5, "pos": ["verb"]}},
            None,
            r'options.pos was null, now \["verb"\]; options.threshold was 0.0, now 0.5;',
        ),
        ({}, 11, "shard_size was 10, now 11"),
        ({"new": 1}, None, "new was null, now 1"),
    ],
)
def test_other_settings_are_refused(changes, shard_size, message):
    plan = make_plan([25], 10)
    check_settings(plan, SETTINGS, None, "out")
    check_settings(plan, SETTINGS, 10, "out")
    with pytest.raises(ConfigError, match=f"^out was started with other settings: {message}"):
        check_settings(plan, {**SETTINGS, **changes}, shard_size, "out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a plan of capsrl bulk: not enough values"),
        ("[1]\n", "not a plan of capsrl bulk: list indices"),
        ('{"format": 2}\n{"path": 1}\n', "not a plan of capsrl bulk: 'firsts'"),
        ('{"format": 3}\n', "expected a plan of format 2, got 3; use the version"),
    ],
)
def test_plans_of_other_programs(tmp_path, text, message):
    digest = hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "plan.jsonl").write_text(f'{text}{{"sha256": "{digest}"}}\n')
    with pytest.raises(DataError, match=f"plan.jsonl: {message}"):
        read_plan(Folder(str(tmp_path)))


@given(st.data())
def test_damaged_plans(tmp_path_factory, data):
    """Whatever is cut off, changed or put in, also a whole line, is noticed."""
    folder = tmp_path_factory.mktemp("plan")
    make_plan([25, 3], 10).write(Folder(str(folder)))
    good = (folder / "plan.jsonl").read_bytes()
    at = data.draw(st.one_of(st.integers(0, len(good) - 1), st.just(good.index(b"\n") + 1)))
    end = data.draw(st.one_of(st.integers(at, len(good)), st.just(good.rindex(b"\n", 0, -1) + 1)))
    put = data.draw(st.binary(max_size=9))
    if good[:at] + put + good[end:] != good:
        (folder / "plan.jsonl").write_bytes(good[:at] + put + good[end:])
        with pytest.raises(DataError, match="plan.jsonl: not a plan of capsrl bulk: it is damaged"):
            read_plan(Folder(str(folder)))


def test_added_inputs_have_a_file_and_shards_of_their_own(tmp_path):
    folder = Folder(str(tmp_path))
    plan = make_plan([14, 3], 10)
    plan.write(folder)
    longer = plan.with_inputs([planned("new.csv", 2, 10)])
    longer = longer.with_inputs([planned("newer.csv", 12, 10), planned("newest.csv", 1, 10)])
    assert [longer.parts(shard) for shard in range(2)] == [plan.parts(0), plan.parts(1)]
    assert [[part.path for part in longer.parts(shard)] for shard in range(2, longer.n_shards)] == [
        ["new.csv"],
        ["newer.csv"],
        ["newer.csv", "newest.csv"],
    ]
    plan.with_inputs([planned("new.csv", 2, 10)]).write(folder)
    longer.write(folder)
    again = read_plan(folder)
    assert again.digest() == longer.digest()
    assert [*map(again.parts, range(5))] == [*map(longer.parts, range(5))]
    Plan({"to": "csv"}, 10, [planned("new.csv", 2, 10)]).write(Folder(str(tmp_path / "other")))
    (tmp_path / "other" / "plan.jsonl").rename(tmp_path / "plan-3.jsonl")
    with pytest.raises(DataError, match="plan-3.jsonl: expected the settings of plan.jsonl, got"):
        read_plan(folder)


def test_folders_with_a_plan(tmp_path):
    folder = Folder(str(tmp_path))
    assert not has_plan(folder) and not has_plan(Folder("memory://none"))
    (tmp_path / "plan.jsonl").write_text('{"text": "A plan."}\n')
    assert not has_plan(folder)
    make_plan([1], 1).write(folder)
    assert has_plan(folder)


def test_a_plan_is_readable_by_others(tmp_path):
    make_plan([25, 3], 10).write(Folder(str(tmp_path)))
    head, *inputs, last = map(json.loads, (tmp_path / "plan.jsonl").read_text().splitlines())
    assert head == {"format": 2, "shard_size": 10, "settings": SETTINGS}
    assert list(last) == ["sha256"]
    assert [each["path"] for each in inputs] == ["0.csv", "1.csv"]


def test_inputs_are_checked_by_content(tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for file in (one, two):
        file.write_text(LINES)
    paths = [str(one), str(two)]
    plan = bulk_plans.make_plan(paths, 5)
    assert find_added(plan, paths, "out") == []
    assert find_added(plan, ["0.csv", paths[1], "x", paths[0]], "out") == ["0.csv", "x"]
    os.utime(one, ns=(1, 1))
    find_added(plan, paths, "out")  # another time, the same content
    two.write_text(LINES.replace("Sentence 3", "Sentence X"))
    os.utime(two, ns=(1, 1))
    with pytest.raises(
        ConfigError, match=r"^out was started with other inputs: .*two.jsonl has changed; give"
    ):
        find_added(plan, paths, "out")
    with pytest.raises(ConfigError, match="^out was started with .*two.jsonl is missing; give the"):
        find_added(plan, [paths[0], "three.csv"], "out")
    os.unlink(one)
    with pytest.raises(DataError, match="one.jsonl: no such file"):
        find_added(plan, paths, "out")


def test_shards_are_smaller_for_longer_texts(tmp_path):
    sizes = []
    for name, length in (("short", 10), ("long", 10_000), ("longer", 900_000)):
        file = tmp_path / f"{name}.jsonl"
        file.write_text((json.dumps({"text": "x" * length}) + "\n") * 3)
        sizes.append(choose_shard_size([make_input(str(file))]))
    assert sizes == [2000, 13, 1]
    with pytest.raises(ConfigError, match="expected a column 'text'"):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        choose_shard_size([make_input(str(tmp_path / "x.csv"))])


def test_digest_is_that_of_the_file(tmp_path):
    write_gz(tmp_path / "a.jsonl.gz")
    found = scan(make_input(str(tmp_path / "a.jsonl.gz")), 10)
    assert found.digest == hashlib.sha256((tmp_path / "a.jsonl.gz").read_bytes()).hexdigest()
    assert found.n_rows == len(TEXTS)
    assert found.firsts.tolist() == [0, 10, 20]
    assert np.all(found.offsets[1:] > 0)


def test_plans_have_no_passwords(tmp_path, memory_files):
    """Given again, also another password, the inputs are found by the rest of their URLs."""
    url = "memory://mira:S3CRET@box/a.csv"
    memory_files.pipe(url.removeprefix("memory:/"), b"text\nDogs bark.\n")
    folder = Folder(str(tmp_path))
    Plan(SETTINGS, 5, [scan(make_input(url), 5)]).write(folder)
    assert b"S3CRET" not in (tmp_path / "plan.jsonl").read_bytes()
    plan = read_plan(folder, [url])
    assert plan.parts(0)[0].path == url
    assert find_added(plan, [url, "b.csv"], "out") == ["b.csv"]
    with pytest.raises(ConfigError, match="memory://box/a.csv is missing"):
        find_added(read_plan(folder), ["b.csv"], "out")
