"""What the spaCy component adds to the time of the labeler.

    python benchmarks/spacy_pipe.py [../shared/data/en_ewt/test.conll09.xz] [--repeat 3]

label_many   Labeler.label_many on raw text
blank        nlp.pipe of spacy.blank("en") with capsrl, which then splits sentences
sentencizer  nlp.pipe of spacy.blank("en") with a sentencizer and capsrl
read         the same, with doc._.propositions read and every phrase looked at

The texts have five sentences each. The ways take turns, 50 texts at a time, and of every 50 the
fastest round of each way counts. Numbers are processor time with one thread.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import spacy
from spacy.language import Language

import capsrl
from capsrl.formats.formats import read_sentences

CORPUS = Path(__file__).resolve().parents[2] / "shared/data/en_ewt/test.conll09.xz"
CHUNK = 50  # texts

Way = Callable[[list[str]], None]


def main() -> None:
    """Print one line for each way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS, help="CoNLL-2009 file")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    options = parser.parse_args()
    sentences = [" ".join(sentence.words) for sentence in read_sentences(options.corpus)]
    texts = [" ".join(sentences[first : first + 5]) for first in range(0, len(sentences), 5)]
    ways = make_ways()
    seconds = dict.fromkeys(ways, 0.0)
    for first in range(0, len(texts), CHUNK):
        rounds = [run(ways, texts[first : first + CHUNK]) for _ in range(options.repeat)]
        for name in ways:
            seconds[name] += min(times[name] for times in rounds)
    print(f"{len(texts)} texts, {len(sentences)} sentences, {options.corpus}")
    for name, total in seconds.items():
        ratio = total / seconds["label_many"]
        print(f"{name:12} {total:6.2f} s  {len(sentences) / total:6.0f} sentences/s  {ratio:.3f}")


def run(ways: dict[str, Way], texts: list[str]) -> dict[str, float]:
    """The processor time of one run of each way."""
    times: dict[str, float] = {}
    for name, way in ways.items():
        start = time.process_time()
        way(texts)
        times[name] = time.process_time() - start
    return times


def make_ways() -> dict[str, Way]:
    """The ways to label texts, by name."""
    labeler = capsrl.load(device="cpu", threads=1)
    blank, sentencizer = make_pipeline(), make_pipeline("sentencizer")

    def label_many(texts: list[str]) -> None:
        for _ in labeler.label_many(texts):
            pass

    def pipe(nlp: Language, texts: list[str]) -> None:
        for _ in nlp.pipe(texts):
            pass

    def read(texts: list[str]) -> None:
        for doc in sentencizer.pipe(texts):
            for proposition in doc._.propositions:
                for argument in proposition.arguments:
                    _ = argument.phrase

    return {
        "label_many": label_many,
        "blank": partial(pipe, blank),
        "sentencizer": partial(pipe, sentencizer),
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


if __name__ == "__main__":
    main()
