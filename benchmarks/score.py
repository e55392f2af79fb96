"""How fast `capsrl score` is as a whole command, and whether its memory stays flat.

    python benchmarks/score.py [--official path/to/eval09.pl] [--corpus FILE] [--runs N] [--times N]

Scores a corpus (by default the test part of en_ewt) against a damaged copy of itself, and again
with both files 50 times as long. With the official Perl script, which is not ours to ship, its
time on the same pair is measured in turn with ours, and the figures of both are compared.
The script may also be named by the environment variable EVAL09.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from capsrl.files.opening import read_lines

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "data" / "en_ewt" / "test.conll09.xz"
ROLES = ("A0", "A1", "A2", "AM-TMP", "_")


@dataclass(frozen=True)
class Run:
    """One run of a command: wall-clock seconds, peak memory in MiB, what it printed."""

    seconds: float
    mebibytes: float
    output: str


def main() -> None:
    """Measure, print, and exit with 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--official", default=os.environ.get("EVAL09"), help="path of eval09.pl")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--runs", type=int, default=5, help="runs of each command; the best counts")
    parser.add_argument("--times", type=int, default=50, help="how much longer the long files are")
    options = parser.parse_args()
    if not options.corpus.is_file():
        sys.exit(f"{options.corpus}: no such corpus; name one with --corpus")
    with tempfile.TemporaryDirectory() as folder:
        ok = measure(Path(folder), options)
    sys.exit(0 if ok else 1)


def measure(folder: Path, options: argparse.Namespace) -> bool:
    """Run both commands on short and long files; False where a bar is missed."""
    lines = list(read_lines(options.corpus))
    short = write_pair(folder, "short", lines, 1)
    ours_command = [sys.executable, "-m", "capsrl", "score", *short]
    official_command = ["perl", str(options.official), "-q", "-g", short[0], "-s", short[1]]
    ours, official = [], []
    for _ in range(options.runs):  # in turn, so that a busy moment hurts both
        ours.append(run(ours_command))
        if options.official:
            official.append(run(official_command))
    best = min(ours, key=lambda one: one.seconds)
    print(f"capsrl score, {lines.count('')} sentences: {best.seconds:.2f} s")
    ok = True
    if official:
        theirs = min(official, key=lambda one: one.seconds)
        ratio = theirs.seconds / best.seconds
        print(f"eval09.pl, the same files: {theirs.seconds:.2f} s, {ratio:.1f} times as long")
        ok = report("at least 2 times faster", ratio >= 2) and ok
        ok = report("the same figures", same_figures(ours_command, theirs.output)) and ok
    else:
        print("eval09.pl not given (--official or EVAL09): no comparison")
    long = run(
        [sys.executable, "-m", "capsrl", "score", *write_pair(folder, "long", lines, options.times)]
    )
    print(
        f"peak memory: {best.mebibytes:.1f} MiB; {options.times} times as long: "
        f"{long.mebibytes:.1f} MiB, in {long.seconds:.1f} s"
    )
    return report("memory flat (within 10%)", long.mebibytes <= 1.1 * best.mebibytes) and ok


def report(bar: str, reached: bool) -> bool:
    """Print one bar and whether it was reached."""
    print(f"  {'reached' if reached else 'MISSED'}: {bar}")
    return reached


def write_pair(folder: Path, name: str, lines: list[str], times: int) -> tuple[str, str]:
    """The corpus and its damaged copy as plain files, repeated; each repetition damaged anew."""
    gold, pred = folder / f"{name}.gold.conll09", folder / f"{name}.pred.conll09"
    generator = random.Random(0)
    with gold.open("w", encoding="utf-8") as gold_file, pred.open("w", encoding="utf-8") as file:
        for _ in range(times):
            gold_file.writelines(f"{line}\n" for line in lines)
            file.writelines(f"{line}\n" for line in damaged(lines, generator))
    return str(gold), str(pred)


def damaged(lines: list[str], generator: random.Random) -> Iterator[str]:
    """Rows with one role in seven and one sense in ten made wrong."""
    for line in lines:
        cells = line.split("\t")
        for column in range(14, len(cells)):
            if cells[column] != "_" and generator.random() < 1 / 7:
                cells[column] = generator.choice(ROLES)
        if len(cells) > 13 and cells[13] != "_" and generator.random() < 0.1:
            cells[13] = cells[13].partition(".")[0] + ".09"
        yield "\t".join(cells)


def run(command: list[str]) -> Run:
    """Run a command to its end, with its own peak memory and not that of the runs before it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024  # Linux counts KiB, macOS bytes
    return Run(seconds, usage.ru_maxrss / unit, output)


def same_figures(command: list[str], official: str) -> bool:
    """Whether the official script printed what we print, numerators and denominators included."""
    ours: dict[str, str] = json.loads(run([*command, "--json"]).output)["official"]["lines"]
    section = official.partition("SEMANTIC SCORES")[2].partition("OVERALL")[0]
    theirs = dict(re.findall(r"^ +(\w[\w ]+): +(.*\S) *$", section, re.MULTILINE))
    return ours == {name.lower().replace(" ", "_"): line for name, line in theirs.items()}


if __name__ == "__main__":
    main()
