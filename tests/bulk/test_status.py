"""Counts, log and status file."""

import json
import os

import numpy as np
import pytest

from capsrl.bulk.status import (
    Counts,
    RunLog,
    count_done,
    counts_name,
    error_kind,
    is_alive,
    read_log,
    read_status,
)
from capsrl.bulk.storage import Folder
from capsrl.errors import DataError

ONE = Counts(2, 3, 4, 5)


@pytest.fixture
def folder(tmp_path):
    return Folder(str(tmp_path / "out"))


def test_counts_add_up():
    counts = Counts()
    for errors in ({"a": 1}, {"a": 2, "b": 1}):
        counts.add(Counts(1, 2, 3, 4, errors))
    assert counts.to_dict() == {
        "documents": 2,
        "sentences": 4,
        "propositions": 6,
        "arguments": 8,
        "errors": {"a": 3, "b": 1},
    }
    assert Counts.from_dict({**counts.to_dict(), "more": 1}) == counts
    assert Counts.from_dict(json.loads(counts.to_json())) == counts


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("expected text in 'text', got null", "no text"),
        ("expected UTF-8 text, got byte 0xe9; name the encoding", "encoding"),
        ("expected at most 1,000,000 characters, got 1,000,001; split", "too long"),
        ("expected lines of at most 16,777,216 bytes", "too long"),
        ("expected 3 cells as in the header, got 2", "bad row"),
        ("expected a text that can be labeled, got one at which the worker died", "failed"),
    ],
)
def test_kinds_of_errors(error, kind):
    assert error_kind(error) == kind


def test_a_shard_counts_once(folder):
    log = RunLog(folder)
    for shard in (0, 1, 1, 3):
        log.write_shard(shard, ONE)
    counts, missing = count_done(folder, np.array([True, True, True, False]))
    assert (counts.sentences, missing) == (6, [2])


def test_a_log_that_was_cut_off_goes_on(folder, tmp_path):
    log = RunLog(folder)
    log.write("start")
    log.write_shard(0, ONE)
    file = tmp_path / "out" / "log.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    RunLog(folder).write("start", number=2)
    assert [event["kind"] for event in read_log(folder)] == ["start", "start"]
    assert not list(read_log(Folder(str(tmp_path / "none"))))


def test_counts_are_removed_when_they_are_in_the_log(folder):
    folder.write(counts_name(0), ONE.to_json())
    RunLog(folder).write_shard(0, ONE)
    assert list(folder.list("counts")) == []


def test_a_folder_without_a_run(folder):
    with pytest.raises(
        DataError, match="out: expected a folder that capsrl bulk writes, got no st"
    ):
        read_status(folder)


def test_processes():
    assert is_alive(os.getpid())
    assert not is_alive(1 << 22)
