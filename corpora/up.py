"""Convert a UD treebank and its Universal Propositions 2.0.

Universal Propositions publishes stand-off files, `fr_sequoia-up-train.conllup`, for the treebanks
of UD 2.9, `fr_sequoia-ud-train.conllu`. Senses are English rolesets in all languages.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from capsrl.errors import DataError
from capsrl.files.opening import read_lines
from capsrl.formats.universal_propbank import read_up2
from capsrl.sentence import Sentence
from corpora import SPLITS, find_file, without_auxiliaries


@dataclass(frozen=True, slots=True)
class UpSplit:
    """The two files of a split."""

    name: str
    propositions: Path
    words: Path


def find_splits(ud: str | Path, up: str | Path) -> list[UpSplit]:
    """Return the splits in a folder of Universal Propositions, with their UD files.

    Raises DataError for no treebank, for several, or if the UD folder lacks a file.
    """
    found = {
        split: sorted(Path(up).glob(f"*-up-{split}.conllup")) for split in SPLITS
    }  # a treebank may have a test file alone
    treebanks = {
        file.name.removesuffix(f"-up-{split}.conllup") for split in SPLITS for file in found[split]
    }
    if len(treebanks) != 1:
        raise DataError(
            f"{up}: expected the files of one treebank in this folder (a checkout of "
            "Universal Propositions 2.0), *-up-train.conllup and so on, got "
            f"{', '.join(sorted(treebanks)) or 'none'}"
        )
    (treebank,) = treebanks
    holds = "UD 2.9 of the treebank that the propositions were made on"
    return [
        UpSplit(split, files[0], find_file(ud, f"{treebank}-ud-{split}.conllu", holds=holds))
        for split, files in found.items()
        if files
    ]


def read_up(split: UpSplit, *, left_out: Counter[str]) -> Iterator[Sentence]:
    """Yield the sentences of a split in the order of UD, without auxiliary predicates.

    Tags are the universal ones (UPOS), since those of the treebanks differ between languages.
    left_out  gets the number of auxiliaries (be.03, have.01, do.01) that were left out
    Raises DataError naming file and line, also where the two files have different words.
    """
    sentences = read_up2(
        read_lines(split.propositions),
        read_lines(split.words),
        source=str(split.propositions),
        conllu_source=str(split.words),
    )
    for sentence in sentences:
        tagged = replace(sentence, tags=sentence.columns.get("UPOS", sentence.tags))
        yield without_auxiliaries(tagged, left_out)
