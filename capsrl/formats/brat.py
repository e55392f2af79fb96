r"""Write and read brat's stand-off files: NAME.ann with the annotation, NAME.txt with the text.

    T1\tPredicate 5 9\tsold
    #1\tAnnotatorNotes T1\tsell.01 {"probability": 0.95, ...}
    T2\tArgument 0 4\tMira
    R1\tA0 Arg1:T1 Arg2:T2

The note of a predicate begins with its sense, which annotators may change; the details of both
follow (`standoff`). Roles are types of relations, since brat takes the number at the end of an
event's role for a counter. NAME.sentences.jsonl has the words, and annotation.conf the roles.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import STANDARD, limited, open_writer, read_lines
from capsrl.formats.blocks import Watch
from capsrl.formats.fields import Plain, to_plain
from capsrl.formats.jsonl import format_object, read_jsonl
from capsrl.formats.standoff import Marked, mark, place
from capsrl.frames.roles import EVERY
from capsrl.sentence import Sentence

_SENTENCES = ".sentences.jsonl"
_ROLE = re.compile(r"[A-Za-z0-9_-]+")  # what brat allows as the name of a type
_SENSE = re.compile(r'[^\s"{]\S*')
_CONFIGURATION = """[entities]
Predicate
Argument
[relations]
{}
<OVERLAP> Arg1:<ANY>, Arg2:<ANY>, <OVL-TYPE>:<ANY>
[events]
[attributes]
"""


def write_brat(sentences: Iterable[Sentence], path: str | Path) -> None:
    """Write NAME.ann and the files beside it: the text, its sentences and a configuration.

    Raises ConfigError for standard output, DataError if NAME.txt is there with another text.
    """
    if str(path) == STANDARD or Path(path).suffix != ".ann":
        raise ConfigError(f"{path}: brat needs several files; name the first: -o NAME.ann")
    marked = mark(sentences)
    lines = list(_lines(marked))  # before any file is written, since roles may be refused
    text, words = Path(path).with_suffix(".txt"), Path(path).with_suffix(_SENTENCES)
    content = f"{marked.text}\n"
    if text.exists() and text.read_bytes() != content.encode(errors="replace"):
        raise DataError(f"{text}: is there with another text; write to another folder: -o NEW/...")
    parts: dict[Path, Iterable[str]] = {text: [content]}
    parts[words] = map(format_object, marked.bare or ())
    conf = Path(path).with_name("annotation.conf")
    if not conf.exists():  # it may have been changed for the project
        roles = {each["role"] for span in marked.spans for each in span["arguments"]}
        known = [*EVERY, *sorted(roles - {*EVERY})]
        ends = "Arg1:Predicate, Arg2:Argument"
        parts[conf] = [_CONFIGURATION.format("\n".join(f"{role}\t{ends}" for role in known))]
    parts[Path(path)] = lines
    for file, texts in parts.items():
        with open_writer(file) as writer:
            writer.writelines(texts)


def read_brat(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of an .ann file; the .txt file is read from beside it.

    An entity is a predicate if a relation leads from it. Other annotations are ignored.
    """
    text, words = Path(source).with_suffix(".txt"), Path(source).with_suffix(_SENTENCES)
    if not text.is_file():
        raise DataError(f"{source}: expected the text beside it, {text}, got no such file")
    known = read_jsonl(read_lines(words), source=str(words)) if words.is_file() else None
    bare = None if known is None else list(map(to_plain, known))
    spans: dict[str, Plain] = {}
    notes: dict[str, str] = {}
    relations = []
    what = f"{source}: expected a document that can be read whole"
    for number, line in enumerate(limited(lines, what), start=1):
        where = f"{source}:{number}"
        name, _, rest = line.rstrip("\r\n").partition("\t")
        data, _, tail = rest.partition("\t")
        cells = data.split()
        if name[:1] == "T" and (ends := re.findall(r"\b\d{1,15}\b", data.partition(" ")[2])):
            spans[name] = {"type": cells[0], "start": int(ends[0]), "end": int(ends[-1])}
        elif name[:1] == "R" and len(cells) == 3:
            relations.append((where, cells[0], *(cell.partition(":")[2] for cell in cells[1:])))
        elif name[:1] == "#" and len(cells) == 2:
            notes[cells[1]] = tail
        elif name[:1] in ("T", "R"):
            raise DataError(f"{where}: expected a line of brat, got {line.strip()!r:.60}")
    content = "\n".join(limited(read_lines(text), what))
    yield from place(Marked(content, bare, _propositions(spans, notes, relations)), source=source)


def _lines(marked: Marked) -> Iterator[str]:
    numbers, relations = count(1), count(1)

    def entity(type: str, span: Plain, note: str) -> tuple[int, str]:
        number, start, end = next(numbers), span["start"], span["end"]
        words = f"T{number}\t{type} {start} {end}\t{marked.text[start:end]}\n"
        return number, f"{words}#{number}\tAnnotatorNotes T{number}\t{note}\n"

    for span in marked.spans:
        sense = span["sense"]
        is_plain = sense is not None and _SENSE.fullmatch(sense) and sense != "null"
        shown = sense if is_plain else json.dumps(sense)
        predicate, text = entity("Predicate", span, f"{shown} {json.dumps(span['details'])}")
        yield text
        for argument in span["arguments"]:
            if not _ROLE.fullmatch(role := argument["role"]):
                raise DataError(
                    f"expected a role of letters, digits, - and _ for brat, got {role!r}"
                )
            number, text = entity("Argument", argument, json.dumps(argument["details"]))
            yield f"{text}R{next(relations)}\t{role} Arg1:T{predicate} Arg2:T{number}\n"


def _propositions(
    spans: dict[str, Plain], notes: dict[str, str], relations: list[Any]
) -> list[Plain]:
    found = {
        name: span | _note(notes.get(name, ""), is_sense=True) | {"arguments": []}
        for name, span in spans.items()
        if span["type"] == "Predicate" or any(name == each[2] for each in relations)
    }
    for where, role, predicate, argument in relations:
        if predicate not in found or argument not in spans:
            raise DataError(
                f"{where}: expected a relation of two entities, got one that is missing"
            )
        span = spans[argument] | _note(notes.get(argument, ""), is_sense=False) | {"role": role}
        found[predicate]["arguments"].append(span)
    return list(found.values())


def _note(note: str, *, is_sense: bool) -> Plain:
    """The sense and the details of a note; what annotators wrote besides is ignored."""
    sense: str | None = None
    if is_sense and not note.startswith("{"):
        try:  # a sense with blanks in it is written as JSON
            sense, end = json.JSONDecoder().raw_decode(note if note[:1] in ('"', "n") else "")
            note = note[end:]
        except (ValueError, RecursionError):
            sense, _, note = note.partition(" ")
    try:
        details = json.loads(note)
    except (ValueError, RecursionError):
        details = {}
    return {"sense": sense or None, "details": details if isinstance(details, dict) else {}}
