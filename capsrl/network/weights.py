"""Save and load the weights of a model folder as safetensors, optionally quantized.

Weights are split over files named weights-00001-of-00003.safetensors. With precision `compact`
every matrix is quantized to 8-bit integers with one scale per row (stored under its name +
`#scale`), everything else to 16-bit floats: a quarter of the size.

`dithered` is the same, but values are rounded up or down at random, so that they are right on
average: training that starts from quantized weights changes most of them by less than a step, and
rounding to the nearest would undo that. The same weights always give the same files.
"""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from capsrl.errors import ModelError
from capsrl.predict.weight_files import SCALE, shard_name, weight_files

Precision = Literal["full", "half", "compact", "dithered"]

# The shipped model is committed to Git without LFS; files of this size can also be uploaded in a
# browser, where hosts commonly stop at 25 MB. Loading takes the same time with any number of files.
SHARD_BYTES = 15_000_000


def save_weights(weights: Mapping[str, Tensor], folder: Path, *, precision: Precision) -> None:
    """Write tensors to files of at most SHARD_BYTES, or of a single larger tensor."""
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in sorted(weights.items()):
        stored = _encode(name, tensor.detach().cpu(), precision)
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
            raise ModelError(f"{file}: expected a safetensors file, got {error}") from None
    weights: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        if name.endswith(SCALE):
            continue
        scale = stored.get(name + SCALE)
        if scale is not None:
            tensor = _dequantize(tensor, scale)
        weights[name] = tensor.float() if tensor.is_floating_point() else tensor
    return weights


def check_weights(
    weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor], *, source: Path
) -> None:
    """Raise ModelError naming a tensor that is missing or has another shape or type than wanted."""
    missing = sorted(wanted.keys() - weights.keys())
    if missing:
        raise ModelError(f"{source}: expected tensor {missing[0]} (of {len(missing)} missing)")
    for name, tensor in wanted.items():
        if weights[name].shape != tensor.shape:
            raise ModelError(
                f"{source}: expected {name} of shape {tuple(tensor.shape)}, "
                f"got {tuple(weights[name].shape)}"
            )
        if weights[name].dtype != tensor.dtype:
            raise ModelError(
                f"{source}: expected {name} in {tensor.dtype}, got {weights[name].dtype}"
            )


def _dequantize(quantized: Tensor, scale: Tensor) -> Tensor:
    """Dequantize a matrix.

    By numpy: the first such product in torch would start its thread pool, which takes longer than
    the product itself.
    """
    by_row = scale.float().view(-1, *[1] * (quantized.dim() - 1)).numpy()
    return torch.from_numpy(np.multiply(quantized.numpy(), by_row, dtype=np.float32))


def _encode(name: str, tensor: Tensor, precision: Precision) -> dict[str, Tensor]:
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
