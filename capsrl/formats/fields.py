"""Derive JSON objects, their checks, their schema and the columns of tables from described fields.

The fields of Sentence, Proposition, Argument, Phrase and Trace say of which kind they are
(`capsrl.proposition.About`); FIELD_KINDS says how each kind is written and checked. `schema.json`
beside this file is the derived schema. Checks also compare the values with each other.
"""

import json
import re
import typing
from collections.abc import Callable, Collection, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from capsrl.errors import DataError
from capsrl.formats import json_check as check
from capsrl.formats.json_check import Around, Check, Mistake
from capsrl.sentence import About, Argument, Proposition, Sentence, Trace

Plain = dict[str, Any]  # an object as in JSON


def _array(items: Plain, **more: int) -> Plain:
    return {"type": "array", "items": items, **more}


_TRACE_DIGITS = 6  # of the many probabilities in traces; float32 has no more
_STRINGS = {"$ref": "#/$defs/strings"}
_POSITION = {"$ref": "#/$defs/position"}
_PROBABILITY = {"$ref": "#/$defs/probability"}
_DEFINITIONS: Plain = {
    "strings": _array({"type": "string"}),
    "position": {"type": "integer", "minimum": 0},
    "probability": {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "description": "probability according to the model; absent in corpora",
    },
}
# Keys that lines of labeled tables have besides those of a Sentence; readers ignore them.
_OF_DOCUMENTS: Plain = {
    "document": {
        "type": "string",
        "description": "id of the document in the table it was read from",
    },
    "fields": {"type": "object", "description": "the other columns of the document in that table"},
    "error": {
        "type": "string",
        "description": "why the document was not labeled; it has no words here",
    },
}


@dataclass(frozen=True, slots=True)
class Described:
    """A field and its description.

    default  MISSING: it is required
    of       the class of the objects that it holds, if it holds objects
    """

    name: str
    about: About
    help: str
    default: Any
    of: Any

    @property
    def kind(self) -> "Kind":
        """How it is written and checked."""
        return FIELD_KINDS[self.about.kind]

    @property
    def column(self) -> str:
        """The name of its column in tables; empty if it has none."""
        return self.about.column[1] if self.about.column else ""


def fields_in_tables(described: type) -> list[Described]:
    """The fields of a class that have columns in tables, in the order of the columns."""
    found = [each for each in describe(described) if each.about.column]
    return sorted(found, key=lambda each: each.about.column or (0, ""))


@cache
def describe(described: type) -> tuple[Described, ...]:
    """The fields of a class that are in JSON, in the order of their keys."""
    found = []
    for field in fields(described):
        held, *about, help = typing.get_args(field.type)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        of = next(filter(is_dataclass, typing.get_args(held)), None)
        found += [Described(field.name, each, help, default, of) for each in about]
    return tuple(sorted(found, key=lambda each: each.about.json))


def to_plain(item: object) -> Plain:
    """A sentence, or a part of one, as lists, dicts, strings and numbers.

    A value that is the default of its field is left out, unless the field is written always.
    """
    kind: type = type(item)
    data: Plain = {}
    for name, default, always, write in _written(kind):
        value = getattr(item, name)
        if always or value != default:
            data[name] = value if write is None else write(value, item)
    return data


@cache
def _written(described: type) -> list[tuple[str, Any, bool, Callable[[Any, Any], Any] | None]]:
    """Of each field its name, its default, whether it is written always, and how."""
    return [
        (each.name, each.default, each.about.always, each.kind.write)
        for each in describe(described)
    ]


def _write_trace(trace: Trace, proposition: Proposition) -> Plain:
    """The probabilities of the roles that any word had at any iteration.

    The other roles are left out, so the probabilities of a word may sum to less than 1.
    """
    had = {argument.role for argument in proposition.arguments}
    best = set(trace.beliefs.argmax(-1).flatten().tolist())
    kept = [
        number
        for number, role in enumerate(trace.roles)
        if number == 0 or number in best or role in had
    ]
    return {
        "roles": [trace.roles[number] for number in kept],
        "beliefs": [
            [[round(prob, _TRACE_DIGITS) for prob in word] for word in step]
            for step in trace.beliefs[:, :, kept].tolist()
        ],
    }


def sentence_from_dict(
    data: object, *, where: str = "sentence", kind: type[Sentence] = Sentence
) -> Sentence:
    """Return the sentence of a decoded JSON object; unknown keys are refused.

    Raises DataError whose message begins with `where` and the path inside the object.
    """
    try:
        known = _check_keys(kind, data, _OF_DOCUMENTS)
        first: Plain = {name: known[name] for name in ("words", "text") if name in known}
        first = _check_values(kind, first, Around())
        around = Around(first["words"], first.get("text"))
        return kind(**_check_values(kind, known, around))
    except Mistake as mistake:
        path = f": {mistake.path[1:]}" if mistake.path else ""
        raise DataError(f"{where}{path}: {mistake}") from None


def _check_keys(described: type, data: object, ignored: Collection[str] = ()) -> Plain:
    found: Plain = check.mapping(data, Around())
    known = _checks(described)
    if not found.keys() <= known.keys():
        unknown = [key for key in found if key not in known and key not in ignored]
        if unknown:
            names = ", ".join((*known, *ignored))
            raise Mistake(f"expected the keys {names}, got {unknown[0]!r}")
    for name in _required(described):
        if name not in found:
            got = ", ".join(map(repr, found)) or "none"
            raise Mistake(f"expected the key {name!r}, got {got}")
    return found


def _check_values(described: type, data: Plain, around: Around) -> Plain:
    checks, values, name = _checks(described), {}, ""
    try:
        for name, value in data.items():
            if name in checks:
                values[name] = checks[name](value, around)
    except Mistake as mistake:
        raise mistake.inside(f".{name}") from None
    return values


@cache
def _checks(described: type) -> dict[str, Check]:
    return {
        each.name: partial(each.kind.check, of=each.of) if each.of else each.kind.check
        for each in describe(described)
    }


@cache
def _required(described: type) -> list[str]:
    return [each.name for each in describe(described) if each.default is MISSING]


def _check_object(value: object, around: Around, of: type) -> object:
    """Return an object that is part of a sentence."""
    values = _check_values(of, _check_keys(of, value), around)
    _compare_values(values, around)
    return of(**values)


def _compare_values(values: Plain, around: Around) -> None:
    """Compare the values of an object with each other, by the keys that it has."""
    if ("start" in values) != ("end" in values):
        raise Mistake("only one of start and end is given")
    if "start" in values:
        check.order(values["start"], values["end"], around)
    if values.get("first", 0) > values.get("last", 0):
        raise Mistake(f"expected first <= last, got {values['first']} and {values['last']}")
    word: Any = values.get("predicate", values.get("word"))
    phrase = values.get("phrase")
    if "form" in values and values["form"] != around.words[word]:
        raise check.wrong(f"{around.words[word]!r}, word {word}", values["form"]).inside(".form")
    if phrase is not None and not phrase.first <= word <= phrase.last:
        said = f"expected a phrase that contains word {word}, "
        raise Mistake(f"{said}got words {phrase.first} to {phrase.last}").inside(".phrase")
    if "trace" in values:
        values["trace"] = _compare_trace(values["trace"], values.get("arguments", ()), around)


def _compare_trace(trace: Trace, arguments: Iterable[Argument], around: Around) -> Trace:
    """Compare the parts of a trace; its numbers become an array."""
    roles, beliefs = trace.roles, trace.beliefs
    for argument in arguments:
        if argument.role not in roles:
            said = f"expected {argument.role!r} among them, got {list(roles)}"
            raise Mistake(said).inside(".trace.roles")
    for step, words in enumerate(beliefs):
        for word, probs in enumerate(words):
            if len(probs) != len(roles):
                said = f"expected {len(roles)} entries, one per role, got {len(probs)}"
                raise Mistake(said).inside(f".trace.beliefs[{step}][{word}]")
    shape = len(beliefs), len(around.words), len(roles)
    return Trace(roles, np.array(beliefs, dtype=np.float32).reshape(shape))


@dataclass(frozen=True, slots=True)
class Kind:
    """How the fields of one kind are written and checked.

    schema  of their values; None: a reference to the class that the field holds
    check   makes the value of a field from decoded JSON
    write   makes the value of JSON, from that of the field and its owner; None: it is the same
    column  their type in tables
    """

    schema: Plain | None
    check: Callable[..., Any]
    write: Callable[[Any, Any], Any] | None = None
    column: str = ""


def _write_list(values: Iterable[object], _: object) -> list[object]:
    return list(values)


FIELD_KINDS = {
    "text": Kind({"type": "string"}, check.string, column="string"),
    "form": Kind({"type": "string"}, check.string, column="string"),
    "sense": Kind({"type": ["string", "null"]}, check.string_or_null, column="string"),
    "word": Kind(_POSITION, check.word, column="int32"),
    "offset": Kind(_POSITION, check.offset, column="int64"),
    "probability": Kind(_PROBABILITY, check.probability, column="double"),
    "flag": Kind({"type": "boolean"}, check.flag, column="bool"),
    "strings": Kind(_STRINGS, check.strings, _write_list, "list<string>"),
    "per word": Kind(_STRINGS, check.string_per_word, _write_list, "list<string>"),
    "heads": Kind(
        _array({"anyOf": [_POSITION, {"type": "null"}]}),
        check.one_per_word(check.list_of(check.head)),
        _write_list,
    ),
    "offsets": Kind(
        _array(_array(_POSITION, minItems=2, maxItems=2)),
        check.one_per_word(check.list_of(check.pair)),
        lambda pairs, _: list(map(list, pairs)),
    ),
    "columns": Kind(
        {"type": "object", "additionalProperties": _STRINGS},
        check.columns,
        lambda columns, _: {name: list(column) for name, column in columns.items()},
    ),
    "object": Kind(None, _check_object, lambda item, _: to_plain(item)),
    "objects": Kind(
        None, check.list_of(_check_object), lambda items, _: list(map(to_plain, items))
    ),
    "trace": Kind(None, _check_object, _write_trace),
    "roles": Kind(_STRINGS | {"minItems": 1, "prefixItems": [{"const": "_"}]}, check.roles),
    "beliefs": Kind(_array(_array(_array(_PROBABILITY)), minItems=1), check.beliefs),
}


def json_schema(kind: type[Sentence] = Sentence) -> Plain:
    """Return the JSON schema (draft 2020-12) of a sentence."""
    definitions = dict(_DEFINITIONS)
    sentence = _object_schema(kind, definitions)
    sentence["properties"] |= _OF_DOCUMENTS
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A sentence and its propositions",
        "description": "One line of a capsrl JSONL file, and the result of Sentence.to_dict. "
        "Positions count from 0. Beyond this schema, readers check that positions are in range, "
        "that lists about words have one entry per word, that a form is the word at its position, "
        "and that start and end come together, in order and inside the text.",
        **sentence,
        "$defs": definitions,
    }


def _object_schema(described: type, definitions: Plain) -> Plain:
    """The schema of the objects of a class; those of the classes in it become definitions."""
    properties = {}
    for each in describe(described):
        schema = each.kind.schema
        if each.of is not None:
            name = each.of.__name__.lower()
            definitions[name] = _object_schema(each.of, definitions)
            schema = {"$ref": f"#/$defs/{name}"}
            if each.about.kind == "objects":
                schema = _array(schema)
            else:
                definitions[name]["description"] = each.help
        about = {} if each.name in definitions else {"description": each.help}
        properties[each.name] = (schema or {}) | about
    schema = {
        "type": "object",
        "required": list(_required(described)),
        "additionalProperties": False,
        "properties": properties,
    }
    if {"start", "end"} <= properties.keys():
        schema["dependentRequired"] = {"start": ["end"], "end": ["start"]}
    return schema


def schema_components(ref: str) -> Plain:
    """The schema of a sentence and those of its parts, each with its name as title.

    ref  a reference to one of them, with a place for its name: #/components/schemas/{model}
    """

    def component(found: re.Match[str]) -> str:
        return ref.format(model=found[1].capitalize())

    schema = json.loads(re.sub(r"#/\$defs/(\w+)", component, json.dumps(json_schema())))
    del schema["$schema"]
    parts = {name.capitalize(): part for name, part in schema.pop("$defs").items()}
    return {name: part | {"title": name} for name, part in (parts | {"Sentence": schema}).items()}
