"""Runs in processes: made once, several at a time, retried, stopped and resumed."""

import os
import re
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import capsrl
from capsrl.errors import ConfigError, DataError
from reproduce.__main__ import main
from reproduce.plan import read_plan
from reproduce.results import append_result, read_results
from reproduce.runs import FailedRunsError, code_digest, code_version, run_all
from reproduce.sharing import shared_states
from tests.helpers.pauses import wait_for_pause
from tests.helpers.synthetic_runs import run
from tests.helpers.tiny_networks import write_encoder
from tests.helpers.tiny_plans import EXPERIMENT, corpus, start, write_plan
from tests.helpers.waiting import wait_until

# Checkpoints within epochs, and dropout, so that a lost random state shows.
CHANGES = ("train.epochs = 8", "train.checkpoint_every = 2", "model.encoder.dropout = 0.3")
ONE_RUN = EXPERIMENT.replace('"baseline", ', "")
LABELS = ["one baseline eta0 seed1", "one capsule n2 eta0 seed1"]
needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc")


def start_plan(plan, *arguments, pause=None):
    options = ("--out", "runs", "--device", "cpu", *arguments)
    return start("run", plan.name, *options, folder=plan.parent, pause=pause)


def finish(process):
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def results(folder):
    """The results of a folder, without the time that they took."""
    found = read_results(folder)
    assert all(result.seconds > 0 for result in found)
    return [replace(result, seconds=0.0) for result in found]


def checkpoints(folder):
    return sorted(folder.glob("*/checkpoint.safetensors"))


def workers(folder):
    """The process ids of the workers that were started in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = b"multiprocessing.spawn" in (entry / "cmdline").read_bytes()
            if is_worker and (entry / "cwd").resolve() == folder.resolve():
                found.append(int(entry.name))
        except OSError:  # it has ended
            continue
    return found


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Two runs that were not interrupted: their plan, and the output of the command."""
    plan = write_plan(tmp_path_factory.mktemp("straight"), corpus(changes=CHANGES) + EXPERIMENT)
    code, out, err = finish(start_plan(plan))
    assert code == 0, err
    return plan, out, err


def test_a_plan_is_run(straight):
    plan, out, err = straight
    runs = plan.parent / "runs"
    assert [path.name for path in runs.iterdir()] == ["plan.jsonl"]  # nothing else is left
    assert out == "results are in runs\n"
    planned = read_plan(plan)
    first, second = read_results(runs)
    assert [first.name, second.name] == [one.name for one in planned]
    assert (first.corpus, first.variant, first.seed, first.device) == ("one", "baseline", 1, "CPU")
    assert (second.variant, second.iterations, second.uniqueness) == ("capsule", 2, 0.0)
    assert first.commit == second.commit == code_version()
    assert first.code == second.code == code_digest()
    assert first.measured.train_propositions == 36
    assert first.measured.parameters["routing"] == 0 < second.measured.parameters["routing"]
    assert len(first.dev_f1) == 8
    assert max(first.dev_f1) == first.dev_f1[first.best_epoch - 1]
    assert round(first.measured.sets["dev"].labeled.f1, 3) == max(first.dev_f1)
    assert first.settings["model.encoder.width"] == 8
    assert first.settings["data.train"].startswith("train.conll09 (sha256 ")
    assert second.measured.sweep[2] == second.measured.sets["dev"]
    lines = err.splitlines()
    assert lines[:2] == ["0 of 2 runs are done", f"started {LABELS[0]}"]
    assert lines[2].startswith(f"done    {LABELS[0]}: dev F1 {max(first.dev_f1):.2f}, test F1 ")


def test_what_is_done_is_not_done_again(straight):
    plan, _, _ = straight
    out = plan.parent / "runs" / "plan.jsonl"
    before = out.read_bytes()
    lines = []
    run_all(read_plan(plan), out, report=lines.append)
    assert lines == ["2 of 2 runs are done"]
    assert out.read_bytes() == before
    # Also if the result is in another file of the folder.
    out.rename(out.with_name("other.jsonl"))
    run_all(read_plan(plan), out, report=lines.append)
    assert not out.exists()
    out.with_name("other.jsonl").rename(out)


def test_ctrl_c_stops_all_and_the_same_command_goes_on(straight, tmp_path):
    plan = write_plan(tmp_path, corpus(changes=CHANGES) + EXPERIMENT)
    runs = tmp_path / "runs"
    process = start_plan(plan, "--jobs", "2", pause=2)
    wait_for_pause(process, *(runs / one.name for one in read_plan(plan)))
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert (code, out) == (130, "")
    assert workers(tmp_path) == []
    assert err.splitlines()[:3] == ["0 of 2 runs are done", *(f"started {x}" for x in LABELS)]
    assert err.splitlines()[-1].startswith("stopped; the same command makes the runs that are")
    assert "Traceback" not in err
    assert checkpoints(runs)
    code, _, err = finish(start_plan(plan, "--jobs", "2"))
    assert code == 0, err
    # One after the other or two at a time, stopped or not: the same results.
    assert results(runs) == results(straight[0].parent / "runs")


@needs_proc
def test_workers_stop_when_the_command_is_killed(tmp_path):
    changes = ("train.epochs = 10000", "train.patience = 10000", "train.checkpoint_every = 2")
    plan = write_plan(tmp_path, corpus(changes=changes) + ONE_RUN)
    process = start_plan(plan)
    wait_until(lambda: checkpoints(tmp_path / "runs"), process)
    [worker] = workers(tmp_path)
    process.kill()
    process.communicate()
    try:
        wait_until(lambda: not workers(tmp_path))
    finally:
        if workers(tmp_path):
            os.kill(worker, signal.SIGKILL)


def test_runs_share_the_states_of_a_frozen_encoder(tmp_path, monkeypatch):
    """The same results as alone; one run computes the states, the others wait for them."""
    plans = {}
    for name in ("alone", "shared"):
        folder = tmp_path / name
        folder.mkdir()
        write_encoder(folder / "bert")
        changes = ["train.epochs = 2", "train.cache_states = true"]
        changes += ['model.embeddings.transformer = "./bert"', "model.embeddings.learned = 0"]
        plans[name] = write_plan(folder, corpus(changes=changes) + EXPERIMENT)
    monkeypatch.chdir(tmp_path / "alone")
    planned = read_plan(Path("plan.toml"))
    [states] = set(shared_states(planned, Path("states"), "cpu").values())
    assert len(planned) == 2
    assert shared_states(planned[:1], Path("states"), "cpu") == {}
    assert set(shared_states(planned, Path("states"), "cuda").values()) != {states}
    for one in planned:  # one at a time: nothing is shared
        run_all([one], Path("runs/plan.jsonl"), device="cpu")
    process = start_plan(plans["shared"], "--jobs", "2", "--keep-models")
    made = tmp_path / "shared" / "runs" / "states"
    wait_until(lambda: any(made.glob("*/transformer.pt")), process)
    code, _, err = finish(process)
    assert code == 0, err
    assert not made.exists()
    shared = results(tmp_path / "shared" / "runs")
    assert shared == results(tmp_path / "alone" / "runs")
    assert all(one.measured.sets.keys() == {"dev", "test"} for one in shared)


def test_a_training_that_two_corpora_share_is_made_once(tmp_path, monkeypatch):
    """A baseline has no iterations, so a loss on them changes nothing."""
    every = corpus("every", changes=["train.epochs = 1", "loss.intermediate_weight = 0.5"])
    both = EXPERIMENT.replace('"one"', '"one", "every"')
    plan = write_plan(tmp_path, corpus(changes=["train.epochs = 1"]) + every + both)
    monkeypatch.chdir(tmp_path)
    lines = []
    run_all(read_plan(plan), tmp_path / "plan.jsonl", jobs=4, device="cpu", report=lines.append)
    assert sum(line.startswith("started") for line in lines) == 3
    [shared] = [line for line in lines if line.startswith("shared")]
    assert shared.startswith("shared  every baseline eta0 seed1: the same training as baseline 1 ")
    runs = {f"{one.corpus} {one.variant}": one for one in read_results(tmp_path)}
    assert len(runs) == 4
    first, second = runs["one baseline"], runs["every baseline"]
    assert second == replace(first, name=second.name, corpus="every")
    assert second.name in {one.name for one in read_plan(plan)}
    # A result that is there already is shared too.
    (tmp_path / "again").mkdir()
    append_result(tmp_path / "again" / "plan.jsonl", first)
    planned = [one for one in read_plan(plan) if one.recipe.model.capsules.variant == "baseline"]
    run_all(planned, tmp_path / "again" / "plan.jsonl", device="cpu")
    assert [one.corpus for one in read_results(tmp_path / "again")] == ["every", "one"]


def test_a_run_that_fails_is_named_and_tried_again(tmp_path):
    bad = corpus("bad", changes=["train.epochs = 1", 'data.frames = "./frames"'])
    good = corpus("good", changes=["train.epochs = 1"])
    tables = ONE_RUN.replace('["one"]', '["bad", "good"]')
    plan = write_plan(tmp_path, bad + good + tables)
    (tmp_path / "frames").mkdir()  # empty
    first, second = read_plan(plan)
    code, out, err = finish(start_plan(plan, "--jobs", "2"))
    assert (code, out) == (2, "")
    failed = re.search(f"^failed  ({re.escape(first.label)}: .*frames.*)$", err, re.M)
    *_, heading, last = err.splitlines()
    assert heading.startswith("error: 1 of 2 runs failed") and last == failed[1]
    assert "Traceback" not in err
    assert [result.name for result in read_results(tmp_path / "runs")] == [second.name]
    (tmp_path / "frames" / "go.xml").write_text(
        '<frameset><predicate lemma="go"><roleset id="go.01" name="move"><roles/></roleset>'
        "</predicate></frameset>"
    )
    code, _, err = finish(start_plan(plan))
    assert code == 0, err
    assert err.startswith(f"1 of 2 runs are done\nstarted {first.label}\ndone    {first.label}: ")
    assert len(read_results(tmp_path / "runs")) == 2


@needs_proc
def test_a_worker_that_is_killed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changes = ("train.epochs = 10000", "train.patience = 10000")
    planned = read_plan(write_plan(tmp_path, corpus(changes=changes) + ONE_RUN))
    lines = []

    def kill():
        wait_until(lambda: list(Path("runs").glob("*/log.jsonl")))
        os.kill(*workers(tmp_path), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(FailedRunsError, match=r"1 of 1 runs failed.*\n.*exit code -9"):
        run_all(planned, tmp_path / "runs" / "x.jsonl", device="cpu", report=lines.append)
    killer.join()
    assert [line.split()[0] for line in lines] == ["0", "started", "failed"]


def test_models_are_kept_on_request(tmp_path):
    plan = write_plan(tmp_path, corpus(changes=["train.epochs = 1"]) + ONE_RUN)
    [planned] = read_plan(plan)
    run_all([planned], tmp_path / "runs" / "x.jsonl", device="cpu", keep_models=True)
    assert capsrl.load(tmp_path / "runs" / planned.name / "model", device="cpu")


def test_mistakes(straight, tmp_path):
    planned = read_plan(straight[0])
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="jobs: expected at least 1, got 0"):
        run_all(planned, tmp_path / "runs.jsonl", jobs=0)
    with pytest.raises(ConfigError, match="file: cannot be made: File exists"):
        run_all(planned, tmp_path / "file" / "runs.jsonl")
    (tmp_path / "old.jsonl").write_text("{")
    with pytest.raises(DataError, match=r"old\.jsonl:1: expected the result of a run"):
        run_all(planned, tmp_path / "runs.jsonl")


def test_a_dry_run(straight, tmp_path, capsys):
    plan, runs = straight[0], tmp_path / "runs"
    assert main(["run", str(plan), "--out", str(runs), "--dry-run"]) == 0
    assert capsys.readouterr().out == "".join(f"missing {label}\n" for label in LABELS)
    assert not runs.exists()
    runs.mkdir()
    append_result(runs / "x.jsonl", run(name=read_plan(plan)[1].name))
    assert main(["run", str(plan), "--out", str(runs), "--dry-run"]) == 0
    assert capsys.readouterr().out == f"missing {LABELS[0]}\ndone    {LABELS[1]}\n"
    assert main(["run", str(tmp_path / "missing.toml")]) == 2
    assert "missing.toml: no such file" in capsys.readouterr().err


def test_the_version_of_the_code(tmp_path, monkeypatch):
    command = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    found = code_version().removesuffix("+changed")
    assert found == (done.stdout[:7] if done.returncode == 0 else capsrl.__version__)
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    assert code_version() == capsrl.__version__


def test_a_part_of_a_plan(tmp_path, capsys):
    plan = str(write_plan(tmp_path, corpus() + EXPERIMENT.replace("[1]", "[1, 2, 3]")))
    parts = []
    for part in ("1/4", "2/4", "3/4", "4/4"):
        assert main(["run", plan, "--part", part, "--dry-run"]) == 0
        parts.append(capsys.readouterr().out.splitlines())
    assert main(["run", plan, "--dry-run"]) == 0
    whole = capsys.readouterr().out.splitlines()
    assert [len(part) for part in parts] == [2, 2, 1, 1]
    assert sorted(sum(parts, [])) == sorted(whole)
    for part in ("0/4", "5/4", "2", "a/b"):
        assert main(["run", plan, "--part", part, "--dry-run"]) == 2
        assert f"expected K/N such as 1/4, got {part}" in capsys.readouterr().err
