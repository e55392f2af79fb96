"""Causal encoders, with tokenizers that need spaces."""

import shutil

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch.nn.functional import layer_norm
from torch.testing import assert_close
from transformers import AutoModelForCausalLM

from capsrl.errors import ConfigError
from capsrl.labeler import Labeler
from capsrl.network.embeddings.transformer import Transformer
from capsrl.sentence import Sentence
from tests.helpers.tiny_networks import (
    SENTENCES,
    assert_same_answers,
    blind,
    make_config,
    make_labeler,
    sentence,
    write_encoder,
)

SETTINGS = {
    "Gemma3Text": {"num_key_value_heads": 1, "head_dim": 8, "sliding_window": 6},
    "Llama": {"num_key_value_heads": 1},
}
LETTERS = "abcdefghijklmnopqrstuvwxyz.猫犬▁"
BOS = 2


def write_tokenizer(folder, *, adds_bos=False):
    """Letters, and two subwords for words after a space, as in Gemma."""
    vocab = ["<pad>", "<eos>", "<bos>", "<unk>", *LETTERS, "▁a", "ab", "▁ab"]
    merges = [("▁", "a"), ("▁a", "b"), ("a", "b")]
    ids = {subword: i for i, subword in enumerate(vocab)}
    tokenizer = Tokenizer(models.BPE(ids, merges, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    if adds_bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<bos> $A", special_tokens=[("<bos>", BOS)]
        )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_causal(folder, kind="Gemma3Text", *, limit=64):
    model = write_encoder(folder, kind, limit=limit, bos_token_id=BOS, **SETTINGS[kind])
    write_tokenizer(folder)
    return model


@pytest.fixture(scope="module")
def gemma(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoders") / "gemma"
    return folder, write_causal(folder)


def vectors(source, *sentences):
    with torch.inference_mode():
        return source.eval()(source.collate([source.index(s) for s in sentences]))


def hidden(model, ids):
    """The states as the next layer reads them, at unit variance."""
    with torch.no_grad():
        states = model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        read = [layer.input_layernorm(states[i]) for i, layer in enumerate(model.layers)]
        return [layer_norm(state, (16,)) for state in [*read, states[-1]]]


@pytest.mark.parametrize("kind", list(SETTINGS))
@pytest.mark.parametrize("fine_tune", [True, False])
def test_vector_of_the_last_subword(tmp_path, kind, fine_tune):
    model = write_causal(tmp_path, kind)
    source = Transformer(tmp_path, fine_tune=fine_tune)
    tokens = source.subwords.tokenizer.encode("cd abe f")
    assert tokens.tokens == ["c", "d", "▁ab", "e", "▁", "f"]
    layers = hidden(model, [BOS, *tokens.ids])
    expected = layers[-1] if fine_tune else sum(layers) / 3
    found = vectors(source, sentence("cd abe f"))[0]
    assert_close(found, expected[0, [2, 4, 6]], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("fine_tune", [True, False])
def test_states_are_normalized(tmp_path, fine_tune):
    model = write_causal(tmp_path)
    model.layers[0].post_feedforward_layernorm.weight.data[3] = 1e4
    model.save_pretrained(tmp_path)
    source = Transformer(tmp_path, fine_tune=fine_tune)
    with torch.no_grad():
        inputs = source.collate([source.index(SENTENCES[2])])
        raw = source.encoder(input_ids=inputs["subwords"], output_hidden_states=True).hidden_states[
            1
        ]
    assert float(raw.abs().max()) > 1e3
    # 16 units of unit variance: none is beyond the root of 16.
    assert float(vectors(source, SENTENCES[2]).abs().max()) < 4


def test_one_opening_token(gemma, tmp_path):
    bare = Transformer(gemma[0], fine_tune=True)
    assert (bare.subwords.opening, bare.subwords.closing) == ([BOS], [])
    inputs = bare.collate([bare.index(sentence("ab c")), bare.index(sentence("c"))])
    assert inputs["subwords"][:, 0].tolist() == [BOS, BOS]
    folder = shutil.copytree(gemma[0], tmp_path / "gemma")
    write_tokenizer(folder, adds_bos=True)
    adding = Transformer(folder, fine_tune=True)
    assert (adding.subwords.opening, adding.subwords.closing) == ([BOS], [])


def test_spaces_as_in_text(gemma):
    source = Transformer(gemma[0], fine_tune=True)
    words = ("ab", "ab", ".", "ab", "猫", "犬", "c", "ab")
    subwords = source.index(Sentence(words=words))
    text = source.subwords.tokenizer.encode("ab ab. ab猫犬c ab")
    assert text.tokens == ["ab", "▁ab", ".", "▁ab", "猫", "犬", "c", "▁ab"]
    assert subwords.ids.tolist() == text.ids
    assert subwords.firsts.tolist() == list(range(8))


def test_only_left_context(gemma):
    source = Transformer(gemma[0], fine_tune=False)
    here, after, before = vectors(
        source, sentence("ab cd efg h"), sentence("ab cd xyz abc"), sentence("ba cd efg h")
    )
    assert_close(here[:2], after[:2], atol=1e-6, rtol=0)
    assert float((here[2:] - after[2:]).abs().max(-1).values.min()) > 1e-3
    assert float((here - before).abs().max(-1).values.min()) > 1e-3


@pytest.mark.parametrize("fine_tune", [True, False])
def test_alone_equals_batch(gemma, fine_tune):
    source = Transformer(gemma[0], fine_tune=fine_tune)
    together = vectors(source, *SENTENCES)
    for row, s in enumerate(SENTENCES):
        assert_close(together[row, : len(s.words)], vectors(source, s)[0], atol=1e-5, rtol=0)


def test_long_sentence_in_windows(tmp_path):
    """11 positions hold 10 subwords: every word from the window in which most stands before it."""
    model = write_causal(tmp_path, "Llama", limit=11)
    source = Transformer(tmp_path, fine_tune=True)
    assert source.subwords.max_subwords == 10
    long = sentence("b c de f g h ij k l m n op q")
    found = vectors(source, sentence("b c"), long)[1]
    subwords = source.index(long)
    lasts = [*(subwords.firsts[1:] - 1), len(subwords.ids) - 1]
    starts = [0, 5, 10, 15, 18]
    assert len(subwords.ids) == 28
    for word, last in enumerate(lasts):
        start = min(s for s in starts if s <= last < s + 10)
        window = [BOS, *subwords.ids[start : start + 10].tolist()]
        expected = hidden(model, window)[-1][0, 1 + last - start]
        assert_close(found[word], expected, atol=1e-5, rtol=1e-5)


def test_language_model_head_is_dropped(gemma, tmp_path):
    folder = shutil.copytree(gemma[0], tmp_path / "model")
    whole = AutoModelForCausalLM.from_pretrained(folder, tie_word_embeddings=False)
    whole.save_pretrained(folder)
    source = Transformer(folder, fine_tune=True)
    assert type(source.encoder).__name__ == "Gemma3TextModel"
    assert not [name for name, _ in source.named_parameters() if "lm_head" in name]
    expected = vectors(Transformer(gemma[0], fine_tune=True), *SENTENCES)
    assert_close(vectors(source, *SENTENCES), expected, atol=1e-6, rtol=0)


def test_no_key_value_cache(gemma):
    source = Transformer(gemma[0], fine_tune=True)
    outputs = []
    source.encoder.register_forward_hook(lambda *given: outputs.append(given[-1]))
    vectors(source, SENTENCES[0])
    assert [output.past_key_values for output in outputs] == [None]


def test_parameter_layers(gemma):
    network = make_labeler(
        make_config(embeddings={"transformer": str(gemma[0]), "fine_tune": True})
    ).network
    depths = network.parameter_layers()
    prefix = "vectors.sources.transformer.encoder."
    assert depths[prefix + "embed_tokens.weight"] == 0
    assert depths[prefix + "layers.0.self_attn.q_norm.weight"] == 1
    assert depths[prefix + "layers.1.mlp.up_proj.weight"] == 2
    assert depths[prefix + "norm.weight"] == 2
    assert set(depths.values()) == {0, 1, 2}


@pytest.mark.parametrize("fine_tune", [True, False])
def test_model_folder_is_self_contained(gemma, tmp_path, fine_tune):
    folder = shutil.copytree(gemma[0], tmp_path / "encoder")
    labeler = make_labeler(
        make_config(embeddings={"transformer": str(folder), "fine_tune": fine_tune})
    )
    together = list(labeler.label_sentences(map(blind, SENTENCES), predicates="marked"))
    labeler.save(tmp_path / "model")
    shutil.rmtree(folder)
    loaded = Labeler.load(tmp_path / "model")
    assert_same_answers(
        list(loaded.label_sentences(map(blind, SENTENCES), predicates="marked")), together
    )


def test_predicates_cannot_be_marked(gemma):
    config = make_config(embeddings={"transformer": str(gemma[0]), "mark_predicate": True})
    with pytest.raises(ConfigError, match=r"mark_predicate: expected an encoder with 2 .* got 0"):
        make_labeler(config)
