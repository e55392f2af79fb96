"""What runs of a plan share: hidden states of a frozen encoder, and whole trainings."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reproduce.plan import PlannedRun
from reproduce.results import RunResult

_FILES = ("data.train", "data.dev", "data.partial")  # whose sentences are encoded


def shared_states(waiting: Sequence[PlannedRun], folder: Path, computed_by: str) -> dict[str, Path]:
    """The folders for cached states that runs can share, by name of the run.

    computed_by  the device and code
    """
    found: dict[Path, list[str]] = {}
    for run in waiting:
        if run.recipe.train.cache_states:
            same = [
                (key, value)
                for key, value in sorted(run.settings.items())
                if key in _FILES or key.startswith("model.embeddings.")
            ]
            text = json.dumps([same, computed_by])
            name = hashlib.sha256(text.encode()).hexdigest()[:8]
            found.setdefault(folder / name, []).append(run.name)
    shared = [(path, names) for path, names in found.items() if len(names) > 1]
    return {name: path for path, names in shared for name in names}


def ready(
    waiting: Sequence[PlannedRun], running: Sequence[PlannedRun], states: Mapping[str, Path]
) -> Iterator[PlannedRun]:
    """The runs that need not wait for another one: for the states it makes, or for its result."""
    trainings = {_training(run.name) for run in running}
    making = {states[run.name] for run in running if run.name in states}
    making = {path for path in making if not _is_made(path)}
    for run in list(waiting):
        path, training = states.get(run.name), _training(run.name)
        if path not in making and training not in trainings:
            yield run
            trainings.add(training)
            if path is not None and not _is_made(path):
                making.add(path)


def take_twins(
    waiting: list[PlannedRun], results: Sequence[RunResult]
) -> list[tuple[PlannedRun, RunResult]]:
    """Remove the runs that are the training of a result under another corpus, and return both."""
    known = {_training(result.name): result for result in results}
    found = [(run, known[_training(run.name)]) for run in waiting if _training(run.name) in known]
    for run, _ in found:
        waiting.remove(run)
    return [(run, _rename(result, run)) for run, result in found]


def _rename(result: RunResult, run: PlannedRun) -> RunResult:
    corpus = run.corpus
    return replace(
        result,
        name=run.name,
        corpus=corpus.name,
        language=corpus.language,
        annotation=corpus.annotation,
        encoder=corpus.encoder,
        paper=corpus.paper,
        axes=run.axes,
    )


def _training(name: str) -> str:
    """The digest of all settings and files."""
    return name.rpartition("_")[2]


def _is_made(states: Path) -> bool:
    return any(states.glob("*.pt"))
