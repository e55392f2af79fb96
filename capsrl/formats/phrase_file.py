"""Read and write the phrases of the arguments of a corpus, in a file beside it.

CoNLL-2009 names the head word of an argument only. A spans file adds the first and the last word
of its phrase: one line per argument, six columns separated by tabs, all counted from 1.

    sentence number, predicate, role, head word, first word, last word

The sentences are in the order of the corpus. The spans of `train.conll09.xz` are looked for in
`train.spans.tsv`, `train.spans.tsv.gz` and `train.spans.tsv.xz`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from capsrl.errors import DataError
from capsrl.files.compression import COMPRESSED
from capsrl.files.opening import STANDARD, name_of, open_writer, read_lines, suffix_of
from capsrl.formats.blocks import name_sentence
from capsrl.sentence import Argument, Phrase, Proposition, Sentence

COLUMNS = ("sentence", "predicate", "role", "head", "first word", "last word")
SUFFIX = ".spans.tsv"
_ROLE = COLUMNS.index("role")


@dataclass(frozen=True, slots=True)
class Span:
    """The phrase of one argument: a line of a spans file. Positions are from 0.

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


def spans_file_of(corpus: str | Path) -> Path | None:
    """Return the spans file beside a corpus, or None if there is none."""
    if str(corpus) == STANDARD:
        return None
    folder, stem, _ = _parts(corpus)
    files = (folder / f"{stem}{SUFFIX}{compression}" for compression in ("", *COMPRESSED))
    return next((file for file in files if file.is_file()), None)


def new_spans_file(corpus: str | Path) -> Path:
    """Return where the spans of a corpus belong: beside it, compressed in the same way."""
    folder, stem, compression = _parts(corpus)
    return folder / f"{stem}{SUFFIX}{compression}"


def _parts(corpus: str | Path) -> tuple[Path, str, str]:
    """Split the path of a corpus: folder, name without suffixes, suffix of its compression."""
    path, compression = Path(corpus), ""
    if path.suffix.lower() in COMPRESSED:
        path, compression = path.with_suffix(""), path.suffix
    return path.parent, path.name[: len(path.name) - len(suffix_of(path))], compression


def read_spans(path: str | Path) -> Iterator[Span]:
    """Yield the lines of a spans file, sentence by sentence.

    Raises DataError naming file and line for a wrong line and for sentences out of order.
    """
    before = 0
    for number, line in enumerate(read_lines(path), start=1):
        if line:
            span = _parse(line, f"{name_of(path)}:{number}")
            if span.sentence < before:
                raise DataError(
                    f"{span.where}: expected sentences in order, "
                    f"got {span.sentence + 1} after {before + 1}"
                )
            before = span.sentence
            yield span


def with_spans(sentences: Iterable[Sentence], path: str | Path) -> Iterator[Sentence]:
    """Yield the sentences of a corpus with the phrases of a spans file.

    sentences  all sentences of the corpus: the file counts those without words or predicates too
    An argument without a line in the file has no phrase.
    Raises DataError naming file and line for an argument that the corpus does not have.
    """
    groups = groupby(read_spans(path), key=lambda span: span.sentence)
    at, spans = next(groups, (None, iter(())))
    n = 0
    for n, sentence in enumerate(sentences, start=1):
        if n - 1 == at:
            yield _add_phrases(sentence, list(spans))
            at, spans = next(groups, (None, iter(())))
        else:
            yield _add_phrases(sentence, [])
    if at is not None:
        raise DataError(
            f"{next(iter(spans)).where}: expected a sentence from 1 to {n}, as many as the corpus "
            f"has, got {at + 1}; is it the file of another corpus?"
        )


def format_spans(sentence: Sentence, number: int) -> str:
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


def write_spans(sentences: Iterable[Sentence], path: str | Path) -> int:
    """Write the phrases of sentences and return how many sentences there are."""
    n = 0
    with open_writer(path) as file:
        for n, sentence in enumerate(sentences, start=1):
            file.write(format_spans(sentence, n))
    return n


def _parse(line: str, where: str) -> Span:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise DataError(
            f"{where}: expected {len(COLUMNS)} columns ({', '.join(COLUMNS)}), got {len(cells)}"
        )
    for name, cell in zip(COLUMNS, cells, strict=True):
        if name != "role" and not (cell.isascii() and cell.isdecimal() and cell[0] != "0"):
            raise DataError(f"{where}: expected {name} from 1, got {cell!r}")
    numbers = [int(cell) - 1 for i, cell in enumerate(cells) if i != _ROLE]
    sentence, predicate, word, first, last = numbers
    if not first <= word <= last:
        raise DataError(
            f"{where}: expected a head from the first word {first + 1} to the last {last + 1}, "
            f"got {word + 1}"
        )
    return Span(sentence, predicate, cells[_ROLE], word, first, last, where)


def _add_phrases(sentence: Sentence, spans: list[Span]) -> Sentence:
    """Return the sentence with the phrases of these spans and no others."""
    wanted = {(span.predicate, span.role, span.word): span for span in spans}
    if len(wanted) < len(spans):
        _refuse_repeated(spans)
    propositions = [_with_phrases(each, wanted, sentence) for each in sentence.propositions]
    if wanted:
        span = next(iter(wanted.values()))
        raise DataError(
            f"{span.where}: expected an argument of the corpus, got {span.role} at word "
            f"{span.word + 1} of predicate {span.predicate + 1} in sentence {span.sentence + 1}, "
            f"{' '.join(sentence.words[:5])!r}; is it the file of another corpus?"
        )
    return sentence.with_propositions(propositions)


def _with_phrases(
    proposition: Proposition, wanted: dict[tuple[int, str, int], Span], sentence: Sentence
) -> Proposition:
    """Return the proposition with its phrases, which are taken out of `wanted`."""

    def with_phrase(argument: Argument) -> Argument:
        span = wanted.pop((proposition.predicate, argument.role, argument.word), None)
        if span is None:
            return replace(argument, phrase=None)
        if span.last >= len(sentence):
            raise DataError(
                f"{span.where}: expected a last word from 1 to {len(sentence)}, "
                f"the words of the sentence, got {span.last + 1}"
            )
        return replace(argument, phrase=Phrase(span.first, span.last))

    return replace(proposition, arguments=tuple(map(with_phrase, proposition.arguments)))


def _refuse_repeated(spans: list[Span]) -> None:
    seen: dict[tuple[int, str, int], str] = {}
    for span in spans:
        key = (span.predicate, span.role, span.word)
        if key in seen:
            raise DataError(
                f"{span.where}: expected one line per argument, got {span.role} at word "
                f"{span.word + 1} of predicate {span.predicate + 1} again, as at {seen[key]}"
            )
        seen[key] = span.where
