"""Time `import capsrl` and light commands, each in a new Python process.

    python benchmarks/import_time.py [--runs 10]

The time that Python itself takes to start is subtracted. `import capsrl` must take less than 0.2 s,
which is only possible without torch.
"""

import argparse
import subprocess
import sys
import time

LIMIT = 0.2
COMMANDS = {
    "python": "pass",
    "import capsrl": "import capsrl",
    **{
        f"capsrl {arguments}": f"import sys; sys.argv = ['capsrl', *{arguments.split()!r}]; "
        "import capsrl.__main__"
        for arguments in ("--help", "--version", "score --help", "label --help")
    },
    "import capsrl.labeler": "import capsrl.labeler",
}


def seconds(code: str) -> float:
    """Time a new Python process that runs some code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Run the commands in turn, several times, and print the best and the median of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    runs: int = parser.parse_args().runs
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, code in COMMANDS.items():
            times[name].append(seconds(code))
    bare = min(times.pop("python"))
    print(f"python starts in {bare:.3f} s; in addition, best and median of {runs} runs:")
    for name, measured in times.items():
        middle = sorted(measured)[len(measured) // 2]
        print(f"{name:24}{min(measured) - bare:8.3f}{middle - bare:8.3f} s")
    best = min(times["import capsrl"]) - bare
    print(f"import capsrl: limit {LIMIT} s, {'met' if best < LIMIT else 'MISSED'}")


if __name__ == "__main__":
    main()
