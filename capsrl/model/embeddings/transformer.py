"""Words in, vectors of a pretrained transformer out: any Hugging Face encoder from a local folder.

A word's vector is that of its first piece. A sentence longer than the encoder can take is read in
windows that overlap by half, and each word is taken from the window in which it stands most
centrally: nothing is cut off.
"""

import importlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor, nn

from capsrl.errors import ModelError
from capsrl.model.embeddings.bert import Bert, rename_weights
from capsrl.model.embeddings.mix import LayerMix
from capsrl.sentence import Sentence

# Of a word that are read. A word's vector is that of its first piece, and a rule of dashes or a
# megabyte without a blank should not fill hundreds of windows; addresses in EWT fit.
_LETTERS = 128


@dataclass(frozen=True)
class Pieces:
    """One sentence as the encoder reads it.

    ids     n  pieces, without the special ones that open and close a window
    firsts  T  where in `ids` each word begins
    """

    ids: NDArray[np.int64]
    firsts: NDArray[np.int64]


class Transformer(nn.Module):
    """A pretrained encoder, fine-tuned (its last layer) or frozen (a learned mix of its layers).

    n_types      token types: to mark a predicate takes two
    folder       config.json, tokenizer.json and, when `pretrained`, the weights
    pretrained   read the weights; else they are left as initialised, to be loaded by the caller
    """

    def __init__(self, folder: str | Path, *, fine_tune: bool, pretrained: bool = True) -> None:
        super().__init__()
        self.folder = find_folder(folder)
        config = _read_config(self.folder)
        self.fine_tune = fine_tune
        self.encoder = _make_encoder(self.folder, config, pretrained=pretrained)
        if isinstance(self.encoder, Bert):
            self.n_types = self.encoder.types.num_embeddings
        else:
            config = _common_names(self.encoder)
            self.n_types = int(config.get("type_vocab_size") or 0)
        self.encoder.requires_grad_(fine_tune)
        self.width: int = config["hidden_size"]
        self.mix = None if fine_tune else LayerMix(config["num_hidden_layers"] + 1)
        self.tokenizer = _read_tokenizer(self.folder)
        self.opening, self.closing = _special_pieces(self.tokenizer)
        self.unknown = _unknown_piece(self.tokenizer)
        self.max_pieces = _max_pieces(config) - len(self.opening) - len(self.closing)

    def index(self, sentence: Sentence) -> Pieces:
        """The pieces of a sentence; a word the tokeniser drops altogether is one unknown piece."""
        words = _printable([word[:_LETTERS] for word in sentence.words])
        encoding = self.tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        owners = encoding.word_ids  # of the pieces: words by number, in their order
        starts = [i for i, word in enumerate(owners) if i == 0 or word != owners[i - 1]]
        if len(starts) == len(words) and None not in owners:  # no word was dropped
            return Pieces(np.array(encoding.ids, dtype=np.int64), np.array(starts, dtype=np.int64))
        pieces_of: list[list[int]] = [[] for _ in words]
        for piece, word in zip(encoding.ids, owners, strict=True):
            if word is not None:
                pieces_of[word].append(piece)
        ids: list[int] = []
        firsts: list[int] = []
        for pieces in pieces_of:
            firsts.append(len(ids))
            ids.extend(pieces or [self.unknown])
        return Pieces(np.array(ids, dtype=np.int64), np.array(firsts, dtype=np.int64))

    def collate(
        self, items: Sequence[Pieces], marked: Sequence[int | None] | None = None
    ) -> dict[str, Tensor]:
        """Lay the sentences of a batch out in windows.

        marked  for each sentence the word whose pieces get token type 1, or None
        -> pieces, types  W S; mask  W S; words  B T, index of each word's piece in pieces.flatten()
        """
        windows: list[NDArray[np.int64]] = []
        types: list[NDArray[np.int64]] = []
        places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []  # window, piece of each word
        for number, item in enumerate(items):
            starts, size = windows_of(len(item.ids), self.max_pieces)
            type_ids = np.zeros_like(item.ids)
            word = marked[number] if marked else None
            if word is not None:
                ends = np.append(item.firsts[1:], len(item.ids))
                type_ids[item.firsts[word] : ends[word]] = 1
            window = central_window(item.firsts, starts, size)
            places.append((window + len(windows), item.firsts - starts[window] + len(self.opening)))
            for start in starts:
                windows.append(item.ids[start : start + size])
                types.append(type_ids[start : start + size])
        return self._lay_out(windows, types, places)

    def _lay_out(
        self,
        windows: list[NDArray[np.int64]],
        types: list[NDArray[np.int64]],
        places: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    ) -> dict[str, Tensor]:
        n_open, n_close = len(self.opening), len(self.closing)
        n_pieces = n_open + n_close + max((len(window) for window in windows), default=0)
        pieces = np.zeros((len(windows), n_pieces), dtype=np.int64)
        type_ids = np.zeros_like(pieces)
        mask = np.zeros(pieces.shape, dtype=bool)
        for row, (window, types_of) in enumerate(zip(windows, types, strict=True)):
            end = n_open + len(window)
            pieces[row, :n_open] = self.opening
            pieces[row, n_open:end] = window
            pieces[row, end : end + n_close] = self.closing
            type_ids[row, n_open:end] = types_of
            mask[row, : end + n_close] = True
        n_words = max((len(piece) for _, piece in places), default=0)
        words = np.zeros((len(places), n_words), dtype=np.int64)
        for row, (window, piece) in enumerate(places):
            words[row, : len(piece)] = window * n_pieces + piece
        arrays = {"pieces": pieces, "types": type_ids, "mask": mask, "words": words}
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Vectors of the words.

        ->  B T E
        """
        pieces, mask, types = inputs["pieces"], inputs["mask"], inputs["types"]
        with torch.set_grad_enabled(self.fine_tune and torch.is_grad_enabled()):
            if isinstance(self.encoder, Bert):
                states = self.encoder(pieces, mask, types)
            else:
                states = _hidden_states(self.encoder, pieces, mask, types)
        hidden = states[-1] if self.mix is None else self.mix(states)  # W S E
        vectors: Tensor = hidden.flatten(0, 1)[inputs["words"]]
        return vectors

    def save_files(self, folder: Path) -> None:
        """Write what a model folder needs besides the weights: config.json and tokenizer.json."""
        folder.mkdir()
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(self.folder / name, folder / name)

    def train(self, mode: bool = True) -> "Transformer":
        """A frozen encoder stays in evaluation mode: its dropout would only blur its vectors."""
        super().train(mode)
        if not self.fine_tune:
            self.encoder.eval()
        return self


def windows_of(n_pieces: int, size: int) -> tuple[NDArray[np.int64], int]:
    """Starts of the windows over a sentence, overlapping by half, the last one ending with it."""
    if n_pieces <= size:
        return np.zeros(1, dtype=np.int64), max(n_pieces, 1)
    step = max(size // 2, 1)
    starts = np.arange(0, n_pieces - size + step, step)
    return np.minimum(starts, n_pieces - size), size


def central_window(
    pieces: NDArray[np.int64], starts: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """For each piece the window that has most context on its poorer side."""
    left = pieces[:, None] - starts[None]
    room = np.minimum(left, size - 1 - left)
    window: NDArray[np.int64] = room.argmax(1)
    return window


def find_folder(name: str | Path) -> Path:
    """The folder of an encoder: a path, or an installed package with `get_model_path()`."""
    folder = Path(name)
    if (folder / "config.json").is_file():
        return folder
    module = str(name).replace("-", "_")
    if module.isidentifier():
        try:
            path = importlib.import_module(module).get_model_path()
        except (ImportError, AttributeError):
            pass
        else:
            return Path(path)
    raise ModelError(
        f"{name}: expected a folder with config.json and tokenizer.json, or an installed package "
        "with get_model_path(), got neither; download the encoder and give its folder"
    )


def _make_encoder(folder: Path, config: dict[str, Any], *, pretrained: bool) -> nn.Module:
    if _is_plain_bert(config):
        try:
            encoder = Bert(config)
        except KeyError as error:
            raise ModelError(f"{folder / 'config.json'}: expected {error}, got none") from None
        if pretrained:
            _load_exactly(encoder, folder / "model.safetensors")
        return encoder
    try:
        from transformers import AutoConfig, AutoModel
    except ImportError:
        raise ModelError(
            f"{folder}: encoders of type {config.get('model_type')!r} need transformers: "
            "pip install 'capsrl[transformers]'"
        ) from None
    try:
        if pretrained:
            model = AutoModel.from_pretrained(str(folder), local_files_only=True)
        else:
            model = AutoModel.from_config(  # type: ignore[no-untyped-call]
                AutoConfig.from_pretrained(str(folder))
            )
    except (OSError, ValueError) as error:  # a file missing, a type that transformers lacks
        reason = " ".join(str(error).split())
        raise ModelError(f"{folder}: expected an encoder of transformers, got {reason}") from None
    module: nn.Module = model.float()
    return module


def _is_plain_bert(config: dict[str, Any]) -> bool:
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
    )


def _common_names(encoder: nn.Module) -> dict[str, Any]:
    """The settings of an encoder under the names that all of transformers' models answer to."""
    config: Any = encoder.config
    return {
        **config.to_dict(),
        "hidden_size": config.hidden_size,  # DistilBERT's file says dim and n_layers
        "num_hidden_layers": config.num_hidden_layers,
    }


def _load_exactly(encoder: nn.Module, file: Path) -> None:
    try:
        weights = rename_weights(load_file(file))
    except FileNotFoundError:
        raise ModelError(f"{file.parent}: expected {file.name}, got no such file") from None
    except SafetensorError as error:
        raise ModelError(f"{file}: expected a safetensors file, got {error}") from None
    wanted = encoder.state_dict()
    missing = sorted(wanted.keys() - weights.keys())
    if missing:
        raise ModelError(f"{file}: expected the weights of a BertModel, got no {missing[0]}")
    for name, weight in wanted.items():
        if weights[name].shape != weight.shape:
            raise ModelError(
                f"{file}: expected {name} of shape {tuple(weight.shape)} as config.json says, "
                f"got {tuple(weights[name].shape)}"
            )
    encoder.load_state_dict({name: weights[name].float() for name in wanted})


def _hidden_states(encoder: nn.Module, pieces: Tensor, mask: Tensor, types: Tensor) -> list[Tensor]:
    config: Any = encoder.config
    arguments: dict[str, Any] = {"input_ids": pieces, "attention_mask": mask.long()}
    if getattr(config, "type_vocab_size", 0) > 1:
        arguments["token_type_ids"] = types
    return list(encoder(**arguments, output_hidden_states=True).hidden_states)


def _read_config(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{file}: expected JSON, got {error}") from None
    if not isinstance(config, dict):
        raise ModelError(f"{file}: expected a JSON object, got {type(config).__name__}")
    return config


def _read_tokenizer(folder: Path) -> Tokenizer:
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise ModelError(
            f"{folder}: expected tokenizer.json, got no such file; save the tokeniser again with "
            "a current transformers (AutoTokenizer.from_pretrained(...).save_pretrained(...))"
        )
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ModelError(f"{file}: expected a tokeniser, got {error}") from None
    if isinstance(tokenizer.pre_tokenizer, ByteLevel):
        # Our words come one by one; without a space before it, "dog" would be read as in "hotdog".
        tokenizer.pre_tokenizer.add_prefix_space = True
    # Some published files cut sentences at 128 pieces; windows are ours to make.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _special_pieces(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The pieces that the tokeniser puts before and after a sentence."""
    bare = tokenizer.encode(["a"], is_pretokenized=True, add_special_tokens=False).ids
    whole = tokenizer.encode(["a"], is_pretokenized=True).ids
    start = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return whole[:start], whole[start + len(bare) :]


def _unknown_piece(tokenizer: Tokenizer) -> int:
    for name in ("[UNK]", "<unk>", "[PAD]", "<pad>"):
        piece = tokenizer.token_to_id(name)
        if piece is not None:
            return int(piece)
    return 0


def _max_pieces(config: dict[str, Any]) -> int:
    limit = int(config.get("max_position_embeddings", 512))
    # RoBERTa and its kin count positions from the padding id on.
    offset = {"roberta": 2, "xlm-roberta": 2, "camembert": 2, "mpnet": 2}
    return min(limit - offset.get(config.get("model_type", ""), 0), 512)


def _printable(words: Sequence[str]) -> list[str]:
    """The words as UTF-8 can hold them: tokenizers refuse lone surrogates."""
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError:
        return [word.encode("utf-8", "replace").decode("utf-8") for word in words]
    return list(words)
