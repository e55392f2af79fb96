"""Save and load model folders; `capsrl.predict.folder` reads what needs no torch.

Folders are written atomically. Everything read is checked: missing or damaged files, tensors of
another shape and newer formats are refused with a message that names them.

Weights are split over files named weights-00001-of-00003.safetensors. With precision `compact`
every matrix is quantized to 8-bit integers with one scale per row (stored under its name +
`#scale`), everything else to 16-bit floats: a quarter of the size.

`dithered` is the same, but values are rounded up or down at random, so that they are right on
average: training that starts from quantized weights changes most of them by less than a step, and
rounding to the nearest would undo that. The same weights always give the same files.
"""

import dataclasses
import json
import zlib
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

from capsrl.config import ModelConfig
from capsrl.errors import ModelError
from capsrl.files.replacing import replacing_folder
from capsrl.network.build import attach_files, make_network
from capsrl.network.embeddings.pretrained import check_weights
from capsrl.network.network import Network
from capsrl.predict.calibration import Calibration
from capsrl.predict.folder import (
    FRAMES_FILE,
    MODEL_FORMAT,
    SCALE,
    find_stored,
    read_config,
    read_inventory,
    shard_name,
    weight_files,
)
from capsrl.predict.manifest import check_finite, write_manifest

Precision = Literal["full", "half", "compact", "dithered"]

# The shipped model is committed to Git without LFS; files of this size can also be uploaded in a
# browser, where hosts commonly stop at 25 MB. Loading takes the same time with any number of files.
SHARD_BYTES = 15_000_000
# Functions of torch that make new tensors of sizes that are given.
_MAKERS = (torch.empty, torch.zeros, torch.ones, torch.rand, torch.randn, torch.arange, torch.eye)


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
    is_empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not is_empty and not (folder / "vocab.json").is_file():
        raise ModelError(f"{folder}: exists and is not a model folder; choose another name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with replacing_folder(folder) as new:
        _save_json(new / "config.json", {"format": MODEL_FORMAT, **dataclasses.asdict(config)})
        _save_json(new / "vocab.json", network.inventory.to_dict())
        if len(network.inventory.frames):
            network.inventory.frames.save(new / FRAMES_FILE)
        save_weights(network.state_dict(), new, precision=precision)
        network.vectors.save_files(new)
        if calibration is not None:
            calibration.save(new)
        check_finite(new)
        write_manifest(new)


def load_network(folder: Path) -> tuple[Network, ModelConfig]:
    """Read a model folder; raises ModelError naming what is missing, damaged or too new."""
    config = read_config(folder)
    inventory = read_inventory(folder)
    try:
        with _SkipInitialization(folder):
            network = make_network(config, inventory, folder=folder)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError) as error:
        raise ModelError(f"{folder}: its settings do not make a network: {error!r:.200}") from error
    weights = load_weights(folder)
    wanted = network.state_dict()
    check_weights(weights, wanted, source=folder)
    extra = sorted(weights.keys() - wanted.keys())
    if extra:
        raise ModelError(f"{folder}: tensor {extra[0]} is not part of the network of config.json")
    network.load_state_dict(weights, assign=True)
    attach_files(network, config.embeddings)
    return network, config


class _SkipInitialization(TorchFunctionMode):
    """Makes new parameters without random values, which would take seconds to draw.

    The usual way, making the modules on `torch.device("meta")`, does not work for encoders of
    transformers: their non-persistent buffers (position ids, rotary frequencies) are computed when
    the module is made and are not in the saved weights, so they would stay without values.

    Raises ModelError before more memory is taken than the stored weights of a folder fill: sizes in
    its settings can be anything.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, stored = folder, find_stored(folder)
        # Buffers are not stored, and some values are computed from others.
        self._values = 4 * sum(prod(place.shape) for place in stored.values()) + 50_000_000
        self._tensors = 10 * len(stored) + 1000

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        if func in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        # Calls of torch.nn.init arrive here as a whole; the tensor methods inside them do not.
        if func in (init.normal_, init.uniform_, init.kaiming_uniform_):
            return kwargs["tensor"]
        if func in _MAKERS:
            size = kwargs.get("size", args)
            sizes = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
            self._values -= prod(n for n in sizes if isinstance(n, int))
            self._tensors -= 1
            if self._values < 0 or self._tensors < 0:
                raise ModelError(
                    f"{self._folder}: the sizes in its settings need more weights than it has"
                )
        return func(*args, **kwargs)


def _save_json(file: Path, data: dict[str, Any]) -> None:
    # A line for each entry: a line for each word would take half as much again.
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for key, value in data.items()
    )
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    # A word may contain a lone surrogate, which UTF-8 cannot encode; its Python escape \udc00 is
    # also its escape in JSON.
    file.write_bytes(text.encode("utf-8", "backslashreplace"))


def save_weights(weights: Mapping[str, Tensor], folder: Path, *, precision: Precision) -> None:
    """Write tensors to files of at most SHARD_BYTES, or of a single larger tensor."""
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in sorted(weights.items()):
        stored = _quantize(name, tensor.detach().cpu(), precision)
        more = sum(part.numel() * part.element_size() for part in stored.values())
        if shards[-1] and size + more > SHARD_BYTES:
            shards.append({})
            size = 0
        shards[-1].update(stored)
        size += more
    for number, shard in enumerate(shards, start=1):
        file = folder / shard_name(number, len(shards))
        save_file(shard, file)
        file.chmod(0o644)  # save_file makes it readable by its owner only


def load_weights(folder: Path) -> dict[str, Tensor]:
    """Read all shards as 32-bit floats; raises ModelError naming a missing or damaged one."""
    stored: dict[str, Tensor] = {}
    for file in weight_files(folder):
        try:
            stored.update(load_file(file))
        except (SafetensorError, OSError) as error:
            raise ModelError(f"{file}: not a safetensors file: {error}") from None
    weights: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        if name.endswith(SCALE):
            continue
        scale = stored.get(name + SCALE)
        if scale is not None:
            tensor = _dequantize(tensor, scale)
        weights[name] = tensor.float() if tensor.is_floating_point() else tensor
    return weights


def _dequantize(quantized: Tensor, scale: Tensor) -> Tensor:
    """Dequantize a matrix.

    By numpy: the first such product in torch would start its thread pool, which takes longer than
    the product itself.
    """
    by_row = scale.float().view(-1, *[1] * (quantized.dim() - 1)).numpy()
    return torch.from_numpy(np.multiply(quantized.numpy(), by_row, dtype=np.float32))


def _quantize(name: str, tensor: Tensor, precision: Precision) -> dict[str, Tensor]:
    if not tensor.is_floating_point() or precision == "full":
        return {name: tensor.contiguous()}
    if precision == "half" or tensor.dim() < 2:
        return {name: tensor.half().contiguous()}
    # Symmetric: the largest value of a row becomes 127. A row of zeros needs a scale above 0.
    scale = tensor.flatten(1).abs().amax(1).clamp(min=1e-12) / 127
    steps = tensor / scale.view(-1, *[1] * (tensor.dim() - 1))
    quantized = steps.round() if precision == "compact" else _dither(steps, name)
    return {name: quantized.to(torch.int8).contiguous(), name + SCALE: scale}


def _dither(steps: Tensor, name: str) -> Tensor:
    """Round 0.3 up in 3 of 10 cases; global random numbers are neither used nor changed."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    noise = torch.rand(steps.shape, generator=generator)
    return (steps + noise).floor().clamp(-127, 127)
