"""Runs in; an HTML page, the same in Markdown, and its figures, out."""

from collections.abc import Sequence
from pathlib import Path

from capsrl.data.files import open_writer
from capsrl.errors import ConfigError, DataError
from reproduce.blocks import Picture, to_html, to_markdown
from reproduce.report import make_blocks
from reproduce.results import RunResult

FIGURES = "figures"


def write_report(runs: Sequence[RunResult], out: Path, notes: Sequence[str] = ()) -> list[Path]:
    """Write `out`, its Markdown twin and figures/*.svg beside it; gives their paths in this order.

    notes  paragraphs by whoever did the runs, to stand before the claims
    The same runs give the same bytes. Figures of an earlier report stay where they have other
    names. Raises ConfigError for a name that is no .html, or in a folder that is not there.
    """
    check_name(out)
    blocks = make_blocks(runs, notes)  # all of it before anything is written
    folder = out.parent / FIGURES
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror}") from None
    texts = {out: to_html(blocks), out.with_suffix(".md"): to_markdown(blocks)}
    texts |= {
        folder / f"{block.name}.svg": block.svg for block in blocks if isinstance(block, Picture)
    }
    for path, text in texts.items():
        with open_writer(path) as file:
            file.write(text)
    return list(texts)


def check_name(out: Path) -> None:
    """Raise ConfigError where a report cannot be written under this name."""
    if out.suffix != ".html":
        raise ConfigError(f"{out}: expected a name that ends in .html, got {out.suffix or 'none'}")
    if not out.parent.is_dir():
        raise ConfigError(
            f"{out}: expected an existing folder, got {out.parent}; make it with mkdir"
        )
