"""Save and load checkpoints, from which a run resumes as if it had never stopped.

A checkpoint is one safetensors file: tensors by name, and one JSON object in the header. Writes
are atomic: a run killed at any moment finds either the old checkpoint or the new one. Checkpoints
are for resuming only; the trained model is a separate folder (network/save.py).
"""

import dataclasses
import json
import math
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import Optimizer

from capsrl.config import Recipe
from capsrl.errors import ConfigError, ModelError
from capsrl.files.opening import file_digest
from capsrl.files.replacing import replacing
from capsrl.files.sealing import PLACE, check_seal, seal
from capsrl.models import find_model
from capsrl.predict.folder import fingerprint as model_fingerprint
from capsrl.recipe import DEFAULTS, SETTINGS, defining_settings, settings_by_name
from capsrl.train.soft_labels import MANIFEST

_VERSION = 2
_EPOCHS = "train.epochs"
_DAMAGES = (SafetensorError, OSError, LookupError, RecursionError, TypeError, ValueError)
_METADATA = "capsrl"  # the key of our JSON among the header's strings


@dataclass
class State:
    """The progress of a run.

    epoch       finished epochs
    position    finished batches of the current epoch
    step        finished batches since the start
    best_epoch  0 before the end of the first epoch
    seconds     training time, including time before the run was resumed
    log_size    bytes of the log written up to this state
    low_epochs  latest epochs in a row with a dev F1 far below the best (`log.find_collapse`)
    predicts_arguments  whether any argument was predicted on dev after any epoch
    """

    epoch: int = 0
    position: int = 0
    step: int = 0
    best_f1: float = -1.0
    best_epoch: int = 0
    seconds: float = 0.0
    log_size: int = 0
    finished: bool = False
    low_epochs: int = 0
    predicts_arguments: bool = False


def save_checkpoint(
    path: Path, tensors: Mapping[str, Tensor], state: State, fingerprint: Mapping[str, Any]
) -> None:
    """Write a checkpoint atomically."""
    header = {"format": _VERSION, "state": dataclasses.asdict(state), "fingerprint": fingerprint}
    # Copied: safetensors refuses tensors that share memory.
    copies = {n: t.detach().to("cpu", copy=True).contiguous() for n, t in tensors.items()}
    with replacing(path) as temporary:
        save_file(copies, temporary, metadata={_METADATA: json.dumps(header), **PLACE})
        seal(temporary)


@dataclass(frozen=True)
class Checkpoint:
    """The content of a checkpoint; tensors are on the CPU."""

    tensors: dict[str, Tensor]
    state: State
    fingerprint: dict[str, Any]


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; raises ModelError if it is damaged or has another format."""
    try:
        check_seal(path)
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[_METADATA])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        version, fingerprint = header["format"], header["fingerprint"]
        progress = State(**header["state"]) if version == _VERSION else State()
    except _DAMAGES as error:
        raise ModelError(
            f"{path}: not a checkpoint of capsrl: {error}; delete it to start again"
        ) from None
    if version != _VERSION:
        raise ModelError(
            f"{path}: expected checkpoint format {_VERSION}, got {version}; resume with "
            "the version of capsrl that wrote it, or delete it to start again"
        )
    return Checkpoint(tensors, progress, fingerprint)


def run_fingerprint(recipe: Recipe) -> dict[str, Any]:
    """Collect what identifies a run: all settings by dotted key, files by name and content.

    Test files are left out, as they do not affect training. Encoders and other folders are
    identified by their names only, except for the model that the run starts from.
    """
    settings = settings_by_name(recipe)
    fingerprint = {key: value for key, value in settings.items() if key in SETTINGS}
    data, shards = recipe.data, recipe.distill.shards
    if shards is not None:
        fingerprint["distill.shards"] = _name_and_digest(os.path.join(shards, MANIFEST))
    if recipe.train.from_ is not None:
        digest = model_fingerprint(find_model(recipe.train.from_))
        fingerprint["train.from"] = f"{fingerprint['train.from']} (sha256 {digest})"
    return fingerprint | {
        "data.train": _name_and_digest(data.train),
        "data.dev": _name_and_digest(data.dev),
        "data.partial": [_name_and_digest(path) for path in data.partial],
    }


def check_resumable(
    path: Path, saved: Mapping[str, Any], now: Mapping[str, Any], state: State
) -> None:
    """Raise ConfigError naming the settings in which a checkpoint differs from a recipe.

    A run with the same learning rate in all its steps may have more epochs than before.
    """
    keys = defining_settings(saved).keys() | defining_settings(now).keys()
    saved, now = {**DEFAULTS, **saved}, {**DEFAULTS, **now}
    differing = [key for key in sorted(keys) if saved.get(key) != now.get(key)]
    if differing == [_EPOCHS] and _can_prolong(now, state):
        return
    if differing:
        differences = [
            f"{key} was {json.dumps(saved.get(key))}, now {json.dumps(now.get(key))}"
            for key in differing
        ]
        advice = ""
        if differing == [_EPOCHS] and now[_EPOCHS] >= saved[_EPOCHS]:
            advice = (
                ". The learning rates of all steps depend on the number of epochs, unless "
                "train.warmup is 0 and train.schedule is constant; to train the model further, "
                f"start another run from it with --set train.from={path.parent / 'model'}"
            )
        raise ConfigError(
            f"{path}: belongs to another recipe: {', '.join(differences)}; name another folder "
            f"with --out, or delete this one{advice}"
        )


def _can_prolong(settings: Mapping[str, Any], state: State) -> bool:
    """Whether the steps so far are those of a run with another number of epochs."""
    is_constant = settings["train.schedule"] == "constant" and settings["train.warmup"] == 0
    begun = state.epoch + (state.position > 0)
    return is_constant and bool(settings[_EPOCHS] >= begun)


def optimizer_tensors(optimizer: Optimizer) -> dict[str, Tensor]:
    """Collect the state of the optimizer by name, without the learning rates."""
    return {
        f"optimizer.{number}.{name}": value
        for number, memory in optimizer.state_dict()["state"].items()
        for name, value in memory.items()
    }


def restore_optimizer(optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Restore the state collected by `optimizer_tensors`."""
    memory: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, number, name = key.split(".", 2)
            memory.setdefault(int(number), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": memory, "param_groups": groups})


def random_tensors(gather: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
    """Collect the states of the random generators of Python, numpy and torch.

    gather  stacks the tensors of all processes
    """
    _, words, gauss = random.getstate()
    numpy_state = np.random.get_state()  # noqa: NPY002 - libraries may draw from it
    assert isinstance(numpy_state, tuple)
    _, key, *rest = numpy_state  # position, has_gauss, gauss
    state = {
        "python": torch.tensor(words, dtype=torch.int64),
        "python_gauss": torch.tensor(math.nan if gauss is None else gauss, dtype=torch.float64),
        "numpy": torch.from_numpy(key.astype(np.int64)),
        "numpy_rest": torch.tensor(rest, dtype=torch.float64),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return {f"random.{name}": gather(tensor) for name, tensor in state.items()}


def restore_random(tensors: Mapping[str, Tensor], rank: int) -> None:
    """Restore the generators of a process; one that is new keeps its own."""
    if rank >= len(tensors["random.torch"]):
        return
    prefix = "random."
    state = {n.removeprefix(prefix): t[rank] for n, t in tensors.items() if n.startswith(prefix)}
    gauss = float(state["python_gauss"])
    words = tuple(state["python"].tolist())
    random.setstate((3, words, None if math.isnan(gauss) else gauss))
    position, has_gauss, numpy_gauss = state["numpy_rest"].tolist()
    key = state["numpy"].numpy().astype(np.uint32)
    np.random.set_state(  # noqa: NPY002
        ("MT19937", key, int(position), int(has_gauss), numpy_gauss)
    )
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def _name_and_digest(path: str) -> str:
    return f"{os.path.basename(path)} (sha256 {file_digest(path)})"
