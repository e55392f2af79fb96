"""Write the mistakes of a prediction to a file: a page or JSON lines, by its suffix."""

import json
import sys
from collections.abc import Iterable, Sequence
from os.path import basename
from typing import Any

from capsrl.cli.error_page import error_page
from capsrl.errors import ConfigError
from capsrl.files.opening import open_writer, suffix_of
from capsrl.score import Comparison

PAGE, LINES = (".html", ".htm"), (".jsonl",)


def check_error_file(path: str | None) -> None:
    """Raise ConfigError for a file of another suffix, before anything is scored."""
    if path is not None and suffix_of(path) not in (*PAGE, *LINES):
        raise ConfigError(f"--errors: expected a file .html or .jsonl, got {path}")


def write_errors(path: str, comparisons: Iterable[Comparison], names: Sequence[str]) -> None:
    """Write the mistakes, and say on standard error how many there are.

    names  of the gold file and of the prediction
    """
    compared = list(comparisons)
    records = [record for each in compared for record in each.records()]
    with open_writer(path) as file:
        if suffix_of(path) in PAGE:
            gold, pred = (basename(name) or name for name in names[:2])
            title = f"Mistakes of {pred} on {gold}"
            file.writelines(error_page(compared, title=title))
        else:
            file.writelines(map(_line, records))
    plural = "" if len(records) == 1 else "s"
    sys.stderr.write(f"{path} written: {len(records)} mistake{plural}\n")


def _line(record: dict[str, Any]) -> str:
    text = json.dumps(record, ensure_ascii=False)
    # A word may contain a lone surrogate, whose Python escape is also its escape in JSON.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"
