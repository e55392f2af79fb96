"""Measure the splitting of raw text into sentences and words against a UD treebank.

    python benchmarks/text.py en_ewt-ud-dev.conllu [more.conllu ...]

The documents are rebuilt from the `# text` lines, with a blank line between paragraphs, and split
again. A word or sentence is correct if both its ends are. This is done for several layouts: each
paragraph on one line, each sentence on one line, and lines broken at several widths, which should
hardly matter. The treebank is https://github.com/UniversalDependencies/UD_English-EWT
(CC BY-SA 4.0).
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from capsrl.data.conllu import read_conllu
from capsrl.data.files import read_lines
from capsrl.errors import DataError
from capsrl.sentence import Sentence
from capsrl.text.sentences import Span, read_text

WIDTHS = (30, 50, 72, 130)


@dataclass
class Document:
    """A text and the offsets of its words and sentences."""

    text: str = ""
    words: set[Span] = field(default_factory=set)
    sentences: set[Span] = field(default_factory=set)

    def add(self, offsets: Iterable[Span], shift: int = 0) -> None:
        """Add a sentence whose offsets count from `shift`."""
        spans = [(start + shift, end + shift) for start, end in offsets]
        self.words.update(spans)
        self.sentences.add((spans[0][0], spans[-1][1]))


@dataclass
class Counts:
    """Numbers of words or sentences: found, in the treebank, and in both."""

    right: int = 0
    found: int = 0
    gold: int = 0

    def add(self, found: set[Span], gold: set[Span]) -> None:
        """Count a document."""
        self.right += len(found & gold)
        self.found += len(found)
        self.gold += len(gold)

    def __str__(self) -> str:
        precision, recall = self.right / self.found, self.right / self.gold
        f1 = 2 * self.right / (self.found + self.gold)
        return f"P {precision:7.2%}  R {recall:7.2%}  F1 {f1:7.2%}  ({self.gold} in the treebank)"


def read_documents(path: str) -> Iterator[Document]:
    """Yield the documents of a treebank, with each paragraph on one line."""
    document = Document()
    gap = ""
    for sentence in read_conllu(read_lines(path), source=path):
        if sentence.text is None or sentence.offsets is None:
            raise DataError(
                f"{path}: expected a '# text' line that holds every word as written, "
                f"got none above sentence {sentence.id}"
            )
        if any(comment.startswith("# newdoc") for comment in sentence.comments):
            if document.words:
                yield document
            document, gap = Document(), ""
        elif any(comment.startswith("# newpar") for comment in sentence.comments):
            gap = "\n\n"
        document.text += gap if document.words else ""
        document.add(sentence.offsets, shift=len(document.text))
        document.text += sentence.text
        gap = "" if _touches_next(sentence) else " "
    if document.words:
        yield document


def _touches_next(sentence: Sentence) -> bool:
    misc = sentence.columns.get("MISC")
    return misc is not None and "SpaceAfter=No" in misc[-1].split("|")


def break_at_sentences(document: Document) -> str:
    """Return the text with a line break after each sentence; offsets stay the same."""
    characters = list(document.text)
    for _, end in document.sentences:
        if end < len(characters) and characters[end] == " ":
            characters[end] = "\n"
    return "".join(characters)


def wrap(document: Document, width: int) -> str:
    """Return the text with lines broken at a width; offsets stay the same."""
    paragraphs = []
    for paragraph in document.text.split("\n\n"):
        characters = list(paragraph)
        line = last = 0
        for position, character in enumerate(paragraph):
            if position - line >= width and last > line:
                characters[last] = "\n"
                line = last + 1
            if character == " ":
                last = position
        paragraphs.append("".join(characters))
    return "\n\n".join(paragraphs)


LAYOUTS: dict[str, Callable[[Document], str]] = {
    "a line per paragraph": lambda document: document.text,
    "a line per sentence": break_at_sentences,
    **{f"lines of {width} columns": partial(wrap, width=width) for width in WIDTHS},
}


def measure(documents: list[Document], layout: Callable[[Document], str]) -> None:
    """Print the scores and the speed."""
    words, sentences = Counts(), Counts()
    seconds = 0.0
    for gold in documents:
        text = layout(gold)
        begin = time.perf_counter()
        split = read_text(text)
        seconds += time.perf_counter() - begin
        found = Document()
        for sentence in split:
            assert sentence.offsets is not None
            found.add(sentence.offsets)
        words.add(found.words, gold.words)
        sentences.add(found.sentences, gold.sentences)
    print(f"  words      {words}")
    print(f"  sentences  {sentences}")
    print(f"  {words.found / seconds:,.0f} words per second")


def main() -> None:
    """Measure each treebank file that is named."""
    parser = argparse.ArgumentParser(description="Score the splitting of raw text.")
    parser.add_argument("treebank", nargs="+", help="CoNLL-U files with '# text' lines")
    for path in parser.parse_args().treebank:
        documents = list(read_documents(path))
        for name, layout in LAYOUTS.items():
            print(f"{path}: {len(documents)} documents, {name}")
            measure(documents, layout)


if __name__ == "__main__":
    main()
