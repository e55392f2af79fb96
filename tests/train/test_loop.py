"""Training in one process: which model is saved, when it ends, and what it refuses."""

import signal

import pytest
import torch

from capsrl.config import Recipe
from capsrl.errors import ConfigError
from capsrl.formats.formats import read_sentences
from capsrl.labeler import Labeler
from capsrl.predict.folder import find_stored
from capsrl.recipe import read_recipe
from capsrl.score import score
from capsrl.train.checkpoint import load_checkpoint
from capsrl.train.log import read_log
from capsrl.train.loop import Interrupted, run
from tests.helpers.tiny_runs import SETTINGS, TINY, start


def make_recipe(*settings: str) -> Recipe:
    return read_recipe(TINY, [*SETTINGS, *settings])


def test_best_epoch_is_saved(tmp_path):
    recipe = make_recipe("data.dev=" + str(TINY.parent / "tiny" / "dev.conll09"))
    seen = []
    result = run(recipe, tmp_path, device="cpu", report=seen.append)
    records = read_log(tmp_path / "log.jsonl")
    assert seen == records
    epochs = [record for record in records if record["kind"] == "epoch"]
    assert [record["epoch"] for record in epochs] == list(range(1, 9))
    f1s = [record["dev_f1"] for record in epochs]
    assert [record["best"] for record in epochs] == [
        f1 > max([-1.0, *f1s[:number]]) for number, f1 in enumerate(f1s)
    ]
    assert result.best_epoch == f1s.index(max(f1s)) + 1
    dev = list(read_sentences(recipe.data.dev))
    again = score(dev, Labeler.load(tmp_path / "model").label_sentences(dev))
    assert again.labeled_f1 == max(f1s) == result.dev.labeled_f1 == records[-1]["dev_f1"]
    assert again.exact_match == records[-1]["dev_em"]
    assert result.tests["unseen"].labeled_f1 == records[-1]["test_unseen_f1"]


def test_precision_of_the_saved_model(tmp_path):
    recipe = make_recipe("train.epochs=1", "train.precision=compact")
    result = run(recipe, tmp_path, device="cpu")
    dtypes = {place.dtype for place in find_stored(result.model).values()}
    assert dtypes == {"I8", "F16", "F32", "I64"}  # F32: the scales
    run(make_recipe("train.epochs=1"), tmp_path, device="cpu")  # is the same run


def test_what_a_kill_left_is_removed(tmp_path):
    """Also by a run that is finished and does not save the model again."""
    recipe = make_recipe("train.epochs=1")
    run(recipe, tmp_path, device="cpu")
    before = {path.name for path in tmp_path.iterdir()}
    left = tmp_path / ".model.0123abcd.new"
    left.mkdir()
    (left / "config.json").touch()
    run(recipe, tmp_path, device="cpu")
    assert {path.name for path in tmp_path.iterdir()} == before


def test_early_stopping(tmp_path):
    recipe = make_recipe("train.learning_rate=1e-12", "train.patience=2")
    result = run(recipe, tmp_path, device="cpu")
    state = load_checkpoint(tmp_path / "checkpoint.safetensors").state
    assert (state.epoch, state.best_epoch, state.finished) == (3, 1, True)
    assert result.best_epoch == 1


def test_dev_is_scored_every_third_epoch_and_at_the_end(tmp_path):
    result = run(make_recipe("train.score_every=3", "train.epochs=8"), tmp_path, device="cpu")
    epochs = [r for r in read_log(tmp_path / "log.jsonl") if r["kind"] == "epoch"]
    assert [record["epoch"] for record in epochs] == [3, 6, 8]
    best = max(epochs, key=lambda record: record["dev_f1"])
    assert (result.best_epoch, result.dev.labeled_f1) == (best["epoch"], best["dev_f1"])
    state = load_checkpoint(tmp_path / "checkpoint.safetensors").state
    assert (state.epoch, state.position, state.finished) == (8, 0, True)
    # Scoring does not change what is learned.
    run(make_recipe("train.epochs=8"), tmp_path / "each", device="cpu")
    tensors, others = (
        load_checkpoint(folder / "checkpoint.safetensors").tensors
        for folder in (tmp_path, tmp_path / "each")
    )
    assert all(torch.equal(others[name], tensors[name]) for name in tensors if "weight" in name)


def test_seed(tmp_path):
    ends = []
    for number, seed in enumerate((3, 3, 4)):
        folder = tmp_path / str(number)
        run(make_recipe("train.epochs=1", f"train.seed={seed}"), folder, device="cpu")
        tensors = load_checkpoint(folder / "checkpoint.safetensors").tensors
        ends.append({name: value for name, value in tensors.items() if "weight." in name})
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())
    assert not all(torch.equal(value, ends[2][name]) for name, value in ends[0].items())


def test_stop_between_steps(tmp_path):
    def stop_at_first(record):
        signal.raise_signal(signal.SIGTERM)

    recipe = make_recipe("train.epochs=3")
    message = "run: stopped after step [0-9]+; run the same command again to resume from there"
    with pytest.raises(Interrupted, match=message):
        run(recipe, tmp_path / "run", device="cpu", report=stop_at_first)
    state = load_checkpoint(tmp_path / "run" / "checkpoint.safetensors").state
    assert state.epoch == 1
    run(recipe, tmp_path / "run", device="cpu")
    epochs = [r for r in read_log(tmp_path / "run" / "log.jsonl") if r["kind"] == "epoch"]
    assert [record["epoch"] for record in epochs] == [1, 2, 3]


def test_stop_without_checkpoints(tmp_path):
    def stop_at_first(record):
        signal.raise_signal(signal.SIGTERM)

    recipe = make_recipe("train.epochs=2", "train.checkpoint_every=0")
    message = "run: stopped after step [0-9]+; run the same command again to resume from the begin"
    with pytest.raises(Interrupted, match=message):
        run(recipe, tmp_path / "run", device="cpu", report=stop_at_first)
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()
    result = run(recipe, tmp_path / "run", device="cpu")
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()
    epochs = [r for r in read_log(tmp_path / "run" / "log.jsonl") if r["kind"] == "epoch"]
    assert [record["epoch"] for record in epochs] == [1, 2]  # of the second run only
    assert result.seconds > 0


def test_a_finished_run_is_prolonged_exactly(tmp_path):
    constant = ("train.schedule=constant", "train.warmup=0.0", "train.patience=3")
    run(make_recipe(*constant, "train.epochs=2"), tmp_path / "run", device="cpu")
    longer = make_recipe(*constant, "train.epochs=4")
    for folder in ("run", "straight"):
        run(longer, tmp_path / folder, device="cpu")
    ends = [
        load_checkpoint(tmp_path / folder / "checkpoint.safetensors")
        for folder in ("run", "straight")
    ]
    assert [end.state.epoch for end in ends] == [4, 4]
    for name, tensor in ends[0].tensors.items():
        assert torch.equal(tensor.nan_to_num(), ends[1].tensors[name].nan_to_num()), name
    kinds = [record["kind"] for record in read_log(tmp_path / "run" / "log.jsonl")]
    assert kinds.count("epoch") == 4 and kinds.count("end") == 1


def test_no_arguments_predicted(tmp_path):
    recipe = make_recipe("train.epochs=1")
    result = run(recipe, tmp_path, device="cpu")
    assert result.dev.counts.pred_arguments == 0 < result.dev.labeled_f1
    assert read_log(tmp_path / "log.jsonl")[-2]["dev_argument_f1"] == 0
    [note] = result.notes
    assert note.startswith(f"{tmp_path}: the model predicts no argument on ")
    assert "train.learning_rate (it is 0.003)" in note


def test_unwritable_folder(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(ConfigError, match="run: cannot be written: File exists; name another"):
        run(make_recipe(), tmp_path / "run", device="cpu")


def test_optional_packages_are_optional(tmp_path):
    """A GPU machine may have only torch, safetensors and tokenizers."""
    code = """
import sys
for name in ("pydantic", "click", "rich", "matplotlib", "tensorboard"):
    sys.modules[name] = None
from pathlib import Path
from capsrl.predict.folder import find_stored
from capsrl.recipe import read_recipe
from capsrl.train.loop import run
recipe = read_recipe(sys.argv[1], sys.argv[3:])
result = run(recipe, Path(sys.argv[2]), device="cpu")
print(*result.notes)
"""
    folder = tmp_path / "run"
    process = start(["-c", code, str(TINY), str(folder), *SETTINGS, "train.epochs=1"])
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "no curve.png: plots need matplotlib: pip install 'capsrl[plots]'" in out
    assert {path.name for path in folder.iterdir()} == {
        "checkpoint.safetensors",
        "log.jsonl",
        "model",
    }
