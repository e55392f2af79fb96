"""Training in this process: who is kept, when it ends, and what it refuses."""

import dataclasses
import signal
import threading

import pytest
import torch

from capsrl.cli.train_progress import epoch_line, watching
from capsrl.config import Recipe
from capsrl.data.formats import read_sentences
from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.labeler import Labeler
from capsrl.model.build import make_network
from capsrl.model.inventory import build_inventory
from capsrl.recipe import read_recipe
from capsrl.score import score
from capsrl.train.checkpoint import load_checkpoint
from capsrl.train.log import read_log
from capsrl.train.loop import run
from capsrl.train.processes import Processes
from capsrl.train.signals import Interrupted, listening
from capsrl.train.step import Learner
from tests.helpers.tiny_runs import SETTINGS, TINY, start

EPOCH = {
    "kind": "epoch",
    "epoch": 3,
    "loss": 0.5,
    "dev_f1": 81.234,
    "dev_em": 50.0,
    "seconds": 12.34,
    "best": True,
}


def make_recipe(*settings: str) -> Recipe:
    return read_recipe(TINY, [*SETTINGS, *settings])


def make_learner(recipe: Recipe) -> Learner:
    torch.manual_seed(0)
    inventory = build_inventory(read_sentences(recipe.data.train))
    network = make_network(recipe.model, inventory)
    return Learner(network, train=recipe.train, loss=recipe.loss, processes=Processes("cpu"))


def make_batch(learner: Learner, recipe: Recipe):
    sentences = list(read_sentences(recipe.data.train))[:4]
    return learner.network.collate([learner.network.index(sentence) for sentence in sentences])


def test_the_best_epoch_is_kept_and_is_worth_what_the_log_says(tmp_path):
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


def test_a_run_ends_when_dev_f1_has_not_risen_for_too_long(tmp_path):
    recipe = make_recipe("train.learning_rate=1e-12", "train.patience=2")
    result = run(recipe, tmp_path, device="cpu")
    state = load_checkpoint(tmp_path / "checkpoint.safetensors").state
    assert (state.epoch, state.best_epoch, state.finished) == (3, 1, True)
    assert result.best_epoch == 1


def test_the_seed_decides(tmp_path):
    ends = []
    for number, seed in enumerate((3, 3, 4)):
        folder = tmp_path / str(number)
        run(make_recipe("train.epochs=1", f"train.seed={seed}"), folder, device="cpu")
        tensors = load_checkpoint(folder / "checkpoint.safetensors").tensors
        ends.append({name: value for name, value in tensors.items() if "weight." in name})
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())
    assert not all(torch.equal(value, ends[2][name]) for name, value in ends[0].items())


def test_a_wish_is_granted_between_steps(tmp_path):
    def wish_at_first(record):
        signal.raise_signal(signal.SIGTERM)

    recipe = make_recipe("train.epochs=3")
    message = "run: stopped after step [0-9]+; run the same command again to go on from there"
    with pytest.raises(Interrupted, match=message):
        run(recipe, tmp_path / "run", device="cpu", report=wish_at_first)
    state = load_checkpoint(tmp_path / "run" / "checkpoint.safetensors").state
    assert state.epoch == 1
    run(recipe, tmp_path / "run", device="cpu")
    epochs = [r for r in read_log(tmp_path / "run" / "log.jsonl") if r["kind"] == "epoch"]
    assert [record["epoch"] for record in epochs] == [1, 2, 3]


def test_without_checkpoints_a_run_that_was_stopped_begins_again(tmp_path):
    def wish_at_first(record):
        signal.raise_signal(signal.SIGTERM)

    recipe = make_recipe("train.epochs=2", "train.checkpoint_every=0")
    message = "run: stopped after step [0-9]+; run the same command again to go on from the begin"
    with pytest.raises(Interrupted, match=message):
        run(recipe, tmp_path / "run", device="cpu", report=wish_at_first)
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()
    result = run(recipe, tmp_path / "run", device="cpu")
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()
    epochs = [r for r in read_log(tmp_path / "run" / "log.jsonl") if r["kind"] == "epoch"]
    assert [record["epoch"] for record in epochs] == [1, 2]  # of the second time alone
    assert result.seconds > 0


def test_a_second_signal_acts_at_once():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), listening() as wish:
        signal.raise_signal(signal.SIGINT)
        assert wish.stop
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_have_no_handlers():
    stops = []

    def work():
        with listening() as wish:
            stops.append(wish.stop)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert stops == [False]


def test_a_step_lowers_the_loss_and_the_average_follows():
    recipe = make_recipe("train.average=0.5", "model.encoder.dropout=0.0")
    learner = make_learner(recipe)
    batch = make_batch(learner, recipe)
    losses = []
    for number in range(1, 6):
        learner.step(batch, 1.0, number)
        losses.append(learner.losses(epoch=False)["loss"])
    assert losses == sorted(losses, reverse=True)
    assert learner.losses(epoch=True)["loss"] == pytest.approx(sum(losses) / 5)
    weights = {k: v.clone() for k, v in learner.tensors().items() if k.startswith("weight.")}
    average = {k: v.clone() for k, v in learner.tensors().items() if k.startswith("average.")}
    with learner.kept_weights():
        assert not learner.network.training
        for name, value in learner.network.named_parameters():
            assert torch.equal(value, average[f"average.{name}"])
    assert learner.network.training
    for name, value in learner.network.named_parameters():
        assert torch.equal(value, weights[f"weight.{name}"])
    assert any(
        not torch.equal(value, average[name.replace("weight.", "average.", 1)])
        for name, value in weights.items()
    )


def test_parts_of_the_loss_add_up():
    recipe = make_recipe("loss.uniqueness=0.5")
    learner = make_learner(recipe)
    learner.step(make_batch(learner, recipe), 1.0, 1)
    total, *parts = learner.losses(epoch=True).values()
    assert total == pytest.approx(sum(parts))
    assert all(part > 0 for part in parts[:4])


def test_a_loss_that_is_no_number_stops_the_run():
    recipe = make_recipe()
    learner = make_learner(recipe)
    with torch.no_grad():
        next(learner.network.parameters()).fill_(float("nan"))
    learner.step(make_batch(learner, recipe), 1.0, 1)
    with pytest.raises(ConfigError, match="expected a finite loss, got nan; lower train.learning"):
        learner.losses(epoch=False)


def test_weights_that_do_not_fit_are_refused():
    small, large = make_learner(make_recipe()), make_learner(make_recipe("model.capsules.size=4"))
    message = "run/x: expected the weights of this recipe, got others for forms.weight, routing"
    with pytest.raises(ModelError, match=message):
        small.restore(large.tensors(), source="run/x")


def test_a_corpus_without_sentences_is_refused(tmp_path):
    (tmp_path / "empty.conll09").write_text("\n")
    recipe = make_recipe()
    data = dataclasses.replace(recipe.data, train=str(tmp_path / "empty.conll09"))
    with pytest.raises(DataError, match="empty.conll09: expected sentences, got none"):
        run(dataclasses.replace(recipe, data=data), tmp_path / "run", device="cpu")


def test_a_missing_test_file_is_told_before_the_first_step(tmp_path):
    seen = []
    with pytest.raises(DataError, match=r"nowhere\.conll09: cannot be read: No such file"):
        recipe = make_recipe("data.test.gone=nowhere.conll09")
        run(recipe, tmp_path, device="cpu", report=seen.append)
    assert seen == []


def test_a_corpus_without_senses_is_named(tmp_path):
    blind = tmp_path / "blind.conll09"
    blind.write_text("\t".join(["1", "Go", *["_"] * 10, "Y"]) + "\n\n")
    with pytest.raises(DataError, match=r"blind\.conll09: expected predicates with senses, got"):
        run(make_recipe(f"data.train={blind}"), tmp_path / "run", device="cpu")


@pytest.mark.parametrize("key", ["data.dev", "data.test.wsj"])
def test_a_file_without_answers_is_named_before_the_first_step(tmp_path, key):
    blind, seen = tmp_path / "blind.txt", []
    blind.write_text("\t".join(["1", "Go", *["_"] * 10, "Y"]) + "\n\n")
    message = r"blind\.txt: expected predicates with senses, got none; one cannot score on a blind"
    with pytest.raises(DataError, match=message):
        run(make_recipe(f"{key}={blind}"), tmp_path / "run", device="cpu", report=seen.append)
    assert seen == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(ConfigError, match="run: cannot be written: File exists; name another"):
        run(make_recipe(), tmp_path / "run", device="cpu")


def test_on_a_terminal_bars_show_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    step = {"kind": "step", "epoch": 2, "batch": 3, "batches": 6, "loss": 0.25}
    with watching(5) as report:
        report({**step, "words_per_second": 12345})
        report({**EPOCH, "epoch": 2})
    err = capsys.readouterr().err
    assert "loss 0.250, 12,345 words/s" in err
    assert "2 of 5" in err
    assert "epoch   2  loss  0.5000  dev F1  81.23" in err


def test_away_from_a_terminal_each_epoch_is_a_line(capsys):
    with watching(5) as report:
        report({"kind": "step"})
        report(EPOCH)
    line = "epoch   3  loss  0.5000  dev F1  81.23  EM  50.00      12.3 s  best"
    assert epoch_line(EPOCH) == line
    assert capsys.readouterr().err == line + "\n"


def test_training_needs_none_of_the_conveniences(tmp_path):
    """A bare GPU machine has torch and safetensors, and may have nothing else."""
    code = """
import sys
for name in ("pydantic", "typer", "rich", "matplotlib", "tensorboard", "accelerate"):
    sys.modules[name] = None
from pathlib import Path
from capsrl.recipe import load_values, make_recipe
from capsrl.train.loop import run
from capsrl.cli.train_progress import watching
recipe = make_recipe(load_values(sys.argv[1], sys.argv[3:]))
with watching(recipe.train.epochs) as report:
    run(recipe, Path(sys.argv[2]), device="cpu", report=report)
"""
    folder = tmp_path / "run"
    process = start(["-c", code, str(TINY), str(folder), *SETTINGS, "train.epochs=1"])
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err.startswith("epoch   1  loss ")
    assert {path.name for path in folder.iterdir()} == {
        "checkpoint.safetensors",
        "log.jsonl",
        "model",
    }
