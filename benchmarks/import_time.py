"""How long `import capsrl` and a light command take, each in a Python of its own.

    python benchmarks/import_time.py [--runs 10]

What Python itself takes to start is measured in turn and taken off. The bar: `import capsrl` under
0.2 s, which it can only meet without torch.
"""

import argparse
import subprocess
import sys
import time

BAR = 0.2
COMMANDS = {
    "python": "pass",
    "import capsrl": "import capsrl",
    "capsrl --help": "import sys; sys.argv = ['capsrl', '--help']; import capsrl.__main__",
    "import capsrl.labeler": "import capsrl.labeler",
}


def seconds(code: str) -> float:
    """How long a new Python takes to run some code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Run every command in turn, several times, and print the best and the median of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    runs: int = parser.parse_args().runs
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, code in COMMANDS.items():
            times[name].append(seconds(code))
    bare = min(times.pop("python"))
    print(f"python starts in {bare:.3f} s; beyond that, best and median of {runs}:")
    for name, measured in times.items():
        middle = sorted(measured)[len(measured) // 2]
        print(f"{name:24}{min(measured) - bare:8.3f}{middle - bare:8.3f} s")
    best = min(times["import capsrl"]) - bare
    print(f"import capsrl: bar {BAR} s, {'met' if best < BAR else 'MISSED'}")


if __name__ == "__main__":
    main()
