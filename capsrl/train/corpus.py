"""Read the files of a recipe and check that they can be used."""

import os
from collections import Counter
from dataclasses import dataclass, replace

from capsrl.config import DataConfig, Recipe
from capsrl.errors import DataError
from capsrl.formats.formats import read_sentences
from capsrl.formats.phrase_file import phrase_file_of
from capsrl.recipe import recipe_paths
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmatizer


@dataclass(frozen=True)
class Corpus:
    """The sentences of a training run; `tests` by the names the recipe gives them.

    partial  more sentences to train on, in which only some predicates are annotated
    """

    train: list[Sentence]
    partial: list[Sentence]
    dev: list[Sentence]
    tests: dict[str, list[Sentence]]

    def count_words(self) -> Counter[str]:
        """Count the words of the training sentences; words of the other files have count 0."""
        trained = (*self.train, *self.partial)
        counts = Counter(word for sentence in trained for word in sentence.words)
        for sentences in (self.dev, *self.tests.values()):
            counts.update({word: 0 for sentence in sentences for word in sentence.words})
        return counts


def check_files(recipe: Recipe) -> None:
    """Raise DataError naming every file and folder of a recipe that does not exist.

    A run that starts from a model finds its encoder in the folder of that model.
    """
    is_started = recipe.train.from_ is not None
    missing = [
        f"{path}: not found ({key})"
        for key, path in recipe_paths(recipe).items()
        if not (is_started and key.startswith("model.")) and not os.path.exists(path)
    ]
    if missing:
        raise DataError(
            "\n".join(missing) + "\n`python -m corpora` makes corpora (docs/corpora.md), "
            "docs/training.md says where to get encoders; --set KEY=PATH names other files"
        )


def read_training_files(data: DataConfig, lemmatizer: Lemmatizer | None = None) -> Corpus:
    """Read all files, so that a bad one is reported before the first step.

    Arguments have phrases where a phrase file is beside the corpus (capsrl/formats/phrase_file.py).

    lemmatizer  finds the lemmas of predicates in training files without lemmas, by which their
                senses are known

    Raises DataError for a file without sentences, for a dev or test file without senses, and for
    a partially annotated file without predicates.
    """
    return Corpus(
        train=_with_lemmas(_read(data.train), lemmatizer),
        partial=[
            sentence
            for path in data.partial
            for sentence in _with_lemmas(_read_partial(path), lemmatizer)
        ],
        dev=_read_gold(data.dev),
        tests={name: _read_gold(path) for name, path in data.test.items()},
    )


def _with_lemmas(sentences: list[Sentence], lemmatizer: Lemmatizer | None) -> list[Sentence]:
    if lemmatizer is None:
        return sentences
    found = []
    for sentence in sentences:
        if sentence.lemmas is None:
            lemmas = [word.lower() for word in sentence.words]
            for position in sentence.predicates:
                tag = None if sentence.tags is None else sentence.tags[position]
                lemmas[position] = lemmatizer.find(sentence.words[position], tag)
            sentence = replace(sentence, lemmas=tuple(lemmas))
        found.append(sentence)
    return found


def _read(path: str) -> list[Sentence]:
    found = read_sentences(path, phrases=phrase_file_of(path))
    sentences = [sentence for sentence in found if sentence.words]
    if not sentences:
        raise DataError(f"{path}: has no sentences")
    return sentences


def _read_partial(path: str) -> list[Sentence]:
    sentences = [sentence for sentence in _read(path) if sentence.propositions]
    if not sentences:
        raise DataError(f"{path}: has no annotated predicates")
    return sentences


def _read_gold(path: str) -> list[Sentence]:
    sentences = _read(path)
    if not any(one.sense is not None for sentence in sentences for one in sentence.propositions):
        raise DataError(
            f"{path}: has no predicates with senses; without gold annotation it cannot be scored"
        )
    return sentences
