"""`capsrl stats FILE...`: statistics of corpora, one column for each."""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import PurePath
from typing import TypeVar

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from capsrl.cli.options import FROM_CORPUS, JSON, argument, check_standard_input, command, option
from capsrl.files.opening import name_of
from capsrl.formats.formats import read_corpus
from capsrl.formats.stats import CorpusStats, count_sentences, length_bin, ranked

Counted = TypeVar("Counted", bound=Hashable)
_COLUMN_WIDTH = 20  # of a column; two of them fit into 80 columns

_FIGURES: tuple[tuple[str, Callable[[CorpusStats], str]], ...] = (
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
    ("  percent", lambda stats: f"{stats.duplicate_share:.1f}"),
)


@command(
    {
        "Arguments": [argument("files", "FILE...", "Corpora; - is stdin.")],
        "Options": [
            FROM_CORPUS,
            option("--top N", "Roles to list.", low=0, default=20),
            JSON,
        ],
    }
)
def stats_command(
    files: Sequence[str], *, from_format: str | None, top: int, as_json: bool
) -> None:
    """Count the sentences, predicates, senses and roles of corpora."""
    check_standard_input(files)
    columns = [count_sentences(read_corpus(path, from_format)) for path in files]
    names = [name_of(path) for path in files]
    if as_json:
        counts = [
            {"file": name, **stats.to_dict()} for name, stats in zip(names, columns, strict=True)
        ]
        click.echo(json.dumps(counts, ensure_ascii=False, indent=1))
        return
    console = Console()
    if not console.is_terminal:  # a pipe has no width to fit into
        console = Console(width=60 + (_COLUMN_WIDTH + 3) * len(columns))
    console.print(_stats_table(_short_names(names), columns, top))


def _short_names(names: Sequence[str]) -> list[str]:
    """The shortest ends of the paths that are distinct: `train` for data/train.conll09."""
    paths = [PurePath(name) for name in names]
    for n in range(1, max(len(path.parts) for path in paths) + 1):
        tails = ["/".join(path.parts[-n:]) for path in paths]
        if len(set(tails)) == len(set(names)):
            break
    stems = [tail.removesuffix("".join(PurePath(tail).suffixes)) for tail in tails]
    return stems if len(set(stems)) == len(set(tails)) else tails


def _stats_table(names: Sequence[str], columns: Sequence[CorpusStats], top: int) -> Table:
    table = Table(header_style="bold")
    table.add_column("", no_wrap=True)  # the names of files are folded instead
    for name in names:
        table.add_column(Text(name), justify="right", overflow="fold", max_width=_COLUMN_WIDTH)
    for title, value in _FIGURES:
        table.add_row(title, *map(value, columns))
    lengths = [stats.lengths for stats in columns]
    titles = {n: f"{length_bin(n)} words" for n in sorted(set().union(*lengths))}
    _add_section(table, "sentences of", titles, lengths)
    predicates = [stats.predicates_per_sentence for stats in columns]
    titles = {n: f"{n} predicate{'' if n == 1 else 's'}" for n in sorted(set().union(*predicates))}
    _add_section(table, "sentences with", titles, predicates)
    roles = [stats.roles for stats in columns]
    total = sum(roles, start=Counter[str]())
    frequent = {role: role for role, _ in ranked(total)[:top]}
    _add_section(table, f"frequent roles ({len(frequent)} of {len(total)})", frequent, roles)
    return table


def _add_section(
    table: Table, title: str, names: Mapping[Counted, str], columns: Sequence[Counter[Counted]]
) -> None:
    """Add a row for each of the names with its count in each column."""
    if names:
        table.add_section()
        table.add_row(title, style="bold")
    for key, name in names.items():
        # Text, since roles come from the file and may look like markup.
        table.add_row(Text(f"  {name}"), *(f"{counts[key]:,}" for counts in columns))


def _ratio(numerator: int, denominator: int) -> str:
    return f"{numerator / denominator:.2f}" if denominator else "-"
