"""Choose what runs a model, torch or onnxruntime, and import only that."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from capsrl.config import ModelConfig
from capsrl.errors import ConfigError, ModelError
from capsrl.predict.backend import Backend
from capsrl.predict.read_folder import PROPOSITIONS, SENTENCES, read_config, read_inventory

if TYPE_CHECKING:
    import torch

    from capsrl.network.network import Network
    from teachers.ensemble import Ensemble

Runtime = Literal["onnx", "torch"]


def open_backend(
    folder: Path, *, device: "str | torch.device | None" = None, runtime: str | None = None
) -> tuple[Backend, ModelConfig]:
    """Load a model folder; raises ModelError naming what is missing, damaged or too new.

    runtime  None: onnx on the CPU for models that were exported; else torch
    """
    if choose_runtime(folder, device, runtime) == "onnx":
        return _open_onnx(folder)
    network, config = _load_network(folder)
    return as_backend(network, device), config


def choose_runtime(
    folder: Path, device: "str | torch.device | None", runtime: str | None
) -> Runtime:
    """What runs a model on a device; raises ConfigError or ModelError if `runtime` cannot."""
    if runtime not in (None, *get_args(Runtime)):
        raise ConfigError(f"runtime: expected onnx or torch, got {runtime!r}")
    exported = (folder / SENTENCES).is_file() and (folder / PROPOSITIONS).is_file()
    on_cpu = _prefers_cpu() if device is None else str(device) == "cpu"
    if runtime == "onnx" and device is not None and not on_cpu:
        raise ConfigError(f"device: expected cpu with runtime onnx, got {device}")
    if runtime == "onnx" and not exported:
        raise ModelError(
            f"{folder}: expected {SENTENCES} and {PROPOSITIONS}, got no such files; make them "
            f"with `capsrl export {folder}`"
        )
    usable = exported and on_cpu and find_spec("onnxruntime") is not None
    return "onnx" if runtime == "onnx" or (runtime is None and usable) else "torch"


def _prefers_cpu() -> bool:
    """Whether there is no GPU that torch could use, as far as can be told without importing it."""
    has_gpu = Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None
    return not has_gpu or find_spec("torch") is None


def as_backend(
    network: "Network | Ensemble | Backend", device: "str | torch.device | None"
) -> Backend:
    """A network on a device; a backend stays what it is."""
    if isinstance(network, Backend):
        return network
    from capsrl.network.backend import TorchBackend

    return TorchBackend(network, device)


def _open_onnx(folder: Path) -> tuple[Backend, ModelConfig]:
    from capsrl.predict.onnx import OnnxBackend

    config, inventory = read_config(folder), read_inventory(folder)
    return OnnxBackend(folder, inventory, n_iterations=config.capsules.iterations), config


def _load_network(folder: Path) -> "tuple[Network, ModelConfig]":
    from capsrl.network.save import load_network

    return load_network(folder)
