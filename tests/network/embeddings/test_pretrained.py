import shutil

import pytest
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import CLIPConfig, CLIPModel

from capsrl.errors import ModelError
from capsrl.network.embeddings.pretrained import find_folder, is_causal
from capsrl.network.embeddings.transformer import Transformer
from capsrl.predict.subwords import needs_spaces
from tests.helpers.tiny_networks import edit_json, write_encoder


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoders") / "bert"
    write_encoder(folder, limit=64)
    return folder


@pytest.fixture
def copy(bert, tmp_path):
    """A copy of the encoder, to be damaged."""
    return shutil.copytree(bert, tmp_path / "bert")


@pytest.mark.parametrize(
    ("kind", "settings", "expected"),
    [
        ("Bert", {}, False),
        ("XLMRoberta", {}, False),
        ("DistilBert", {}, False),
        ("Llama", {}, True),
        ("Gemma3Text", {"head_dim": 8, "num_key_value_heads": 1}, True),
        # As in EmbeddingGemma.
        ("Gemma3Text", {"head_dim": 8, "use_bidirectional_attention": True}, False),
    ],
)
def test_is_causal(tmp_path, kind, settings, expected):
    assert is_causal(write_encoder(tmp_path, kind, **settings)) == expected


SPACE = "\u2581"  # SentencePiece's sign
WITH_SIGN = normalizers.Replace(" ", SPACE)


@pytest.mark.parametrize(
    ("space", "normalizer", "pre_tokenizer", "expected"),
    [
        # Gemma
        (SPACE, WITH_SIGN, pre_tokenizers.Split(" ", "merged_with_previous"), True),
        # Llama 2, XLM-R
        (SPACE, normalizers.Sequence([normalizers.Prepend(SPACE), WITH_SIGN]), None, False),
        (SPACE, None, pre_tokenizers.Metaspace(SPACE, prepend_scheme="always"), False),
        # Llama 3, RoBERTa
        (
            "Ġ",
            None,
            pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Split(" ", "merged_with_next"),
                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
                ]
            ),
            True,
        ),
        ("Ġ", None, pre_tokenizers.ByteLevel(add_prefix_space=True), False),
        # BERT
        (SPACE, None, pre_tokenizers.BertPreTokenizer(), False),
    ],
)
def test_needs_spaces(space, normalizer, pre_tokenizer, expected):
    vocab = {"<unk>": 0, "a": 1, space: 2, f"{space}a": 3}
    tokenizer = Tokenizer(models.BPE(vocab, [(space, "a")], unk_token="<unk>", fuse_unk=True))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    assert needs_spaces(tokenizer) == expected


def test_encoder_in_a_package(tmp_path, monkeypatch, bert):
    (tmp_path / "my_encoder.py").write_text(f"def get_model_path(): return {str(bert)!r}")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_folder("my-encoder") == bert


@pytest.mark.parametrize("name", ["nowhere/to/be/found", "json", "no-such-package"])
def test_missing_encoder(name):
    with pytest.raises(ModelError, match=rf"^{name}: not a folder with config.json"):
        Transformer(name, fine_tune=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tokenizer.json", r"bert: tokenizer.json is missing; save the tokenizer"),
        ("model.safetensors", r"bert: model.safetensors is missing"),
    ],
)
def test_missing_file(copy, name, message):
    (copy / name).unlink()
    with pytest.raises(ModelError, match=message):
        Transformer(copy, fine_tune=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("config.json", r"config.json: not JSON: "),
        ("tokenizer.json", r"tokenizer.json: not a tokenizer: "),
        ("model.safetensors", r"model.safetensors: not a safetensors file: "),
    ],
)
def test_damaged_file(copy, name, message):
    (copy / name).write_bytes((copy / name).read_bytes()[:50])
    with pytest.raises(ModelError, match=message):
        Transformer(copy, fine_tune=True)


def test_wrong_weights(copy):
    edit_json(copy / "config.json", hidden_size=None)
    with pytest.raises(ModelError, match=r"config.json: no entry 'hidden_size'"):
        Transformer(copy, fine_tune=True)
    edit_json(copy / "config.json", hidden_size=16, max_position_embeddings=65)
    with pytest.raises(
        ModelError,
        match=r"positions.weight of shape \(65, 16\), got \(64, 16\)",
    ):
        Transformer(copy, fine_tune=True)
    edit_json(copy / "config.json", max_position_embeddings=64)
    weights = load_file(copy / "model.safetensors")
    del weights["embeddings.LayerNorm.bias"]
    save_file(weights, copy / "model.safetensors")
    with pytest.raises(ModelError, match=r"no tensor norm.bias \(1 missing\)"):
        Transformer(copy, fine_tune=True)


def test_unknown_model_type(copy):
    edit_json(copy / "config.json", model_type="no-such-type")
    with pytest.raises(ModelError, match=r"an encoder of transformers: .*no-such-type"):
        Transformer(copy, fine_tune=True)


def test_multimodal_model(copy):
    part = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {**part, "intermediate_size": 24, "vocab_size": 60}
    vision = {**part, "intermediate_size": 24, "image_size": 8, "patch_size": 4}
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    CLIPModel(config).save_pretrained(copy)
    with pytest.raises(ModelError, match=r"bert: expected an encoder of text, got CLIPModel"):
        Transformer(copy, fine_tune=True)
