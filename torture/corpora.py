"""Files of sentences in every format, and all that can be written of sentences."""

import csv
import io
import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from capsrl.errors import CapsrlError
from capsrl.formats.brat import write_brat
from capsrl.formats.cas import write_cas
from capsrl.formats.formats import format_sentences, read_sentences, write_sentences
from capsrl.formats.phrase_file import read_phrases
from capsrl.formats.universal_propbank import read_up2
from capsrl.sentence import Sentence
from capsrl.show.drawing import svg
from capsrl.show.html_page import html_parts
from capsrl.tables.columns import ROWS
from capsrl.tables.pipeline import DocumentSentence
from capsrl.tables.writing import WriteOptions, table_rows, text_parts
from torture.target import Target, Wrong, folder, labeled, write

_SPACE = re.compile(r"\s")
_ONLY_WRITTEN = ("allennlp", "penman", "brackets", "spans")  # formats without a reader
_CONLLU = (
    "# sent_id = 1\n# text = Dogs bark\n1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n"
    "2-3\tbark!\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No\n3\t!\t!\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
)
_UP1 = (
    "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\t_\tA0\n"
    "2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\tbark.01\t_\n\n"
)
_UP2 = (
    "# global.columns = ID UP:PRED UP:ARGHEADS UP:ARGSPANS\n# sent_id = 1\n1\t_\t_\t_\n"
    "2\tbark.01\tA0:1\tA0:1-1\n3\t_\t_\t_\n\n"
)
_CONLL05 = (
    "Mira NNP (S* - (A0* *\nwho WP * - (R-A0*) *\nsold VBD * sell (V*) *\nher PRP$ * - (A1* *\n"
    "car NN *) - *)) *\nleft VBD * leave * (V*)\n\n"
)
_CONLL12 = (
    "#begin document (a/b); part 000\n"
    "a/b 0 0 Dogs NNS (TOP(S* - - - A * (ARG0*) (1)\na/b 0 1 bark VBP * bark 01 1 A * (V*) -\n"
    "a/b 0 2 loudly RB *) - - - A * (ARGM-MNR* -\na/b 0 3 /. . *)) - - - A * *) -\n\n"
    "#end document\n"
)
_SPANS: tuple[dict[str, object], ...] = (
    {
        "id": "1",
        "text": "Mira sold her bicycle. Omar left.",
        "propositions": [
            {
                "start": 5,
                "end": 9,
                "sense": "sell.01",
                "arguments": [{"role": "A0", "start": 0, "end": 4}],
            },
            {"start": 28, "end": 32},
        ],
    },
    {
        "words": ["Mira", "sold", "her", "bicycle"],
        "propositions": [
            {
                "predicate": 1,
                "sense": "sell.01",
                "arguments": [
                    {"role": "A1", "phrase": [2, 3]},
                    {"role": "A0", "phrase": {"first": 0, "last": 0}},
                ],
            }
        ],
    },
)


def corpora() -> Iterator[Target]:
    """Corpora with propositions; what was read is written and read again."""
    for format in ("conll09", "conllup", "jsonl", "labelstudio"):
        some = [labeled()[2:4], *([each] for each in labeled()[:5])]
        seeds = ["".join(format_sentences(found, format)).encode() for found in some]
        yield Target(format, seeds, partial(_read_corpus, format))
    hand = {"conllu": _CONLLU, "up1": _UP1, "conll05": _CONLL05, "conll12": _CONLL12}
    hand["text"] = f"{labeled()[0].text}\nA second line.\n\nA third, after a blank one.\n"
    for format, text in hand.items():
        seeds, cost = [text.encode(), text.encode() * 2], 2 if format == "text" else 1
        yield Target(format, seeds, partial(_read_corpus, format), cost=cost)
    lines = [f"{json.dumps(each)}\n".encode() for each in _SPANS]
    yield Target("jsonl/spans", [*lines, b"".join(lines)], partial(_read_corpus, "jsonl"))
    spans = "".join(format_sentences(labeled(), "spans")).encode()
    yield Target("spans", [spans], lambda data: list(read_phrases(write("s.spans.tsv", data))))
    yield Target("up2", [_UP2.encode()], _read_up2)
    for suffix in ("xmi", "json"):
        write_cas(labeled()[:2], path := folder() / f"cas.{suffix}")
        seeds = [path.read_bytes()]
        yield Target(f"cas/{suffix}", seeds, partial(_read_corpus, "cas"), cost=10)
    yield from _brat()
    yield from _written()


def _read_up2(data: bytes) -> object:
    lines = write("up2.conllup", data).read_text("utf-8", "replace").split("\n")
    return list(read_up2(lines, _CONLLU.split("\n"), source="up2"))


def _read_corpus(format: str, data: bytes) -> object:
    return _read_again(list(read_sentences(write(f"corpus.{format}", data), format)))


def _read_again(found: list[Sentence]) -> list[Sentence]:
    again = write("again.jsonl", "".join(format_sentences(found, "jsonl")).encode())
    try:
        same = list(read_sentences(again, "jsonl")) == found
    except CapsrlError as error:
        raise Wrong(f"written and then refused: {error}") from None
    if not same:
        raise Wrong("written and read again it is another")
    return found


def _brat() -> Iterator[Target]:
    """The files of brat, each with the others beside it, and with the text alone."""
    for kind in ("full", "bare"):
        names = ("a.ann", "a.txt", "a.sentences.jsonl")[: 3 if kind == "full" else 2]
        brat = folder() / "brat" / kind
        brat.mkdir(parents=True)
        write_brat(labeled()[:2], brat / "a.ann")
        if kind == "bare":
            (brat / "a.sentences.jsonl").unlink()
        for name in names:
            seed = (brat / name).read_bytes()
            read = partial(_read_brat, f"brat/{kind}/{name}", seed)
            yield Target(f"brat/{kind}/{name}", [seed], read, cost=4)


def _read_brat(name: str, good: bytes, data: bytes) -> object:
    path = write(name, data)
    try:
        return _read_again(list(read_sentences(path.with_name("a.ann"), "brat")))
    finally:
        path.write_bytes(good)


def _written() -> Iterator[Target]:
    """Sentences that were read from damaged files, written in every way."""
    text = "".join(format_sentences(labeled(), "jsonl"))
    lines = [line.encode() for line in text.splitlines(True)]
    seeds = [*lines, b"".join(lines[3:5])]
    for format in ("conll09", "conllup", "labelstudio", "brat", "cas", *_ONLY_WRITTEN):
        cost = 20 if format == "cas" else 2
        yield Target(f"write/{format}", seeds, partial(_write, format), cost=cost)
    for rows in ROWS:
        yield Target(f"write/{rows} rows", seeds, partial(_write_rows, rows), cost=2)
    yield Target("write/svg", seeds, lambda data: "".join(svg(*_read_lines(data))), cost=2)
    yield Target("write/html", seeds, lambda data: "".join(html_parts(_read_lines(data))), cost=2)


def _read_lines(data: bytes) -> list[Sentence]:
    return list(read_sentences(write("lines.jsonl", data), "jsonl"))


def _write(format: str, data: bytes) -> object:
    """Formats that can be read must give as many sentences, with the same words."""
    found = _read_lines(data)
    path = folder() / "out" / ("a.ann" if format == "brat" else f"a.{format}")
    write("out/a.txt", b"").unlink()
    write_sentences(found, path, format)
    if format in _ONLY_WRITTEN:
        return path
    try:
        again = list(read_sentences(path, format))
    except CapsrlError as error:
        raise Wrong(f"written and then refused: {error}") from None
    wanted = [each.words for each in found]
    if format == "conll09":  # which has no spaces in words, and no sentences without words
        wanted = [tuple(_SPACE.sub("_", w) or "_" for w in words) for words in wanted if words]
    if [each.words for each in again] != wanted:
        raise Wrong("other words than were written")
    counts = [[sum(len(s.propositions) for s in each) for each in (found, again)]]
    if format != "conll09" and counts[0][0] != counts[0][1]:  # where a word is one predicate only
        raise Wrong("other propositions than were written")
    return again


def _write_rows(rows: str, data: bytes) -> object:
    """Tables of all kinds of rows, as CSV and as JSON lines."""
    items = [DocumentSentence(None, sentence) for sentence in _read_lines(data)]
    n_rows = len(list(table_rows(items, WriteOptions("csv", rows))))
    text = "".join(text_parts(items, WriteOptions("csv", rows)))
    csv.field_size_limit(1 << 30)
    cells = list(csv.reader(io.StringIO(text, newline="")))
    if len(cells) != n_rows + 1 or any(len(row) != len(cells[0]) for row in cells):
        raise Wrong("other rows in CSV")
    lines = "".join(text_parts(items, WriteOptions("jsonl", rows))).split("\n")
    objects = [json.loads(line) for line in islice(lines, len(lines) - 1)]
    if rows != "sentence" and len(objects) != n_rows:
        raise Wrong("other rows in JSON lines")
    return objects
