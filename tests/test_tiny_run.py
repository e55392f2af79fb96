"""The tiny recipe from end to end: train, evaluate, label, score."""

import json
import time
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from capsrl.cli import app
from capsrl.errors import ConfigError, ModelError
from capsrl.formats.formats import read_sentences
from capsrl.train.log import read_log

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "recipes" / "tiny" / "train.conll09"
UNSEEN = ROOT / "recipes" / "tiny" / "dev.conll09"


def capsrl(*arguments: object) -> str:
    """Run a command in this process and return its standard output."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tiny") / "run"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a second thread slows down matrices this small
    start = time.process_time()
    out = capsrl("train", ROOT / "recipes" / "tiny.toml", "--out", folder, "--device", "cpu")
    assert time.process_time() - start < 60
    torch.set_num_threads(threads)
    assert "dev        100.00  100.00  100.00     100.00  100.00            36\n" in out
    return folder


def test_training_sentences_are_learned(trained):
    report = json.loads(capsrl("evaluate", "--model", trained / "model", CORPUS, "--json"))
    assert report["official"]["labeled_f1"] == 100
    assert report["exact_match"]["propositions"] == 100
    assert report["official"]["counts"]["gold_predicates"] == 36


def test_unseen_sentences(trained):
    report = json.loads(capsrl("evaluate", "--model", trained / "model", UNSEEN, "--json"))
    assert 60 < report["official"]["labeled_f1"] < 100
    end = read_log(trained / "log.jsonl")[-1]
    assert report["scores"]["labeled_f1"] == end["test_unseen_f1"]


def test_files_of_the_run(trained):
    names = {path.name for path in trained.iterdir()}
    assert names >= {"checkpoint.safetensors", "curve.png", "log.jsonl", "model", "tensorboard"}
    model = {path.name for path in (trained / "model").iterdir()}
    assert model >= {"README.md", "config.json", "vocab.json"}
    card = (trained / "model" / "README.md").read_text()
    assert "| dev | 100.00 |" in card
    report = json.loads(
        capsrl("evaluate", "--model", trained / "model", CORPUS, "--iterations", 1, "--json")
    )
    after_one = (
        f"{report['official']['labeled_f1']:.2f} | {report['exact_match']['propositions']:.2f} |"
    )
    assert f"| {after_one}" in next(
        line for line in card.splitlines() if line.startswith("| dev, after 1 of 2 iterations")
    )
    steps = [r for r in read_log(trained / "log.jsonl") if r["kind"] == "step"]
    assert all(record["step"] == 50 * (i + 1) for i, record in enumerate(steps))
    assert steps[0]["words_per_second"] > 0 and steps[0]["rate"] > steps[-1]["rate"] > 0
    assert steps[0]["gradient_norm"] > 0 and steps[0]["spikes"] == 0


def test_label_and_score_equals_evaluate(trained, tmp_path):
    out = tmp_path / "unseen.conll09"
    capsrl("label", "--model", trained / "model", UNSEEN, "-o", out)
    scored = json.loads(capsrl("score", UNSEEN, out, "--json"))
    evaluated = json.loads(capsrl("evaluate", "--model", trained / "model", UNSEEN, "--json"))
    assert scored["official"] == evaluated["official"]
    assert scored["interval"] == evaluated["interval"]
    gold, pred = list(read_sentences(UNSEEN)), list(read_sentences(out))
    assert [s.predicates for s in pred] == [s.predicates for s in gold]
    assert [s.words for s in pred] == [s.words for s in gold]


def test_found_predicates(trained, tmp_path):
    out = tmp_path / "found.jsonl"
    capsrl("label", "--model", trained / "model", CORPUS, "-o", out, "--predicates", "found")
    report = json.loads(capsrl("score", CORPUS, out, "--json"))
    evaluated = json.loads(
        capsrl("evaluate", "--model", trained / "model", CORPUS, "--json", "--predicates", "found")
    )
    assert report["official"] == evaluated["official"]
    assert report["subtasks"]["predicate_identification"]["f1"] > 75


def test_label_to_standard_output(trained):
    given = capsrl("label", "--model", trained / "model", CORPUS)
    assert given == CORPUS.read_text()  # learned by heart, so byte-exact


def test_iterations(trained):
    one, six = (
        capsrl("label", "--model", trained / "model", UNSEEN, "--to", "jsonl", "--iterations", n)
        for n in (1, 6)
    )
    assert one != six


def test_evaluate_table(trained):
    out = capsrl("evaluate", "--model", trained / "model", CORPUS)
    assert "Official CoNLL-2009 scores" in out
    assert "Labeled F1 100.00" in out


@pytest.mark.parametrize("command", ["label", "evaluate"])
def test_mistakes_are_named(trained, tmp_path, command):
    with pytest.raises(ConfigError, match="--predicates: expected auto, marked or found, got some"):
        capsrl(command, "--model", trained / "model", CORPUS, "--predicates", "some")
    with pytest.raises(ModelError, match="config.json is missing"):
        capsrl(command, "--model", tmp_path, CORPUS)
    (tmp_path / "x.bin").touch()
    with pytest.raises(ConfigError, match="x.bin: expected a suffix"):
        capsrl(command, "--model", trained / "model", tmp_path / "x.bin")
