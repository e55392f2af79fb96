"""ELMo (Peters et al., 2018): words -> what two language models think of them in their sentence.

Gives the numbers that AllenNLP gives from a fresh state. AllenNLP carries the LSTM's state from
batch to batch; here every sentence starts from zeros, so its vectors depend on nothing else.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsrl.errors import DataError, ModelError
from capsrl.model.embeddings.elmo_files import Arrays, cell_name, read_elmo, read_options
from capsrl.model.embeddings.layer_mix import LayerMix
from capsrl.model.embeddings.state_cache import KeptStates, collate_kept
from capsrl.sentence import Sentence

# A word is spelt in the bytes of its UTF-8 form, plus one, and these:
SENTENCE_START, SENTENCE_END, WORD_START, WORD_END, FILLER = 257, 258, 259, 260, 261
N_CHARACTERS = 262  # 0 is none of them; the weights file has no row for it


@dataclass(frozen=True)
class Spelling:
    """One sentence as ELMo reads it.

    words  in bytes, cut to what the model reads
    kept   the place of the first word among the states that were kept, see `Elmo.keep`
    """

    words: tuple[bytes, ...]
    kept: int | None = None


class Elmo(nn.Module):
    """A bidirectional language model over characters, frozen, and a trained mix of its layers.

    options    what options.json holds; with a state dict enough to build the module again
    fine_tune  train the language model too
    width      E, both directions together

    Words are cut to `max_characters_per_token` - 2 bytes (48), as in training the released models.
    Layer 0 of the mix is the words without context.
    """

    def __init__(self, *, options: Mapping[str, Any], fine_tune: bool = False) -> None:
        super().__init__()
        self.options = dict(options)
        self.fine_tune = fine_tune
        lstm = options["lstm"]
        self.width = 2 * lstm["projection_dim"]
        self.words = WordEncoder(options["char_cnn"], width=lstm["projection_dim"])
        self.layers = nn.ModuleList(
            TwoWayLayer(
                lstm["projection_dim"],
                lstm["dim"],
                cell_clip=lstm.get("cell_clip"),
                state_clip=lstm.get("proj_clip"),
            )
            for _ in range(lstm["n_layers"])
        )
        self.skip = bool(lstm.get("use_skip_connections"))
        self.requires_grad_(fine_tune)
        self.mix = LayerMix(lstm["n_layers"] + 1)
        self._kept = KeptStates()

    @classmethod
    def from_folder(cls, folder: str | Path, *, fine_tune: bool = False) -> "Elmo":
        """Read a released model; raises what `elmo_files.read_elmo` raises."""
        options, arrays = read_elmo(folder)
        module = cls(options=options, fine_tune=fine_tune)
        module.load_state_dict(module.state_dict() | _state_dict(options, arrays))
        return module

    @classmethod
    def from_saved(cls, folder: Path) -> "Elmo":
        """What `save_files` wrote, its weights not set; raises ModelError naming a bad file."""
        try:
            return cls(options=read_options(folder / "options.json"))
        except DataError as error:
            raise ModelError(str(error)) from None

    def index(self, sentence: Sentence) -> Spelling:
        """The words of a sentence as bytes."""
        return replace(self._spell(sentence), kept=self._kept.place(sentence.words))

    def _spell(self, sentence: Sentence) -> Spelling:
        longest = self.words.n_positions - 2
        return Spelling(tuple(word.encode("utf-8", "ignore")[:longest] for word in sentence.words))

    def collate(self, items: Sequence[Spelling]) -> dict[str, Tensor]:
        """Spell every distinct word of the batch once.

        -> spellings  U 50   character ids of the distinct words, the sentence ends first
        -> rows       B T+2  row of `spellings` of each word, start and end of sentence included
        -> lengths    B      words of each sentence
        -> kept       B T    instead of the first two, where the states of all sentences are kept
        """
        lengths = [len(item.words) for item in items]
        n_words = torch.tensor(lengths, dtype=torch.long)
        kept = [item.kept for item in items if item.kept is not None]
        if items and len(kept) == len(items):
            return {"kept": collate_kept(kept, lengths), "lengths": n_words}
        rows = torch.zeros(len(items), max(lengths, default=0) + 2, dtype=torch.long)
        known: dict[bytes, int] = {}
        for number, item in enumerate(items):
            ids = [known.setdefault(word, len(known) + 2) for word in item.words]
            rows[number, 1 : len(ids) + 2] = torch.tensor([*ids, 1])
        ends = [[SENTENCE_START], [SENTENCE_END]]
        spellings = np.full((len(known) + 2, self.words.n_positions), FILLER, dtype=np.int64)
        for row, letters in enumerate([*ends, *([byte + 1 for byte in word] for word in known)]):
            spellings[row, : len(letters) + 2] = [WORD_START, *letters, WORD_END]
        return {
            "spellings": torch.from_numpy(spellings),
            "rows": rows,
            "lengths": n_words,
        }

    def keep(self, sentences: Iterable[Sentence], *, batch_words: int = 4000) -> None:
        """Read sentences now and keep the states of their words, instead of again in every epoch.

        For frozen language models; from then on these sentences are not read any more, wherever
        they come from.
        """
        assert not self.fine_tune, "fine-tuned language models say something else in every epoch"
        device = self.mix.gamma.device

        def encode(items: list[Spelling]) -> Tensor:
            inputs = {name: tensor.to(device) for name, tensor in self.collate(items).items()}
            return torch.stack(self._layers(inputs), 2)

        items = {sentence.words: self._spell(sentence) for sentence in sentences}
        self._kept.add(items, encode, size=lambda item: len(item.words), at_once=batch_words)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Mix the layers at the words; padding is zeros.

        -> B T E
        """
        lengths = inputs["lengths"]
        layers = self._kept.layers(inputs["kept"]) if "kept" in inputs else self._layers(inputs)
        mixed: Tensor = self.mix(layers)  # B T E
        mask = torch.arange(mixed.shape[1], device=mixed.device) < lengths.unsqueeze(1)  # B T
        return mixed * mask.unsqueeze(-1)

    def _layers(self, inputs: dict[str, Tensor]) -> list[Tensor]:
        """The states of the words in every layer, B T E each, the words themselves first."""
        rows, lengths = inputs["rows"], inputs["lengths"]
        words = F.embedding(rows, self.words(inputs["spellings"]))  # B T+2 E/2
        positions = torch.arange(rows.shape[1], device=rows.device)
        ends = (lengths + 2).unsqueeze(1)
        # Read backwards, a sentence starts at its own end, so padding stays behind it both ways
        # and never reaches a word. The same index turns it round again.
        backwards = torch.where(positions < ends, ends - 1 - positions, positions)  # B T+2
        states = self._read(torch.stack([words, _turn(words, backwards)]))
        layers = [torch.cat([ahead, _turn(back, backwards)], -1) for ahead, back in states]
        return [layer[:, 1:-1] for layer in layers]  # without start and end of sentence

    def save_files(self, folder: Path) -> None:
        """Write what a model folder needs besides the weights: options.json."""
        folder.mkdir()
        (folder / "options.json").write_text(json.dumps(self.options, indent=1), encoding="utf-8")

    def _read(self, words: Tensor) -> list[Tensor]:
        """Run the language models over words in their reading orders.

        words  2 B T E/2   ahead and backwards
        -> one 2 B T E/2 per layer, the words themselves first
        """
        states = [words]
        for number, layer in enumerate(self.layers):
            out = layer(states[-1])
            states.append(out + states[-1] if self.skip and number > 0 else out)
        return states


class WordEncoder(nn.Module):
    """Spelling -> word vector: convolutions over characters, highway layers, a projection."""

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
        """Encode words one by one.

        spellings  U 50
        -> U E/2
        """
        letters = self.characters(spellings).transpose(1, 2)
        x = torch.cat([convolve(letters).amax(-1) for convolve in self.convolutions], -1)
        x = x.tanh() if self.tanh else x.relu()
        for transform, gate in zip(self.transforms, self.gates, strict=True):
            opened = gate(x).sigmoid()
            x = opened * transform(x).relu() + (1 - opened) * x
        out: Tensor = self.projection(x)
        return out


class TwoWayLayer(nn.Module):
    """Two LSTMs of the same shape side by side, one for each reading direction.

    Cells are clipped, then brought to the width of the input, then clipped again (`None`: not).
    Gates are in the order of the released files: input, candidate, forget, output.
    """

    def __init__(
        self, width: int, n_cells: int, *, cell_clip: float | None, state_clip: float | None
    ) -> None:
        super().__init__()
        self.cell_clip, self.state_clip = cell_clip, state_clip
        self.from_input = nn.Parameter(torch.zeros(2, width, 4 * n_cells))
        self.from_state = nn.Parameter(torch.zeros(2, width, 4 * n_cells))
        self.bias = nn.Parameter(torch.zeros(2, 1, 4 * n_cells))
        self.to_state = nn.Parameter(torch.zeros(2, n_cells, width))

    def forward(self, inputs: Tensor) -> Tensor:
        """Read from zeros on; each direction takes the inputs in the order they stand.

        inputs  2 B T E/2
        -> 2 B T E/2
        """
        _, B, T, width = inputs.shape
        given = torch.baddbmm(self.bias, inputs.flatten(1, 2), self.from_input)
        steps = given.view(2, B, T, -1).unbind(2)  # T times 2 B 4C
        state = given.new_zeros(2, B, width)
        cell = given.new_zeros(2, B, self.to_state.shape[1])
        states = []
        for step in steps:
            gates = torch.baddbmm(step, state, self.from_state)
            take, candidate, keep, give = gates.chunk(4, -1)
            cell = _clip(take.sigmoid() * candidate.tanh() + keep.sigmoid() * cell, self.cell_clip)
            state = _clip(torch.bmm(give.sigmoid() * cell.tanh(), self.to_state), self.state_clip)
            states.append(state)
        return torch.stack(states, 2)


def _clip(x: Tensor, limit: float | None) -> Tensor:
    return x.clamp(-limit, limit) if limit else x


def _turn(x: Tensor, index: Tensor) -> Tensor:
    return x.gather(1, index.unsqueeze(-1).expand_as(x))


def _state_dict(options: Mapping[str, Any], arrays: Arrays) -> dict[str, Tensor]:
    """The weights under the names of the modules above; TensorFlow's layout ends here."""
    cnn, lstm = options["char_cnn"], options["lstm"]
    state = {"words.characters.weight": np.pad(arrays["char_embed"], ((1, 0), (0, 0)))}
    for k in range(len(cnn["filters"])):
        weight = arrays[f"CNN/W_cnn_{k}"][0].transpose(2, 1, 0)  # out, in, length
        state[f"words.convolutions.{k}.weight"] = weight
        state[f"words.convolutions.{k}.bias"] = arrays[f"CNN/b_cnn_{k}"]
    for k in range(cnn.get("n_highway") or 0):
        for ours, theirs in [("transforms", "transform"), ("gates", "carry")]:
            state[f"words.{ours}.{k}.weight"] = arrays[f"CNN_high_{k}/W_{theirs}"].T
            state[f"words.{ours}.{k}.bias"] = arrays[f"CNN_high_{k}/b_{theirs}"]
    state["words.projection.weight"] = arrays["CNN_proj/W_proj"].T
    state["words.projection.bias"] = arrays["CNN_proj/b_proj"]
    width, n_cells = lstm["projection_dim"], lstm["dim"]
    for k in range(lstm["n_layers"]):
        both = [cell_name(direction, k) for direction in range(2)]
        weight = np.stack([arrays[f"{cell}/W_0"] for cell in both])
        bias = np.stack([arrays[f"{cell}/B"] for cell in both])[:, None]
        # The released weights were trained with 1 added to the forget gate at run time.
        bias[..., 2 * n_cells : 3 * n_cells] += 1
        state[f"layers.{k}.from_input"] = weight[:, :width]
        state[f"layers.{k}.from_state"] = weight[:, width:]
        state[f"layers.{k}.bias"] = bias
        state[f"layers.{k}.to_state"] = np.stack([arrays[f"{cell}/W_P_0"] for cell in both])
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in state.items()}
