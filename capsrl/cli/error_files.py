"""The file of `--errors`: the mistakes of a prediction as a page or as JSON lines."""

import json
from collections.abc import Iterable
from os.path import basename

from capsrl.errors import ConfigError
from capsrl.files.opening import open_writer, suffix_of
from capsrl.score.mistakes import Comparison
from capsrl.show.mistakes_page import mistakes_page

_PAGE, _LINES = (".html", ".htm"), (".jsonl",)


def check_error_file(path: str, option: str) -> None:
    """Raise ConfigError for a file of another suffix, before anything is scored."""
    if suffix_of(path) not in (*_PAGE, *_LINES):
        raise ConfigError(f"{option}: expected a file .html or .jsonl, got {path}")


def write_errors(path: str, comparisons: Iterable[Comparison], *, gold: str, pred: str) -> int:
    """Write mistakes to a page or to JSON lines, by the suffix, and return how many there are.

    gold, pred  the files that were compared
    """
    compared = list(comparisons)
    records = [record for each in compared for record in each.records()]
    with open_writer(path) as file:
        if suffix_of(path) in _PAGE:
            title = f"Mistakes of {basename(pred) or pred} on {basename(gold) or gold}"
            file.writelines(mistakes_page(compared, title=title))
        else:
            for record in records:
                text = json.dumps(record, ensure_ascii=False)
                # A word may contain a lone surrogate; its Python escape is also that of JSON.
                file.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    return len(records)
