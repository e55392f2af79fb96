"""Published treebanks and their propositions, in the folders they come in -> one file per split.

ewt        UD_English-EWT and propbank-release -> English, annotated by hand
up         a treebank of UD and its Universal Propositions 2.0 -> any of their languages, projected
gold_skel  the files of propbank-release: propositions on words that are not shown
align      the words of one tokenisation on those of another, by their tags

What does not fit is left out and counted, by the reason, in the Counter that a caller hands in.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from capsrl.data.formats import write_sentences
from capsrl.errors import DataError
from capsrl.sentence import Sentence

SPLITS = ("train", "dev", "test")
# PropBank gives them no arguments, and CoNLL-2009 has no auxiliaries among its predicates.
AUXILIARIES = frozenset({"be.03", "have.01", "do.01"})
_ARG = re.compile(r"((?:[CR]-)*)A(?:RG)?(M-.*|\d|A)(-DSP)?")


@dataclass(slots=True)
class Size:
    """How much a file holds."""

    sentences: int = 0
    propositions: int = 0
    arguments: int = 0


def write_split(sentences: Iterable[Sentence], path: str | Path) -> Size:
    """Write the sentences as they come, in the format of the suffix, and return how many.

    The folder is made if need be.
    """
    size = Size()
    folder = Path(path).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    write_sentences(_counted(sentences, size), path)
    return size


def without_auxiliaries(sentence: Sentence, left_out: Counter[str]) -> Sentence:
    """The same sentence without the propositions whose sense is one of AUXILIARIES."""
    kept = [p for p in sentence.propositions if p.sense not in AUXILIARIES]
    if len(kept) == len(sentence.propositions):
        return sentence
    left_out["propositions of auxiliaries"] += len(sentence.propositions) - len(kept)
    return sentence.with_propositions(kept)


def conll09_role(role: str) -> str:
    """The name in CoNLL-2009 of a role of PropBank: ARGM-TMP is AM-TMP, C-ARG1-DSP is C-A1.

    -DSP says that the argument is direct speech. Names of CoNLL-2009 stay as they are.
    """
    if found := _ARG.fullmatch(role):
        return f"{found[1]}A{found[2]}"
    return role


def find_file(folder: str | Path, name: str, *, holds: str) -> Path:
    """The file of a folder, or DataError saying what the folder should have been."""
    path = Path(folder, name)
    if not path.is_file():
        raise DataError(f"{folder}: expected {name} in this folder ({holds}), got no such file")
    return path


def _counted(sentences: Iterable[Sentence], size: Size) -> Iterator[Sentence]:
    for sentence in sentences:
        size.sentences += 1
        size.propositions += len(sentence.propositions)
        size.arguments += sum(len(p.arguments) for p in sentence.propositions)
        yield sentence
