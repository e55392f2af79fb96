"""Run the command line with a terminal for its streams."""

import os
import pty
import subprocess
import sys


def run_on_a_terminal(arguments, folder, **streams):
    """Run `capsrl` with a terminal for the streams not given; return what it showed there."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "capsrl", *arguments],
        **{"stdin": theirs, "stdout": theirs, "stderr": theirs} | streams,
        cwd=folder,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
        timeout=120,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux raises when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return done, shown.decode()
