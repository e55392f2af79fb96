"""`capsrl search QUERY FILE...`: find and count propositions in labeled files."""

import sys
from collections.abc import Sequence
from itertools import chain

from rich.table import Table
from rich.text import Text

from capsrl.cli.options import argument, command, format_option, option
from capsrl.cli.progress import plural
from capsrl.errors import ConfigError
from capsrl.files.opening import STANDARD, open_writer
from capsrl.formats.formats import format_of
from capsrl.search.hits import COUNTS, search
from capsrl.search.hits import FORMATS as LABELED
from capsrl.search.query import parse_query
from capsrl.show.formatting import visible
from capsrl.show.kwic import hits_html, kwic_lines, parts_of_hit
from capsrl.show.table import make_console
from capsrl.tables.cells import Cells
from capsrl.tables.columns import Column
from capsrl.tables.writing import csv_parts

_TO = {".txt": "table", ".csv": "csv", ".html": "html"}
FORMATS = tuple(_TO.values())
_SHOWN = 50  # hits in a table
_CELLS = "file document sentence sentence_id left predicate right sense probability".split()


@command(
    {
        "Arguments": [
            argument("query", "QUERY", "What to find, as above."),
            argument("files", "FILE...", "Labeled files, tables, or folders of them."),
        ],
        "Options": [
            format_option("--from", LABELED),
            option(f"--count {'|'.join(COUNTS)}", "Count instead of listing."),
            option("--limit N", f"Hits to list (default: {_SHOWN} in a table, else all).", low=1),
            format_option("--to", FORMATS, default="by suffix of -o, else table"),
            option("-o, --output FILE", "File to write; - is stdout.", default=STANDARD),
        ],
    }
)
def search_command(
    query: str,
    files: Sequence[str],
    *,
    from_format: str | None,
    count: str | None,
    limit: int | None,
    to_format: str | None,
    output: str,
) -> None:
    """Find and count propositions in labeled files.

    All terms of a query must hold; * is any text, and | is or:

    sell  sell.01                a lemma, a sense
    A0  A0:company  A0:"a firm"  a role, with this head word, with these words
    "wrong soup"                 words of the sentence
    negated  p>=0.8              denied; its joint probability
    -A2                          without A2; - denies any term
    """
    to = format_of(
        *(output, to_format), formats=FORMATS, suffixes=_TO, default="table", option="--to"
    )
    if count is not None and to == "html":
        raise ConfigError("--count: expected the format table or csv, got html")
    with search(parse_query(query), files, from_format) as hits, open_writer(output) as file:
        most = limit or (_SHOWN if to == "table" else None)
        console = make_console(file)
        if to == "html":
            file.writelines(hits_html(hits.rows(most), query))
        elif count is None and to == "table":
            for line in kwic_lines(hits.rows(most), console.width):
                console.print(line, soft_wrap=True)
        else:
            rows = hits.count(count)[:limit] if count else [*map(_cells, hits.rows(most))]
            known = dict.fromkeys(chain.from_iterable(rows))
            names = [*known] if count else [*_CELLS, *sorted(known.keys() - {*_CELLS})]
            columns = [Column(name, "string", "") for name in names]
            if to == "csv":
                file.writelines(csv_parts((dict.fromkeys(names) | row for row in rows), columns))
            else:
                console.print(_table(rows, names))
    more = f", {most} of them shown; --limit N" if not count and most and hits.n > most else ""
    hint = "" if hits.n else "; words alone are lemmas (sell, not sold), those of roles head words"
    sys.stderr.write(f"{plural(hits.n, 'hit')}{more}{hint}\n")


def _cells(hit: Cells) -> Cells:
    """The hit with the text around its predicate, and the phrases of each role."""
    left, right = ("".join(text for _, text in parts) for parts in parts_of_hit(hit))
    roles: dict[str, list[str]] = {}
    for each in hit["arguments"]:
        roles.setdefault(each["role"], []).append(each["phrase"])
    values = hit | {"left": left, "right": right}
    return {name: values[name] for name in _CELLS} | {r: "; ".join(roles[r]) for r in roles}


def _table(rows: Sequence[Cells], names: Sequence[str]) -> Table:
    table = Table(*names, header_style="bold", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(visible(str(value))) for value in row.values()))
    return table
