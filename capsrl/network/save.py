"""Save and load model folders: config.json, vocab.json, frames.tsv, weights and word sources.

`calibration.json` is saved here too, and read by `calibration.py`. What needs no torch is read by
`read_folder.py`.

Folders are written atomically. Everything read is checked: missing or damaged files, tensors of
another shape and newer formats are refused with a message that names them.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

from capsrl.config import ModelConfig
from capsrl.errors import ModelError
from capsrl.files.replacing import replacing_folder
from capsrl.network.build import attach_files, make_network
from capsrl.network.network import Network
from capsrl.network.weights import Precision, check_weights, load_weights, save_weights
from capsrl.predict.calibration import Calibration
from capsrl.predict.read_folder import FORMAT, FRAMES, read_config, read_inventory


def save_network(
    network: Network,
    config: ModelConfig,
    folder: Path,
    *,
    precision: Precision = "full",
    calibration: Calibration | None = None,
) -> None:
    """Write a model folder, replacing an older model.

    Raises ModelError if `folder` exists and is not a model folder.
    """
    if folder.exists() and not _is_replaceable(folder):
        raise ModelError(
            f"{folder}: expected a model folder to replace, or nothing, got something else; "
            "choose another name"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with replacing_folder(folder) as new:
        _write_json(new / "config.json", {"format": FORMAT, **dataclasses.asdict(config)})
        _write_json(new / "vocab.json", network.inventory.to_dict())
        if len(network.inventory.frames):
            network.inventory.frames.save(new / FRAMES)
        save_weights(network.state_dict(), new, precision=precision)
        network.vectors.save_files(new)
        if calibration is not None:
            calibration.save(new)


def load_network(folder: Path) -> tuple[Network, ModelConfig]:
    """Read a model folder; raises ModelError naming what is missing, damaged or too new."""
    config = read_config(folder)
    inventory = read_inventory(folder)
    with _SkipInitialization():
        network = make_network(config, inventory, folder=folder)
    weights = load_weights(folder)
    wanted = network.state_dict()
    check_weights(weights, wanted, source=folder)
    extra = sorted(weights.keys() - wanted.keys())
    if extra:
        raise ModelError(f"{folder}: got tensor {extra[0]}, which config.json does not require")
    network.load_state_dict(weights, assign=True)
    attach_files(network, config.embeddings)
    return network, config


class _SkipInitialization(TorchFunctionMode):
    """Makes new parameters without random values, which would take seconds to draw.

    The usual way, making the modules on `torch.device("meta")`, does not work for encoders of
    transformers: their non-persistent buffers (position ids, rotary frequencies) are computed when
    the module is made and are not in the saved weights, so they would stay without values.
    """

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        if func in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        # Calls of torch.nn.init arrive here as a whole; the tensor methods inside them do not.
        if func in (init.normal_, init.uniform_, init.kaiming_uniform_):
            return kwargs["tensor"]
        return func(*args, **kwargs)


def _is_replaceable(folder: Path) -> bool:
    """Whether a folder is empty or contains a model."""
    return folder.is_dir() and (not any(folder.iterdir()) or (folder / "vocab.json").is_file())


def _write_json(file: Path, data: dict[str, Any]) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    # A word may contain a lone surrogate, which UTF-8 cannot encode; its Python escape \udc00 is
    # also its escape in JSON.
    file.write_bytes(text.encode("utf-8", "backslashreplace"))
