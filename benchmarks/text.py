"""How well and how fast raw text is split into sentences and words, against a UD treebank.

    python benchmarks/text.py en_ewt-ud-dev.conllu [more.conllu ...]

The documents are rebuilt from the `# text` lines, a blank line between paragraphs, and split
again. A word or sentence is right when both its ends are. Done twice: with each paragraph on one
line, and with its lines broken at 72 columns, which should hardly matter. The treebank is at
https://github.com/UniversalDependencies/UD_English-EWT (CC BY-SA 4.0).
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from capsrl.data.conllu import read_conllu
from capsrl.data.files import read_lines
from capsrl.errors import DataError
from capsrl.sentence import Sentence
from capsrl.text.sentences import Span, read_text

WIDTH = 72


@dataclass
class Document:
    """A text and where its words and sentences stand in it."""

    text: str = ""
    words: set[Span] = field(default_factory=set)
    sentences: set[Span] = field(default_factory=set)

    def add(self, offsets: Iterable[Span], shift: int = 0) -> None:
        """One more sentence, its offsets counted from `shift`."""
        spans = [(start + shift, end + shift) for start, end in offsets]
        self.words.update(spans)
        self.sentences.add((spans[0][0], spans[-1][1]))


@dataclass
class Counts:
    """How many were found, how many there are, and how many are in both."""

    right: int = 0
    found: int = 0
    gold: int = 0

    def add(self, found: set[Span], gold: set[Span]) -> None:
        """Count one document."""
        self.right += len(found & gold)
        self.found += len(found)
        self.gold += len(gold)

    def __str__(self) -> str:
        precision, recall = self.right / self.found, self.right / self.gold
        f1 = 2 * self.right / (self.found + self.gold)
        return f"P {precision:7.2%}  R {recall:7.2%}  F1 {f1:7.2%}  ({self.gold} in the treebank)"


def read_documents(path: str) -> Iterator[Document]:
    """The documents of a treebank as their authors wrote them, but for lines within paragraphs."""
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


def wrap(text: str) -> str:
    """The text with spaces made line breaks where lines would pass WIDTH; no offset changes."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        characters = list(paragraph)
        line = last = 0
        for position, character in enumerate(paragraph):
            if position - line >= WIDTH and last > line:
                characters[last] = "\n"
                line = last + 1
            if character == " ":
                last = position
        paragraphs.append("".join(characters))
    return "\n\n".join(paragraphs)


def measure(documents: list[Document], layout: Callable[[str], str]) -> None:
    """Print the scores and the speed."""
    words, sentences = Counts(), Counts()
    seconds = 0.0
    for gold in documents:
        text = layout(gold.text)
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
    print(f"  {words.found / seconds:,.0f} words a second")


def main() -> None:
    """Measure each treebank file that is named."""
    parser = argparse.ArgumentParser(description="Score the splitting of raw text.")
    parser.add_argument("treebank", nargs="+", help="CoNLL-U files with '# text' lines")
    for path in parser.parse_args().treebank:
        documents = list(read_documents(path))
        print(f"{path}: {len(documents)} documents, a paragraph to the line")
        measure(documents, str)
        print(f"the same, lines broken at {WIDTH} columns")
        measure(documents, wrap)


if __name__ == "__main__":
    main()
