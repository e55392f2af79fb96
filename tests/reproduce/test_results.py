"""Results on disk: what is written comes back, and bad lines are named."""

import json
import lzma
import re

import pytest

from capsrl.errors import DataError
from reproduce.results import Change, append_result, read_results
from tests.helpers.synthetic_runs import full_plan, run


def test_what_is_written_comes_back(tmp_path):
    runs = sorted([*full_plan(), run("x", language="日本語")], key=lambda one: one.name)
    for one in runs[::2]:
        append_result(tmp_path / "a.jsonl", one)
    for one in runs[1::2]:
        append_result(tmp_path / "b.jsonl", one)
    data = (tmp_path / "b.jsonl").read_bytes()
    (tmp_path / "c.jsonl.xz").write_bytes(lzma.compress(data))
    (tmp_path / "b.jsonl").unlink()
    found = read_results(tmp_path)
    assert found == runs
    routed = next(one for one in found if one.variant == "capsule")
    assert list(routed.measured.sweep) == [1, 2, 3, 4, 5, 6]  # numbers, not strings
    assert isinstance(routed.measured.transitions[1][0], Change)


def test_a_folder_without_results(tmp_path):
    assert read_results(tmp_path) == read_results(tmp_path / "missing") == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 1}, "format 1 instead of 2"),
        ({"measured": None}, "TypeError: "),
        ({"dev_f1": 3}, "'int' object is not iterable"),
        ({"sead": "x"}, "unexpected keyword argument 'sead'"),
        ({"measured": {"sets": {"dev": {"x": 1}}}}, "missing 5 required positional arguments"),
    ],
)
def test_bad_fields_are_named(tmp_path, changes, message):
    path = tmp_path / "runs.jsonl"
    append_result(path, run())
    values = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(path.read_text(encoding="utf-8") + json.dumps(values), encoding="utf-8")
    with pytest.raises(DataError, match=rf"runs\.jsonl:2: .*{re.escape(message)}.*; delete this"):
        read_results(tmp_path)


@pytest.mark.parametrize("content", [b"{", b'{"format": 2, "corp', b"\xff\xfe", b"[1, 2]", b"3"])
def test_lines_that_are_not_results(tmp_path, content):
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.jsonl:1: expected the result of a run, got"):
        read_results(tmp_path)
    (tmp_path / "x.jsonl").rename(tmp_path / "x.jsonl.xz")
    with pytest.raises(DataError, match=r"x\.jsonl\.xz: cannot be read"):
        read_results(tmp_path)
