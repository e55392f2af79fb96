"""Wait for what happens in other processes and threads."""

import subprocess
import time
from collections.abc import Callable


def wait_until(
    condition: Callable[[], object], process: subprocess.Popen[str] | None = None
) -> None:
    """Wait until a condition holds, while a process runs; only what hangs reaches the limit."""
    deadline = time.monotonic() + 300
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
