"""Time what starts before the first sentence is labeled, each in a new Python process.

    python benchmarks/import_time.py [--runs 10]

Printed are milliseconds of processor time and of wall time, the best and the median run; the time
that Python itself takes to start is subtracted. `import capsrl` must take less than 200 ms, which
is only possible without torch.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT = 200.0
EXAMPLE = "Mira sold her old bicycle to the neighbors yesterday."
COMMANDS = {
    "python": ("-c", "pass"),
    **{
        code: ("-c", code)
        for code in (
            "import numpy",
            "import onnxruntime",
            "import capsrl",
            "import capsrl.labeler",
            "import capsrl; capsrl.load()",
        )
    },
    **{
        f"capsrl {' '.join(arguments)}": ("-m", "capsrl", *arguments)
        for arguments in (["--version"], ["--help"], ["score", "--help"], ["label", "--help"])
    },
    'capsrl label "..."': ("-m", "capsrl", "label", EXAMPLE),
}
Spent = tuple[float, float]  # processor time and wall time in milliseconds


def spend(arguments: tuple[str, ...]) -> Spent:
    """Time a new Python process."""
    before, start = processor_time(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return 1000 * (processor_time() - before), 1000 * (time.perf_counter() - start)


def processor_time() -> float:
    """Seconds that the processes which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(runs: int) -> dict[str, list[Spent]]:
    """Run the commands in turn; the first round, in which modules are compiled, does not count."""
    rounds = [{name: spend(each) for name, each in COMMANDS.items()} for _ in range(runs + 1)]
    return {name: [each[name] for each in rounds[1:]] for name in COMMANDS}


def main() -> None:
    """Print the best and the median of each command, and whether the limit is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    runs: int = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as compiled:  # modules are compiled, as pip does
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        times = measure(runs)
    python = tuple(map(min, zip(*times.pop("python"), strict=True)))
    print(f"python: {python[0]:.0f} ms of processor time, {python[1]:.0f} ms; in addition:")
    print(f"{'':30}{'processor: best':>16}{'median':>8}{'wall: best':>12}{'median':>8}")
    for name, spent in times.items():
        processor, wall = (
            (min(kind) - bare, statistics.median(kind) - bare)
            for kind, bare in zip(zip(*spent, strict=True), python, strict=True)
        )
        print(f"{name:30}{processor[0]:16.0f}{processor[1]:8.0f}{wall[0]:12.0f}{wall[1]:8.0f}")
    best = min(processor for processor, _ in times["import capsrl"]) - python[0]
    print(f"import capsrl: limit {LIMIT:.0f} ms, {'met' if best < LIMIT else 'MISSED'}")


if __name__ == "__main__":
    main()
