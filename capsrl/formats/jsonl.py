"""Read and write sentences as JSON: one object per line in files, the same object everywhere else.

`schema.json` beside this file (`json_schema()`) describes the object. JSON is the only format that
keeps all of a Sentence, including probabilities and offsets. Traces keep the probability of each
role at each iteration (`_trace_to_dict`), but not the capsules.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from capsrl.errors import DataError
from capsrl.formats.blocks import Block, Watch
from capsrl.formats.json_check import json_schema, sentence_from_dict, shown
from capsrl.sentence import Argument, Phrase, Proposition, Sentence, Trace

__all__ = [
    "format_jsonl",
    "format_object",
    "json_schema",
    "read_jsonl",
    "sentence_from_dict",
    "sentence_to_dict",
]

_DIGITS = 6  # of the many probabilities in traces; float32 has no more
# Half a surrogate pair is not UTF-8; the others are line breaks to some programs.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


# Made once: json.loads makes one per call when it has options, in cycles that only gc can free.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def read_jsonl(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentence of each line that is not blank.

    watch  is called with each line, as a block, before its sentence is yielded
    Raises DataError naming source, line and the path inside the object.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            if watch is not None:
                watch(Block(source, number, [line]))
            where = f"{source}:{number}"
            yield sentence_from_dict(_decode(line, where), where=where)


def format_jsonl(sentence: Sentence) -> str:
    """Return one line of JSON with its line end; it can be written as UTF-8 for any words."""
    return format_object(sentence_to_dict(sentence))


def format_object(data: Mapping[str, object]) -> str:
    """Return one line of JSON with its line end; values that JSON does not have are strings."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False, default=str)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"


def sentence_to_dict(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence as lists, dicts, strings and numbers; unknown values are left out."""
    words = sentence.words
    result: dict[str, Any] = {
        "id": sentence.id,
        "text": sentence.text,
        "start": sentence.start,
        "words": list(words),
        "offsets": None if sentence.offsets is None else [list(pair) for pair in sentence.offsets],
        "lemmas": _list(sentence.lemmas),
        "tags": _list(sentence.tags),
        "heads": _list(sentence.heads),
        "relations": _list(sentence.relations),
        "propositions": [_proposition_to_dict(each, words) for each in sentence.propositions],
        "columns": {name: list(column) for name, column in sentence.columns.items()} or None,
        "comments": _list(sentence.comments) or None,
    }
    return _known(result)


def _decode(line: str, where: str) -> object:
    try:
        value: object = _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: expected a JSON object, got {shown(line)}: {error}") from None
    return value


def _proposition_to_dict(proposition: Proposition, words: tuple[str, ...]) -> dict[str, Any]:
    trace = proposition.trace
    result: dict[str, Any] = {
        "predicate": proposition.predicate,
        "form": words[proposition.predicate],
        "sense": proposition.sense,
        "definition": proposition.definition,
        "frames": _list(proposition.frames) or None,
        "guessed": proposition.guessed or None,
        "probability": proposition.probability,
        "predicate_probability": proposition.predicate_probability,
        "joint_probability": proposition.joint_probability,
        "start": proposition.start,
        "end": proposition.end,
        "arguments": [_argument_to_dict(each, words) for each in proposition.arguments],
        "trace": trace and _trace_to_dict(trace, proposition.arguments),
    }
    # An unknown sense is written as null: it is the first thing most readers look for.
    return _known(result) | ({"sense": None} if proposition.sense is None else {})


def _argument_to_dict(argument: Argument, words: tuple[str, ...]) -> dict[str, Any]:
    phrase = argument.phrase
    return _known(
        {
            "role": argument.role,
            "meaning": argument.meaning,
            "word": argument.word,
            "form": words[argument.word],
            "probability": argument.probability,
            "start": argument.start,
            "end": argument.end,
            "phrase": None if phrase is None else _phrase_to_dict(phrase),
        }
    )


def _phrase_to_dict(phrase: Phrase) -> dict[str, Any]:
    return _known(
        {
            "first": phrase.first,
            "last": phrase.last,
            "text": phrase.text,
            "start": phrase.start,
            "end": phrase.end,
        }
    )


def _trace_to_dict(trace: Trace, arguments: Iterable[Argument]) -> dict[str, Any]:
    """Return the probabilities of the roles that any word had at any iteration.

    The other roles are left out, so the probabilities of a word may sum to less than 1.
    """
    had = {argument.role for argument in arguments}
    best = set(trace.beliefs.argmax(-1).flatten().tolist())
    kept = [
        number
        for number, role in enumerate(trace.roles)
        if number == 0 or number in best or role in had
    ]
    return {
        "roles": [trace.roles[number] for number in kept],
        "beliefs": [
            [[round(prob, _DIGITS) for prob in word] for word in step]
            for step in trace.beliefs[:, :, kept].tolist()
        ],
    }


def _list(values: Iterable[object] | None) -> list[object] | None:
    return None if values is None else list(values)


def _known(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}
