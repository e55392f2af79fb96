"""Formats of corpus files: a table of suffixes, and a reader and a writer for all formats.

text      .txt                raw text (read only)
conll09   .conll09 .conll     CoNLL-2009
conllu    .conllu             CoNLL-U (read only)
conllup   .conllup            CoNLL-U Plus with UP:PRED and UP:ARGHEADS
jsonl     .jsonl .ndjson      one JSON object per line, see schema.json
up1       by name             Universal PropBank 1.0 (read only)
allennlp  by name             JSON lines as of the SRL predictor of AllenNLP (written only)
brackets  by name             bracketed lines, `[A0 Mira] [V sold]` (written only)
penman    by name             graphs in PENMAN notation (written only)
brat      .ann                stand-off files of brat
labelstudio  by name          tasks of Label Studio
cas       .xmi                UIMA CAS, also as JSON: INCEpTION; needs dkpro-cassis
conll05, conll12  .gold_conll spans of CoNLL-2005 and CoNLL-2012 (read only)
spans     .spans.tsv          the phrases of the arguments, see phrase_file.py (written only)

Universal PropBank 2.0, stand-off, is `conllup` merged with the CoNLL-U file that has the words.
Files may be compressed: .gz, .xz, .bz2 or .zst after the suffix. docs/data.md says what each
format keeps.
The suffixes of `json`, `html` and `svg` are here for the command line, which writes them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from capsrl.errors import ConfigError
from capsrl.files.compression import AND_COMPRESSED
from capsrl.files.opening import (
    STANDARD,
    check_compression,
    limited,
    name_of,
    open_writer,
    read_lines,
    suffix_of,
)
from capsrl.formats.bio import format_allennlp, format_brackets
from capsrl.formats.blocks import Block
from capsrl.formats.brat import read_brat, write_brat
from capsrl.formats.cas import read_cas, write_cas
from capsrl.formats.conll09 import format_conll09, read_conll09
from capsrl.formats.conllu import HEADER, format_conllup, read_conllu
from capsrl.formats.jsonl import format_jsonl, read_jsonl
from capsrl.formats.labelstudio import labelstudio_parts, read_labelstudio
from capsrl.formats.penman import format_penman
from capsrl.formats.phrase_file import (
    PHRASES_SUFFIX,
    check_phrase_file,
    format_phrases,
    with_phrase_file,
)
from capsrl.formats.props import read_conll05, read_conll12
from capsrl.formats.universal_propbank import read_up1, read_up2
from capsrl.sentence import Sentence
from capsrl.text import PLAIN, Layout
from capsrl.text.sentences import split_lines

TEXT = "text"
SUFFIXES = {
    ".txt": TEXT,
    ".conll09": "conll09",
    ".conll": "conll09",
    ".conllu": "conllu",
    ".conllup": "conllup",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    PHRASES_SUFFIX: "spans",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".svg": "svg",
    ".ann": "brat",
    ".xmi": "cas",
    ".gold_conll": "conll12",
    ".v4_gold_conll": "conll12",
}
_TOOLS = ("brat", "cas", "labelstudio")  # of annotation tools
# Files of sentences.
CORPORA = ("conll09", "conllu", "conllup", "jsonl", "up1", "conll05", "conll12", *_TOOLS)
READABLE = (TEXT, *CORPORA)
WRITABLE = ("conll09", "conllup", "jsonl")
# Written when they are named; the first four are not read as sentences.
EXPORTS = ("allennlp", "brackets", "penman", "spans", *_TOOLS)

_READERS: dict[str, Callable[..., Iterator[Sentence]]] = {
    "conll09": read_conll09,
    "conllu": read_conllu,
    "conllup": read_conllu,
    "jsonl": read_jsonl,
    "up1": read_up1,
    "conll05": read_conll05,
    "conll12": read_conll12,
    "brat": read_brat,
    "labelstudio": read_labelstudio,
    "cas": read_cas,
}
# The text of a file: of one sentence after the other, or of all.
_FORMATTERS: dict[str, Callable[[Sentence], str]] = {
    "conll09": format_conll09,
    "conllup": format_conllup,
    "jsonl": format_jsonl,
    "allennlp": format_allennlp,
    "brackets": format_brackets,
    "penman": format_penman,
}
_PARTS: dict[str, Callable[[Iterable[Sentence]], Iterator[str]]] = {
    "spans": lambda sentences: map(format_phrases, sentences, count(1)),
    "labelstudio": labelstudio_parts,
}
# Formats whose writers need the path: of several files, of which it names the first, or by suffix.
FILES = {"brat": write_brat, "cas": write_cas}
_HINTS = {
    TEXT: "a CoNLL-2009 file named .txt needs the format conll09",
    "conllu": "CoNLL-U has no propositions, CoNLL-U Plus (.conllup) has",
    "json": "files of several sentences are .jsonl",
}
# What has no place in a format, of the fields that `find_lost` knows.
_LOST = {"conll09": ("phrases", "probabilities", "ids")}


def format_of(
    path: str | Path,
    named: str | None = None,
    *,
    formats: Sequence[str] = READABLE,
    suffixes: Mapping[str, str] = SUFFIXES,
    default: str | None = None,
    option: str | None = None,
) -> str:
    """Return the format of a file: the one named, or the one of its suffix.

    formats   the formats to choose from, such as READABLE, CORPORA or WRITABLE
    suffixes  the format of each suffix
    default   the format of standard input and output if none is named
    option    the command-line option that names the format, for messages
    Raises ConfigError for a format that is unknown or not among `formats`.
    """
    if named is not None:
        if named not in formats:
            hint = f"; {_HINTS[named]}" if named in _HINTS else ""
            where = option or path
            raise ConfigError(f"{where}: expected one of {', '.join(formats)}, got {named}{hint}")
        return named
    advice = f"name the format{f' with {option}' if option else ''}: {', '.join(formats)}"
    if str(path) == STANDARD:
        if default is None:
            raise ConfigError(f"-: expected a format for standard input and output; {advice}")
        return default
    check_compression(path)
    suffix = suffix_of(path, long=(PHRASES_SUFFIX,))
    found = suffixes.get(suffix) or SUFFIXES.get(suffix, "")
    if found not in formats:
        known = " ".join(suffix for suffix, format in suffixes.items() if format in formats)
        hint = f"{_HINTS[found]}; " if found in _HINTS else ""
        raise ConfigError(
            f"{path}: expected a suffix of {known} ({AND_COMPRESSED}), "
            f"got {suffix or 'none'}; {hint}rename the file or {advice}"
        )
    return found


class SentenceReader(Iterator[Sentence]):
    """Iterate over the sentences of a file; can tell the line of the last one that was read."""

    def __init__(
        self,
        lines: Iterable[str],
        format: str,
        *,
        source: str,
        merge: str | Path | None,
        layout: Layout,
        phrases: str | Path | None,
    ) -> None:
        """Read lines in one of the READABLE formats; see `read_sentences`."""
        self._source = source
        self._block: Block | None = None
        self._ended = False
        self._sentences: Iterator[Sentence]
        if format == TEXT:
            self._sentences = _read_text(lines, source, layout)
        elif merge is None:
            self._sentences = _READERS[format](lines, source=source, watch=self._watch)
        else:
            names = {"source": source, "conllu_source": name_of(merge)}
            self._sentences = read_up2(lines, read_lines(merge), **names, watch=self._watch)
        if phrases is not None:
            self._sentences = with_phrase_file(self._sentences, phrases)

    def __next__(self) -> Sentence:
        try:
            return next(self._sentences)
        except StopIteration:
            self._ended = True
            raise

    def where(self, word: int | None = None) -> str:
        """Return `file:line` of the last sentence that was read, or of one of its words.

        After the end it is the last line with a word; for raw text it is the file alone.
        """
        if self._block is None:
            return self._source
        if self._ended:
            return self._block.where(len(self._block.rows) - 1)
        return self._block.where_word(word or 0)

    def _watch(self, block: Block) -> None:
        self._block = block


def read_sentences(
    path: str | Path,
    format: str | None = None,
    *,
    merge: str | Path | None = None,
    encoding: str | None = None,
    layout: Layout = PLAIN,
    phrases: str | Path | None = None,
) -> SentenceReader:
    """Yield the sentences of a file, one at a time; `-` is standard input and needs a format.

    merge     the CoNLL-U file with the words of a Universal PropBank 2.0 stand-off file (.conllup)
    encoding  the encoding of the file, UTF-8 by default
    layout    how raw text is laid out
    phrases   the file with the phrases of the arguments; `phrase_file_of(path)` finds it
    Raw text is read only if the format is named: a corpus should not be mistaken for it.
    Raises ConfigError immediately for an unknown format, DataError while reading.
    """
    format = format_of(path, format, formats=CORPORA if format is None else READABLE)
    if str(path) == STANDARD == str(merge):
        raise ConfigError("expected two files to merge, got standard input for both")
    lines = read_lines(path, encoding=encoding)
    return parse_sentences(
        lines, format, source=name_of(path), merge=merge, layout=layout, phrases=phrases
    )


def read_corpus(
    path: str | Path, named: str | None = None, *, phrases: str | Path | None = None
) -> SentenceReader:
    """Read a file with propositions, in the format named or by its suffix, for the command line.

    Raises ConfigError for a format without propositions.
    """
    format = format_of(path, named, formats=CORPORA, option="--from")
    return read_sentences(path, format, phrases=phrases)


def parse_sentences(
    lines: Iterable[str],
    format: str,
    *,
    source: str,
    merge: str | Path | None = None,
    layout: Layout = PLAIN,
    phrases: str | Path | None = None,
) -> SentenceReader:
    """Yield the sentences of lines in one of the READABLE formats; see `read_sentences`."""
    if merge is not None and format != "conllup":
        raise ConfigError(
            f"{source}: expected a CoNLL-U Plus file (conllup) to merge with {name_of(merge)}, "
            f"got {format}"
        )
    return SentenceReader(lines, format, source=source, merge=merge, layout=layout, phrases=phrases)


def write_sentences(
    sentences: Iterable[Sentence], path: str | Path, format: str | None = None
) -> int:
    """Write sentences one at a time and return how many; `-` is standard output.

    format  one of WRITABLE and EXPORTS; by default that of the suffix
    The write is atomic: the file appears under its name when all sentences are written.
    Raises ConfigError immediately for a format that cannot be written, DataError for a sentence
    that the format cannot hold, and if the phrase file of another corpus is beside it.
    """
    format = format_of(path, format, formats=(*WRITABLE, *EXPORTS))
    n = 0

    def counted() -> Iterator[Sentence]:
        nonlocal n
        for sentence in sentences:
            n += 1
            yield sentence

    if format in FILES:
        FILES[format](counted(), path)
        return n
    written = check_phrase_file(counted(), path) if format in WRITABLE else counted()
    with open_writer(path) as file:
        file.writelines(format_sentences(written, format))
    return n


def format_sentences(sentences: Iterable[Sentence], format: str) -> Iterator[str]:
    """Yield the text of a file in one of the WRITABLE formats or EXPORTS of one file, in parts."""
    if format in _PARTS:
        yield from _PARTS[format](sentences)
        return
    yield HEADER if format == "conllup" else ""
    yield from map(_FORMATTERS[format], sentences)


def find_lost(sentence: Sentence, format: str) -> list[str]:
    """Name what a sentence has and a file in one of the WRITABLE formats does not keep."""
    arguments = [each for found in sentence.propositions for each in found.arguments]
    has = {
        "phrases": any(argument.phrase for argument in arguments),
        "probabilities": any(found.probability is not None for found in sentence.propositions),
        "ids": sentence.id is not None,
    }
    return [name for name in _LOST.get(format, ()) if has[name]]


def _read_text(lines: Iterable[str], source: str, layout: Layout) -> Iterator[Sentence]:
    numbers = count(1)
    if layout.html:  # whose elements may be of any length
        lines = limited(lines, f"{source}: expected HTML that can be read whole")
    for sentences in split_lines(lines, layout):
        for sentence in sentences:
            yield replace(sentence, id=f"{source.strip('<>')}-{next(numbers)}")
