"""Convert published treebanks and their propositions to one file per split.

ewt             English, annotated by hand: UD_English-EWT and propbank-release
up              other languages, projected: a UD treebank and its Universal Propositions 2.0
frame_examples  English, one annotated predicate per example: PropBank frame files
particles       English, sentences of other corpora with the particle behind the object
constructions   English, sentences of rare constructions, made by the rules that
                construction_grammar reads
gold_skel       reads the files of propbank-release: propositions without the words
align           aligns the words of two tokenizations by their tags
heads           finds the head of a span in a tree
clear_parser    parses the examples with spaCy
content_heads   converts their trees to content heads, as in UD
held_out        finds examples that overlap dev and test files

english_forms   makes the table of the lemmatizer from a lexicon
text/           unlabeled English text from public repositories

What cannot be converted is left out and counted by reason, in a Counter that the caller passes.
This package is not installed with capsrl. Run it from a clone:

    python -m corpora ewt|up|frames|particles|constructions|forms|text --help
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from capsrl.errors import DataError
from capsrl.files.opening import open_writer
from capsrl.formats.formats import write_sentences
from capsrl.formats.phrase_file import PHRASES_SUFFIX, format_phrases, phrase_file_of, split_name
from capsrl.sentence import Sentence

SPLITS = ("train", "dev", "test")
# Auxiliaries have no arguments in PropBank and are not predicates in CoNLL-2009.
AUXILIARIES = frozenset({"be.03", "have.01", "do.01"})


@dataclass(slots=True)
class Size:
    """Number of sentences, propositions and arguments in a file."""

    sentences: int = 0
    propositions: int = 0
    arguments: int = 0


def write_split(sentences: Iterable[Sentence], path: str | Path) -> Size:
    """Write sentences one at a time, in the format of the suffix, and count them.

    Phrases go to a phrase file beside it, which replaces any that is there. Makes the folder if
    necessary.
    """
    size = Size()
    lines: list[str] = []
    make_folder(Path(path).parent)
    while stale := phrase_file_of(path):
        stale.unlink()
    write_sentences(_counted(sentences, size, lines), path)
    if any(lines):
        beside, stem, compression = split_name(path)
        with open_writer(beside / f"{stem}{PHRASES_SUFFIX}{compression}") as file:
            file.writelines(lines)
    return size


def make_folder(folder: Path) -> None:
    """Create a folder unless it is there; raise DataError if it cannot be created."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be created: {error.strerror}") from None


def without_auxiliaries(sentence: Sentence, left_out: Counter[str]) -> Sentence:
    """Return the sentence without the propositions whose sense is one of AUXILIARIES."""
    kept = [p for p in sentence.propositions if p.sense not in AUXILIARIES]
    if len(kept) == len(sentence.propositions):
        return sentence
    left_out["propositions of auxiliaries"] += len(sentence.propositions) - len(kept)
    return sentence.with_propositions(kept)


def find_file(folder: str | Path, name: str, *, holds: str) -> Path:
    """Return the path of a file in a folder; raise DataError if it is missing.

    holds  what the folder should be, for the message
    """
    path = Path(folder, name)
    if not path.is_file():
        raise DataError(f"{folder}: has no {name}; it should be {holds}")
    return path


def _counted(sentences: Iterable[Sentence], size: Size, lines: list[str]) -> Iterator[Sentence]:
    """Yield the sentences; count them, and collect the lines of their phrases."""
    for sentence in sentences:
        size.sentences += 1
        lines.append(format_phrases(sentence, size.sentences))
        size.propositions += len(sentence.propositions)
        size.arguments += sum(len(p.arguments) for p in sentence.propositions)
        yield sentence
