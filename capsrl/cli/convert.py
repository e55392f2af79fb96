"""`capsrl convert IN OUT`: convert a corpus to another format, or make one from its sources."""

import sys
from collections.abc import Sequence

from capsrl.cli.inputs import check_text, refuse_same
from capsrl.cli.options import ENCODING, argument, command, format_option, option
from capsrl.cli.progress import watched_lines
from capsrl.errors import ConfigError
from capsrl.files.local import name_of
from capsrl.formats.formats import (
    EXPORTS,
    READABLE,
    TEXT,
    WRITABLE,
    format_of,
    parse_sentences,
    write_sentences,
)
from corpora.clear_parser import PIPELINE
from corpora.convert import CORPORA, SUFFIX, convert_corpus


@command(
    {
        "Arguments": [
            argument("source", "IN", "File to read; - is stdin. Or a corpus: ewt, up, frames."),
            argument("target", "OUT", "File to write; - is stdout. For a corpus: folder."),
        ],
        "Options": [
            format_option("--from", READABLE),
            ENCODING,
            format_option("--to", (*WRITABLE, *EXPORTS)),
            option("--merge CONLLU", "Words of IN, a Universal PropBank 2.0 stand-off file."),
            option("--spans FILE", "Phrases of the arguments of IN: a file *.spans.tsv."),
            option("--ud FOLDER", "For ewt and up: the UD treebank."),
            option("--propbank FOLDER", "For ewt: a checkout of propbank-release."),
            option("--up FOLDER", "For up: Universal Propositions 2.0 of the treebank."),
            option("--frames FOLDER", "For frames: PropBank frame files, *.xml."),
            option(
                "--parser PIPELINE",
                f"For frames: English spaCy pipeline, a name or folder (default: {PIPELINE}).",
            ),
            option(
                "--without FILE",
                "For frames: leave out what overlaps FILE; repeatable.",
                multiple=True,
            ),
            option("--suffix SUFFIX", f"For a corpus: suffix of the files (default: {SUFFIX})."),
        ],
    }
)
def convert_command(
    source: str,
    target: str,
    *,
    from_format: str | None,
    encoding: str | None,
    to_format: str | None,
    merge: str | None,
    spans: str | None,
    ud: str | None,
    propbank: str | None,
    up: str | None,
    frames: str | None,
    parser: str | None,
    without: Sequence[str],
    suffix: str | None,
) -> None:
    """Convert a corpus to another format.

    Formats are known by suffix (.txt .conll09 .conll .conllu .conllup .jsonl .ndjson, also with
    .gz or .xz), or named. OUT is replaced only when everything has been written.

    `capsrl convert ewt --ud FOLDER --propbank FOLDER OUT` makes the English Web Treebank with
    PropBank, `capsrl convert up --ud FOLDER --up FOLDER OUT` a language of Universal Propositions
    2.0, with one file per split in the folder OUT. `capsrl convert frames --frames FOLDER OUT`
    makes OUT/examples from the examples in PropBank frame files, for data.partial of a recipe.
    """
    folders = {"--ud": ud, "--propbank": propbank, "--up": up, "--frames": frames}
    frames_options = {"--parser": parser, "--without": " ".join(without) or None}
    if source in CORPORA and from_format is None:
        of_files = {"--encoding": encoding, "--to": to_format, "--merge": merge, "--spans": spans}
        _refuse(source, of_files, "with a file")
        if source != "frames":
            _refuse(source, frames_options, "with frames")
        convert_corpus(
            source,
            target,
            folders,
            suffix=suffix or SUFFIX,
            parser=parser or PIPELINE,
            without=without,
        )
        return
    _refuse(source, {**folders, **frames_options, "--suffix": suffix}, "with ewt, up or frames")
    read_as = format_of(source, from_format, option="--from")
    written_as = format_of(target, to_format, formats=(*WRITABLE, *EXPORTS), option="--to")
    # A file may be read and written anew in its own format, which loses nothing.
    for path in (source if read_as != written_as else None, merge, spans):
        if path is not None:
            refuse_same(path, target, "OUT")
    with watched_lines(source, encoding=encoding) as lines:
        if read_as == TEXT and from_format is None:
            lines = check_text(lines, name_of(source))
        sentences = parse_sentences(
            lines, read_as, source=name_of(source), merge=merge, spans=spans
        )
        n = write_sentences(sentences, target, written_as)
    sys.stderr.write(f"{n:,} sentence{'' if n == 1 else 's'}\n")


def _refuse(source: str, options: dict[str, str | None], unless: str) -> None:
    for flag, value in options.items():
        if value is not None:
            raise ConfigError(f"{source}: expected {flag} only {unless}, got {flag} {value}")
