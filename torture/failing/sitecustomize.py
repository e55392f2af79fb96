"""Python imports this first where its folder is in PYTHONPATH; see torture.bulk_kills."""

import os
import random
import sys

_seed, _share, _folder = os.environ["CAPSRL_FAILING"].split(" ", 2)
_source = random.Random(f"{_seed} {os.getpid()}")


def _fail(event: str, arguments: tuple) -> None:
    """Let some changes of files in a folder fail as a bad disk would."""
    if event == "open":
        path, changes = arguments[0], isinstance(arguments[2], int) and arguments[2] & 3
    else:
        path, changes = arguments[:1], event in ("os.rename", "os.remove")
        path = path[0] if path else ""
    if changes and str(path).startswith(_folder) and _source.random() < float(_share):
        raise OSError(5, "Input/output error")


sys.addaudithook(_fail)
