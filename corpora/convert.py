"""`capsrl convert ewt|up|frames ... OUT`: make a corpus from its published folders."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from capsrl.errors import ConfigError
from capsrl.formats.formats import WRITABLE, format_of, read_sentences
from capsrl.sentence import Sentence
from corpora import SPLITS, write_split
from corpora.clear_parser import load_parser
from corpora.ewt import read_ewt
from corpora.frame_examples import convert_frame_examples
from corpora.held_out import HeldOut
from corpora.up import find_splits, read_up

# corpus -> options of its folders
CORPORA = {"ewt": ("--ud", "--propbank"), "up": ("--ud", "--up"), "frames": ("--frames",)}
SUFFIX = ".conll09.xz"


def convert_corpus(
    corpus: str,
    out: str,
    folders: Mapping[str, str | None],
    *,
    suffix: str,
    parser: str,
    without: Sequence[str],
) -> None:
    """Make one of the CORPORA and print on stderr its size and what was left out.

    folders  option -> folder that the user gave
    parser   spaCy pipeline that parses the examples of frame files
    without  files with sentences that these examples must not overlap
    """
    needed = _needed(corpus, folders)
    format_of(f"train{suffix}", formats=WRITABLE)  # fails before anything is read
    left_out: Counter[str] = Counter()
    splits: list[tuple[str, Iterable[Sentence]]]
    if corpus == "ewt":
        ud, propbank = needed
        splits = [(split, read_ewt(ud, propbank, split, left_out=left_out)) for split in SPLITS]
    elif corpus == "up":
        found = find_splits(*needed)
        splits = [(split.name, read_up(split, left_out=left_out)) for split in found]
    else:
        held_out = HeldOut(chain.from_iterable(map(read_sentences, without)))
        examples = convert_frame_examples(
            needed[0], load_parser(parser), left_out=left_out, held_out=held_out
        )
        splits = [("examples", examples)]
    for name, sentences in splits:
        path = Path(out, f"{name}{suffix}")
        size = write_split(sentences, path)
        sys.stderr.write(
            f"{path}: {size.sentences:,} sentences, {size.propositions:,} propositions, "
            f"{size.arguments:,} arguments\n"
        )
    for reason, n in left_out.items():
        sys.stderr.write(f"left out: {n:,} {reason}\n")


def _needed(corpus: str, folders: Mapping[str, str | None]) -> list[str]:
    options = CORPORA[corpus]
    got = {option: folder for option, folder in folders.items() if folder is not None}
    if got.keys() != set(options):
        raise ConfigError(
            f"{corpus}: expected {' '.join(f'{option} FOLDER' for option in options)}, got "
            f"{' '.join(f'{option} {folder}' for option, folder in got.items()) or 'no folder'}; "
            "to read a file of this name, name its format: --from FORMAT"
        )
    return [got[option] for option in options]
