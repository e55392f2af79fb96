"""Read and check the files of a released ELMo model: options.json and weights.hdf5."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsrl.errors import ConfigError, DataError, install_hint

Arrays = dict[str, NDArray[np.float32]]
N_CHARACTERS = 261  # 256 bytes, start and end of sentence and word, filler
REQUIRED = {
    "lstm": ("dim", "n_layers", "projection_dim"),
    "char_cnn": ("activation", "embedding", "filters", "max_characters_per_token"),
}


def read_elmo(folder: str | Path) -> tuple[dict[str, Any], Arrays]:
    """Read the folder's one *options.json and its one *weights.hdf5.

    Arrays keep the names and the layout of the file, where a matrix is input x output.
    Raises DataError naming a file or array that is missing or has the wrong shape, and ConfigError
    if h5py is not installed.
    """
    options = read_options(_only_file(Path(folder), "*options.json"))
    return options, read_arrays(_only_file(Path(folder), "*weights.hdf5"), options)


def read_options(path: Path) -> dict[str, Any]:
    """The sizes of the model. Only character models are supported, as all released ones are."""
    try:
        options = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected the options of an ELMo model, got {error}") from None
    for part, keys in REQUIRED.items():
        for key in keys:
            if not _has(options, part, key):
                raise DataError(
                    f"{path}: expected the options of an ELMo model, got no {part}.{key}"
                )
    activation = options["char_cnn"]["activation"]
    if activation not in ("relu", "tanh"):
        raise DataError(f"{path}: expected char_cnn.activation relu or tanh, got {activation!r}")
    return dict(options)


def _has(options: object, part: str, key: str) -> bool:
    inner = options.get(part) if isinstance(options, dict) else None
    return isinstance(inner, dict) and key in inner


def read_arrays(path: Path, options: dict[str, Any]) -> Arrays:
    """All arrays that the options require; others in the file (the softmax) are not read."""
    try:
        import h5py
    except ImportError:
        raise ConfigError(f"{path}: ELMo needs h5py: {install_hint('elmo')}") from None
    arrays = {}
    try:
        with h5py.File(path, "r") as file:
            for name, shape in _shapes(options).items():
                if name not in file:
                    raise DataError(f"{path}: expected an array {name}, got none")
                if file[name].shape != shape:
                    raise DataError(
                        f"{path}: expected {name} of shape {shape}, got {file[name].shape}; "
                        "do options and weights belong together?"
                    )
                arrays[name] = np.asarray(file[name], dtype=np.float32)
    except OSError as error:
        raise DataError(f"{path}: expected an HDF5 file, got {error}") from None
    return arrays


def _shapes(options: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    lstm, cnn = options["lstm"], options["char_cnn"]
    width, n_cells, size = lstm["projection_dim"], lstm["dim"], cnn["embedding"]["dim"]
    n_filters = sum(n for _, n in cnn["filters"])
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (N_CHARACTERS, size)}
    for k, (length, n) in enumerate(cnn["filters"]):
        shapes |= {f"CNN/W_cnn_{k}": (1, length, size, n), f"CNN/b_cnn_{k}": (n,)}
    for k in range(cnn.get("n_highway") or 0):
        for part in ("carry", "transform"):
            shapes[f"CNN_high_{k}/W_{part}"] = (n_filters, n_filters)
            shapes[f"CNN_high_{k}/b_{part}"] = (n_filters,)
    shapes |= {"CNN_proj/W_proj": (n_filters, width), "CNN_proj/b_proj": (width,)}
    for direction in range(2):
        for layer in range(lstm["n_layers"]):
            cell = cell_name(direction, layer)
            shapes[f"{cell}/W_0"] = (2 * width, 4 * n_cells)
            shapes[f"{cell}/B"] = (4 * n_cells,)
            shapes[f"{cell}/W_P_0"] = (n_cells, width)
    return shapes


def cell_name(direction: int, layer: int) -> str:
    """The group of one LSTM in the file; direction 0 is forward, 1 backward."""
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def _only_file(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise DataError(f"{folder}: expected one file {pattern} of an ELMo model, got {names}")
    return found[0]
