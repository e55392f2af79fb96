"""Kill the workers, drivers and whole process groups of bulk runs, and let their files fail."""

import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from subprocess import Popen
from typing import Any

from tests.helpers.bulk_runs import kill, kill_all, outputs, start, workers, write_texts
from torture.target import Wrong

_FAILING = Path(__file__).parent / "failing"  # its sitecustomize.py is imported by all processes
_LONGEST = 600  # seconds
_WORDS = ("state", "shards", "done", "documents", "sentences", "propositions", "arguments")


def kill_bulk(count: int, source: Random, *, texts: int = 3000, shard: int = 25) -> Counter[str]:
    """Kill runs until they were killed often enough; those that end in between are compared.

    Raises Wrong if what is left is not that of a run which was never disturbed.
    """
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="capsrl-kills-") as name:
        mark, folder = f"{os.getpid()}-torture", Path(name)
        arguments = [write_texts(folder / "in.jsonl", texts), folder / "calm", "--workers", 1]
        arguments += ["--shard-size", shard]
        try:
            _finish(mark, arguments)
            while outcomes.total() < count:
                arguments[1] = folder / f"killed-{outcomes.total()}"
                outcomes += _kill_one(mark, arguments, count - outcomes.total(), source)
                _compare(folder / "calm", arguments[1])
        finally:
            kill_all(mark)
    return outcomes


def _kill_one(mark: str, arguments: list[Any], count: int, source: Random) -> Counter[str]:
    """Kill a run at most `count` times, until it ends."""
    outcomes: Counter[str] = Counter()
    run = _begin(mark, arguments, source, outcomes)
    while outcomes.total() < count and _wait_for_progress(mark, run, arguments[1]):
        time.sleep(source.uniform(0, 0.4))
        kind = source.choice(("worker", "worker", "driver", "group"))
        alive = workers(mark)
        if run.poll() is not None or not alive:
            continue
        outcomes[f"{kind}: killed"] += 1
        if kind == "worker":
            kill(source.choice(alive))
            continue
        if kind == "group":
            kill_all(mark)
        run.kill()
        run.communicate()
        run = _begin(mark, arguments, source, outcomes)
    _, errors = run.communicate(timeout=_LONGEST)
    if "Traceback" in errors:
        raise Wrong(f"a traceback:\n{errors}")
    kill_all(mark)
    _finish(mark, arguments)  # the next run makes what is missing, after failures of files
    return outcomes


def _begin(mark: str, arguments: list[Any], source: Random, outcomes: Counter[str]) -> Popen[str]:
    """Start a run; in every other one some changes of files fail."""
    failing = {}
    if source.random() < 0.5:
        outcomes["failing files"] += 1
        failing = {"CAPSRL_FAILING": f"{source.random()} 0.02 {arguments[1]}/data"}
        failing["PYTHONPATH"] = str(_FAILING)
    return start(mark, *arguments, variables=failing)


def _finish(mark: str, arguments: list[Any]) -> None:
    run = start(mark, *arguments)
    _, errors = run.communicate(timeout=_LONGEST)
    if run.returncode:
        raise Wrong(f"exit code {run.returncode}:\n{errors}")


def _wait_for_progress(mark: str, run: Popen[str], folder: Path) -> bool:
    """Wait for another shard, or for a worker; false if the run ends before."""
    before, end = _n_done(folder), time.monotonic() + _LONGEST
    while run.poll() is None:
        if _n_done(folder) > before and workers(mark):
            return True
        if time.monotonic() > end:
            raise Wrong(f"no progress in {_LONGEST} s")
        time.sleep(0.05)
    return False


def _n_done(folder: Path) -> int:
    data = folder / "data"
    return len(os.listdir(data)) if data.exists() else 0


def _compare(calm: Path, folder: Path) -> None:
    if outputs(folder) != outputs(calm):
        raise Wrong("other output than without kills")
    found = {path.name for path in folder.iterdir()} - {path.name for path in calm.iterdir()}
    if found:
        raise Wrong(f"left behind: {found}")
    states = [json.loads((each / "status.json").read_text("utf-8")) for each in (calm, folder)]
    if any(states[0][word] != states[1][word] for word in _WORDS):
        raise Wrong(f"another status: {states}")
