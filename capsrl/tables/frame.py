"""Make a DataFrame of labeled sentences, in pandas or polars."""

from collections.abc import Iterable, Iterator, Sized
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, repeat
from types import ModuleType
from typing import Any

from capsrl.errors import ConfigError, DataError
from capsrl.sentence import Sentence
from capsrl.tables.cells import Cells, rows_of
from capsrl.tables.columns import ROWS, columns_of

FLAT_ROWS = tuple(rows for rows in ROWS if rows != "sentence")  # that one is nested
LIBRARIES = ("pandas", "polars")
# Types of columns that may have nulls.
_PANDAS = {
    "string": "string",
    "int32": "Int32",
    "int64": "Int64",
    "double": "float64",
    "bool": "boolean",
    "list<string>": "object",
}
_POLARS = {"string": "String", "int32": "Int32", "int64": "Int64", "double": "Float64"}


def to_frame(
    sentences: Iterable[Any],
    *,
    documents: Iterable[Any] | None = None,
    library: str | None = None,
    rows: str = "argument",
) -> Any:  # noqa: ANN401
    """Make a DataFrame with one row per argument or proposition; see docs/tables.md.

    sentences  those of one text: `labeler.label(text)`;
               those of several: `labeler.label(texts)` or `labeler.label_many(texts)`;
               or pairs of id and sentences, as from `label_many(..., as_tuples=True)`
    documents  what the column "document" has for each of several texts, such as `frame.index`;
               default: their positions; that of one text is 0
    library    pandas or polars; default: the first of them that is installed
    rows       what a row is: argument or proposition

    Raises ConfigError if the library is not installed.
    """
    if rows not in FLAT_ROWS:
        raise ConfigError(f"rows: expected {' or '.join(FLAT_ROWS)}, got {rows!r}")
    package = _import(library)
    made = list(_frame_rows(sentences, documents, rows))
    types = {each.name: str(each.type) for each in columns_of(rows) if each.name != "error"}
    names = list(types)
    cells = {name: [row[name] for row in made] for name in names}
    if package.__name__ == "polars":
        dtypes = {name: _polars_type(package, types[name]) for name in names if name != "document"}
        return package.DataFrame(cells, schema_overrides=dtypes)
    series = {name: package.Series(cells[name], dtype=_PANDAS[types[name]]) for name in names[1:]}
    return package.DataFrame({"document": package.Series(cells["document"])} | series)


def _import(library: str | None) -> ModuleType:
    if library not in (None, *LIBRARIES):
        raise ConfigError(f"library: expected {' or '.join(LIBRARIES)}, got {library!r}")
    for name in [library] if library else LIBRARIES:
        if find_spec(name) is not None:
            return import_module(name)
    wanted = library or " or ".join(LIBRARIES)
    raise ConfigError(f"to_frame: needs {wanted}: pip install {library or LIBRARIES[0]}")


def _polars_type(polars: ModuleType, type: str) -> object:
    if type == "list<string>":
        return polars.List(polars.String)
    return polars.Boolean if type == "bool" else getattr(polars, _POLARS[type])


def _frame_rows(
    sentences: Iterable[Any], documents: Iterable[Any] | None, rows: str
) -> Iterator[Cells]:
    items = iter(sentences)
    first = next(items, None)
    if isinstance(first, Sentence):
        if documents is not None:
            raise DataError("documents: needs several texts, not the sentences of one")
        groups: Iterable[Any] = [(0, chain([first], items))]
    elif first is None:
        groups = []
    else:
        _check_numbers(sentences, documents)
        groups = _groups(chain([first], items), documents)
    for document, group in groups:
        number = 0
        for number, sentence in enumerate(group, start=1):
            if not isinstance(sentence, Sentence):
                raise DataError(f"sentences: expected Sentences, got {sentence!r:.60}")
            yield from rows_of(rows, sentence, document=document, number=number)
        if not number:
            yield from rows_of(rows, None, document=document)


def _check_numbers(sentences: Iterable[Any], documents: Iterable[Any] | None) -> None:
    """Raise DataError if the numbers are known and differ; those of streams are not known."""
    if isinstance(sentences, Sized) and isinstance(documents, Sized):
        n, got = len(sentences), len(documents)
        if n != got:
            raise DataError(f"documents: expected {n}, one for each text, got {got}")


def _groups(items: Iterable[Any], documents: Iterable[Any] | None) -> Iterator[tuple[Any, Any]]:
    """The sentences of each text, with its id."""
    missing = object()
    ids = chain(documents, repeat(missing)) if documents is not None else None
    position = -1
    for position, item in enumerate(items):
        if isinstance(item, tuple) and len(item) == 2 and documents is None:
            yield item
            continue
        if not isinstance(item, list | tuple):
            raise DataError(f"sentences: expected lists of Sentences, got {item!r:.60}")
        id = position if ids is None else next(ids)
        if id is missing:
            raise DataError(f"documents: expected one for each text, got {position} for more texts")
        yield id, item
    if ids is not None and next(ids) is not missing:
        raise DataError(f"documents: expected {position + 1}, one for each text, got more")
