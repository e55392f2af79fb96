"""Read a pretrained encoder from a folder, and inspect it."""

import contextlib
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from capsrl.errors import ModelError, install_hint
from capsrl.network.embeddings.bert import Bert, rename_weights
from capsrl.predict.subwords import is_plain_bert

# Without the first, transformers asks on a terminal whether it may run code of the folder.
_SAFE = {"trust_remote_code": False, "local_files_only": True}


def find_folder(name: str | Path) -> Path:
    """The folder of an encoder: a path, or an installed package with `get_model_path()`."""
    folder = Path(name)
    if (folder / "config.json").is_file():
        return folder
    module = str(name).replace("-", "_")
    if module.isidentifier():
        with contextlib.suppress(ImportError, AttributeError):
            return Path(importlib.import_module(module).get_model_path())
    raise ModelError(
        f"{name}: not a folder with config.json and tokenizer.json, nor an installed package with "
        "get_model_path(); download the encoder and give its folder"
    )


def make_encoder(folder: Path, config: dict[str, Any], *, pretrained: bool) -> nn.Module:
    """The encoder of a folder: our own module for a plain BERT, else the one of transformers.

    pretrained  load its weights; else the caller does
    """
    if is_plain_bert(config):
        try:
            encoder = Bert(config)
        except KeyError as error:
            raise ModelError(f"{folder / 'config.json'}: no entry {error}") from None
        if config["hidden_size"] % config["num_attention_heads"]:
            raise ModelError(f"{folder / 'config.json'}: num_attention_heads divide no hidden_size")
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
            model = AutoModel.from_pretrained(str(folder), **_SAFE)
        else:
            model = AutoModel.from_config(  # type: ignore[no-untyped-call]
                AutoConfig.from_pretrained(str(folder), **_SAFE), trust_remote_code=False
            )
    except ModelError:
        raise
    except Exception as error:  # a missing file, an unknown model type, nonsense in config.json
        reason = " ".join(str(error).split())
        raise ModelError(f"{folder}: not an encoder of transformers: {reason}") from None
    module: nn.Module = model.float()
    return module


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
        raise ModelError(f"{file.parent}: {file.name} is missing") from None
    except SafetensorError as error:
        raise ModelError(f"{file}: not a safetensors file: {error}") from None
    wanted = encoder.state_dict()
    check_weights(weights, wanted, source=file)
    # A file may have more layers than config.json asks for.
    encoder.load_state_dict({name: weights[name] for name in wanted})


def check_weights(
    weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor], *, source: Path
) -> None:
    """Raise ModelError naming a tensor that is missing or has another shape or type than wanted."""
    missing = sorted(wanted.keys() - weights.keys())
    if missing:
        raise ModelError(f"{source}: no tensor {missing[0]} ({len(missing)} missing)")
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


def is_causal(encoder: nn.Module) -> bool:
    """Whether the encoder is causal: a subword attends only to those before it."""
    return any(getattr(module, "is_causal", False) for module in encoder.modules())
