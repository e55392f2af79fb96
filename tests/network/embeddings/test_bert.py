import json

import pytest
import torch
from safetensors.torch import load_file
from torch.func import functional_call
from torch.testing import assert_close
from transformers import AutoModel

from capsrl.network.embeddings.bert import Bert, cast_weights, rename_weights
from capsrl.network.embeddings.transformer import Transformer
from capsrl.sentence import Sentence
from tests.helpers.tiny_networks import write_encoder

LENGTHS = (9, 4, 1)
MASK = torch.arange(9) < torch.tensor(LENGTHS)[:, None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bert")


@pytest.fixture(scope="module")
def theirs(folder):
    return write_encoder(folder)


def load(folder, weights=None):
    ours = Bert(json.loads((folder / "config.json").read_text())).eval()
    ours.load_state_dict(rename_weights(weights or load_file(folder / "model.safetensors")))
    return ours


def inputs():
    torch.manual_seed(1)
    return torch.randint(0, 50, MASK.shape), torch.randint(0, 2, MASK.shape)


def test_equals_transformers(folder, theirs):
    subwords, types = inputs()
    ours = load(folder)(subwords, MASK, types)
    with torch.inference_mode():
        expected = theirs(
            input_ids=subwords,
            attention_mask=MASK.long(),
            token_type_ids=types,
            output_hidden_states=True,
        ).hidden_states
    assert len(ours) == len(expected) == 3
    for mine, other in zip(ours, expected, strict=True):
        assert_close(mine[MASK], other[MASK], atol=1e-5, rtol=1e-5)


def test_types_and_positions_matter(folder, theirs):
    subwords, types = inputs()
    ours = load(folder)
    before = ours(subwords, MASK, types)[-1]
    assert (ours(subwords, MASK, 1 - types)[-1] - before).abs().max() > 0.01
    assert (ours(subwords.flip(1), MASK, types)[-1].flip(1) - before).abs().max() > 0.01


def test_padding_has_no_effect(folder, theirs):
    subwords, types = inputs()
    ours = load(folder)
    together = ours(subwords, MASK, types)[-1]
    for row, length in enumerate(LENGTHS):
        alone = ours(
            subwords[row, None, :length], MASK[row, None, :length], types[row, None, :length]
        )
        assert_close(together[row, :length], alone[-1][0], atol=1e-5, rtol=0)


def test_names_in_older_checkpoints(folder, theirs):
    """`bert.` before every name, LayerNorm.gamma and .beta, and unused heads."""
    current = load_file(folder / "model.safetensors")
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): weight
        for name, weight in current.items()
    }
    assert any(name.endswith("gamma") for name in old)
    old["cls.predictions.bias"] = torch.zeros(3)
    subwords, types = inputs()
    expected = load(folder)(subwords, MASK, types)[-1]
    assert_close(load(folder, old)(subwords, MASK, types)[-1], expected, atol=0, rtol=0)


def test_dropout_only_in_training(folder, theirs):
    subwords, types = inputs()
    ours = load(folder)
    assert_close(ours(subwords, MASK, types)[-1], ours(subwords, MASK, types)[-1], atol=0, rtol=0)
    ours.train()
    first, second = ours(subwords, MASK, types)[-1], ours(subwords, MASK, types)[-1]
    assert (first - second).abs().max() > 0.01


def test_published_encoder_equals_transformers(shared):
    """gte-small, on a sentence beside a shorter one."""
    folder = shared / "encoders" / "gte-small"
    if not (folder / "model.safetensors").is_file():
        pytest.skip("no gte-small in ../shared/encoders")
    source = Transformer(folder, fine_tune=True).eval()
    sentences = [Sentence(words=tuple(text.split())) for text in ("The naïve dog barked .", "No")]
    theirs = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        ours = source(source.collate([source.index(s) for s in sentences]))
        for row, s in enumerate(sentences):
            tokens = source.subwords.tokenizer.encode(list(s.words), is_pretokenized=True)
            firsts = [tokens.word_ids.index(word) for word in range(len(s.words))]
            expected = theirs(input_ids=torch.tensor([tokens.ids])).last_hidden_state[0, firsts]
            assert_close(ours[row, : len(s.words)], expected, atol=1e-4, rtol=1e-4)


def test_weights_cast_together_train_as_those_that_autocast_casts(folder, theirs):
    subwords, types = inputs()
    ours = load(folder)

    def step(*, together):
        ours.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            weights = cast_weights(ours) if together else {}
            states = functional_call(ours, weights, (subwords, MASK, types))
        states[-1].float()[MASK].square().sum().backward()
        return [states[-1], *(weight.grad.clone() for weight in ours.parameters())]

    for cast, expected in zip(step(together=True), step(together=False), strict=True):
        assert cast.dtype == expected.dtype
        assert_close(cast, expected, rtol=0, atol=0)


def test_all_weights_of_linear_layers_are_cast(folder, theirs):
    ours = load(folder)
    with torch.autocast("cpu", torch.bfloat16):
        cast = cast_weights(ours)
    linear = [name for name, module in ours.named_modules() if isinstance(module, torch.nn.Linear)]
    assert set(cast) == {f"{name}.{part}" for name in linear for part in ("weight", "bias")}
    for name, weight in ours.named_parameters():
        assert name not in cast or torch.equal(cast[name], weight.bfloat16())


def test_weights_are_cast_in_training_with_autocast_alone(folder, theirs, monkeypatch):
    source = Transformer(folder, fine_tune=True)
    item = source.index(Sentence(("a", "word")))
    calls = []
    monkeypatch.setattr(
        "capsrl.network.embeddings.transformer.cast_weights",
        lambda encoder: calls.append(encoder) or cast_weights(encoder),
    )
    for training, autocast in ((True, False), (False, True), (True, True)):
        source.train(training)
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            source(source.collate([item])).sum().backward()
        assert bool(calls) == (training and autocast)
