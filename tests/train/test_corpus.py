"""The files of a recipe are read once and checked before the first step."""

from dataclasses import replace

import pytest

from capsrl.config import DataConfig, Recipe
from capsrl.errors import DataError
from capsrl.formats.formats import write_sentences
from capsrl.recipe import read_recipe
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.text.lemmatizer import Lemmatizer
from capsrl.train.corpus import check_files, read_training_files
from capsrl.train.loop import run
from tests.helpers.tiny_runs import SETTINGS, TINY


def read_tiny(*settings: str) -> Recipe:
    return read_recipe(TINY, [*SETTINGS, *settings])


def test_read_corpus():
    corpus = read_training_files(read_tiny().data)
    assert len(corpus.train) == len(corpus.dev) == 28
    assert {name: len(sentences) for name, sentences in corpus.tests.items()} == {"unseen": 8}


def test_lemmas_of_predicates(tmp_path):
    words = ("She", "saw", "Children")
    bare = Sentence(words, (Proposition(1, "see.01", (Argument("A1", 2),)),))
    tagged = replace(bare, tags=("PRP", "VBP", "NNS"))  # a form of *saw*, not of *see*
    known = replace(bare, lemmas=("x", "y", "z"))
    file = str(tmp_path / "a.jsonl")
    write_sentences([bare, tagged, known], file)
    data = DataConfig(train=file, dev=file, partial=[file])
    corpus = read_training_files(data, Lemmatizer())
    lemmas = [("she", "see", "children"), ("she", "saw", "children"), ("x", "y", "z")]
    assert [sentence.lemmas for sentence in corpus.train] == lemmas
    assert [sentence.lemmas for sentence in corpus.partial] == lemmas
    assert corpus.dev[0].lemmas is None  # the labeler finds those
    assert read_training_files(data).train[0].lemmas is None


def test_count_words():
    recipe = read_tiny(f"data.dev={TINY.parent / 'tiny' / 'dev.conll09'}")
    corpus = read_training_files(recipe.data)
    counts = corpus.count_words()
    assert counts["the"] == sum(sentence.words.count("the") for sentence in corpus.train) > 1
    others = {word for sentence in corpus.dev for word in sentence.words}
    assert others <= counts.keys()
    train = {word for sentence in corpus.train for word in sentence.words}
    assert all(counts[word] == 0 for word in others - train)


def test_all_missing_files_in_one_error(tmp_path):
    recipe = read_tiny(
        "data.train=a/train.conll09",
        "data.test.gone=b/gone.conll09",
        "model.embeddings.transformer=encoders/no-such",
        "model.embeddings.fasttext=cc.bin",
        f"data.frames={tmp_path}",
    )
    with pytest.raises(DataError) as caught:
        check_files(recipe)
    *lines, hint = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "a/train.conll09",
        "b/gone.conll09",
        "encoders/no-such",
        "cc.bin",
    ]
    assert lines[0] == "a/train.conll09: not found (data.train)"
    assert "python -m corpora" in hint


def test_missing_files_are_reported_before_the_first_step(tmp_path):
    seen = []
    with pytest.raises(DataError, match=r"nowhere.conll09: not found \(data.test.gone\)"):
        run(read_tiny("data.test.gone=nowhere.conll09"), tmp_path, device="cpu", report=seen.append)
    assert seen == []


def test_packages_are_not_files():
    check_files(read_tiny("model.embeddings.transformer=some_package"))


def test_no_sentences(tmp_path):
    (tmp_path / "empty.conll09").write_text("\n")
    with pytest.raises(DataError, match="empty.conll09: has no sentences"):
        read_training_files(read_tiny(f"data.train={tmp_path / 'empty.conll09'}").data)


def test_training_file_without_senses(tmp_path):
    blind = tmp_path / "blind.conll09"
    blind.write_text("\t".join(["1", "Go", *["_"] * 10, "Y"]) + "\n\n")
    with pytest.raises(DataError, match=r"blind\.conll09: no predicate has a sense"):
        run(read_tiny(f"data.train={blind}"), tmp_path / "run", device="cpu")


@pytest.mark.parametrize("key", ["data.dev", "data.test.wsj"])
def test_scored_file_without_senses(tmp_path, key):
    blind = tmp_path / "blind.conll09"
    blind.write_text("\t".join(["1", "Go", *["_"] * 10, "Y"]) + "\n\n")
    with pytest.raises(DataError, match=r"blind\.conll09: has no predicates with senses"):
        read_training_files(read_tiny(f"{key}={blind}").data)
