"""What the spaCy component adds to the time of the labeler.

    python benchmarks/spacy_pipe.py [../shared/data/en_ewt/test.conll09.xz] [--repeat 3]

label_many   Labeler.label_many on raw text
blank        nlp.pipe of spacy.blank("en") with capsrl, which then splits sentences
sentencizer  nlp.pipe of spacy.blank("en") with a sentencizer and capsrl
read         the same, with doc._.propositions read and every phrase looked at

The texts have five sentences each. Numbers are processor time with one thread; the ways take turns,
and the fastest round of each counts.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import spacy
from spacy.language import Language

import capsrl
from capsrl.data.formats import read_sentences

CORPUS = Path(__file__).resolve().parents[2] / "shared/data/en_ewt/test.conll09.xz"


def main() -> None:
    """Print one line for each way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS, help="CoNLL-2009 file")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    options = parser.parse_args()
    sentences = [" ".join(sentence.words) for sentence in read_sentences(options.corpus)]
    texts = [" ".join(sentences[first : first + 5]) for first in range(0, len(sentences), 5)]
    seconds: dict[str, list[float]] = {}
    ways = make_ways(texts)
    for _ in range(options.repeat):
        for name, way in ways.items():
            seconds.setdefault(name, []).append(timed(way))
    base = min(seconds["label_many"])
    print(f"{len(texts)} texts, {len(sentences)} sentences, {options.corpus}")
    for name, rounds in seconds.items():
        best = min(rounds)
        print(
            f"{name:12} {best:6.2f} s  {len(sentences) / best:6.0f} sentences/s  {best / base:.3f}"
        )


def make_ways(texts: list[str]) -> dict[str, Callable[[], None]]:
    """The ways to label the texts, by name."""
    labeler = capsrl.load(device="cpu", threads=1)
    blank, sentencizer = make_pipeline(), make_pipeline("sentencizer")

    def label_many() -> None:
        for _ in labeler.label_many(texts):
            pass

    def pipe(nlp: Language) -> None:
        for _ in nlp.pipe(texts):
            pass

    def read() -> None:
        for doc in sentencizer.pipe(texts):
            for proposition in doc._.propositions:
                for argument in proposition.arguments:
                    _ = argument.phrase

    return {
        "label_many": label_many,
        "blank": lambda: pipe(blank),
        "sentencizer": lambda: pipe(sentencizer),
        "read": read,
    }


def make_pipeline(*names: str) -> Language:
    """A blank pipeline with some components and capsrl."""
    nlp = spacy.blank("en")
    for name in names:
        nlp.add_pipe(name)
    nlp.add_pipe("capsrl", config={"device": "cpu", "threads": 1})
    nlp("The model is loaded with the first Doc.")
    return nlp


def timed(way: Callable[[], None]) -> float:
    """The processor time of one run."""
    start = time.process_time()
    way()
    return time.process_time() - start


if __name__ == "__main__":
    main()
