"""AnCora's roles and senses are learned from the few free sentences."""

from pathlib import Path

import pytest

from capsrl.formats.formats import read_sentences
from capsrl.labeler import Labeler
from capsrl.recipe import read_recipe
from capsrl.score import score
from capsrl.train.loop import run

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("language", ["ca", "es"])
def test_ancora(shared, tmp_path, language):
    corpus = shared / "data" / f"{language}_ancora_mini"
    files = {name: str(corpus / f"{name}.conll09.xz") for name in ("train", "test")}
    recipe = read_recipe(
        ROOT / "recipes" / "tiny.toml",
        [
            f"data.train={files['train']}",
            f"data.dev={files['train']}",  # the dev file has only 8 sentences
            f"data.test={{ test = '{files['test']}' }}",
            f"data.language={language}",
            "train.epochs=25",
            "train.patience=25",
            "train.batch_words=100",
            "train.checkpoint_every=0",
        ],
    )
    result = run(recipe, tmp_path / "run", device="cpu")
    labeler = Labeler.load(result.model)
    assert {"arg0-agt", "arg1-pat"} <= set(labeler.inventory.roles)
    train = list(read_sentences(files["train"]))
    learned = score(train, labeler.label_sentences(train)).counts
    assert learned.sense_accuracy > 99  # all of them are lemma + .00
    assert learned.arguments.f1 > 20
    # Senses of unseen lemmas follow the pattern of the others.
    assert result.tests["test"].counts.sense_accuracy > 90
