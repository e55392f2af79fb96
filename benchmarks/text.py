"""Measure the splitting of raw text into sentences and words against a UD treebank.

    python benchmarks/text.py en_ewt-ud-dev.conllu [more.conllu ...]
    python benchmarks/text.py --splitter pysbd en_ewt-ud-dev.conllu

Other splitters (`--splitter`) are pysbd, sentencex and syntok, which pip installs, `sentencizer`,
spaCy's rules, and any other name or folder of a spaCy pipeline that sets sentences.

The documents are rebuilt from the `# text` lines, with a blank line between paragraphs, and split
again. A word or sentence is correct if both its ends are. This is done for several layouts: each
paragraph on one line, each sentence on one line, and lines broken at several widths, which should
hardly matter. The treebanks are UD_English-EWT and UD_English-GUM of
https://github.com/UniversalDependencies.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from capsrl.errors import DataError
from capsrl.files.opening import read_lines
from capsrl.formats.conllu import read_conllu
from capsrl.sentence import Sentence
from capsrl.text.markup import Span
from capsrl.text.sentences import read_text

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
        if spans:
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


# The offsets of the words of each sentence, or those of the sentence alone.
Splitter = Callable[[str], list[list[Span]]]


def split_with_capsrl(text: str) -> list[list[Span]]:
    """Split by `capsrl.text`."""
    return [list(sentence.offsets or ()) for sentence in read_text(text)]


def load_pysbd() -> Splitter:
    """Rules in the manner of Pragmatic Segmenter."""
    import pysbd

    segmenter = pysbd.Segmenter(language="en", clean=False, char_span=True)
    return lambda text: [[(span.start, span.end)] for span in segmenter.segment(text)]


def load_sentencex() -> Splitter:
    """Rules of the Wikimedia Foundation."""
    import sentencex

    def split(text: str) -> list[list[Span]]:
        found = sentencex.get_sentence_boundaries("en", text)
        return [[(each["start_index"], each["end_index"])] for each in found]

    return split


def load_syntok() -> Splitter:
    """Rules with a tokenizer of their own."""
    from syntok import segmenter

    def split(text: str) -> list[list[Span]]:
        sentences = (sentence for part in segmenter.analyze(text) for sentence in part)
        return [
            [(token.offset, token.offset + len(token.value)) for token in sentence]
            for sentence in sentences
        ]

    return split


def load_spacy(name: str) -> Splitter:
    """A spaCy pipeline that sets sentences, by rules (`sentencizer`) or by a parser."""
    import spacy

    nlp: Any = spacy.blank("en") if name == "sentencizer" else spacy.load(name)
    if name == "sentencizer":
        nlp.add_pipe("sentencizer")

    def split(text: str) -> list[list[Span]]:
        sentences = (
            [(token.idx, token.idx + len(token)) for token in sentence if not token.is_space]
            for sentence in nlp(text).sents
        )
        return [sentence for sentence in sentences if sentence]

    return split


def load_splitter(name: str) -> Splitter:
    """Return the splitter of this name."""
    known = {"pysbd": load_pysbd, "sentencex": load_sentencex, "syntok": load_syntok}
    if name == "capsrl":
        return split_with_capsrl
    return by_paragraphs(known[name]() if name in known else load_spacy(name))


def by_paragraphs(splitter: Splitter) -> Splitter:
    """Split each paragraph by itself: some splitters do not look at blank lines."""

    def split(text: str) -> list[list[Span]]:
        found: list[list[Span]] = []
        shift = 0
        for paragraph in text.split("\n\n"):
            sentences = splitter(paragraph)
            found += [[(start + shift, end + shift) for start, end in s] for s in sentences]
            shift += len(paragraph) + 2
        return found

    return split


def strip(text: str, spans: list[Span]) -> list[Span]:
    """The spans of a sentence without white space around them."""
    first, last = spans[0][0], spans[-1][1]
    start = last - len(text[first:last].lstrip())
    end = first + len(text[first:last].rstrip())
    return [(start, end)] if len(spans) == 1 and start < end else spans if start < end else []


def measure(
    documents: list[Document], layout: Callable[[Document], str], splitter: Splitter
) -> None:
    """Print the scores and the speed."""
    words, sentences = Counts(), Counts()
    seconds = 0.0
    for gold in documents:
        text = layout(gold)
        begin = time.perf_counter()
        split = splitter(text)
        seconds += time.perf_counter() - begin
        found = Document()
        for spans in split:
            found.add(strip(text, spans))
        words.add(found.words, gold.words)
        sentences.add(found.sentences, gold.sentences)
    if words.found > sentences.found:  # not all splitters find words
        print(f"  words      {words}")
    print(f"  sentences  {sentences}")
    print(f"  {words.gold / seconds:,.0f} words per second")


def main() -> None:
    """Measure each treebank file that is named."""
    parser = argparse.ArgumentParser(description="Score the splitting of raw text.")
    parser.add_argument("treebank", nargs="+", help="CoNLL-U files with '# text' lines")
    parser.add_argument("--splitter", default="capsrl", help="capsrl (default), pysbd, ...")
    arguments = parser.parse_args()
    splitter = load_splitter(arguments.splitter)
    for path in arguments.treebank:
        documents = list(read_documents(path))
        for name, layout in LAYOUTS.items():
            print(f"{path}: {len(documents)} documents, {name}")
            measure(documents, layout, splitter)


if __name__ == "__main__":
    main()
