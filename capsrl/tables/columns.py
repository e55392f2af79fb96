"""The columns of tables of propositions, and their Arrow schema.

A table has one row per argument (ARGUMENT_COLUMNS), or one per sentence with its propositions
nested in it (SENTENCE_COLUMNS). The other columns of the documents follow, see `Passed`. All
columns may be null. Offsets count characters of the document, positions count words of the
sentence; both begin at 0, and an end is that of the next character. docs/tables.md is for users.
"""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from capsrl.errors import ConfigError
from capsrl.tables.documents import Input
from capsrl.tables.parquet import pyarrow

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = ("argument", "sentence")  # what a row may be


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    type  string, int32, int64, double, bool or list<string>; the columns of a nested table; or a
          type of pyarrow
    help  what is in it
    """

    name: str
    type: "str | tuple[Column, ...] | pa.DataType"
    help: str


def _offsets(prefix: str, what: str) -> tuple[Column, Column]:
    return (
        Column(f"{prefix}_start", "int64", f"offset of the first character of {what}"),
        Column(f"{prefix}_end", "int64", f"offset after the last character of {what}"),
    )


_SENTENCE = (
    Column("document", "string", "id of the document"),
    Column("sentence", "int32", "number of the sentence in its document, from 1"),
    Column("sentence_id", "string", "id of the sentence"),
    Column("text", "string", "the text of the sentence"),
    *_offsets("sentence", "the sentence"),
)
_PROPOSITION = (
    Column("predicate", "string", "the predicate: gave"),
    Column("predicate_word", "int32", "position of the predicate"),
    *_offsets("predicate", "the predicate"),
    Column("predicate_probability", "double", "that the word is a predicate"),
    Column("sense", "string", "roleset of PropBank: give.01"),
    Column("sense_probability", "double", "that the sense is right"),
    Column("guessed", "bool", "whether the lemma is in neither PropBank nor training corpus"),
    Column("definition", "string", "what the sense means, if frame files were read"),
    Column("frames", "list<string>", "linked frames of other lexicons: verbnet:give-13.1-1"),
    Column("joint_probability", "double", "that sense and all arguments are right"),
)
_ARGUMENT = (
    Column("role", "string", "role of the argument: A0, AM-TMP"),
    Column("meaning", "string", "what the role means for this sense: Agent"),
    Column("argument_probability", "double", "that word and role are right"),
    Column("head", "string", "head word of the argument"),
    Column("head_word", "int32", "position of the head word"),
    *_offsets("head", "the head word"),
    Column("phrase", "string", "the whole argument"),
    Column("phrase_first", "int32", "position of the first word of the phrase"),
    Column("phrase_last", "int32", "position of the last word of the phrase"),
    *_offsets("phrase", "the phrase"),
)
_ERROR = Column("error", "string", "why the document was not labeled")

ARGUMENT_COLUMNS = (*_SENTENCE, *_PROPOSITION, *_ARGUMENT, _ERROR)
SENTENCE_COLUMNS = (
    *_SENTENCE,
    Column("words", "list<string>", "the words of the sentence"),
    Column("tags", "list<string>", "the part of speech of each word"),
    Column(
        "propositions",
        (*_PROPOSITION, Column("arguments", _ARGUMENT, "the arguments, by their words")),
        "the propositions, by their predicates",
    ),
    _ERROR,
)
COLUMNS = {"argument": ARGUMENT_COLUMNS, "sentence": SENTENCE_COLUMNS}
_NAMES = frozenset(column.name for column in (*ARGUMENT_COLUMNS, *SENTENCE_COLUMNS))


@dataclass(frozen=True, slots=True)
class Passed:
    """Columns of the documents that are passed on to the tables.

    Columns of Parquet files keep their types if all files agree on them. All others are strings,
    which holds for any number of files and parts of files: what is not a string in JSON lines
    becomes its JSON.

    columns     by their names in the documents; a column of the same name as one of ours gets the
                prefix `input_`
    are_chosen  whether the user has named them, else they are those that were found in files
    """

    columns: Mapping[str, Column]
    are_chosen: bool = False

    def values(self, columns: Mapping[str, object]) -> dict[str, object]:
        """The values of a document for the table, by the names that the columns have there."""
        return {
            column.name: as_text(columns.get(name))
            if column.type == "string"
            else columns.get(name)
            for name, column in self.columns.items()
        }

    def fields(self, columns: Mapping[str, object]) -> dict[str, object]:
        """The values of a document for JSON, which has place for any: all but those not chosen."""
        chosen = self.columns if self.are_chosen else columns
        return {name: columns[name] for name in chosen if name in columns}

    def missed(self, columns: Iterable[str]) -> list[str]:
        """The names of columns that are not passed on."""
        return [name for name in columns if name not in self.columns]


def _free_name(name: str, others: Container[str]) -> str:
    """The name of a column beside ours and the other columns of the document."""
    free = name
    while free in _NAMES or (free != name and free in others):
        free = f"input_{free}"
    return free


def find_passed(
    inputs: Iterable[Input], only: Iterable[str] | None = None, *, are_all: bool = True
) -> Passed:
    """The columns of all these files that are passed on.

    only     the columns to pass on; by default all
    are_all  whether there are no inputs besides these, which may have other columns
    Raises ConfigError for a column to pass on that no file has, or one has twice. JSON lines may
    have any.
    """
    types: dict[str, set[Any]] = {name: set() for name in only or ()}
    known: dict[str, None] = {}
    for each in inputs:
        are_all = are_all and each.format != "jsonl"
        for name, type in each.column_types(None if only is None else types).items():
            known[name] = None
            if only is None or name in types:
                types.setdefault(name, set()).add(type)
    if are_all and (unknown := [name for name in types if name not in known]):
        raise ConfigError(
            f"--columns: expected some of the columns besides text and id "
            f"({', '.join(map(repr, known)) or 'none'}), got {', '.join(map(repr, unknown))}"
        )
    columns = {
        name: Column(
            _free_name(name, types),
            found.pop() if len(found) == 1 else "string",
            "as in the document",
        )
        for name, found in types.items()
    }
    return Passed(columns, are_chosen=only is not None)


NOTHING = Passed({})


def as_text(value: object) -> str | None:
    """A value of any column as a string: lists, objects and numbers as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict | int | float):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def columns_of(rows: str, passed: Passed = NOTHING) -> tuple[Column, ...]:
    """The columns of a table with one row per argument or sentence; `rows` is one of ROWS."""
    return (*COLUMNS[rows], *passed.columns.values())


def arrow_schema(rows: str = "argument", passed: Passed = NOTHING) -> "pa.Schema":
    """The Arrow schema of a table, which Parquet files have; needs pyarrow.

    rows  argument or sentence: what a row is
    """
    pa = pyarrow("arrow_schema")
    return pa.schema([(each.name, _arrow_type(each.type)) for each in columns_of(rows, passed)])


def _arrow_type(type: Any) -> "pa.DataType":  # noqa: ANN401
    pa = pyarrow("arrow_schema")
    if isinstance(type, tuple):
        return pa.list_(pa.struct([(each.name, _arrow_type(each.type)) for each in type]))
    if type == "list<string>":
        return pa.list_(pa.string())
    return pa.type_for_alias(type) if isinstance(type, str) else type
