"""Read and write the phrases of the arguments of a corpus, in a file beside it.

CoNLL-2009 names the head word of an argument only. A phrase file adds the first and the last word
of its phrase: one line per argument, six columns separated by tabs, all counted from 1.

    sentence number, predicate, role, head word, first word, last word

The sentences are in the order of the corpus. The phrases of `train.conll09.xz` are looked for in
`train.spans.tsv`, which may be compressed. The suffix is from before spans were called phrases and
stays.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, tee
from pathlib import Path

from capsrl.errors import DataError
from capsrl.files.compression import COMPRESSED
from capsrl.files.opening import STANDARD, name_of, read_lines, suffix_of
from capsrl.formats.blocks import name_sentence
from capsrl.sentence import Argument, Phrase, Proposition, Sentence

COLUMNS = ("sentence", "predicate", "role", "head", "first word", "last word")
PHRASES_SUFFIX = ".spans.tsv"
_ROLE = COLUMNS.index("role")


@dataclass(frozen=True, slots=True)
class PhraseLine:
    """The phrase of one argument: a line of a phrase file. Positions are from 0.

    sentence     position of the sentence in the corpus
    predicate    position of the predicate in the sentence
    role, word   the argument and its head word
    first, last  the first and the last word of the phrase
    where        `file:line`, for messages
    """

    sentence: int
    predicate: int
    role: str
    word: int
    first: int
    last: int
    where: str


def phrase_file_of(corpus: str | Path) -> Path | None:
    """Return the phrase file beside a corpus, or None if there is none."""
    if str(corpus) == STANDARD:
        return None
    folder, stem, _ = split_name(corpus)
    files = (folder / f"{stem}{PHRASES_SUFFIX}{compression}" for compression in ("", *COMPRESSED))
    return next((file for file in files if file.is_file()), None)


def split_name(corpus: str | Path) -> tuple[Path, str, str]:
    """Return folder, name without suffixes and suffix of the compression of a corpus."""
    path, compression = Path(corpus), ""
    if path.suffix.lower() in COMPRESSED:
        path, compression = path.with_suffix(""), path.suffix
    return path.parent, path.name[: len(path.name) - len(suffix_of(path))], compression


def read_phrases(path: str | Path) -> Iterator[PhraseLine]:
    """Yield the lines of a phrase file, sentence by sentence.

    Raises DataError naming file and line for a wrong line and for sentences out of order.
    """
    before = 0
    for number, text in enumerate(read_lines(path), start=1):
        if text:
            line = _parse_line(text, f"{name_of(path)}:{number}")
            if line.sentence < before:
                raise DataError(
                    f"{line.where}: expected sentences in order, "
                    f"got {line.sentence + 1} after {before + 1}"
                )
            before = line.sentence
            yield line


def with_phrase_file(sentences: Iterable[Sentence], path: str | Path) -> Iterator[Sentence]:
    """Yield the sentences of a corpus with the phrases of a phrase file.

    sentences  all sentences of the corpus: the file counts those without words or predicates too
    An argument without a line in the file has no phrase.
    Raises DataError naming file and line for an argument that the corpus does not have.
    """
    groups = groupby(read_phrases(path), key=lambda line: line.sentence)
    at, lines = next(groups, (None, iter(())))
    n = 0
    for n, sentence in enumerate(sentences, start=1):
        if n - 1 == at:
            yield _add_phrases(sentence, list(lines))
            at, lines = next(groups, (None, iter(())))
        else:
            yield _add_phrases(sentence, [])
    if at is not None:
        raise DataError(
            f"{next(iter(lines)).where}: expected a sentence from 1 to {n}, as many as the corpus "
            f"has, got {at + 1}; is it the file of another corpus?"
        )


def check_phrase_file(sentences: Iterable[Sentence], corpus: str | Path) -> Iterable[Sentence]:
    """Yield the sentences of a corpus that is being written.

    Raises DataError unless a phrase file beside it has their phrases: a file that is left of an
    older corpus would be read with the new one.
    """
    path = phrase_file_of(corpus)
    return sentences if path is None else _compared(sentences, corpus, path)


def _compared(sentences: Iterable[Sentence], corpus: str | Path, path: Path) -> Iterator[Sentence]:
    written, copies = tee(sentences)
    for sentence, with_phrases in zip(written, with_phrase_file(copies, path), strict=True):
        if format_phrases(sentence, 1) != format_phrases(with_phrases, 1):
            raise DataError(
                f"{path}: has other phrases than the sentences of {corpus}, with which it would be "
                "read; remove it, or write another file"
            )
        yield sentence


def format_phrases(sentence: Sentence, number: int) -> str:
    """Return the lines of a sentence; `number` is its number in the corpus, from 1.

    Raises DataError for a role that a line cannot hold.
    """
    for proposition in sentence.propositions:
        for argument in proposition.arguments:
            if any(end in argument.role for end in "\t\r\n"):
                raise DataError(
                    f"{name_sentence(sentence)}: expected roles without tabs and line breaks, "
                    f"got {argument.role!r}; JSONL holds it"
                )
    return "".join(
        f"{number}\t{proposition.predicate + 1}\t{argument.role}\t{argument.word + 1}"
        f"\t{phrase.first + 1}\t{phrase.last + 1}\n"
        for proposition in sentence.propositions
        for argument in proposition.arguments
        if (phrase := argument.phrase) is not None
    )


def _parse_line(text: str, where: str) -> PhraseLine:
    cells = text.split("\t")
    if len(cells) != len(COLUMNS):
        raise DataError(
            f"{where}: expected {len(COLUMNS)} columns ({', '.join(COLUMNS)}), got {len(cells)}"
        )
    for name, cell in zip(COLUMNS, cells, strict=True):
        if name != "role" and not (
            cell.isascii() and cell.isdecimal() and cell[0] != "0" and len(cell) < 10
        ):
            raise DataError(f"{where}: expected {name} from 1, got {cell[:40]!r}")
    numbers = [int(cell) - 1 for i, cell in enumerate(cells) if i != _ROLE]
    sentence, predicate, word, first, last = numbers
    if not first <= word <= last:
        raise DataError(
            f"{where}: expected a head from the first word {first + 1} to the last {last + 1}, "
            f"got {word + 1}"
        )
    return PhraseLine(sentence, predicate, cells[_ROLE], word, first, last, where)


def _add_phrases(sentence: Sentence, lines: list[PhraseLine]) -> Sentence:
    """Return the sentence with the phrases of these lines and no others."""
    wanted = {(line.predicate, line.role, line.word): line for line in lines}
    if len(wanted) < len(lines):
        _refuse_repeated(lines)
    propositions = [_with_phrases(each, wanted, sentence) for each in sentence.propositions]
    if wanted:
        line = next(iter(wanted.values()))
        raise DataError(
            f"{line.where}: expected an argument of the corpus, got {line.role} at word "
            f"{line.word + 1} of predicate {line.predicate + 1} in sentence {line.sentence + 1}, "
            f"{' '.join(sentence.words[:5])!r}; is it the file of another corpus?"
        )
    return sentence.with_propositions(propositions)


def _with_phrases(
    proposition: Proposition, wanted: dict[tuple[int, str, int], PhraseLine], sentence: Sentence
) -> Proposition:
    """Return the proposition with its phrases, which are taken out of `wanted`."""

    def with_phrase(argument: Argument) -> Argument:
        line = wanted.pop((proposition.predicate, argument.role, argument.word), None)
        if line is None:
            return replace(argument, phrase=None)
        if line.last >= len(sentence):
            raise DataError(
                f"{line.where}: expected a last word from 1 to {len(sentence)}, "
                f"the words of the sentence, got {line.last + 1}"
            )
        return replace(argument, phrase=Phrase(line.first, line.last))

    return replace(proposition, arguments=tuple(map(with_phrase, proposition.arguments)))


def _refuse_repeated(lines: list[PhraseLine]) -> None:
    seen: dict[tuple[int, str, int], str] = {}
    for line in lines:
        key = (line.predicate, line.role, line.word)
        if key in seen:
            raise DataError(
                f"{line.where}: expected one line per argument, got {line.role} at word "
                f"{line.word + 1} of predicate {line.predicate + 1} again, as at {seen[key]}"
            )
        seen[key] = line.where
