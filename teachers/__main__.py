"""The command `python -m teachers TEACHER... --text FILE --out FOLDER`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from capsrl.errors import CapsrlError, ConfigError
from capsrl.files.opening import STANDARD
from teachers.noise import Noise
from teachers.shards import distill


def main(arguments: Sequence[str] | None = None) -> int:
    """Label text with the probabilities of one or several models; return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        if STANDARD in given.text:
            raise ConfigError("--text: standard input cannot be read again; name a file")
        n_written = distill(
            given.teachers,
            given.text,
            given.out,
            part=read_part(given.part),
            noise=_read_noise(given),
            device=given.device,
        )
    except CapsrlError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stderr.write(f"{given.out}: {n_written} shard{'' if n_written == 1 else 's'} written\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m teachers",
        description="Create soft labels of text with teacher models. `capsrl train` learns from "
        'them if the recipe has distill.shards = "FOLDER". The same command resumes a run that '
        "was stopped or killed.",
    )
    parser.add_argument(
        "teachers",
        metavar="TEACHER",
        nargs="+",
        help="model folders; probabilities of several are averaged",
    )
    parser.add_argument(
        "--text",
        metavar="FILE",
        action="append",
        required=True,
        help="raw text, JSONL with words, or a corpus; repeatable",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, required=True, help="folder of the soft labels"
    )
    parser.add_argument(
        "--part",
        metavar="K/N",
        default="1/1",
        help="label every N-th shard from the K-th on, to share the work",
    )
    for name, meaning in (
        ("--casual", "typed in haste: i dont know, u, gonna, typos, no commas"),
        ("--headlines", "written as headlines: Mayor accused of lying, Apple to open store"),
    ):
        parser.add_argument(
            name,
            metavar="SHARE",
            type=float,
            default=0.0,
            help=f"share of the sentences that are {meaning}; labels stay those of the clean "
            "sentences (default: 0)",
        )
    parser.add_argument("--device", help="cpu, cuda, cuda:1 (default: the GPU if there is one)")
    return parser


def _read_noise(given: argparse.Namespace) -> Noise:
    if min(given.casual, given.headlines) < 0 or given.casual + given.headlines > 1:
        raise ConfigError(
            "--casual, --headlines: expected shares from 0 to 1 together, got "
            f"{given.casual:g} and {given.headlines:g}"
        )
    return Noise(given.casual, given.headlines)


def read_part(text: str) -> tuple[int, int]:
    """Parse K/N; `2/4` is (1, 4)."""
    first, slash, count = text.partition("/")
    if slash and first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count):
        return int(first) - 1, int(count)
    raise ConfigError(f"--part: expected K/N with K from 1 to N, such as 2/4, got {text}")


if __name__ == "__main__":
    sys.exit(main())
