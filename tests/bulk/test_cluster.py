"""A cluster of two nodes on this machine, one of which is killed in the middle of a run."""

import json
import os
import time

import pytest

from tests.helpers.bulk_runs import (
    MARK,
    ROOT,
    kill_all,
    outputs,
    processes,
    start,
    workers,
    write_texts,
)


@pytest.fixture
def cluster(monkeypatch, tmp_path):
    """Two nodes with one core each, in processes of their own."""
    from ray.cluster_utils import Cluster

    mark = f"{os.getpid()}-nodes"
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    made = Cluster()
    common = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
    made.add_node(**common)
    made.second = made.add_node(**common)
    made.mark = mark
    yield made
    made.shutdown()
    kill_all(mark)


def node_of(pid):
    """The pid of the raylet that started a worker."""
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


@pytest.mark.slow
def test_a_node_dies(cluster, tmp_path):
    arguments = [write_texts(tmp_path / "in.jsonl", 3000), tmp_path / "out", "--shard-size", 50]
    run = start("driver", *arguments, "--address", cluster.address)
    end = time.monotonic() + 120
    while len(list((tmp_path / "out").glob("data/*"))) < 10:
        assert run.poll() is None and time.monotonic() < end
        time.sleep(0.1)
    raylets = {node_of(pid) for pid in workers(cluster.mark)}
    assert len(raylets) == 2  # both nodes work
    cluster.remove_node(cluster.second, allow_graceful=False)
    _, errors = run.communicate(timeout=300)
    assert run.returncode == 0, errors
    status = json.loads((tmp_path / "out" / "status.json").read_text())
    assert (status["done"], status["documents"], status["failures"]) == (60, 3000, 1)
    assert processes("driver") == {}
    arguments[1] = tmp_path / "calm"
    calm = start("driver", *arguments, "--workers", 2)
    calm.communicate(timeout=300)
    assert outputs(tmp_path / "out") == outputs(tmp_path / "calm")
    kill_all("driver")
