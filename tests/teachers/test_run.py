"""Teachers, soft labels and a student of the tiny corpus, made by the commands users give."""

import json
import signal
from pathlib import Path

import pytest
import torch

from capsrl.train.checkpoint import load_checkpoint
from capsrl.train.log import read_log
from tests.helpers.pauses import wait_for_pause
from tests.helpers.tiny_runs import TINY, command, start

SMALL = (
    "model.tagger=true",
    "model.encoder.width=16",
    "model.capsules.rank=16",
    "train.checkpoint_every=3",
)
CHECKPOINT = "checkpoint.safetensors"


def run(arguments: list[str]) -> tuple[str, str]:
    process = start(arguments)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    return out, err


@pytest.fixture(scope="module")
def teachers(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("teachers")
    for seed in (1, 2):
        run(command(folder / str(seed), *SMALL, f"train.seed={seed}", "train.epochs=12"))
    return [str(folder / str(seed) / "model") for seed in (1, 2)]


@pytest.fixture(scope="module")
def shards(teachers, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("soft")
    text = folder / "text.jsonl"
    lines = (TINY.parent / "tiny" / "dev.conll09").read_text().split("\n\n")
    words = [[row.split("\t")[1] for row in block.splitlines() if row] for block in lines]
    text.write_text("".join(json.dumps({"words": w}) + "\n" for w in words if w))
    raw = folder / "more.txt"
    raw.write_text("The cat saw the dog. It ran away.\n")
    arguments = ["--text", str(text), "--text", str(raw), "--device", "cpu"]
    out = folder / "shards"
    _, err = run(["-m", "teachers", *teachers, *arguments, "--out", str(out)])
    assert err == f"{out}: 1 shard written\n"
    _, err = run(["-m", "teachers", *teachers, *arguments, "--out", str(out)])
    assert err == f"{out}: 0 shards written\n"
    return out


def student(folder: Path, shards: Path) -> list[str]:
    # Another size and another variant than the teachers.
    settings = (
        *SMALL,
        "train.epochs=5",
        "train.seed=3",
        "model.encoder.width=12",
        "model.encoder.dropout=0.3",
        "model.capsules.iterations=3",
        "loss.intermediate_weight=0.5",
        "loss.uniqueness=0.1",
        f"distill.shards={shards}",
        "distill.gold=2",
    )
    return command(folder, *settings)


def without_times(folder: Path) -> list[dict]:
    times = ("seconds", "train_seconds", "words_per_second")
    records = read_log(folder / "log.jsonl")
    return [{k: v for k, v in record.items() if k not in times} for record in records]


@pytest.fixture(scope="module")
def straight(shards, tmp_path_factory) -> Path:
    """A student that nothing interrupted."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    run(student(folder, shards))
    return folder


def assert_same_end(one: Path, other: Path) -> None:
    first, second = (load_checkpoint(folder / CHECKPOINT) for folder in (one, other))
    assert first.state.finished and second.state.finished
    assert first.tensors.keys() == second.tensors.keys()
    for name, tensor in first.tensors.items():
        assert torch.equal(tensor.nan_to_num(), second.tensors[name].nan_to_num()), name
    assert without_times(one) == without_times(other)


def test_workers_give_the_same_student(straight, shards, tmp_path):
    run([*student(tmp_path / "run", shards), "--set", "train.workers=2"])
    assert_same_end(straight, tmp_path / "run")


def test_killed_student_is_resumed_exactly(straight, shards, tmp_path):
    folder = tmp_path / "killed"
    process = start(student(folder, shards), pause=4)
    wait_for_pause(process, folder)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    state = load_checkpoint(folder / CHECKPOINT).state
    assert state.step > 4 and not state.finished
    run(student(folder, shards))
    assert_same_end(straight, folder)


def test_student_of_another_corpus(shards, tmp_path):
    other = TINY.parent / "tiny" / "dev.conll09"
    process = start([*student(tmp_path / "run", shards), "--set", f"data.train={other}"])
    _, err = process.communicate(timeout=600)
    assert process.returncode == 2
    assert "shards: the teachers have other " in err
