"""A run that is stopped, killed or split over processes ends with the same weights."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from capsrl.train.checkpoint import load_checkpoint
from capsrl.train.log import read_log
from tests.helpers.pauses import wait_for_pause
from tests.helpers.tiny_runs import SETTINGS, command, start

CHECKPOINT = "checkpoint.safetensors"


@pytest.fixture(scope="module")
def straight(tmp_path_factory) -> Path:
    """A run without interruption."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    finish(start(command(folder, *SETTINGS)))
    return folder


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    return out, err


def without_times(folder: Path) -> list[dict]:
    times = ("seconds", "train_seconds", "words_per_second")
    records = read_log(folder / "log.jsonl")
    return [{k: v for k, v in record.items() if k not in times} for record in records]


def assert_same_end(one: Path, other: Path) -> None:
    first, second = load_checkpoint(one / CHECKPOINT), load_checkpoint(other / CHECKPOINT)
    assert first.state.finished and second.state.finished
    assert first.tensors.keys() == second.tensors.keys()
    assert any(name.startswith("average.") for name in first.tensors)
    for name, tensor in first.tensors.items():
        equal = torch.equal(tensor.nan_to_num(), second.tensors[name].nan_to_num())
        assert equal, name
    shards = sorted(path.name for path in (one / "model").glob("*.safetensors"))
    assert shards
    for shard in shards:
        first_shard, second_shard = (load_file(run / "model" / shard) for run in (one, other))
        assert first_shard.keys() == second_shard.keys()
        assert all(torch.equal(value, second_shard[name]) for name, value in first_shard.items())
    assert without_times(one) == without_times(other)


def test_killed_run_is_resumed_exactly(straight, tmp_path):
    folder = tmp_path / "run"
    killed_at = []
    for pause in (4, 7):
        process = start(command(folder, *SETTINGS), pause=pause)
        wait_for_pause(process, folder)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        killed_at.append(load_checkpoint(folder / CHECKPOINT).state)
    assert [state.step for state in killed_at] == [6, 18]
    assert all(state.position > 0 and not state.finished for state in killed_at)
    finish(start(command(folder, *SETTINGS)))
    assert_same_end(straight, folder)


def test_ctrl_c_run_is_resumed_exactly(straight, tmp_path):
    folder = tmp_path / "run"
    process = start(command(folder, *SETTINGS), pause=5)
    wait_for_pause(process, folder)
    seen = load_checkpoint(folder / CHECKPOINT).state
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    state = load_checkpoint(folder / CHECKPOINT).state
    assert state.step >= seen.step and not state.finished
    [last] = [line for line in err.splitlines() if "stopped" in line]
    assert last.startswith(
        f"{folder}: stopped after step {state.step}; run the same command again to resume from "
        f"there: capsrl train "
    )
    assert "Traceback" not in err
    finish(start(command(folder, *SETTINGS)))
    assert_same_end(straight, folder)


def test_finished_run_is_not_trained_again(straight, tmp_path):
    before = load_checkpoint(straight / CHECKPOINT).state
    log = without_times(straight)
    card = (straight / "model" / "README.md").read_text()
    out, _ = finish(start(command(straight, *SETTINGS)))
    assert load_checkpoint(straight / CHECKPOINT).state == before
    assert without_times(straight) == log
    assert (straight / "model" / "README.md").read_text() == card
    assert f"epoch {before.best_epoch}" in out


def test_other_recipe(straight):
    process = start(command(straight, *SETTINGS, "train.clip_norm=3.0", "model.capsules.size=4"))
    _, err = process.communicate(timeout=600)
    assert process.returncode == 2
    assert err == (
        f"error: {straight / CHECKPOINT}: belongs to another recipe: "
        "model.capsules.size was 8, now 4, train.clip_norm was 5.0, now 3.0; "
        "name another folder with --out, or delete this one\n"
    )


@pytest.mark.slow
def test_two_processes_equal_one(tmp_path):
    # Processes draw random numbers independently, so nothing may be random here.
    settings = (
        "model.embeddings.learned=",
        "train.epochs=3",
        "train.batch_words=80",
        "loss.uniqueness=0.5",
        "model.tagger=true",
        "train.learning_rate=1e-3",
        "train.max_spike=2",
    )
    finish(start(command(tmp_path / "one", *settings)))
    launch = "-m torch.distributed.run --standalone --nproc-per-node 2".split()
    finish(start([*launch, *command(tmp_path / "two", *settings)]))
    one, two = (load_checkpoint(tmp_path / name / CHECKPOINT) for name in ("one", "two"))
    assert one.state.step == two.state.step
    logs = [without_times(tmp_path / name) for name in ("one", "two")]
    assert len(logs[0]) == len(logs[1]) == 4
    for single, double in zip(*logs, strict=True):
        assert single.pop("kind") == double.pop("kind")
        assert single == pytest.approx(double, rel=1e-5)
    for name, tensor in one.tensors.items():
        if name.startswith(("weight.", "average.")):
            torch.testing.assert_close(tensor, two.tensors[name], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(one.tensors["usual_norm"], two.tensors["usual_norm"])
    assert len(two.tensors["random.torch"]) == 2
    one, two = (sorted(os.listdir(tmp_path / name / "model")) for name in ("one", "two"))
    assert one == two
