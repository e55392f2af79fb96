"""`capsrl distill TEACHER... --text FILE --out FOLDER`: label text for students to learn from."""

import sys
from collections.abc import Sequence
from pathlib import Path

from capsrl.cli.options import DEVICE, argument, command, option
from capsrl.errors import ConfigError
from capsrl.files.local import STANDARD


@command(
    {
        "Arguments": [argument("teachers", "TEACHER...", "Model folders; averaged.")],
        "Options": [
            option("--text FILE", "Raw text, JSONL, or a corpus.", multiple=True, required=True),
            option("--out FOLDER", "Folder of the soft labels.", required=True),
            option("--part K/N", "Label every N-th shard from the K-th on.", default="1/1"),
            DEVICE,
        ],
    }
)
def distill_command(
    teachers: Sequence[str], *, text: Sequence[str], out: str, part: str, device: str | None
) -> None:
    """Label text with the probabilities of one or several models.

    `capsrl train` learns from them if the recipe has `distill.shards = "FOLDER"`. The same command
    resumes a run that was stopped or killed.
    """
    # Here, so that --help needs no torch.
    from teachers.shards import distill

    if STANDARD in text:
        raise ConfigError("--text: expected files, which can be read again, got standard input")
    n_written = distill(list(teachers), list(text), Path(out), part=read_part(part), device=device)
    sys.stderr.write(f"{out}: {n_written} shard{'' if n_written == 1 else 's'} written\n")


def read_part(text: str) -> tuple[int, int]:
    """Parse K/N; `2/4` is (1, 4)."""
    first, slash, count = text.partition("/")
    if slash and first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count):
        return int(first) - 1, int(count)
    raise ConfigError(f"--part: expected K/N with K from 1 to N, such as 2/4, got {text}")
