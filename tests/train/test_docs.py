"""The recipe of docs/training.md for a corpus of one's own learns."""

import re
from pathlib import Path

import pytest

from capsrl.recipe import SETTINGS, load_values, read_recipe
from capsrl.settings import flatten
from capsrl.train.loop import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
CORPUS = ROOT / "recipes" / "tiny"


@pytest.fixture
def recipe(tmp_path) -> Path:
    text, *_ = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    return tmp_path / "mine.toml"


def test_recipe_names_no_defaults(recipe):
    named = flatten({k: v for k, v in load_values(recipe).items() if k != "data"})
    assert [key for key, value in named.items() if value == SETTINGS[key].default] == []


def test_recipe_learns(recipe, tmp_path):
    files = {"train": "train", "dev": "train", "test.test": "dev"}
    overrides = [f"data.{key}={CORPUS / name}.conll09" for key, name in files.items()]
    small = ["train.batch_words=40", "train.epochs=20", "model.encoder.width=64"]
    result = run(read_recipe(recipe, [*overrides, *small]), tmp_path / "run", device="cpu")
    assert result.dev.counts.arguments.f1 > 50
    assert result.notes == ()
