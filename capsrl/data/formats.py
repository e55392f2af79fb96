"""A file in any format -> Sentences, and Sentences -> a file, the format told by name or suffix.

conll09   .conll09 .conll .txt   CoNLL-2009
conllu    .conllu                CoNLL-U (read only)
conllup   .conllup               CoNLL-U Plus with UP:PRED and UP:ARGHEADS
jsonl     .jsonl .ndjson         one JSON object per line, see schema.json
up1       by name                Universal PropBank 1.0 (read only)
up2       with `merge`           Universal PropBank 2.0, stand-off (read only)

Each may be compressed: .gz or .xz after the suffix. docs/data.md says what each keeps.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from capsrl.data.conll09 import format_conll09, read_conll09
from capsrl.data.conllu import read_conllu
from capsrl.data.conllup import HEADER, format_conllup
from capsrl.data.files import STANDARD, name_of, open_writer, read_lines, suffix_of
from capsrl.data.jsonl import format_jsonl, read_jsonl
from capsrl.data.universal_propbank import read_up1, read_up2
from capsrl.errors import ConfigError
from capsrl.sentence import Sentence

SUFFIXES = {
    ".conll09": "conll09",
    ".conll": "conll09",
    ".txt": "conll09",  # so are the files of the shared task called
    ".conllu": "conllu",
    ".conllup": "conllup",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
READABLE = ("conll09", "conllu", "conllup", "jsonl", "up1", "up2")
WRITABLE = ("conll09", "conllup", "jsonl")


def read_sentences(
    path: str | Path, format: str | None = None, *, merge: str | Path | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a file, one at a time; `-` is standard input and needs a format.

    merge  the CoNLL-U file with the words of a Universal PropBank 2.0 stand-off file
    Raises ConfigError at once for a format nobody knows, DataError while reading.
    """
    format = input_format(path, format, merge=merge)
    return parse_sentences(read_lines(path), format, source=name_of(path), merge=merge)


def parse_sentences(
    lines: Iterable[str], format: str, *, source: str, merge: str | Path | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of lines in a format of READABLE."""
    if format == "up2":
        if merge is None:
            raise ConfigError(
                f"{source}: expected the CoNLL-U file that up2 is merged with, got none; "
                "name it: --merge FILE"
            )
        words = read_lines(merge)
        return read_up2(lines, words, source=source, conllu_source=name_of(merge))
    readers = {
        "conll09": read_conll09,
        "conllu": read_conllu,
        "conllup": read_conllu,
        "jsonl": read_jsonl,
        "up1": read_up1,
    }
    return readers[format](lines, source=source)


def write_sentences(
    sentences: Iterable[Sentence], path: str | Path, format: str | None = None
) -> int:
    """Write sentences as they come and return how many; `-` is standard output, by format.

    The file appears under its name only when all are written.
    Raises ConfigError at once for a format that cannot be written, DataError for a sentence
    that the format cannot hold.
    """
    format = output_format(path, format)
    formatters: dict[str, Callable[[Sentence], str]] = {
        "conll09": format_conll09,
        "conllup": format_conllup,
        "jsonl": format_jsonl,
    }
    n = 0
    with open_writer(path) as file:
        if format == "conllup":
            file.write(HEADER)
        for sentence in sentences:
            file.write(formatters[format](sentence))
            n += 1
    return n


def input_format(
    path: str | Path, format: str | None = None, *, merge: str | Path | None = None
) -> str:
    """The format to read a file in: the one named, up2 if there is one to merge, or by suffix."""
    if merge is not None:
        if format not in (None, "up2"):
            raise ConfigError(
                f"{name_of(path)}: expected format up2 for a file to merge with {name_of(merge)}, "
                f"got {format}"
            )
        if str(path) == STANDARD == str(merge):
            raise ConfigError("expected two files to merge, got standard input for both")
        return "up2"
    return _format(path, format, name_of(path), offered=READABLE)


def output_format(path: str | Path, format: str | None = None) -> str:
    """The format to write a file in: the one named, or by suffix."""
    name = "<stdout>" if str(path) == STANDARD else str(path)
    found = _format(path, format, name, offered=WRITABLE)
    if found not in WRITABLE:
        raise ConfigError(
            f"{name}: expected a format that can be written ({', '.join(WRITABLE)}), got {found}"
        )
    return found


def _format(path: str | Path, format: str | None, name: str, *, offered: tuple[str, ...]) -> str:
    if format is not None:
        if format not in READABLE:
            raise ConfigError(f"{name}: expected a format of {', '.join(offered)}, got {format!r}")
        return format
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"{name}: expected a suffix of {' '.join(SUFFIXES)} (and .gz or .xz), "
            f"got {suffix or 'none'}; or name the format: {', '.join(offered)}"
        )
    return SUFFIXES[suffix]
