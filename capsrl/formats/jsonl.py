"""Read and write sentences as JSON: one object per line in files, the same object everywhere else.

`schema.json` beside this file (`json_schema()`) describes the object. JSON is the only format that
keeps all of a Sentence, including probabilities and offsets. Traces keep the probability of each
role at each iteration, but not the capsules. Arguments without a head word, and text with offsets
instead of words, are read too (`standoff`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from capsrl.errors import DataError
from capsrl.formats.blocks import Block, Watch
from capsrl.formats.fields import json_schema, sentence_from_dict, to_plain
from capsrl.formats.json_check import shown
from capsrl.formats.standoff import has_spans, read_object
from capsrl.sentence import Sentence

__all__ = [
    "format_jsonl",
    "format_object",
    "json_schema",
    "read_jsonl",
    "sentence_from_dict",
    "sentence_to_dict",
]

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
            try:
                value: object = _DECODER.decode(line)
            except (ValueError, RecursionError) as error:
                said = f"{where}: expected a JSON object, got {shown(line)}: {error}"
                raise DataError(said) from None
            if isinstance(value, dict) and has_spans(value):
                yield from read_object(value, where=where)
            else:
                yield sentence_from_dict(value, where=where)


def format_jsonl(sentence: Sentence) -> str:
    """Return one line of JSON with its line end; it can be written as UTF-8 for any words."""
    return format_object(sentence_to_dict(sentence))


def format_object(data: Mapping[str, object]) -> str:
    """Return one line of JSON with its line end; values that JSON does not have are strings."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False, default=str)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"


def sentence_to_dict(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence as lists, dicts, strings and numbers; unknown values are left out."""
    return to_plain(sentence)
