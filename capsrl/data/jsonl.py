"""Sentence <-> JSON: one object per line in files, the same object in the library and the service.

`schema.json` beside this file (`json_schema()`) says what an object holds. It is the one format
that keeps everything a Sentence holds, probabilities and offsets included; of traces it keeps what
was believed (`_trace_to_dict`), not the capsules.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from capsrl.data.json_check import sentence_from_dict, shown
from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence, Trace

__all__ = [
    "format_jsonl",
    "json_schema",
    "read_jsonl",
    "sentence_from_dict",
    "sentence_to_dict",
]

_DIGITS = 6  # of the probabilities in traces: there are many, and float32 knows no more
# Half a surrogate pair is no UTF-8; the others are line ends to some programs.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


# Made once: json.loads makes one per call when it is given options, in cycles only gc can free.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def read_jsonl(lines: Iterable[str], *, source: str = "<lines>") -> Iterator[Sentence]:
    """Yield one Sentence per line; blank lines are skipped.

    Raises DataError naming source, line and the place inside the object.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            where = f"{source}:{number}"
            yield sentence_from_dict(_parse(line, where), where=where)


def format_jsonl(sentence: Sentence) -> str:
    """One line of JSON with its line end. Safe as UTF-8 whatever the words hold."""
    line = json.dumps(sentence_to_dict(sentence), ensure_ascii=False, allow_nan=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a sentence."""
    text = Path(__file__).with_name("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def sentence_to_dict(sentence: Sentence) -> dict[str, Any]:
    """A sentence as plain lists, dicts, strings and numbers; what is not known is left out."""
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


def _parse(line: str, where: str) -> object:
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
        "probability": proposition.probability,
        "start": proposition.start,
        "end": proposition.end,
        "arguments": [
            _known(
                {
                    "role": argument.role,
                    "word": argument.word,
                    "form": words[argument.word],
                    "probability": argument.probability,
                    "start": argument.start,
                    "end": argument.end,
                }
            )
            for argument in proposition.arguments
        ],
        "trace": trace and _trace_to_dict(trace, proposition.arguments),
    }
    # A sense that is not known is said to be so: it is what most readers look at first.
    return _known(result) | ({"sense": None} if proposition.sense is None else {})


def _trace_to_dict(trace: Trace, arguments: Iterable[Argument]) -> dict[str, Any]:
    """The beliefs about the roles that any word had at any time; most roles never matter.

    The others' share is left out too, so the probabilities of a word may sum to less than 1.
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
