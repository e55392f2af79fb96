"""Attack capsrl with mutated inputs, kills and faults; exits with 1 if anything is found."""

import sys
import warnings
from collections import Counter
from pathlib import Path

import click

from torture.fuzz import attack
from torture.targets import GROUPS, make_targets


@click.command(help=__doc__)
@click.option("--count", default=1000, help="Inputs of the cheapest target; others have fewer.")
@click.option("--first", default=0, help="Number of the first input.")
@click.option("--seed", default=1)
@click.option("--seconds", default=float("inf"), help="Limit for each target.")
@click.option("--group", multiple=True, type=click.Choice(list(GROUPS)), help="All by default.")
@click.option("--only", multiple=True, help="Part of the name of a target.")
@click.option("--findings", default="torture-findings", type=Path, help="Folder for findings.")
def main(
    count: int,
    first: int,
    seed: int,
    seconds: float,
    group: tuple[str, ...],
    only: tuple[str, ...],
    findings: Path,
) -> None:
    """Attack target by target, and print what became of the inputs."""
    warnings.simplefilter("ignore")
    total: Counter[str] = Counter()
    for name, target in make_targets(*group).items():
        if only and not any(part in name for part in only):
            continue
        numbers = range(first, first + max(3, count // target.cost))
        counts = attack(target, numbers, seed, findings, seconds)
        total += counts
        click.echo(f"{name:48} {dict(counts)}")
    found = {kind: n for kind, n in total.items() if kind not in ("read", "refused")}
    click.echo(f"{total.total():,} inputs, seed {seed}; findings: {found or 'none'}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
