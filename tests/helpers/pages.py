"""The code blocks of a page of Markdown, and what the page says they print."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"(?:<!-- ([\w ]+) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def without_ends(text: str) -> list[str]:
    """Lines without blanks at their ends, which editors take away from Markdown."""
    return [line.rstrip() for line in text.splitlines()]


def run_python_blocks(page: str) -> int:
    """Run the Python of a page; each block must print the block without a language after it.

    Returns how many lines were compared.
    """
    names: dict[str, object] = {}
    blocks = BLOCK.findall(read(page))
    n_lines = 0
    for (_, language, code), (_, following, shown) in zip(
        blocks, [*blocks[1:], ("", "end", "")], strict=True
    ):
        if language == "python":
            out = io.StringIO()
            with redirect_stdout(out):
                exec(compile(code, page, "exec"), names)
            expected = without_ends("" if following else shown)
            assert without_ends(out.getvalue()) == expected, code
            n_lines += len(expected)
    return n_lines
