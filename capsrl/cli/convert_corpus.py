"""`capsrl convert ewt|up ... OUT`: make a corpus from its published folders, one file per split."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from capsrl.data.convert import SPLITS, write_split
from capsrl.data.convert.ewt import read_ewt
from capsrl.data.convert.up import find_splits, read_up
from capsrl.data.formats import WRITABLE, format_of
from capsrl.errors import ConfigError
from capsrl.sentence import Sentence

CORPORA = {"ewt": ("ud", "propbank"), "up": ("ud", "up")}  # corpus -> options of its folders
SUFFIX = ".conll09.xz"


def convert_corpus(
    corpus: str, out: str, folders: Mapping[str, str | None], *, suffix: str
) -> None:
    """Make one of the CORPORA and print on stderr its size and what was left out.

    folders  name of the option without dashes -> folder that the user gave
    """
    ud, annotation = _needed(corpus, folders)
    format_of(f"train{suffix}", formats=WRITABLE)  # fails before anything is read
    left_out: Counter[str] = Counter()
    splits: list[tuple[str, Iterable[Sentence]]]
    if corpus == "ewt":
        splits = [(split, read_ewt(ud, annotation, split, left_out=left_out)) for split in SPLITS]
    else:
        found = find_splits(ud, annotation)
        splits = [(split.name, read_up(split, left_out=left_out)) for split in found]
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
            f"{corpus}: expected {' '.join(f'--{option} FOLDER' for option in options)}, got "
            f"{' '.join(f'--{option} {folder}' for option, folder in got.items()) or 'neither'}; "
            "to read a file of this name, name its format: --from FORMAT"
        )
    return [got[option] for option in options]
