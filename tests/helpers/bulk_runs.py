"""Bulk runs in separate processes, and killing them."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MARK = "CAPSRL_TEST_RUN"  # a variable of the environment that all processes of a run inherit

SUBJECTS = ("The company", "Mira", "A neighbour", "My old friend", "The union", "She", "They")
VERBS = ("sold", "bought", "signed", "promised", "gave", "found", "repaired", "lost", "painted")
OBJECTS = ("the contract", "a bicycle", "her car", "the old house", "a report", "two books")
TAILS = ("", " yesterday", " in Paris", " to a friend", " because it rained", " for ten dollars")


def make_texts(number, *, seed=1):
    """Short sentences, no two of which need be the same."""
    chooser = random.Random(seed)
    parts = (SUBJECTS, (" ",), VERBS, (" ",), OBJECTS, TAILS, (".",))
    return ["".join(chooser.choice(part) for part in parts) for _ in range(number)]


def write_texts(file, number, *, seed=1):
    """A file of JSON lines with such sentences."""
    lines = (
        json.dumps({"id": f"r{row}", "text": text})
        for row, text in enumerate(make_texts(number, seed=seed))
    )
    Path(file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Path(file)


def start(mark, *arguments, variables=None):
    """Start `capsrl bulk` in a process group of its own; `variables` are of its environment."""
    variables = variables or {}
    parts = [variables.get("PYTHONPATH"), str(ROOT), os.environ.get("PYTHONPATH")]
    path = os.pathsep.join(filter(None, parts))
    ours = {MARK: mark, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "capsrl", "bulk", *map(str, arguments)],
        env=os.environ | variables | ours,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def processes(mark):
    """The processes of a run: pid -> what it is, such as ray::Worker."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    title = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(entry.name)] = title.decode(errors="replace").strip()
            except OSError:  # it has ended, or belongs to another user
                continue
    return found


def workers(mark):
    """The pids of the workers of a run."""
    return [pid for pid, title in processes(mark).items() if title.startswith("ray::_Actor")]


def kill(pid):
    """Kill a process, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_all(mark):
    """Kill all processes of a run and wait until they are gone."""
    for _ in range(100):
        found = processes(mark)
        if not found:
            return
        for pid in found:
            kill(pid)
        time.sleep(0.1)
    raise AssertionError(f"still there: {found}")


def outputs(folder):
    """What a run wrote, but for the logs, which have times in them: name -> bytes."""
    names = ["plan.jsonl", *(f"data/{file.name}" for file in (Path(folder) / "data").iterdir())]
    return {name: (Path(folder) / name).read_bytes() for name in sorted(names)}
