"""The commands `python -m corpora ewt|up|frames|particles|constructions|forms|text ...`."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from capsrl.errors import CapsrlError, ConfigError
from capsrl.files.opening import read_lines
from capsrl.formats.formats import WRITABLE, format_of, read_sentences
from capsrl.frames.index import FrameIndex
from capsrl.sentence import Sentence
from corpora import SPLITS, make_folder, write_split
from corpora.clear_parser import PIPELINE, load_parser
from corpora.construction_grammar import read_grammar
from corpora.constructions import make_constructions, read_measuring
from corpora.english_forms import TABLE, make_table
from corpora.ewt import read_ewt
from corpora.frame_examples import convert_frame_examples
from corpora.held_out import HeldOut
from corpora.particles import move_particles
from corpora.text.checkout import check_checkouts, fetch_commands
from corpora.text.making import make_source, write_readme
from corpora.text.sources import COMMITS, SOURCES
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
    _add_without(frames, "examples")
    particles = commands.add_parser(
        "particles", help="sentences with the particle behind the object, for data.partial"
    )
    particles.add_argument(
        "--of", metavar="FILE", action="append", required=True, help="sentences; repeatable"
    )
    constructions = commands.add_parser(
        "constructions", help="sentences made by rule, of rare constructions, for data.partial"
    )
    readers = {
        ewt: _read_ewt,
        up: _read_up,
        frames: _read_frames,
        particles: _read_particles,
        constructions: _read_constructions,
    }
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
    text = commands.add_parser("text", help="unlabeled English text from public repositories")
    text.add_argument("out", metavar="OUT", type=Path, nargs="?", help="folder to write")
    text.add_argument(
        "--checkouts",
        metavar="FOLDER",
        type=Path,
        default=Path("checkouts"),
        help="the repositories as owner+name or owner/name (default: %(default)s)",
    )
    text.add_argument(
        "--source",
        metavar="NAME",
        action="append",
        choices=[source.name for source in SOURCES],
        help="make only this source; repeatable",
    )
    text.add_argument(
        "--list",
        action="store_true",
        help="print the sources, their licenses and the git commands that fetch them, and stop",
    )
    _add_without(text, "sentences")
    text.set_defaults(command=_make_text)
    return parser


def _add_folder(parser: argparse.ArgumentParser, option: str, help: str) -> None:
    parser.add_argument(option, metavar="FOLDER", required=True, help=help)


def _add_without(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--without",
        metavar="FILE",
        action="append",
        default=[],
        help=f"leave out {what} that overlap FILE; repeatable",
    )


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
    held_out = _read_held_out(given)
    parser = load_parser(given.parser)
    examples = convert_frame_examples(given.frames, parser, left_out=left_out, held_out=held_out)
    return [("examples", examples)]


def _read_particles(given: argparse.Namespace, left_out: Counter[str]) -> Splits:
    return [("particles", move_particles(chain.from_iterable(map(read_sentences, given.of))))]


def _read_constructions(given: argparse.Namespace, left_out: Counter[str]) -> Splits:
    return [("constructions", make_constructions(read_grammar(), held_out=read_measuring()))]


def _read_held_out(given: argparse.Namespace) -> HeldOut:
    return HeldOut(chain.from_iterable(map(read_sentences, given.without)))


def _make_text(given: argparse.Namespace) -> None:
    """Write one file per source and a README; print on stderr their sizes."""
    sources = [each for each in SOURCES if not given.source or each.name in given.source]
    if given.list:
        for source in sources:
            sys.stdout.write(f"# {source.name}: {source.contents}\n# license: {source.license}\n")
            for repository in dict.fromkeys(part.repository for part in source.parts):
                for line in fetch_commands(repository, COMMITS[repository], given.checkouts):
                    sys.stdout.write(f"{line}\n")
        return
    if given.out is None:
        raise ConfigError("text: expected the folder to write, OUT, or --list")
    used = {part.repository for source in sources for part in source.parts}
    check_checkouts(given.checkouts, {each: COMMITS[each] for each in used})
    held_out = _read_held_out(given)
    make_folder(given.out)
    made = []
    for source in sources:
        made.append(
            make_source(
                source, given.out, checkouts=given.checkouts, commits=COMMITS, held_out=held_out
            )
        )
        sys.stderr.write(f"{made[-1].path}: {made[-1].sentences.total():,} sentences\n")
    write_readme(given.out, made, commits=COMMITS, without=[Path(f).name for f in given.without])


def _make_forms(given: argparse.Namespace) -> None:
    table = make_table(read_lines(given.lexicon), FrameIndex.load(given.frames))
    TABLE.write_text("".join(f"{line}\n" for line in table), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
