"""Find the propositions for which a query holds, in labeled files of all formats.

DuckDB reads tables; sentences are written as a table of arguments first. The SQL is in rows.sql
and found.sql.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from capsrl.errors import ConfigError, DataError
from capsrl.facts import denies
from capsrl.files.opening import name_of, open_writer, read_lines
from capsrl.formats.formats import CORPORA, SUFFIXES, format_of, read_sentences
from capsrl.search.query import Query, match, quote
from capsrl.tables.cells import Cells
from capsrl.tables.columns import Column
from capsrl.tables.documents import DOCUMENT_SUFFIXES, find_inputs
from capsrl.tables.pipeline import DocumentSentence
from capsrl.tables.reading import Document, some_names
from capsrl.tables.writing import TABLES, WriteOptions, csv_parts, text_parts
from capsrl.text.phrases import with_phrases

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FORMATS = (*CORPORA, *TABLES)
_SUFFIXES = {each: name for each, name in (DOCUMENT_SUFFIXES | SUFFIXES).items() if name in FORMATS}
_PROPOSITION_ROLES = {*"A0 A1 A2 A3 A4 AM-TMP AM-LOC AM-CAU AM-MNR AM-MOD".split()}
COUNTS = ("role", "head", "phrase", "lemma", "predicate", "sense", "document", "valency")


class Hits:
    """The propositions for which a query holds; `search` makes it."""

    def __init__(self, query: Query, connection: "DuckDBPyConnection") -> None:
        self._connection, self._roles = connection, query.roles
        keys = "file, document, sentence, predicate_word, predicate, sense"
        connection.execute(
            f"CREATE TEMP TABLE found AS SELECT {keys}, min(number) AS number FROM rows "
            f"WHERE {query.where} GROUP BY {keys} HAVING {query.having}"
        )
        connection.execute(_read_sql("found"))
        [self.n] = connection.execute("SELECT count(*) FROM found").fetchone() or ()

    def rows(self, limit: int | None = None) -> Iterator[Cells]:
        """The hits, or the first of them, with their arguments; `found.sql` has the columns."""
        most = "" if limit is None else f"LIMIT {limit}"
        self._connection.execute(
            "CREATE OR REPLACE TEMP VIEW wanted AS FROM found JOIN files USING (file) "
            f"ORDER BY place, number, predicate_word {most}"
        )
        for row in self._cells("FROM hits"):
            yield row | {"arguments": row["arguments"] or []}

    def count(self, what: str) -> list[Cells]:
        """How often the hits have each role, head of the roles of the query, ...; see COUNTS."""
        named = " OR ".join(match("role", role) for role in self._roles) or "true"
        where = f"WHERE {named}" if what in ("head", "phrase") else ""
        sql = f"SELECT *, count(*) AS n FROM count_{what} {where} GROUP BY ALL"
        return sorted(self._cells(sql), key=lambda row: (-row["n"], *map(str, row.values())))

    def _cells(self, sql: str) -> Iterator[Cells]:
        found = self._connection.execute(sql)
        names = [name for name, *_ in found.description or ()]
        while some := found.fetchmany(1000):
            yield from (dict(zip(names, values, strict=True)) for values in some)


@contextmanager
def search(query: Query, inputs: Sequence[str], named: str | None = None) -> Iterator[Hits]:
    """Search files and folders; needs duckdb.

    named  the format of all files, one of FORMATS; default: by their suffixes
    Raises ConfigError for what is not labeled, DataError for a file that cannot be read.
    """
    import duckdb

    with TemporaryDirectory() as folder, duckdb.connect() as connection:
        connection.create_function("denies", denies)
        connection.execute(_read_sql("rows"))
        # A run of `capsrl bulk` has its plan and log beside the folder of its results.
        paths = (str(Path(p, "data")) if Path(p, "plan.jsonl").is_file() else p for p in inputs)
        files = find_inputs(paths, suffixes=_SUFFIXES if named is None else None)
        try:
            _open_rows(query, files, named, connection, Path(folder))
            yield Hits(query, connection)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{', '.join(inputs)[:200]}: cannot be searched: {reason}") from None


def _open_rows(
    query: Query,
    files: Sequence[str],
    named: str | None,
    connection: "DuckDBPyConnection",
    folder: Path,
) -> None:
    """Make the view `rows`, and the table `files` with the names of files as they were given."""
    connection.execute("CREATE TEMP TABLE files (file VARCHAR, place INT, name VARCHAR)")
    groups: dict[tuple[str, str], list[str]] = {}
    for number, file in enumerate(files):
        path, format = file, format_of(file, named, formats=FORMATS, suffixes=_SUFFIXES)
        if format not in TABLES:
            parts = _table_parts(file, format)
            path, format = str(folder / f"{number}.csv"), "csv"
            with open_writer(path) as table:
                table.writelines(parts)
        kind = _kind(connection, _source(format, [path]), name_of(file))
        missing = {role for role in query.roles if "*" not in role} - _PROPOSITION_ROLES
        if kind == "proposition" and missing:
            raise ConfigError(
                f"{name_of(file)}: a table with a row per proposition has no {min(missing)}; "
                "label with --rows argument"
            )
        groups.setdefault((format, kind), []).append(path)
        connection.execute("INSERT INTO files VALUES (?, ?, ?)", [path, number, name_of(file)])
    for (format, kind), paths in groups.items():  # Parquet is fast where it is
        made = "VIEW" if format == "parquet" else "TABLE"
        sql = f"CREATE TEMP {made} {format}_{kind} AS {_source(format, paths)}"
        connection.execute(sql)
    rows = (f"FROM {kind}_rows('{format}_{kind}')" for format, kind in groups)
    connection.execute(f"CREATE TEMP VIEW rows AS {' UNION ALL BY NAME '.join(rows)}")


def _table_parts(file: str, format: str) -> Iterator[str]:
    """The sentences of a file as a table of arguments, or the rows of JSON lines as they are."""
    rows = _json_rows(file) if format == "jsonl" else iter(())
    if first := next(rows, None):
        columns = [Column(name, "string", "") for name in first]
        return csv_parts((dict.fromkeys(first) | row for row in chain([first], rows)), columns)
    sentences = map(with_phrases, read_sentences(file, format))
    document = Document(name_of(file), None)
    items = (DocumentSentence(document, each, n) for n, each in enumerate(sentences, start=1))
    return text_parts(items, WriteOptions("csv", "argument"))


def _json_rows(file: str) -> Iterator[Cells]:
    """The rows of JSON lines that have rows, as `capsrl bulk --rows proposition` writes them."""
    for number, line in enumerate(read_lines(file), start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or "predicate_word" not in row:
            if number > 1:
                raise DataError(f"{name_of(file)}:{number}: expected a row, got {line:.60}")
            return
        yield row


def _read_sql(name: str) -> str:
    return Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")


def _kind(connection: "DuckDBPyConnection", source: str, name: str) -> str:
    """What a row of a table is."""
    columns = [str(row[0]) for row in connection.execute(f"DESCRIBE {source}").fetchall()]
    for mark, kind in (("role", "argument"), ("A0_head", "proposition")):
        if {mark, "predicate_word"} <= {*columns}:
            return kind
    raise ConfigError(
        f"{name}: expected a table with a row per argument or proposition, as capsrl label writes "
        f"with --rows argument, got {some_names(each for each in columns if each[:7] != 'capsrl_')}"
    )


def _source(format: str, paths: Sequence[str]) -> str:
    """SQL that reads files as one table."""
    files = f"[{', '.join(map(quote, paths))}], filename = 'capsrl_file', union_by_name = true"
    if format == "parquet":
        table = f"read_parquet({files}, file_row_number = true)"
        return f"SELECT *, file_row_number AS capsrl_number FROM {table}"
    mark = "\t" if format == "tsv" else ","
    return (
        f"SELECT *, row_number() OVER () AS capsrl_number FROM read_csv({files}, header = true, "
        f"delim = '{mark}', quote = '\"', escape = '\"', all_varchar = true, "
        "max_line_size = 33554432)"
    )
