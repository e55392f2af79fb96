"""One run of a plan, in a process of its own: `python -m reproduce.work ORDER.json DEVICE`.

RUNS/NAME/order.json   what to do
RUNS/NAME/...          the training (train/loop.py), while it lasts
RUNS/NAME.json         what was measured, when all is done
"""

import dataclasses
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from capsrl.data.files import open_writer
from capsrl.data.formats import read_sentences
from capsrl.errors import CapsrlError
from capsrl.labeler import Labeler
from capsrl.recipe import make_recipe
from capsrl.train.checkpoint import run_fingerprint
from capsrl.train.log import read_log
from capsrl.train.loop import Result, run
from capsrl.train.signals import Interrupted
from reproduce.measure import measure
from reproduce.plan import PlannedRun
from reproduce.results import Measured, RunResult, write_result

if sys.platform != "win32":
    import fcntl

LOG = "log.jsonl"
STOPPED = 130  # exit code of a run that was asked to stop, and can go on


def write_order(planned: PlannedRun, folder: Path, *, commit: str, keep_model: bool) -> Path:
    """Put down what a run is to do, in the folder it will work in."""
    corpus = planned.corpus
    order = {
        "recipe": dataclasses.asdict(planned.recipe),
        "about": {
            "corpus": corpus.name,
            "language": corpus.language,
            "annotation": corpus.annotation,
            "encoder": corpus.encoder,
            "paper": corpus.paper,
            "commit": commit,
        },
        "keep_model": keep_model,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "order.json"
    with open_writer(path) as file:
        json.dump(order, file)
    return path


def do_order(path: Path, device: str | None) -> None:
    """Train and measure as the order says, write the result, clear up."""
    folder = path.parent
    out = folder.with_name(f"{folder.name}.json")
    with _alone_in(folder):
        if not out.exists():  # else another process did it, and we have waited for that
            _do(path, out, device)


def _do(path: Path, out: Path, device: str | None) -> None:
    order = json.loads(path.read_text(encoding="utf-8"))
    folder = path.parent
    recipe = make_recipe(order["recipe"])
    trained = run(recipe, folder, device=device)
    if trained.dev is None:  # another process of several has the model
        return
    where = "cuda" if device is None and torch.cuda.is_available() else device or "cpu"
    paths = {"dev": recipe.data.dev, **recipe.data.test}
    files = {
        name: [sentence for sentence in read_sentences(file) if sentence.words]
        for name, file in paths.items()
    }
    measured = measure(Labeler.load(trained.model, device=where), files)
    result = _result(order["about"], run_fingerprint(recipe), trained, measured, where)
    write_result(out, result)
    if order["keep_model"]:
        (folder / "checkpoint.safetensors").unlink(missing_ok=True)
    else:
        shutil.rmtree(folder)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait for the process that still works there: one whose parent was killed takes a moment."""
    if sys.platform == "win32":
        yield
        return
    with open(folder / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # ends with the process, however that ends
        yield


def _result(
    about: dict[str, str],
    recipe: dict[str, Any],
    trained: Result,
    measured: Measured,
    device: str,
) -> RunResult:
    epochs = [r for r in read_log(trained.model.parent / LOG) if r["kind"] == "epoch"]
    on_gpu = device.startswith("cuda")
    return RunResult(
        **about,
        variant=recipe["model.capsules.variant"],
        iterations=recipe["model.capsules.iterations"],
        uniqueness=recipe["loss.uniqueness"],
        seed=recipe["train.seed"],
        best_epoch=trained.best_epoch,
        dev_f1=tuple(round(record["dev_f1"], 3) for record in epochs),
        seconds=round(trained.seconds, 1),
        device=torch.cuda.get_device_name(device) if on_gpu else "CPU",
        recipe=recipe,
        measured=measured,
    )


def _stop_with_parent() -> None:
    """Ask this process to stop when the one that started it is gone, or wants it to."""

    def wait() -> None:
        os.read(sys.stdin.fileno(), 1)  # nothing is ever written; this ends when it is closed
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Do one order; standard input stays open for as long as the run is wanted."""
    path, device = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    _stop_with_parent()
    try:
        do_order(path, device)
    except Interrupted as stopped:
        sys.stderr.write(f"{stopped}\n")
        sys.exit(STOPPED)
    except CapsrlError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
