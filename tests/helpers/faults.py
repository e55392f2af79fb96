"""Let every system call of a program fail, one at a time, with strace."""

import collections
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

_MARK = "/where-the-calls-to-be-counted-begin-or-end"
_CALL = re.compile(r"^(\w+)\(")
# Calls after which something else is on the disk.
CHANGES = ("fsync", "mkdir", "openat", "rename", "renameat2", "rmdir", "unlinkat", "write")


@cache
def has_strace() -> bool:
    """Whether this machine has strace and lets it watch programs."""
    path = shutil.which("strace")
    return path is not None and not subprocess.run([path, "-o/dev/null", "true"]).returncode


def faults(code: str, folder: Path, *, kind: str, calls: Collection[str] = ()) -> Iterator[str]:
    """Run a Python program in a folder again and again, with a fault at another call each time.

    Yields the faults, for the caller to see what is left and to put it back.

    kind   of the fault, as strace calls it: error=EIO, signal=KILL
    calls  names of those that fail; all by default
    """
    mark = f"os.path.exists({_MARK!r})"
    # Background jobs of some shells ignore the signal.
    interruptible = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    start = f"import os, signal, capsrl.files.opening\n{interruptible}\n"
    program = f"{start}{mark}\n{code}\n{mark}\n"
    log = _strace(program, folder, "-o/dev/stderr")
    before, during = collections.Counter[str](), collections.Counter[str]()
    _, begun, rest = log.partition(_MARK)
    counted, ended, _ = rest.partition(_MARK)
    assert begun and ended, log
    for counter, part in ((before, log[: log.index(_MARK)]), (during, counted)):
        names = (_CALL.match(line) for line in part.splitlines())
        counter.update(name[1] for name in names if name)
    yield ""
    for name in sorted(during.keys() & calls if calls else during):
        for number in range(before[name] + 1, before[name] + during[name] + 1):
            _strace(program, folder, "-o/dev/null", f"-einject={name}:{kind}:when={number}")
            yield f"{name}:{kind}:when={number}"


def _strace(program: str, folder: Path, *options: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["strace", "-etrace=%file,%desc", *options, sys.executable, "-S", "-c", program]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stderr
