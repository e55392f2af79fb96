"""Measure `capsrl search` on a million propositions: a labeled Parquet file, many times over.

    capsrl label TEXTS.csv -o labeled.parquet
    python benchmarks/search.py labeled.parquet [--propositions 1000000]

Needs duckdb. The copies have documents of their own, in one file. A query is timed with its first
50 hits, as the command lists them, and with counts.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from capsrl.search.hits import search
from capsrl.search.query import parse_query

QUERIES = ("be.01 A1", "be negated", "A0:company", 'A0 "account"', "p>=0.8 A1", "*")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("labeled")
    parser.add_argument("--propositions", type=int, default=1_000_000)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        large = Path(folder, "large.parquet")
        copy(options.labeled, large, options.propositions)
        print(f"{large.stat().st_size / 1e6:.0f} MB; seconds of wall time (and of processor time)")
        for query in QUERIES:
            measure(query, str(large))


def copy(labeled: str, large: Path, least: int) -> None:
    """Write the table so many times that it has this many propositions at least."""
    source = duckdb.read_parquet(labeled)
    one = len(source.select("document, sentence, predicate_word").distinct())
    n = -(-least // one)
    duckdb.sql(
        f"COPY (SELECT * REPLACE (document || '-' || copy AS document) FROM range({n}) t(copy), "
        f"source) TO '{large}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000)"
    )


def measure(query: str, file: str) -> None:
    """Print how long a query takes, and what is asked of its hits."""
    wall, processor = time.perf_counter(), time.process_time()

    def lap(what: str) -> str:
        nonlocal wall, processor
        took = time.perf_counter() - wall, time.process_time() - processor
        wall, processor = time.perf_counter(), time.process_time()
        return f"{what} {took[0]:.1f} ({took[1]:.1f})"

    with search(parse_query(query), [file]) as hits:
        laps = [lap("search")]
        for _ in hits.rows(50):
            pass
        laps.append(lap("list"))
        for what in ("role", "head", "valency"):
            hits.count(what)
            laps.append(lap(what))
        print(f"{query:14} {hits.n:>9,} hits  {', '.join(laps)}", flush=True)


if __name__ == "__main__":
    main()
