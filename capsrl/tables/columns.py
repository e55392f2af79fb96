"""The columns of tables of propositions, and their Arrow schema.

A table has one row per argument (ARGUMENT_COLUMNS), one per proposition with its roles side by side
(PROPOSITION_COLUMNS), or one per sentence with its propositions nested in it (SENTENCE_COLUMNS).
Those of propositions are described by FACTS, the others by the fields of Proposition, Argument,
Phrase and Sentence. The other columns of the documents follow, see `Passed`. All may be null.
Offsets count characters of the document, positions count words of the sentence; both begin at 0,
and an end is that of the next character. docs/tables.md is for users.
"""

import json
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any

from capsrl.errors import ConfigError
from capsrl.formats.fields import fields_in_tables
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.tables.parquet import pyarrow
from capsrl.tables.reading import Input, some_names

if TYPE_CHECKING:
    import pyarrow as pa


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


def derive_columns(described: type) -> tuple[Column, ...]:
    """The columns of the fields of a class, see `capsrl.proposition.About`."""
    return tuple(
        Column(each.column, each.kind.column, each.help) for each in fields_in_tables(described)
    )


_PROPOSITION = derive_columns(Proposition)
_ARGUMENT = (*derive_columns(Argument), *derive_columns(Phrase))
_SENTENCE = (
    Column("document", "string", "id of the document"),
    Column("sentence", "int32", "number of the sentence in its document, from 1"),
    Column("sentence_id", "string", "id of the sentence"),
    Column("text", "string", "the text of the sentence"),
    Column("sentence_start", "int64", "offset of the sentence"),
    Column("sentence_end", "int64", "offset of its end"),
)
_NUMBERED = tuple(f"A{number}" for number in range(5))
_ADJUNCTS = {"time": "AM-TMP", "place": "AM-LOC", "cause": "AM-CAU", "manner": "AM-MNR"}


def _text(role: str, proposition: Proposition) -> str | None:
    """The texts of a role, without prepositions, with semicolons between several."""
    first, found = proposition.get(role), proposition.all_arguments
    others = [each.text for each in found if each.role == role][1:]
    return "; ".join([first.text, *others]) if first else None


def _head(role: str, proposition: Proposition) -> str | None:
    found = proposition.get(role)
    return found.form if found else None


# The columns of a proposition as a row, and how to get their values.
FACTS: tuple[tuple[Column, Callable[[Proposition], Any]], ...] = (
    (Column("predicate", "string", "the predicate"), attrgetter("form")),
    (Column("predicate_word", "int32", "position of the predicate"), attrgetter("predicate")),
    (Column("predicate_start", "int64", "offset of the predicate"), attrgetter("start")),
    (Column("predicate_end", "int64", "offset of its end"), attrgetter("end")),
    (Column("lemma", "string", "lemma with particle: give_up, give_speech"), attrgetter("lemma")),
    (Column("sense", "string", "the roleset: sign.01"), lambda each: (each.noun or each).sense),
    (Column("negated", "bool", "whether it is denied"), attrgetter("negated")),
    (Column("modal", "string", "modal verb: can, will"), attrgetter("modal")),
    (Column("voice", "string", "active or passive"), attrgetter("voice")),
    (Column("tense", "string", "past, present or future"), attrgetter("tense")),
    *(
        (Column(name, "string", f"{role} without preposition"), partial(_text, role))
        for name, role in (dict(zip(_NUMBERED, _NUMBERED, strict=True)) | _ADJUNCTS).items()
    ),
    *(
        (Column(f"{role}_head", "string", f"head word of {role}"), partial(_head, role))
        for role in _NUMBERED
    ),
    *(
        (Column(column, "double", help), methodcaller("probability_with_noun", name))
        for column, name, help in (
            ("predicate_probability", "predicate_probability", "that the word is a predicate"),
            ("sense_probability", "probability", "that the sense is right"),
            ("joint_probability", "joint_probability", "that sense and all arguments are right"),
        )
    ),
)
_ERROR = Column("error", "string", "why the document was not labeled")
ARGUMENT_COLUMNS = (*_SENTENCE, *_PROPOSITION, *_ARGUMENT, _ERROR)
PROPOSITION_COLUMNS = (*_SENTENCE, *(column for column, _ in FACTS), _ERROR)
SENTENCE_COLUMNS = (
    *_SENTENCE,
    *derive_columns(Sentence),
    Column(
        "propositions",
        (*_PROPOSITION, Column("arguments", _ARGUMENT, "the arguments, by their words")),
        "the propositions, by their predicates",
    ),
    _ERROR,
)
_BY_ROWS = {
    "argument": ARGUMENT_COLUMNS,
    "proposition": PROPOSITION_COLUMNS,
    "sentence": SENTENCE_COLUMNS,
}
ROWS = tuple(_BY_ROWS)  # what a row may be
_OUR_NAMES = frozenset(column.name for columns in _BY_ROWS.values() for column in columns)


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
    while free in _OUR_NAMES or (free != name and free in others):
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
            f"({some_names(known)}), got {some_names(unknown)}"
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
    """The columns of a table; `rows`, what a row is, is one of ROWS."""
    return (*_BY_ROWS[rows], *passed.columns.values())


def arrow_schema(rows: str = "argument", passed: Passed = NOTHING) -> "pa.Schema":
    """The Arrow schema of a table, which Parquet files have; needs pyarrow.

    rows  argument, proposition or sentence: what a row is
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
