"""Stop a process at any of its changes of files, as `kill -9` would."""

import os
import sys
from collections.abc import Callable, Iterator

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
    process = os.fork()
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
        finally:
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert code in (0, 1), "an error in the forked process"
    return code == 1


def _writes(arguments: tuple[object, ...]) -> bool:
    return isinstance(arguments[2], int) and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
