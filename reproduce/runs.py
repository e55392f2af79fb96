"""Make the runs of a plan that are missing, several at a time, each in its own process."""

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

import capsrl
from capsrl.config import Recipe
from capsrl.device import available_cores
from capsrl.errors import CapsrlError, ConfigError
from capsrl.formats.formats import read_sentences
from capsrl.labeler import Labeler
from capsrl.network.backend import find_device
from capsrl.train.loop import Interrupted
from capsrl.train.loop import run as train
from reproduce.measure import measure
from reproduce.plan import PlannedRun
from reproduce.results import RunResult, append_result, read_results
from reproduce.sharing import ready, shared_states, take_twins

Report = Callable[[str], None]
_POLL = 0.5  # seconds between looks for the states that another run is making


class FailedRunsError(CapsrlError):
    """Some runs failed; the others were made."""


def run_all(
    planned: Sequence[PlannedRun],
    out: Path,
    *,
    jobs: int = 1,
    device: str | None = None,
    keep_models: bool = False,
    report: Report = lambda line: None,
) -> None:
    """Make the runs that the folder of `out` does not hold yet, and append their results to `out`.

    out          the JSON lines file of the results; runs in progress have folders beside it
    jobs         runs at a time; several small trainings share a GPU well
    keep_models  keep the model of every run in its folder
    report       is called with a line when a run starts or ends
    Raises KeyboardInterrupt after Ctrl-C, when all runs have stopped, and FailedRunsError at the
    end if some runs failed. In both cases the same call makes what is still missing.

    What runs share is made once: hidden states of a frozen encoder, and whole trainings.
    """
    if jobs < 1:
        raise ConfigError(f"jobs: expected at least 1, got {jobs}")
    _make_folder(out.parent)
    results = read_results(out.parent)
    done = {result.name for result in results}
    waiting = [run for run in planned if run.name not in done]
    report(f"{len(planned) - len(waiting)} of {len(planned)} runs are done")
    workers = _Workers(out.parent, device, threads=max(1, available_cores() // jobs))
    computed_by = f"{find_device(device).type} {code_digest()}"
    states = shared_states(waiting, out.parent / "states", computed_by)
    failed: list[str] = []

    def append_twins(results: Sequence[RunResult]) -> None:
        for run, result in take_twins(waiting, results):
            append_result(out, result)
            report(f"shared  {run.label}: the same training as {result.training}")

    append_twins(results)
    try:
        while waiting or workers.running:
            for run in ready(waiting, [run for run, _ in workers.running.values()], states):
                if len(workers.running) < jobs:
                    report(f"started {run.label}")
                    workers.start(run, states.get(run.name))
                    waiting.remove(run)
            is_full = not waiting or len(workers.running) == jobs
            for run, outcome in workers.wait(None if is_full else _POLL):
                if isinstance(outcome, str):
                    report(f"failed  {run.label}: {outcome}")
                    failed.append(f"{run.label}: {outcome.splitlines()[0]}")
                    continue
                append_result(out, outcome)
                append_twins([outcome])
                sets = outcome.measured.sets.items()
                scores = [f"{name} F1 {counts.labeled.f1:.2f}" for name, counts in sets]
                report(f"done    {run.label}: {', '.join(scores)}, {outcome.seconds:.0f} s")
                if not keep_models:
                    shutil.rmtree(out.parent / run.name)
    finally:
        workers.stop()
    if not failed:
        shutil.rmtree(out.parent / "states", ignore_errors=True)
    if failed:
        heading = f"{len(failed)} of {len(planned)} runs failed; the same command tries them again"
        raise FailedRunsError("\n".join([heading, *failed]))


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be made: {error.strerror or error}") from None


class _Workers:
    """The processes of the runs in progress."""

    def __init__(self, folder: Path, device: str | None, *, threads: int) -> None:
        self.running: dict[Connection, tuple[PlannedRun, BaseProcess]] = {}
        self._arguments = (folder, device, code_version(), threads)
        # Else batches of many shapes leave gaps in the memory of a GPU, which others then lack.
        if "PYTORCH_ALLOC_CONF" not in os.environ:
            os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

    def start(self, run: PlannedRun, states: Path | None) -> None:
        context = multiprocessing.get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(sender, run, states, *self._arguments))
        # Inherited: Ctrl-C in a terminal reaches all processes, but only this one handles it.
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        process.start()
        signal.signal(signal.SIGINT, handler)
        sender.close()
        self.running[receiver] = run, process

    def wait(self, timeout: float | None) -> list[tuple[PlannedRun, RunResult | str]]:
        """Wait until a run ends, or for some seconds; a string says why it failed, in line 1."""
        ended = []
        for receiver in wait(list(self.running), timeout):
            assert isinstance(receiver, Connection)
            run, process = self.running.pop(receiver)
            try:
                outcome = receiver.recv()
            except EOFError:
                process.join()
                outcome = f"its process ended with exit code {process.exitcode}"
            process.join()
            ended.append((run, outcome))
        return ended

    def stop(self) -> None:
        """Let all runs write a checkpoint and end."""
        for _, process in self.running.values():
            process.terminate()
        for _, process in self.running.values():
            process.join()


def _work(
    sender: Connection,
    run: PlannedRun,
    states: Path | None,
    folder: Path,
    device: str | None,
    commit: str,
    threads: int,
) -> None:
    """Make one run and send its result; the body of a worker process."""
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(threads)
    try:
        result = make_run(run, folder / run.name, device=device, commit=commit, states=states)
        sender.send(result)
    except Interrupted:
        pass  # it has written a checkpoint
    except CapsrlError as error:
        sender.send(str(error))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")


def _stop_with_parent() -> None:
    """Stop this process, after a checkpoint, if the command that started it was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "this runs in a worker"
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def make_run(
    run: PlannedRun, folder: Path, *, device: str | None, commit: str, states: Path | None = None
) -> RunResult:
    """Train in `folder`, or go on from its checkpoint, and measure the best model."""
    recipe, corpus = run.recipe, run.corpus
    trained = train(_without_tests(recipe), folder, device=device, states=states)
    found = find_device(device)
    files = {
        name: [sentence for sentence in read_sentences(file) if sentence.words]
        for name, file in {"dev": recipe.data.dev, **recipe.data.test}.items()
    }
    measured = measure(Labeler.load(trained.model, device=found), files)
    size = sum(len(sentence.propositions) for sentence in read_sentences(recipe.data.train))
    records = map(json.loads, (folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return RunResult(
        name=run.name,
        corpus=corpus.name,
        language=corpus.language,
        annotation=corpus.annotation,
        encoder=corpus.encoder,
        paper=corpus.paper,
        variant=recipe.model.capsules.variant,
        iterations=recipe.model.capsules.iterations,
        uniqueness=recipe.loss.uniqueness,
        seed=recipe.train.seed,
        best_epoch=trained.best_epoch,
        dev_f1=tuple(round(record["dev_f1"], 3) for record in records if record["kind"] == "epoch"),
        seconds=round(trained.seconds, 1),
        device=torch.cuda.get_device_name(found) if found.type == "cuda" else "CPU",
        commit=commit,
        settings=run.settings,
        measured=replace(measured, train_propositions=size),
        code=code_digest(),
        axes=run.axes,
    )


def _without_tests(recipe: Recipe) -> Recipe:
    """The recipe without test files, which are measured here, where their words are not needed."""
    embeddings = recipe.model.embeddings
    if embeddings.fasttext is not None or embeddings.learned:  # their tables have those words
        return recipe
    return replace(recipe, data=replace(recipe.data, test={}))


def code_version() -> str:
    """The commit of this checkout, with a mark if its files were changed since.

    The version of capsrl if it is not a git checkout.
    """
    command = ["git", "describe", "--always", "--abbrev=7", "--exclude=*", "--dirty=+changed"]
    folder = Path(__file__).parent
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return str(capsrl.__version__)
    return done.stdout.strip()


def code_digest() -> str:
    """A digest of the source of capsrl: the same for runs of the same code, committed or not."""
    folder = Path(capsrl.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:8]
