"""ELMo word vectors (Peters et al., 2018), from a frozen bidirectional language model.

Equal to the vectors that AllenNLP computes from a fresh state. AllenNLP carries the LSTM state over
from batch to batch; here every sentence starts from zeros, so its vectors depend on nothing else.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from capsrl.errors import ConfigError, DataError, ModelError, install_hint
from capsrl.network.embeddings.frozen import LayerMix, StateCache, collate_cached
from capsrl.network.embeddings.source import Inputs, WordSource
from capsrl.network.encoder import reversed_order, take
from capsrl.predict.folder import check_file, read_json
from capsrl.predict.subwords import Marked
from capsrl.sentence import Sentence

# Character ids: the bytes of a word in UTF-8, plus one, and these special ones.
SENTENCE_START, SENTENCE_END, WORD_START, WORD_END, FILLER = 257, 258, 259, 260, 261
N_CHARACTERS = 262  # id 0 is unused; the weights file has no row for it
_REQUIRED = {
    "lstm": ("dim", "n_layers", "projection_dim"),
    "char_cnn": ("activation", "embedding", "filters", "max_characters_per_token"),
}


_MOST, _MOST_CHARACTERS = 1 << 20, 1000  # of any size; of the characters of a word
_PACKED = 100  # times smaller than their content arrays may be in the file, if they are compressed


@dataclass(frozen=True)
class Spelling:
    """One sentence as ELMo reads it.

    words   UTF-8 bytes, truncated to the length that the model reads
    cached  row of the first word in the state cache, None if the sentence is not cached
    """

    words: tuple[bytes, ...]
    cached: int | None = None


class Elmo(WordSource[Spelling]):
    """A frozen bidirectional language model over characters, and a trained mix of its layers.

    options  the contents of options.json; with a state dict enough to build the module again
    width    E, both directions together

    Words are truncated to `max_characters_per_token` - 2 bytes (48), as they were when the released
    models were trained. Layer 0 of the mix is the word encoder, without context.
    """

    def __init__(self, *, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.options = dict(options)
        lstm = options["lstm"]
        self.width = 2 * lstm["projection_dim"]
        self.words = WordEncoder(options["char_cnn"], width=lstm["projection_dim"])
        self.layers = nn.ModuleList(BidirectionalLayer(lstm) for _ in range(lstm["n_layers"]))
        self.skip = bool(lstm.get("use_skip_connections"))
        self.requires_grad_(False)
        self.mix = LayerMix(lstm["n_layers"] + 1)
        self._cache = StateCache()

    @classmethod
    def from_folder(cls, folder: str | Path) -> "Elmo":
        """Read a released model; raises the errors of `read_elmo`."""
        options, weights = read_elmo(folder)
        module = cls(options=options)
        module.load_state_dict(module.state_dict() | weights)
        return module

    @classmethod
    def from_saved(cls, folder: Path) -> "Elmo":
        """Read the output of `save_files`, without weights; ModelError names a damaged file."""
        try:
            return cls(options=_read_options(folder / "options.json"))
        except DataError as error:
            raise ModelError(str(error)) from None

    def index(self, sentence: Sentence) -> Spelling:
        """The words of a sentence as bytes."""
        return replace(self._spell(sentence), cached=self._cache.find(sentence.words))

    def _spell(self, sentence: Sentence) -> Spelling:
        longest = self.words.n_positions - 2
        return Spelling(tuple(word.encode("utf-8", "ignore")[:longest] for word in sentence.words))

    def collate(self, items: Sequence[Spelling], *, marked: Marked = None) -> Inputs:
        """Spell every distinct word of the batch once.

        -> spellings  U 50   character ids of the distinct words, sentence start and end first
        -> rows       B T+2  row of `spellings` of each word, with sentence start and end
        -> lengths    B      words of each sentence
        -> cached     B T    instead of the first two, if all sentences are cached
        """
        lengths = [len(item.words) for item in items]
        n_words = torch.tensor(lengths, dtype=torch.long)
        cached = collate_cached([item.cached for item in items], lengths)
        if cached is not None:
            return {"cached": cached, "lengths": n_words}
        rows = torch.zeros(len(items), max(lengths, default=0) + 2, dtype=torch.long)
        known: dict[bytes, int] = {}
        for number, item in enumerate(items):
            ids = [known.setdefault(word, len(known) + 2) for word in item.words]
            rows[number, 1 : len(ids) + 2] = torch.tensor([*ids, 1])
        ends = [[SENTENCE_START], [SENTENCE_END]]
        spellings = np.full((len(known) + 2, self.words.n_positions), FILLER, dtype=np.int64)
        for row, letters in enumerate([*ends, *([byte + 1 for byte in word] for word in known)]):
            spellings[row, : len(letters) + 2] = [WORD_START, *letters, WORD_END]
        return {"spellings": torch.from_numpy(spellings), "rows": rows, "lengths": n_words}

    def cache_states(
        self, sentences: Iterable[Sentence], file: Path | None = None, *, batch_words: int = 4000
    ) -> None:
        """Run the language model over sentences now and reuse its states from then on."""
        device = self.mix.gamma.device

        def encode(items: list[Spelling]) -> Tensor:
            inputs = {name: tensor.to(device) for name, tensor in self.collate(items).items()}
            return torch.stack(self._layers(inputs), 2)

        items = {sentence.words: self._spell(sentence) for sentence in sentences}
        with self._cache.shared(file, device):
            self._cache.add(items, encode, length=lambda i: len(i.words), batch_length=batch_words)

    def forward(self, inputs: Inputs) -> Tensor:
        """Mix the layers; padding is zeros.

        -> B T E
        """
        lengths = inputs["lengths"]
        if "cached" in inputs:
            layers = self._cache.layers(inputs["cached"])
        else:
            layers = self._layers(inputs)
        mixed: Tensor = self.mix(layers)  # B T E
        mask = torch.arange(mixed.shape[1], device=mixed.device) < lengths.unsqueeze(1)  # B T
        return mixed * mask.unsqueeze(-1)

    def _layers(self, inputs: Inputs) -> list[Tensor]:
        """The states of the words in every layer, B T E each; the word encoder comes first."""
        rows, lengths = inputs["rows"], inputs["lengths"]
        words = functional.embedding(rows, self.words(inputs["spellings"]))  # B T+2 E/2
        mask = torch.arange(rows.shape[1], device=rows.device) < (lengths + 2).unsqueeze(1)
        # Padding comes last in both directions and never reaches a word. The same index reverses
        # a sentence again.
        reverse = reversed_order(mask)  # B T+2
        states = self._run_lstms(torch.stack([words, take(words, reverse)]))
        layers = [
            torch.cat([forward_states, take(backward_states, reverse)], -1)
            for forward_states, backward_states in states
        ]
        return [layer[:, 1:-1] for layer in layers]  # without sentence start and end

    def _run_lstms(self, words: Tensor) -> list[Tensor]:
        """Run the stacked LSTMs of both directions.

        words  2 B T E/2       in the order of reading: forward, then backward
        ->     L+1 of 2 B T E/2, the words themselves first
        """
        states = [words]
        for number, layer in enumerate(self.layers):
            out = layer(states[-1])
            states.append(out + states[-1] if self.skip and number > 0 else out)
        return states

    def save_files(self, folder: Path) -> None:
        """Write options.json, which a model folder needs besides the weights."""
        folder.mkdir()
        (folder / "options.json").write_text(json.dumps(self.options, indent=1), encoding="utf-8")


class WordEncoder(nn.Module):
    """Convolutions over the characters of a word, highway layers and a projection."""

    def __init__(self, options: Mapping[str, Any], *, width: int) -> None:
        super().__init__()
        self.n_positions: int = options["max_characters_per_token"]
        self.tanh = options["activation"] == "tanh"
        size = options["embedding"]["dim"]
        n_filters = sum(n for _, n in options["filters"])
        self.characters = nn.Embedding(N_CHARACTERS, size)
        self.convolutions = nn.ModuleList(nn.Conv1d(size, n, k) for k, n in options["filters"])
        n_highway = options.get("n_highway") or 0
        self.transforms = nn.ModuleList(nn.Linear(n_filters, n_filters) for _ in range(n_highway))
        self.gates = nn.ModuleList(nn.Linear(n_filters, n_filters) for _ in range(n_highway))
        self.projection = nn.Linear(n_filters, width)

    def forward(self, spellings: Tensor) -> Tensor:
        """Encode words without context.

        spellings  U 50
        ->         U E/2
        """
        letters = self.characters(spellings).transpose(1, 2)
        x = torch.cat([convolve(letters).amax(-1) for convolve in self.convolutions], -1)
        x = x.tanh() if self.tanh else x.relu()
        for transform, gate in zip(self.transforms, self.gates, strict=True):
            opened = gate(x).sigmoid()
            x = opened * transform(x).relu() + (1 - opened) * x
        out: Tensor = self.projection(x)
        return out


class BidirectionalLayer(nn.Module):
    """Two LSTMs of the same shape in one batched product, one for each direction.

    The cell is clipped, projected to the width of the input, and clipped again; a clip of None
    means no clipping. Gates are in the order of the released files: input, candidate, forget,
    output.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__()
        width, n_cells = options["projection_dim"], options["dim"]
        self.cell_clip, self.state_clip = options.get("cell_clip"), options.get("proj_clip")
        self.from_input = nn.Parameter(torch.zeros(2, width, 4 * n_cells))
        self.from_state = nn.Parameter(torch.zeros(2, width, 4 * n_cells))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * n_cells))
        self.to_state = nn.Parameter(torch.zeros(2, n_cells, width))

    def forward(self, inputs: Tensor) -> Tensor:
        """Run both directions from a zero state over inputs in the order of reading.

        inputs  2 B T E/2
        ->      2 B T E/2
        """
        _, B, T, width = inputs.shape
        # The input part of the gates needs no recurrence: one product for all time steps.
        projected = torch.baddbmm(self.bias, inputs.flatten(1, 2), self.from_input)
        steps = projected.view(2, B, T, -1).unbind(2)  # T of 2 B 4*cells
        state = projected.new_zeros(2, B, width)
        cell = projected.new_zeros(2, B, self.to_state.shape[1])
        states = []
        for step in steps:
            gates = torch.baddbmm(step, state, self.from_state)
            into, candidate, forget, out = gates.chunk(4, -1)
            cell = into.sigmoid() * candidate.tanh() + forget.sigmoid() * cell
            cell = _clip(cell, self.cell_clip)
            state = torch.bmm(out.sigmoid() * cell.tanh(), self.to_state)
            state = _clip(state, self.state_clip)
            states.append(state)
        return torch.stack(states, 2)


def _clip(x: Tensor, limit: float | None) -> Tensor:
    return x.clamp(-limit, limit) if limit else x


def read_elmo(folder: str | Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the folder's one *options.json, and its one *weights.hdf5 as parameters of `Elmo`.

    Raises DataError naming a file or array that is missing or has the wrong shape, and ConfigError
    if h5py is not installed.
    """
    options = _read_options(_only_file(Path(folder), "*options.json"))
    path = _only_file(Path(folder), "*weights.hdf5")
    check_file(path, limit=None)
    try:
        import h5py
    except ImportError:
        raise ConfigError(f"{path}: ELMo needs h5py: {install_hint('elmo')}") from None
    try:
        with h5py.File(path, "r") as file:
            arrays = _read_arrays(path, file, options)
    except OSError as error:
        raise DataError(f"{path}: not an HDF5 file: {error}") from None
    except (AttributeError, LookupError, RuntimeError, TypeError) as error:  # h5py raises many
        raise DataError(f"{path}: the arrays of ELMo cannot be read: {error}") from None
    tensors = {
        name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()
    }
    return options, tensors


def _read_options(path: Path) -> dict[str, Any]:
    """The sizes of the model. Only character models are supported, as all released ones are."""
    try:
        options = read_json(path)
    except ModelError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise DataError(f"{path}: not the options of an ELMo model: {reason}") from None
    for part, keys in _REQUIRED.items():
        found = options.get(part)
        for key in keys:
            if not isinstance(found, dict) or key not in found:
                raise DataError(f"{path}: not the options of an ELMo model: no {part}.{key}")
    activation = options["char_cnn"]["activation"]
    if activation not in ("relu", "tanh"):
        raise DataError(f"{path}: expected char_cnn.activation relu or tanh, got {activation!r}")
    if not _are_sizes(options["lstm"], options["char_cnn"]):
        raise DataError(f"{path}: expected sizes from 0 to {_MOST:,} that fit together, got others")
    return options


def _are_sizes(lstm: Mapping[str, Any], cnn: Mapping[str, Any]) -> bool:
    """Whether the numbers can be those of a model; the weights say whether they are."""
    clips = [lstm.get("cell_clip") or 0, lstm.get("proj_clip") or 0]
    try:
        lengths, counts = zip(*cnn["filters"], strict=True)
        sizes = [lstm["dim"], lstm["n_layers"], lstm["projection_dim"], cnn["embedding"]["dim"]]
        sizes += [cnn.get("n_highway") or 0, cnn["max_characters_per_token"], *lengths, *counts]
    except (LookupError, TypeError, ValueError):
        return False
    if not all(isinstance(size, int) and 0 <= size <= _MOST for size in sizes):
        return False
    # A word has a start and an end besides its characters. No weights tell how many it may have.
    fits = 3 <= cnn["max_characters_per_token"] <= _MOST_CHARACTERS
    fits &= 1 <= min(lengths) <= max(lengths) <= cnn["max_characters_per_token"]
    return fits and all(isinstance(clip, int | float) for clip in clips)


def _read_arrays(
    path: Path, file: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, NDArray[np.float32]]:
    """Convert arrays in TensorFlow's names and layout to the parameters of the modules above.

    In the file a matrix is input x output. Arrays that the modules do not need (the softmax) are
    not read.
    """

    def read(name: str, *shape: int) -> NDArray[np.float32]:
        if name not in file:
            raise DataError(f"{path}: no array {name}")
        if file[name].shape != shape:
            raise DataError(
                f"{path}: expected {name} of shape {shape}, got {file[name].shape}; "
                "do options and weights belong together?"
            )
        if _PACKED * file[name].id.get_storage_size() < file[name].nbytes:  # it was never written
            raise DataError(f"{path}: expected {name} with {file[name].nbytes:,} bytes, got fewer")
        return np.asarray(file[name], dtype=np.float32)

    cnn, lstm = options["char_cnn"], options["lstm"]
    width, n_cells, size = lstm["projection_dim"], lstm["dim"], cnn["embedding"]["dim"]
    n_filters = sum(each[1] for each in cnn["filters"])
    characters = read("char_embed", N_CHARACTERS - 1, size)
    state = {"words.characters.weight": np.pad(characters, ((1, 0), (0, 0)))}
    for k, (length, n) in enumerate(cnn["filters"]):
        weight = read(f"CNN/W_cnn_{k}", 1, length, size, n)[0].transpose(2, 1, 0)
        state[f"words.convolutions.{k}.weight"] = weight  # out, in, length
        state[f"words.convolutions.{k}.bias"] = read(f"CNN/b_cnn_{k}", n)
    for k in range(cnn.get("n_highway") or 0):
        for ours, theirs in [("transforms", "transform"), ("gates", "carry")]:
            weight = read(f"CNN_high_{k}/W_{theirs}", n_filters, n_filters).T
            state[f"words.{ours}.{k}.weight"] = weight
            state[f"words.{ours}.{k}.bias"] = read(f"CNN_high_{k}/b_{theirs}", n_filters)
    state["words.projection.weight"] = read("CNN_proj/W_proj", n_filters, width).T
    state["words.projection.bias"] = read("CNN_proj/b_proj", width)
    for k in range(lstm["n_layers"]):
        # Direction 0 is forward, 1 backward.
        both = [f"RNN_{direction}/RNN/MultiRNNCell/Cell{k}/LSTMCell" for direction in range(2)]
        weight = np.stack([read(f"{cell}/W_0", 2 * width, 4 * n_cells) for cell in both])
        bias = np.stack([read(f"{cell}/B", 4 * n_cells) for cell in both])[:, None]
        # The released weights were trained with 1 added to the forget gate at run time.
        bias[..., 2 * n_cells : 3 * n_cells] += 1
        state[f"layers.{k}.from_input"] = weight[:, :width]
        state[f"layers.{k}.from_state"] = weight[:, width:]
        state[f"layers.{k}.bias"] = bias
        to_state = [read(f"{cell}/W_P_0", n_cells, width) for cell in both]
        state[f"layers.{k}.to_state"] = np.stack(to_state)
    return state


def _only_file(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise DataError(f"{folder}: expected one file {pattern} of an ELMo model, got {names}")
    return found[0]
