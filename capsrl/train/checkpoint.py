"""Where a run stands, as one file from which it goes on as if it had never stopped.

The file is safetensors: tensors by name, and in its header one JSON object with the rest. It is
replaced in one move, so a run killed at any moment finds either the old checkpoint or the new.
The model folder is another matter (labeler.py): nobody needs a checkpoint to label sentences.
"""

import dataclasses
import hashlib
import json
import os
import random
from collections.abc import Mapping
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
from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.recipe import DEFAULTS, PATHS, what_matters
from capsrl.recipe_checks import flatten

FORMAT = 1
_HEADER = "capsrl"  # the key of our JSON among the header's strings


@dataclass
class State:
    """How far a run has come, apart from its tensors.

    epoch, position  batches of that epoch already learned from
    step             batches since the start
    best_epoch       0 before the first
    seconds          spent training, over all resumptions
    log_size         bytes of the log that belong to this state
    """

    epoch: int = 0
    position: int = 0
    step: int = 0
    best_f1: float = -1.0
    best_epoch: int = 0
    seconds: float = 0.0
    log_size: int = 0
    finished: bool = False


def save_checkpoint(
    path: Path, tensors: Mapping[str, Tensor], state: State, identity: Mapping[str, Any]
) -> None:
    """Write all of it beside `path`, then move it there."""
    header = {"format": FORMAT, "state": dataclasses.asdict(state), "identity": identity}
    temporary = path.with_name(path.name + ".new")
    save_file(
        {name: _on_cpu(tensor) for name, tensor in tensors.items()},
        temporary,
        metadata={_HEADER: json.dumps(header)},
    )
    with open(temporary, "rb") as file:
        os.fsync(file.fileno())  # a checkpoint that a power cut can empty is none
    os.replace(temporary, path)


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds: tensors on the CPU, the state, and whose run it was."""

    tensors: dict[str, Tensor]
    state: State
    identity: dict[str, Any]


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises ModelError when the file is damaged or of another format.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[_HEADER])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise ModelError(
            f"{path}: expected a checkpoint of capsrl, got {error}; delete it to start afresh"
        ) from None
    if header["format"] != FORMAT:
        raise ModelError(
            f"{path}: expected checkpoint format {FORMAT}, got {header['format']}; resume with the "
            "version of capsrl that wrote it, or delete it to start afresh"
        )
    return Checkpoint(tensors, State(**header["state"]), header["identity"])


def identify(recipe: Recipe) -> dict[str, Any]:
    """What makes two runs the same: every key of the recipe, files by content instead of by path.

    Test files are left out: they are only read at the end.
    """
    flat = flatten(dataclasses.asdict(recipe))
    identity = {key: value for key, value in flat.items() if not key.startswith("data.test")}
    for key in PATHS:
        if identity[key] is not None:
            identity[key] = os.path.basename(os.path.normpath(identity[key]))
    for key in ("data.train", "data.dev"):
        identity[key] = f"{identity[key]} (sha256 {digest(flat[key])})"
    return identity


def check_same(path: Path, saved: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise ConfigError naming every key that matters in which a checkpoint and a recipe differ."""
    keys = what_matters(saved).keys() | what_matters(now).keys()
    saved, now = {**DEFAULTS, **saved}, {**DEFAULTS, **now}
    differences = [
        f"{key} ({json.dumps(saved.get(key))} there, {json.dumps(now.get(key))} here)"
        for key in sorted(keys)
        if saved.get(key) != now.get(key)
    ]
    if differences:
        raise ConfigError(
            f"{path}: expected a checkpoint of the same recipe, got another "
            f"{', '.join(differences)}; give another folder with --out, or delete this one"
        )


def optimizer_tensors(optimizer: Optimizer) -> dict[str, Tensor]:
    """The optimizer's memory by name; the rates are not in it, they follow from the state."""
    return {
        f"optimizer.{number}.{name}": value
        for number, memory in optimizer.state_dict()["state"].items()
        for name, value in memory.items()
    }


def restore_optimizer(optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` took out."""
    memory: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, number, name = key.split(".", 2)
            memory.setdefault(int(number), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": memory, "param_groups": groups})


def random_state() -> dict[str, Tensor]:
    """The state of every random generator of this process: Python's, numpy's and torch's."""
    _, words, gauss = random.getstate()
    numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002 - libraries may draw from it
    assert isinstance(numpy_state, dict)
    state = {
        "python": torch.tensor(words, dtype=torch.int64),
        "python_gauss": torch.tensor(_or_nan(gauss), dtype=torch.float64),
        "numpy": torch.from_numpy(numpy_state["state"]["key"].astype(np.int64)),
        "numpy_rest": torch.tensor(
            [numpy_state["state"]["pos"], numpy_state["has_gauss"], numpy_state["gauss"]],
            dtype=torch.float64,
        ),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def restore_random_state(state: Mapping[str, Tensor]) -> None:
    """Put back what `random_state` took."""
    gauss = float(state["python_gauss"])
    words = tuple(state["python"].tolist())
    random.setstate((3, words, None if gauss != gauss else gauss))
    position, has_gauss, numpy_gauss = state["numpy_rest"].tolist()
    np.random.set_state(  # noqa: NPY002
        {
            "bit_generator": "MT19937",
            "state": {"key": state["numpy"].numpy().astype(np.uint32), "pos": int(position)},
            "has_gauss": int(has_gauss),
            "gauss": numpy_gauss,
        }
    )
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def _on_cpu(tensor: Tensor) -> Tensor:
    """A copy: safetensors refuses tensors that share memory."""
    tensor = tensor.detach()
    return (tensor.cpu() if tensor.is_cuda else tensor.clone()).contiguous()


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def digest(path: str) -> str:
    """What tells the content of a file from another's."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
