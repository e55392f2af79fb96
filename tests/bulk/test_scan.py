"""Scanning inputs: sizes, digests, parts, and what has changed since."""

import hashlib
import json
import os

import numpy as np
import pytest

from capsrl.bulk.scan import check_inputs, choose_shard_size, scan
from capsrl.errors import ConfigError, DataError
from capsrl.tables.documents import Input
from tests.helpers.bulk_plans import LINES, TEXTS, make_plan, write_gz


def test_inputs_are_checked_by_content(tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for file in (one, two):
        file.write_text(LINES)
    paths = [str(one), str(two)]
    plan = make_plan(paths, 5)
    check_inputs(plan, paths, "out")
    os.utime(one, ns=(1, 1))
    check_inputs(plan, paths, "out")  # another time, the same content
    two.write_text(LINES.replace("Sentence 3", "Sentence X"))
    os.utime(two, ns=(1, 1))
    with pytest.raises(
        ConfigError, match=r"^out: expected .*two.jsonl as it was .* another content"
    ):
        check_inputs(plan, paths, "out")
    for wrong, message in [
        (paths[:1], "the 2 inputs .* got 1, no .*two.jsonl;"),
        ([*paths, "three.csv"], "got 3, three.csv besides"),
        (paths[::-1], "got 2, another order"),
    ]:
        with pytest.raises(ConfigError, match=message):
            check_inputs(plan, wrong, "out")
    os.unlink(one)
    with pytest.raises(DataError, match="one.jsonl: cannot be read: No such file"):
        check_inputs(plan, paths, "out")


def test_shards_are_smaller_for_longer_texts(tmp_path):
    sizes = []
    for name, length in (("short", 10), ("long", 10_000), ("longer", 900_000)):
        file = tmp_path / f"{name}.jsonl"
        file.write_text((json.dumps({"text": "x" * length}) + "\n") * 3)
        sizes.append(choose_shard_size([Input(str(file))]))
    assert sizes == [2000, 13, 1]
    with pytest.raises(ConfigError, match="expected a column 'text'"):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        choose_shard_size([Input(str(tmp_path / "x.csv"))])


def test_digest_is_that_of_the_file(tmp_path):
    write_gz(tmp_path / "a.jsonl.gz")
    found = scan(Input(str(tmp_path / "a.jsonl.gz")), 10)
    assert found.digest == hashlib.sha256((tmp_path / "a.jsonl.gz").read_bytes()).hexdigest()
    assert found.n_rows == len(TEXTS)
    assert found.firsts.tolist() == [0, 10, 20]
    assert np.all(found.offsets[1:] > 0)
