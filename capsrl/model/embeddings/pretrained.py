"""Read a pretrained encoder and its tokenizer from a folder, and inspect them."""

import importlib
import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel
from torch import nn

from capsrl.errors import ModelError, install_hint
from capsrl.model.embeddings.bert import Bert, rename_weights
from capsrl.model.weights import check_weights


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


def make_encoder(folder: Path, config: dict[str, Any], *, pretrained: bool) -> nn.Module:
    """The encoder of a folder: our own module for a plain BERT, else the one of transformers.

    pretrained  load its weights; else the caller does
    """
    if _is_plain_bert(config):
        try:
            encoder = Bert(config)
        except KeyError as error:
            raise ModelError(f"{folder / 'config.json'}: expected {error}, got none") from None
        if pretrained:
            _load_bert(encoder, folder / "model.safetensors")
        return encoder
    try:
        from transformers import AutoConfig, AutoModel
    except ImportError:
        raise ModelError(
            f"{folder}: encoders of type {config.get('model_type')!r} need transformers: "
            f"{install_hint('transformers')}"
        ) from None
    try:
        if pretrained:
            model = AutoModel.from_pretrained(str(folder), local_files_only=True)
        else:
            model = AutoModel.from_config(  # type: ignore[no-untyped-call]
                AutoConfig.from_pretrained(str(folder))
            )
    except (OSError, ValueError) as error:  # a missing file, an unknown model type
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


def common_names(encoder: nn.Module, folder: Path) -> dict[str, Any]:
    """The settings of an encoder under the names common to all models of transformers."""
    config: Any = encoder.config
    if not hasattr(config, "hidden_size"):  # a composite model: each part has its own settings
        raise ModelError(
            f"{folder}: expected an encoder of text, got {type(encoder).__name__}, which has no "
            "hidden_size; save the text part of a multimodal model separately"
        )
    return {
        **config.to_dict(),
        "hidden_size": config.hidden_size,  # the file of DistilBERT has dim and n_layers
        "num_hidden_layers": config.num_hidden_layers,
    }


def _load_bert(encoder: Bert, file: Path) -> None:
    try:
        weights = {name: w.float() for name, w in rename_weights(load_file(file)).items()}
    except FileNotFoundError:
        raise ModelError(f"{file.parent}: expected {file.name}, got no such file") from None
    except SafetensorError as error:
        raise ModelError(f"{file}: expected a safetensors file, got {error}") from None
    wanted = encoder.state_dict()
    check_weights(weights, wanted, source=file)
    # A file may have more layers than config.json asks for.
    encoder.load_state_dict({name: weights[name] for name in wanted})


def read_config(folder: Path) -> dict[str, Any]:
    """The settings in config.json, under the names that this type of encoder uses."""
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{file}: expected JSON, got {error}") from None
    if not isinstance(config, dict):
        raise ModelError(f"{file}: expected a JSON object, got {type(config).__name__}")
    return config


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a folder, with truncation and padding switched off."""
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise ModelError(
            f"{folder}: expected tokenizer.json, got no such file; save the tokenizer again with "
            "a current transformers (AutoTokenizer.from_pretrained(...).save_pretrained(...))"
        )
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ModelError(f"{file}: expected a tokenizer, got {error}") from None
    if isinstance(tokenizer.pre_tokenizer, ByteLevel):
        # Words are given one by one; without a space, "dog" would be tokenized as in "hotdog".
        tokenizer.pre_tokenizer.add_prefix_space = True
    # Some published files truncate at 128 subwords; we split long sentences into windows.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def is_causal(encoder: nn.Module) -> bool:
    """Whether the encoder is causal: a subword attends only to those before it."""
    return any(getattr(module, "is_causal", False) for module in encoder.modules())


def input_norms(encoder: nn.Module) -> list[nn.Module]:
    """The norms that its layers apply to their input; none if layers end with a norm."""
    layers: Any = getattr(encoder, "layers", ())
    return [layer.input_layernorm for layer in layers if hasattr(layer, "input_layernorm")]


def needs_spaces(tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer needs an explicit space to recognize the start of a word.

    The tokenizers of Gemma and Llama 3 do. Others add a space, or its symbol, before every word, or
    mark the subwords that continue a word.
    """

    def encode(words: list[str]) -> list[int]:
        return list(tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False).ids)

    text = tokenizer.encode("a a", add_special_tokens=False).ids
    return text == encode(["a", " a"]) != encode(["a", "a"])


def special_subwords(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Ids of the special tokens that the tokenizer puts before and after a sentence."""
    bare = tokenizer.encode(["a"], is_pretokenized=True, add_special_tokens=False).ids
    whole = tokenizer.encode(["a"], is_pretokenized=True).ids
    start = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return whole[:start], whole[start + len(bare) :]


def unknown_subword(tokenizer: Tokenizer) -> int:
    """The id that represents a word without subwords."""
    for name in ("[UNK]", "<unk>", "[PAD]", "<pad>"):
        subword = tokenizer.token_to_id(name)
        if subword is not None:
            return int(subword)
    return 0


def max_subwords(config: dict[str, Any]) -> int:
    """How many subwords a window may have, special tokens included: at most 512."""
    limit = int(config.get("max_position_embeddings", 512))
    # RoBERTa and its relatives number positions from the padding id + 1.
    offset = {"roberta": 2, "xlm-roberta": 2, "camembert": 2, "mpnet": 2}
    return min(limit - offset.get(config.get("model_type", ""), 0), 512)
