"""The commands `python -m corpora ewt|up|frames|particles|forms ...`."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from capsrl.errors import CapsrlError
from capsrl.files.opening import read_lines
from capsrl.formats.formats import WRITABLE, format_of, read_sentences
from capsrl.frames.index import FrameIndex
from capsrl.sentence import Sentence
from corpora import SPLITS, write_split
from corpora.clear_parser import PIPELINE, load_parser
from corpora.english_forms import TABLE, make_table
from corpora.ewt import read_ewt
from corpora.frame_examples import convert_frame_examples
from corpora.held_out import HeldOut
from corpora.particles import move_particles
from corpora.up import find_splits, read_up

SUFFIX = ".conll09.xz"
Splits = Iterable[tuple[str, Iterable[Sentence]]]  # name, sentences


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        given.command(given)
    except CapsrlError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m corpora", description="Make corpora.")
    commands = parser.add_subparsers(required=True, metavar="CORPUS")
    ewt = commands.add_parser("ewt", help="the English Web Treebank with PropBank")
    _add_folder(ewt, "--ud", "the UD treebank")
    _add_folder(ewt, "--propbank", "a checkout of propbank-release")
    up = commands.add_parser("up", help="a language of Universal Propositions 2.0")
    _add_folder(up, "--ud", "the UD treebank")
    _add_folder(up, "--up", "Universal Propositions 2.0 of the treebank")
    frames = commands.add_parser(
        "frames", help="the examples in PropBank frame files, for data.partial of a recipe"
    )
    _add_folder(frames, "--frames", "PropBank frame files, *.xml")
    frames.add_argument(
        "--parser",
        metavar="PIPELINE",
        default=PIPELINE,
        help="English spaCy pipeline, a name or folder (default: %(default)s)",
    )
    frames.add_argument(
        "--without",
        metavar="FILE",
        action="append",
        default=[],
        help="leave out examples that overlap FILE; repeatable",
    )
    particles = commands.add_parser(
        "particles", help="sentences with the particle behind the object, for data.partial"
    )
    particles.add_argument(
        "--of", metavar="FILE", action="append", required=True, help="sentences; repeatable"
    )
    readers = {ewt: _read_ewt, up: _read_up, frames: _read_frames, particles: _read_particles}
    for corpus, read in readers.items():
        corpus.add_argument("out", metavar="OUT", type=Path, help="folder to write")
        corpus.add_argument(
            "--suffix", default=SUFFIX, help="suffix of the files (default: %(default)s)"
        )
        corpus.set_defaults(command=_make_corpus, read=read)
    forms = commands.add_parser("forms", help=f"the table of the lemmatizer, {TABLE.name}")
    forms.add_argument("lexicon", metavar="LEXICON", help="lemma_lu.csv.gz of LemmInflect")
    forms.add_argument("frames", metavar="FRAMES", help="index of frames: frames.tsv of a model")
    forms.set_defaults(command=_make_forms)
    return parser


def _add_folder(parser: argparse.ArgumentParser, option: str, help: str) -> None:
    parser.add_argument(option, metavar="FOLDER", required=True, help=help)


def _make_corpus(given: argparse.Namespace) -> None:
    """Write one file per split; print on stderr their sizes and what was left out."""
    format_of(f"train{given.suffix}", formats=WRITABLE)  # fails before anything is read
    left_out: Counter[str] = Counter()
    for name, sentences in given.read(given, left_out):
        path = given.out / f"{name}{given.suffix}"
        size = write_split(sentences, path)
        sys.stderr.write(
            f"{path}: {size.sentences:,} sentences, {size.propositions:,} propositions, "
            f"{size.arguments:,} arguments\n"
        )
    for reason, n in left_out.items():
        sys.stderr.write(f"left out: {n:,} {reason}\n")


def _read_ewt(given: argparse.Namespace, left_out: Counter[str]) -> Splits:
    return [
        (split, read_ewt(given.ud, given.propbank, split, left_out=left_out)) for split in SPLITS
    ]


def _read_up(given: argparse.Namespace, left_out: Counter[str]) -> Splits:
    found = find_splits(given.ud, given.up)
    return [(split.name, read_up(split, left_out=left_out)) for split in found]


def _read_frames(given: argparse.Namespace, left_out: Counter[str]) -> Splits:
    held_out = HeldOut(chain.from_iterable(map(read_sentences, given.without)))
    parser = load_parser(given.parser)
    examples = convert_frame_examples(given.frames, parser, left_out=left_out, held_out=held_out)
    return [("examples", examples)]


def _read_particles(given: argparse.Namespace, left_out: Counter[str]) -> Splits:
    return [("particles", move_particles(chain.from_iterable(map(read_sentences, given.of))))]


def _make_forms(given: argparse.Namespace) -> None:
    table = make_table(read_lines(given.lexicon), FrameIndex.load(given.frames))
    TABLE.write_text("".join(f"{line}\n" for line in table), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
