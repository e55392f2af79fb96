"""`capsrl train`: its options; tests/test_tiny_run.py trains with it."""

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from capsrl.cli import app
from capsrl.cli.train import key_table, next_commands
from capsrl.errors import ConfigError
from capsrl.recipe import SETTINGS, read_recipe
from tests.helpers.tiny_runs import TINY


def test_keys():
    result = CliRunner().invoke(app, ["train", "--keys"])
    assert result.exit_code == 0
    _, _, *rows = result.stdout.splitlines()
    assert [row.split("`")[1] for row in rows] == list(SETTINGS)


def test_key_table():
    keys = ("data.train", "data.test", "data.partial", "train.epochs", "train.schedule")
    _, _, *rows = key_table(SETTINGS[key] for key in keys)
    cells = [[cell.strip() for cell in row.split("|")[2:4]] for row in rows]
    assert cells == [
        ["a path", "required"],
        ["a table of paths", "none"],
        ["a list of paths", "none"],
        ["a whole number, at least 1", "`100`"],
        ["'constant', 'linear' or 'cosine'", '`"constant"`'],
    ]


def test_no_recipe():
    with pytest.raises(ConfigError, match="^missing RECIPE, such as recipes/tiny.toml$"):
        CliRunner().invoke(app, ["train"], catch_exceptions=False)


def test_notes_are_printed(tmp_path):
    settings = ("train.epochs=1", "model.encoder.width=16", "train.checkpoint_every=0")
    sets = [part for setting in settings for part in ("--set", setting)]
    arguments = ["train", str(TINY), "--out", str(tmp_path), "--device", "cpu", *sets]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert f"warning: {tmp_path}: the model predicts no argument on " in result.stderr
    [calibrate] = [line for line in result.stderr.splitlines() if "capsrl calibrate" in line]
    model, data = shlex.split(calibrate)[2:4]
    assert model == str(tmp_path / "model") and data.startswith(str(TINY.parent / "tiny"))
    assert "capsrl export" not in result.stderr  # learned vectors


def test_next_commands():
    recipe = read_recipe(TINY.parent / "own-data.toml", ["data.dev=my dev.jsonl"])
    assert list(next_commands(Path("runs/a/model"), recipe)) == [
        "next:",
        "  capsrl calibrate runs/a/model 'my dev.jsonl'"
        "                              # make its probabilities mean what they say",
        "  capsrl export runs/a/model"
        "                                                # label on the CPU without torch",
        "  capsrl evaluate 'my dev.jsonl' --model runs/a/model --errors errors.html"
        "  # see its mistakes",
        '  capsrl label --model runs/a/model "..."                                   # label text',
    ]


@pytest.mark.parametrize(
    ("sets", "name"),
    [
        ((), "tiny/dev.conll09"),  # tiny.toml chooses the best epoch on the training file
        (("data.dev=other.conll09",), "other.conll09"),
        (("data.test={}",), "tiny/train.conll09"),  # there is no other file
    ],
)
def test_next_commands_prefer_a_file_that_was_not_trained_on(sets, name):
    _, calibrate, evaluate, _ = next_commands(Path("model"), read_recipe(TINY, sets))
    assert shlex.split(calibrate)[3].endswith(name)
    assert shlex.split(evaluate)[2].endswith(name)
