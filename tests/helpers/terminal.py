"""Run the command line with a terminal for its streams."""

import os
import pty
import subprocess
import sys
import threading


def run_on_a_terminal(arguments, folder, **streams):
    """Run `capsrl` with a terminal for the streams not given; return what it showed there."""
    ours, theirs = pty.openpty()
    shown = []
    # Meanwhile: a terminal that nobody reads takes some kilobytes, then the command would wait.
    reader = threading.Thread(target=_read, args=(ours, shown))
    reader.start()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "capsrl", *arguments],
            **{"stdin": theirs, "stdout": theirs, "stderr": theirs} | streams,
            cwd=folder,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
            timeout=600,
        )
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return done, b"".join(shown).decode()


def _read(terminal, shown):
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux raises when the other end is closed
            return
        if not part:
            return
        shown.append(part)
