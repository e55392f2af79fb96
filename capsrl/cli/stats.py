"""`capsrl stats FILE...`: corpora in, one table with a column per corpus out."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from capsrl.data.files import name_of
from capsrl.data.formats import CORPORA, read_sentences
from capsrl.data.stats import CorpusStats, count_sentences, length_bin, ranked

_ROWS: tuple[tuple[str, Callable[[CorpusStats], str]], ...] = (
    ("sentences", lambda stats: f"{stats.n_sentences:,}"),
    ("tokens", lambda stats: f"{stats.n_tokens:,}"),
    ("predicates", lambda stats: f"{stats.n_predicates:,}"),
    ("  per sentence", lambda stats: _ratio(stats.n_predicates, stats.n_sentences)),
    ("  different lemmas", lambda stats: f"{len(stats.lemmas):,}"),
    ("  different senses", lambda stats: f"{len(stats.senses):,}"),
    ("arguments", lambda stats: f"{stats.n_arguments:,}"),
    ("  per predicate", lambda stats: _ratio(stats.n_arguments, stats.n_predicates)),
    ("  different roles", lambda stats: f"{len(stats.roles):,}"),
    ("words with several roles", lambda stats: f"{stats.n_multiple:,}"),
    ("propositions with a role twice", lambda stats: f"{stats.n_duplicate:,}"),
    ("  per cent", lambda stats: f"{stats.duplicate_share:.1f}"),
)


def stats_command(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Corpora, plain, .gz or .xz; - is stdin.")
    ],
    format: Annotated[
        str | None,
        typer.Option(help=f"Format of all files, if not by suffix: {', '.join(CORPORA)}."),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="How many of the roles to list.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="All counts as JSON.")] = False,
) -> None:
    """Count what is in corpora: sentences, predicates, senses, roles, lengths."""
    corpora = [(name_of(path), count_sentences(read_sentences(path, format))) for path in files]
    if as_json:
        counts = [{"file": name, **stats.to_dict()} for name, stats in corpora]
        typer.echo(json.dumps(counts, ensure_ascii=False, indent=1))
        return
    console = Console()
    if not console.is_terminal:  # a pipe has no width to fit into
        console = Console(width=60 + sum(len(name) + 15 for name, _ in corpora))
    console.print(_table(corpora, top))


def _table(corpora: list[tuple[str, CorpusStats]], top: int) -> Table:
    table = Table(header_style="bold")
    table.add_column("", no_wrap=True)  # the names of files are folded instead
    for name, _ in corpora:
        table.add_column(Text(name), justify="right", overflow="fold")
    columns = [stats for _, stats in corpora]
    for title, value in _ROWS:
        table.add_row(title, *map(value, columns))
    lengths = sorted(set[int]().union(*(stats.lengths for stats in columns)))
    _add_section(
        table,
        "sentences of",
        [(f"{length_bin(n)} words", [stats.lengths[n] for stats in columns]) for n in lengths],
    )
    numbers = sorted(set[int]().union(*(stats.predicates_per_sentence for stats in columns)))
    _add_section(
        table,
        "sentences with",
        [
            (
                f"{n} predicate" + "s" * (n != 1),
                [stats.predicates_per_sentence[n] for stats in columns],
            )
            for n in numbers
        ],
    )
    total = sum((stats.roles for stats in columns), start=Counter[str]())
    roles = [role for role, _ in ranked(total)[:top]]
    _add_section(
        table,
        f"the {len(roles)} commonest roles of {len(total)}",
        [(role, [stats.roles[role] for stats in columns]) for role in roles],
    )
    return table


def _add_section(table: Table, title: str, rows: list[tuple[str, list[int]]]) -> None:
    if not rows:
        return
    table.add_section()
    table.add_row(title, style="bold")
    for name, counts in rows:
        # Text, since roles come from the file and may look like markup.
        table.add_row(Text(f"  {name}"), *(f"{count:,}" for count in counts))


def _ratio(numerator: int, denominator: int) -> str:
    return f"{numerator / denominator:.2f}" if denominator else "-"
