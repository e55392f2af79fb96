"""Stop a process at any of its changes of files, as `kill -9` would."""

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator

from tests.helpers.waiting import wait_until

_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir")


def crashes(change_files: Callable[[], object]) -> Iterator[int]:
    """Run something in a forked process again and again, and stop it one change later each time.

    Yields the number of changes after each stop, for the caller to see what is left and to put it
    back; ends when nothing was stopped.
    """
    n_changes = 0
    while _stops(change_files, n_changes):
        yield n_changes
        n_changes += 1


def _stops(change_files: Callable[[], object], n_changes: int) -> bool:
    process = _fork()
    if not process:
        left = n_changes

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in _CHANGES or (event == "open" and _writes(arguments)):
                if not left:
                    os._exit(1)
                left -= 1

        try:
            sys.addaudithook(watch)
            change_files()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(2)
    code = _exit_code(process)
    assert code in (0, 1), "an error in the forked process"
    return code == 1


def _fork() -> int:
    with warnings.catch_warnings():
        # From Python 3.12 on for a process with threads; none of theirs is needed here.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _exit_code(process: int) -> int:
    ended, status = 0, 0

    def has_ended() -> bool:
        nonlocal ended, status
        ended, status = os.waitpid(process, os.WNOHANG)
        return bool(ended)

    try:
        wait_until(has_ended)
    finally:
        if not ended:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def _writes(arguments: tuple[object, ...]) -> bool:
    return isinstance(arguments[2], int) and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
