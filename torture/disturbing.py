"""Run a function in a forked process that is killed, or in which the system fails."""

import fcntl
import os
import resource
import select
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from capsrl.errors import CapsrlError
from torture.target import Wrong

# When it is killed: at any time, or at a change of files; what fails: a change, or any large write.
KINDS = ("kill", "kill", "kill at a change", "kill at a change", "failed change", "full disk")
LONGEST = 600  # seconds
_COUNT = "\0"  # before the number of changes, at the end of the output
_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod")


@dataclass(frozen=True)
class Disturbance:
    """What happens, and when.

    where    a share of the time and of the changes, from 0 to 1
    changes  of files that the process makes without it
    seconds  that it takes without it
    """

    kind: str
    where: float
    changes: int
    seconds: float


@dataclass(frozen=True)
class Ended:
    """How a process ended, what it wrote to stderr, and how many changes of files it has made."""

    how: str
    errors: str
    changes: int


def run_forked(
    function: Callable[[], object], folder: Path, disturbance: Disturbance | None
) -> Ended:
    """Run a function in a forked process, in a folder.

    Raises Wrong for a traceback, and for any error of a process that was not disturbed.
    """
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)  # it is read at the end
    sys.stdout.flush()
    process = os.fork()
    if not process:
        _run(function, folder, disturbance, writing)
    os.close(writing)
    timed = disturbance is not None and disturbance.kind == "kill"
    code = _wait(process, disturbance.where * disturbance.seconds if timed else LONGEST)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as output:
        said, _, changes = output.read().partition(_COUNT)
    if "Traceback" in said or (code is None and not timed):
        raise Wrong(f"a traceback, or no end after {LONGEST} s:\n{said}")
    if disturbance is None and code:
        raise Wrong(f"exit code {code}:\n{said}")
    how = "done" if code == 0 else "killed" if code in (None, -signal.SIGKILL) else "refused"
    return Ended(how, said, int(changes or 0))


def _wait(process: int, seconds: float) -> int | None:
    """The exit code of a process; None if it had to be killed after some seconds."""
    ending = os.pidfd_open(process)
    try:
        in_time = select.select([ending], [], [], seconds)[0]
    finally:
        os.close(ending)
    if not in_time:
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code if in_time else None


def _run(
    function: Callable[[], object], folder: Path, disturbance: Disturbance | None, output: int
) -> NoReturn:
    code = 1
    try:
        os.chdir(folder)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace")
        count = _disturb(disturbance)
        try:
            function()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        except (CapsrlError, OSError) as error:
            sys.stderr.write(f"error: {error}\n")
            code = 2
        sys.stdout.flush()
        sys.stderr.write(f"{_COUNT}{count()}")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _disturb(disturbance: Disturbance | None) -> Callable[[], int]:
    """Let something happen in this process; gives a function that counts changes of files."""
    n_changes = 0
    kind = disturbance.kind if disturbance else ""
    at = int(disturbance.where * disturbance.changes) if disturbance else 0
    if kind == "full disk" and disturbance:
        # Writes beyond fail as on a full disk; none of the files is larger than 64 kB.
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(disturbance.where**2 * (1 << 16)),) * 2)

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal n_changes
        if event in _CHANGES or (event == "open" and _writes(arguments)):
            n_changes += 1
            if n_changes == at + 1 and kind == "kill at a change":
                os.kill(os.getpid(), signal.SIGKILL)
            if n_changes == at + 1 and kind == "failed change":
                raise OSError(5, "Input/output error")

    sys.addaudithook(watch)
    return lambda: n_changes


def _writes(arguments: tuple[object, ...]) -> bool:
    return isinstance(arguments[2], int) and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
