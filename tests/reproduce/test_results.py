"""Finished runs on disk: what is written comes back, what is no run is refused by name."""

import json
import re

import pytest

from capsrl.errors import DataError
from reproduce.results import read_result, read_results, write_result
from tests.helpers.synthetic_runs import full_plan, run


@pytest.mark.parametrize("one", full_plan(), ids=lambda one: f"{one.corpus}-{one.variant}")
def test_what_is_written_comes_back(tmp_path, one):
    path = tmp_path / "run.json"
    write_result(path, one)
    again = read_result(path)
    assert again == one
    assert again.measured.sweep.keys() == one.measured.sweep.keys()  # numbers, not strings
    assert path.read_text(encoding="utf-8").count("\n") == 1


def test_letters_stay_letters(tmp_path):
    write_result(tmp_path / "run.json", run(language="日本語"))
    assert '"language":"日本語"' in (tmp_path / "run.json").read_text(encoding="utf-8")
    assert read_result(tmp_path / "run.json").language == "日本語"


def test_a_folder_of_runs_in_the_order_of_their_names(tmp_path):
    for name, seed in (("b", 1), ("a", 2), ("c", 3)):
        write_result(tmp_path / f"{name}.json", run(seed=seed))
    (tmp_path / "a").mkdir()  # of a run that is under way
    assert [one.seed for one in read_results(tmp_path)] == [2, 1, 3]


def test_folders_without_runs(tmp_path):
    with pytest.raises(DataError, match="gone: expected a folder of runs, got no such folder"):
        read_results(tmp_path / "gone")
    with pytest.raises(DataError, match=r"expected finished runs \(\*\.json\), got none; make the"):
        read_results(tmp_path)


def damaged(path, **changes):
    """A run's file with some values changed; None takes one away."""
    write_result(path, run())
    values = json.loads(path.read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in values.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "expected a run of format 1, got format 2"),
        ({"format": None}, "expected a run of format 1, got none"),
        ({"measured": None}, "expected 'measured' among its fields, got none"),
        ({"dev_f1": None}, "expected 'dev_f1' among its fields, got none"),
        ({"measured": {"sets": {}}}, "expected 'lengths' among its fields, got none"),
        ({"measured": []}, "expected the fields of a run, got list indices must be"),
        ({"measured": {"sets": [1]}}, "expected the fields of a run, got 'list' object has no"),
        ({"measured": {"sets": {"dev": {"x": 1}}}}, "got .* unexpected keyword argument 'x'"),
        ({"seed": None}, "expected the fields of a run, got .* argument: 'seed'"),
        ({"colour": "red"}, "expected the fields of a run, got .* argument 'colour'"),
        ({"dev_f1": 3}, "expected the fields of a run, got 'int' object is not iterable"),
    ],
)
def test_damaged_and_foreign_runs_are_refused_by_name(tmp_path, changes, message):
    damaged(tmp_path / "x.json", **changes)
    message = rf"x\.json: .*{message}.*; move it away, and `capsrl paper` runs it again$"
    with pytest.raises(DataError, match=message):
        read_result(tmp_path / "x.json")
    with pytest.raises(DataError, match=message):
        read_results(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected the JSON of a run, got Expecting value: line 1"),
        (b'{"format": 1, "corp', "expected the JSON of a run, got Unterminated string"),
        (b"\xff\xfe", "expected the JSON of a run, got 'utf-8' codec can't decode"),
        (b"[1, 2]", "expected a run of format 1, got none"),
        (b"3", "expected a run of format 1, got none"),
    ],
)
def test_what_is_no_json_of_a_run(tmp_path, content, message):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / 'x.json'}: {message}")):
        read_result(tmp_path / "x.json")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"x\.json: expected the JSON of a run, got .*No such file"):
        read_result(tmp_path / "x.json")
