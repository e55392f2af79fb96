"""The model card holds the recipe and the scores."""

import pytest

from capsrl.formats.formats import read_sentences
from capsrl.recipe import read_recipe
from capsrl.score import score
from capsrl.train.card import make_card
from capsrl.train.loop import run
from tests.helpers.tiny_runs import SETTINGS, TINY


def test_make_card():
    recipe = read_recipe(TINY, ["train.seed=9", "model.embeddings.tags=8"])
    gold = list(read_sentences(recipe.data.train))
    perfect = score(gold, gold)
    none = score(gold, [sentence.with_propositions([]) for sentence in gold])
    card = make_card(
        recipe, dev=perfect, intermediate=[none], tests={"unseen": none}, n_sentences=28
    )
    assert card.startswith('---\nlanguage: en\nlicense: other\nlicense_name: "Apache-2.0"\n')
    assert "- license of the corpus: Apache-2.0\n" in card
    assert "trained on 28 sentences of `train.conll09`" in card
    assert (
        "| dev, after 1 of 2 iterations | 0.00 | 0.00 | 0.00 | 0.00 | 36 |\n"
        "| dev | 100.00 | 100.00 | 100.00 | 100.00 | 36 |\n"
    ) in card
    assert "| unseen | 0.00 | 0.00 | 0.00 | 0.00 | 36 |" in card
    assert "capsrl 0.1.0, seed 9" in card
    assert "train.learning_rate = 0.003\n" in card
    assert "train.clip_norm" not in card  # a default
    assert str(TINY.parent) not in card  # no paths of the machine it was trained on
    assert "Needs parts of speech" in card


@pytest.mark.parametrize(("variant", "rows"), [("capsule", 1), ("word", 0)])
def test_scores_after_fewer_iterations(tmp_path, variant, rows):
    settings = ["train.epochs=1", f"model.capsules.variant={variant}"]
    result = run(read_recipe(TINY, [*SETTINGS, *settings]), tmp_path / "run", device="cpu")
    card = (result.model / "README.md").read_text()
    assert card.count("| dev, after 1 of 2 iterations |") == card.count("| dev, after") == rows


def test_recipe_without_name_and_license():
    recipe = read_recipe(TINY, ["data.license=", "data.language=", "data.name="])
    gold = list(read_sentences(recipe.data.train))
    card = make_card(recipe, dev=score(gold, gold), tests={}, n_sentences=28)
    assert card.startswith("---\nlibrary_name: capsrl\n")
    assert "# Semantic role labeling, language not stated: train.conll09\n" in card
    assert "- license of the corpus: not stated in the recipe\n" in card
    assert "Needs parts of speech" not in card


@pytest.mark.parametrize(
    ("width", "has", "has_not"),
    [(0, "head words, not phrases", "and their phrases"), (8, "and their phrases", "not phrases")],
)
def test_phrases(width, has, has_not):
    recipe = read_recipe(TINY, [f"model.phrase_width={width}"])
    gold = list(read_sentences(recipe.data.train))
    card = make_card(recipe, dev=score(gold, gold), tests={}, n_sentences=28)
    assert has in card
    assert has_not not in card
