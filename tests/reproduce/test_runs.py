"""Runs in processes of their own: done once, side by side, retried, stopped and gone on with."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

import capsrl
from capsrl.errors import ConfigError, DataError
from reproduce.plan import read_plan
from reproduce.results import read_result, read_results
from reproduce.runs import Event, code_version, run_all
from reproduce.work import do_order, write_order
from tests.helpers.tiny_plans import EXPERIMENT, corpus, start, write_plan

# Checkpoints at steps that end no epoch, dropout so that a lost random state shows.
CHANGES = ("train.epochs = 8", "train.checkpoint_every = 2", "model.encoder.dropout = 0.3")
needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc to look in")


def finish(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def results(folder):
    """What the runs of a folder hold, but for how long they took."""
    found = {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    for values in found.values():
        assert values.pop("seconds") > 0
    return found


def wait_for(condition, process):
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        if condition():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("never came so far")


def checkpoints(folder):
    return sorted(folder.glob("*/checkpoint.safetensors"))


def workers(folder):
    """The processes that work on the runs of a folder, by number."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
            here = b"reproduce.work" in command and (entry / "cwd").resolve() == folder.resolve()
        except OSError:  # it has ended meanwhile
            continue
        if here:
            found.append(int(entry.name))
    return found


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Two runs one after the other, which nothing interrupted; their plan, and what was said."""
    plan = write_plan(tmp_path_factory.mktemp("straight"), corpus(changes=CHANGES) + EXPERIMENT)
    code, out, err = finish(start(plan))
    assert code == 0, err
    return plan, out, err


def test_a_plan_is_run(straight):
    plan, out, err = straight
    baseline, capsule = read_plan(plan)
    runs = plan.parent / "runs"
    names = {f"{run.name}.json" for run in (baseline, capsule)}
    assert {path.name for path in runs.iterdir()} == names  # and nothing else is left
    assert out == "all runs are in runs; capsrl report runs REPORT.html\n"
    first, second = (read_result(runs / f"{run.name}.json") for run in (baseline, capsule))
    assert (first.corpus, first.variant, first.seed, first.device) == ("one", "baseline", 1, "CPU")
    assert (second.variant, second.iterations, second.uniqueness) == ("capsule", 2, 0.0)
    assert first.commit == second.commit == code_version()
    assert len(first.dev_f1) == 8 and 1 <= first.best_epoch <= 8
    assert max(first.dev_f1) == first.dev_f1[first.best_epoch - 1]
    assert round(first.measured.sets["dev"].labeled.f1, 3) == max(first.dev_f1)
    assert first.recipe["model.encoder.width"] == 8
    assert first.recipe["data.train"].startswith("train.conll09 (sha256 ")
    assert second.measured.sweep[2] == second.measured.sets["dev"]
    started, done, *_ = err.splitlines()
    assert started == "started  one baseline eta0 seed1"
    assert done == (
        f"done     one baseline eta0 seed1: dev F1 {max(first.dev_f1):.2f}, "
        f"test F1 {max(first.dev_f1):.2f}, {first.seconds:.0f} s"
    )


def test_what_is_done_is_not_done_again(straight):
    plan, _, _ = straight
    files = list((plan.parent / "runs").iterdir())
    before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in files]
    events = []
    began = time.monotonic()
    run_all(read_plan(plan), plan.parent / "runs", report=events.append)
    assert time.monotonic() - began < 1
    assert [(event.run.label, event.kind) for event in events] == [
        ("one baseline eta0 seed1", "known"),
        ("one capsule n2 eta0 seed1", "known"),
    ]
    assert [(path.stat().st_mtime_ns, path.read_bytes()) for path in files] == before


def test_a_damaged_result_is_named(straight, tmp_path):
    planned = read_plan(straight[0])
    damaged = tmp_path / f"{planned[0].name}.json"
    damaged.write_text("{")
    with pytest.raises(DataError, match=f"{planned[0].name}.json: expected the JSON of a run, got"):
        run_all(planned, tmp_path)


@pytest.mark.parametrize("jobs", [0, -2])
def test_no_jobs(straight, tmp_path, jobs):
    with pytest.raises(ConfigError, match=f"jobs: expected at least 1, got {jobs}"):
        run_all(read_plan(straight[0]), tmp_path, jobs=jobs)


def test_a_folder_that_cannot_be(straight, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file: cannot be made: File exists"):
        run_all(read_plan(straight[0]), tmp_path / "file")
    with pytest.raises(ConfigError, match="file/runs: cannot be made: Not a directory"):
        run_all(read_plan(straight[0]), tmp_path / "file" / "runs")


def test_ctrl_c_stops_all_and_the_same_command_goes_on(straight, tmp_path):
    plan = write_plan(tmp_path, corpus(changes=CHANGES) + EXPERIMENT)
    runs = tmp_path / "runs"
    process = start(plan, "--jobs", "2")
    wait_for(lambda: len(checkpoints(runs)) == 2, process)
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert (code, out) == (130, "")
    assert workers(tmp_path) == []  # all were waited for
    lines = err.splitlines()
    labels = ["one baseline eta0 seed1", "one capsule n2 eta0 seed1"]
    assert lines[:2] == [f"started  {label}" for label in labels]
    stopping = [line for line in lines if line.startswith("stopping ")]
    assert stopping and set(stopping) <= {f"stopping {label}" for label in labels}
    assert lines[-1] == "runs: stopped; run the same command again to go on with what is missing"
    assert "Traceback" not in err
    left = len(checkpoints(runs))
    assert left + len(list(runs.glob("*.json"))) == 2 and left >= 1
    code, _, err = finish(start(plan, "--jobs", "2"))
    assert code == 0, err
    # One after the other or side by side, stopped or not: the same.
    assert results(runs) == results(straight[0].parent / "runs")


@pytest.mark.slow
@needs_proc
def test_killed_with_its_runs_left_alone(straight, tmp_path):
    plan = write_plan(tmp_path, corpus(changes=CHANGES) + EXPERIMENT)
    runs = tmp_path / "runs"
    process = start(plan, "--jobs", "2")
    wait_for(lambda: len(checkpoints(runs)) == 2 and len(workers(tmp_path)) == 2, process)
    process.kill()
    process.communicate()
    # At once: what is still stopping is waited for.
    code, _, err = finish(start(plan, "--jobs", "2"))
    assert code == 0, err
    assert workers(tmp_path) == []
    assert results(runs) == results(straight[0].parent / "runs")


@needs_proc
def test_runs_stop_when_nobody_wants_them(tmp_path):
    changes = [*CHANGES, "train.epochs = 10000", "train.patience = 10000"]
    changes.remove("train.epochs = 8")
    plan = write_plan(tmp_path, corpus(changes=changes) + EXPERIMENT)
    process = start(plan, "--jobs", "1")
    wait_for(lambda: len(checkpoints(tmp_path / "runs")) == 1, process)
    [worker] = workers(tmp_path)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while workers(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    if workers(tmp_path):
        os.kill(worker, signal.SIGKILL)
        raise AssertionError("went on alone")
    [errors] = (tmp_path / "runs").glob("*/errors.txt")
    assert "stopped after step" in errors.read_text()


def test_a_run_that_fails_is_named_and_tried_again(tmp_path):
    bad = corpus("bad", changes=["train.epochs = 1", 'data.frames = "frames"'])
    good = corpus("good", changes=["train.epochs = 1"])
    tables = EXPERIMENT.replace('["one"]', '["bad", "good"]').replace('"baseline", ', "")
    plan = write_plan(tmp_path, bad + good + tables)
    first, second = read_plan(plan)
    code, out, err = finish(start(plan, "--jobs", "2"))
    assert (code, out) == (2, "")
    errors = f"runs/{first.name}/errors.txt"
    words = (
        f"{first.label}: frames: expected a folder with PropBank frame files (*.xml), got none; "
        "in a copy of propbank-frames it is called frames"
    )
    lines = err.splitlines()
    assert lines[:2] == [f"started  {first.label}", f"started  {second.label}"]
    assert f"failed   {words} (see {errors})" in lines
    assert lines[-2:] == [
        "error: 1 of 2 runs failed; run again to try them again",
        f"{words} (see {errors})",
    ]
    assert "Traceback" not in (tmp_path / errors).read_text()
    [done] = read_results(tmp_path / "runs")
    assert done.corpus == "good"

    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "go.xml").write_text(
        '<frameset><predicate lemma="go"><roleset id="go.01" name="move"><roles/></roleset>'
        "</predicate></frameset>"
    )
    code, _, err = finish(start(plan))
    assert code == 0, err
    assert [line[:8].strip() for line in err.splitlines()] == ["known", "started", "done"]
    assert len(read_results(tmp_path / "runs")) == 2


def planned_run(folder):
    text = corpus(changes=["train.epochs = 1"]) + EXPERIMENT.replace('"baseline", ', "")
    [planned] = read_plan(write_plan(folder, text))
    return planned


def test_the_model_is_kept_on_request(tmp_path):
    planned = planned_run(tmp_path)
    order = write_order(planned, tmp_path / "runs" / "x", commit="abc", keep_model=True)
    do_order(order, "cpu")
    assert read_result(tmp_path / "runs" / "x.json").commit == "abc"
    left = {path.name for path in (tmp_path / "runs" / "x").iterdir()}
    assert {"model", "log.jsonl", "order.json"} <= left
    assert "checkpoint.safetensors" not in left


def test_a_process_that_is_still_at_it_is_waited_for(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    order = write_order(planned_run(tmp_path), tmp_path / "x", commit="abc", keep_model=False)
    late = threading.Thread(target=do_order, args=(order, "cpu"))
    with open(tmp_path / "x" / "lock", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        late.start()
        late.join(0.3)
        assert late.is_alive()
        (tmp_path / "x.json").write_text("done by the other")
    late.join(20)
    assert not late.is_alive()
    assert (tmp_path / "x.json").read_text() == "done by the other"
    assert not (tmp_path / "x" / "log.jsonl").exists()


@needs_proc
def test_a_bare_ending_is_told_by_its_code(tmp_path, monkeypatch):
    """A process that is killed says nothing; its number does."""
    planned = planned_run(tmp_path)
    events: list[Event] = []

    def report(event):
        events.append(event)
        if event.kind == "started":
            while not workers(tmp_path):  # its name comes a moment after itself
                time.sleep(0.01)
            os.kill(*workers(tmp_path), signal.SIGKILL)

    monkeypatch.chdir(tmp_path)
    with pytest.raises(capsrl.errors.CapsrlError, match=r"1 of 1 runs failed.*\n.*exit code -9"):
        run_all([planned], tmp_path / "runs", report=report)
    assert [event.kind for event in events] == ["started", "failed"]


def test_the_version_of_the_code(tmp_path, monkeypatch):
    checkout = Path(capsrl.__file__).parent.parent
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True
    )
    wanted = done.stdout[:7] if done.returncode == 0 else capsrl.__version__
    assert code_version() == wanted
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    assert code_version() == capsrl.__version__
