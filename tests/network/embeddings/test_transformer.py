import shutil

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.testing import assert_close

from capsrl.errors import ConfigError
from capsrl.labeler import Labeler
from capsrl.network.embeddings.transformer import Transformer
from capsrl.predict.subwords import best_window, windows_of
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


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoders") / "bert"
    return folder, write_encoder(folder, limit=64)


@pytest.fixture
def copy(bert, tmp_path):
    """A copy of the encoder, to be damaged."""
    return shutil.copytree(bert[0], tmp_path / "bert")


def vectors(source, *sentences, marked=None):
    with torch.inference_mode():
        return source.eval()(source.collate([source.index(s) for s in sentences], marked=marked))


def hidden(model, ids, types=None):
    ids = torch.tensor([ids])
    arguments = {} if types is None else {"token_type_ids": torch.tensor([types])}
    with torch.no_grad():
        return model(input_ids=ids, output_hidden_states=True, **arguments).hidden_states


def test_vector_of_the_first_subword(bert):
    folder, model = bert
    source = Transformer(folder, fine_tune=True)
    tokens = source.subwords.tokenizer.encode(["ab", "c", "def"], is_pretokenized=True)
    assert tokens.tokens == ["[CLS]", "a", "##b", "c", "d", "##e", "##f", "[SEP]"]
    expected = hidden(model, tokens.ids)[-1][0, [1, 3, 4]]
    assert source.width == 16
    assert_close(vectors(source, sentence("ab c def"))[0], expected, atol=1e-5, rtol=1e-5)


def test_frozen_encoder_is_a_mix_of_layers(bert):
    folder, model = bert
    source = Transformer(folder, fine_tune=False)
    source.mix.weights.data = torch.tensor([0.1, 0.7, -0.4])
    source.mix.gamma.data = torch.tensor(1.3)
    layers = hidden(model, source.subwords.tokenizer.encode(["ab", "c"], is_pretokenized=True).ids)
    shares = source.mix.weights.softmax(0)
    expected = 1.3 * sum(share * layer for share, layer in zip(shares, layers, strict=True))
    assert_close(
        vectors(source, sentence("ab c"))[0], expected.detach()[0, [1, 3]], atol=1e-5, rtol=1e-5
    )
    trained = [name for name, p in source.named_parameters() if p.requires_grad]
    assert trained == ["mix.weights", "mix.gamma"]


def test_only_a_tuned_encoder_has_dropout(bert):
    frozen, tuned = (Transformer(bert[0], fine_tune=tune).train() for tune in (False, True))
    for source, alike in ((frozen, True), (tuned, False)):
        inputs = source.collate([source.index(SENTENCES[2])])
        assert torch.equal(source(inputs), source(inputs)) == alike
    tuned(inputs).sum().backward()
    assert all(p.grad is not None for p in tuned.encoder.parameters())


@pytest.mark.parametrize("fine_tune", [True, False])
def test_alone_equals_batch(bert, fine_tune):
    source = Transformer(bert[0], fine_tune=fine_tune)
    together = vectors(source, *SENTENCES)
    for row, s in enumerate(SENTENCES):
        alone = vectors(source, s)[0]
        assert_close(together[row, : len(s.words)], alone, atol=1e-5, rtol=0)


def test_marked_word_has_token_type_1(bert):
    folder, model = bert
    source = Transformer(folder, fine_tune=True)
    ids = source.subwords.tokenizer.encode(["ab", "c", "de"], is_pretokenized=True).ids
    found = vectors(source, *[sentence("ab c de")] * 3, marked=[None, 0, 2])
    for row, types in enumerate(
        [[0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0]]
    ):
        expected = hidden(model, ids, types)[-1][0, [1, 3, 4]]
        assert_close(found[row], expected, atol=1e-5, rtol=1e-5)


def test_words_without_subwords_and_surrogates(bert):
    source = Transformer(bert[0], fine_tune=True)
    odd = Sentence(words=("ab", "", "\u200b", "a\ud83d", "c"))
    subwords = source.index(odd)
    assert len(subwords.firsts) == 5
    assert subwords.ids[subwords.firsts[1]] == source.subwords.unknown
    assert subwords.ids[subwords.firsts[4]] == source.subwords.tokenizer.token_to_id("c")
    assert bool(vectors(source, odd).isfinite().all())


@given(st.integers(0, 200), st.integers(1, 40))
def test_windows_cover_every_subword(n_subwords, size):
    starts, width = windows_of(n_subwords, size)
    assert width <= size
    covered = {subword for start in starts.tolist() for subword in range(start, start + width)}
    assert covered >= set(range(n_subwords))
    if n_subwords > size:
        assert starts.min() == 0 and starts.max() + size == n_subwords
        assert bool((np.diff(starts) <= max(size // 2, 1)).all())
        subwords = np.arange(n_subwords)
        window = starts[best_window(subwords, starts, size)]
        assert bool(((window <= subwords) & (subwords < window + size)).all())
        # Away from the ends of the sentence a subword has much context on both sides.
        inner = (subwords >= size // 2) & (subwords < n_subwords - size // 2)
        room = np.minimum(subwords - window, window + size - 1 - subwords)
        assert bool((room[inner] >= size // 4 - 1).all())


def test_long_sentence_in_windows(tmp_path):
    """12 positions hold 10 subwords; every word comes from the window where it is most central."""
    model = write_encoder(tmp_path, limit=12)
    source = Transformer(tmp_path, fine_tune=True)
    assert source.subwords.max_subwords == 10
    words = "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c".split()
    found = vectors(source, sentence("a b"), Sentence(words=tuple(words)))[1]
    ids = source.index(Sentence(words=tuple(words))).ids.tolist()
    assert len(ids) == 29
    starts = [0, 5, 10, 15, 19]
    for i in range(29):
        start = max(starts, key=lambda s: min(i - s, s + 9 - i))
        window = [*source.subwords.opening, *ids[start : start + 10], *source.subwords.closing]
        expected = hidden(model, window)[-1][0, 1 + i - start]
        assert_close(found[i], expected, atol=1e-5, rtol=1e-5)


def test_truncation_is_disabled(copy):
    tokenizer = Tokenizer.from_file(str(copy / "tokenizer.json"))
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    tokenizer.save(str(copy / "tokenizer.json"))
    source = Transformer(copy, fine_tune=True)
    assert len(source.index(sentence("a b c d e f g")).ids) == 7


@pytest.mark.parametrize("kind", ["Roberta", "DistilBert", "Electra"])
@pytest.mark.parametrize("fine_tune", [True, False])
def test_other_encoders(tmp_path, kind, fine_tune):
    model = write_encoder(tmp_path / "encoder", kind, limit=26)
    source = Transformer(tmp_path / "encoder", fine_tune=fine_tune)
    assert source.width == 16
    layers = hidden(model, source.subwords.tokenizer.encode(["ab", "c"], is_pretokenized=True).ids)
    expected = layers[-1] if fine_tune else sum(layers) / 3
    found = vectors(source, sentence("ab c"))[0]
    assert_close(found, expected[0, [1, 3]], atol=1e-5, rtol=1e-5)
    embeddings = {"transformer": str(tmp_path / "encoder"), "fine_tune": fine_tune}
    labeler = make_labeler(make_config(embeddings=embeddings))
    together = list(labeler.label_sentences(map(blind, SENTENCES), predicates="marked"))
    alone = [next(labeler.label_sentences([blind(s)], predicates="marked")) for s in SENTENCES]
    assert_same_answers(together, alone)
    labeler.save(tmp_path / "model")
    shutil.rmtree(tmp_path / "encoder")  # a model folder stands on its own
    loaded = Labeler.load(tmp_path / "model")
    assert_same_answers(
        list(loaded.label_sentences(map(blind, SENTENCES), predicates="marked")), together
    )


def test_bert_variant_uses_transformers(tmp_path):
    model = write_encoder(tmp_path, hidden_act="relu")
    source = Transformer(tmp_path, fine_tune=True)
    expected = hidden(model, source.subwords.tokenizer.encode(["ab"], is_pretokenized=True).ids)[
        -1
    ][0, [1]]
    assert_close(vectors(source, sentence("ab"))[0], expected, atol=1e-5, rtol=1e-5)
    assert source.encoder.config.hidden_act == "relu"


def test_byte_level_tokenizer(copy):
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2, "d": 3, "o": 4, "g": 5, "Ġ": 6, "Ġd": 7}
    tokenizer = Tokenizer(models.BPE(vocab, [("Ġ", "d")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    tokenizer.save(str(copy / "tokenizer.json"))
    source = Transformer(copy, fine_tune=True)
    subwords = source.index(sentence("dog dog"))
    assert subwords.ids.tolist() == [7, 4, 5, 7, 4, 5]
    assert subwords.firsts.tolist() == [0, 3]
    assert (source.subwords.opening, source.subwords.closing) == ([1], [2])


def test_marks_need_two_token_types(tmp_path):
    write_encoder(tmp_path, type_vocab_size=1)
    config = make_config(embeddings={"transformer": str(tmp_path), "mark_predicate": True})
    with pytest.raises(ConfigError, match=r"mark_predicate: expected an encoder with 2 .* got 1"):
        make_labeler(config)


def test_cached_states(bert):
    source = Transformer(bert[0], fine_tune=False)
    with torch.no_grad():
        source.mix.weights.copy_(torch.arange(len(source.mix.weights), dtype=torch.float))
    some, others = [sentence("ab c def"), sentence("c")], [sentence("def ab"), sentence("c")]
    before = [vectors(source, *some), vectors(source, *others), vectors(source, *some, *others)]
    source.cache_states(some)
    assert source.collate([source.index(s) for s in some]).keys() == {"cached"}
    assert "subwords" in source.collate([source.index(s) for s in others])  # one is not cached
    source.cache_states([*others, *some], batch_subwords=1)  # rows of cached states stay
    assert len(source._cache._states) == 3 + 1 + 2
    assert source.collate([source.index(s) for s in others]).keys() == {"cached"}
    after = [vectors(source, *some), vectors(source, *others), vectors(source, *some, *others)]
    for old, new, lengths in zip(before, after, [(3, 1), (2, 1), (3, 1, 2, 1)], strict=True):
        for row, length in enumerate(lengths):  # half precision
            assert_close(new[row, :length], old[row, :length], atol=2e-3, rtol=1e-3)


def test_cache_finds_words_in_a_list(bert):
    source = Transformer(bert[0], fine_tune=False)
    listed = Sentence(words=["ab", "c"])
    assert source.index(listed).cached is None
    source.cache_states([sentence("ab c")])
    assert source.index(listed).cached == 0


def test_cache_is_not_used_with_marks(bert):
    source = Transformer(bert[0], fine_tune=False)
    source.cache_states([sentence("ab c")])
    items = [source.index(sentence("ab c"))]
    assert "subwords" in source.collate(items, marked=[1])
    assert "cached" in source.collate(items, marked=[None])


def test_changing_states_are_not_cached(bert):
    tuned = Transformer(bert[0], fine_tune=True)
    marking = Transformer(bert[0], fine_tune=False, mark_predicate=True)
    for source in (tuned, marking):
        source.cache_states([sentence("ab c")])
        assert source.index(sentence("ab c")).cached is None


@pytest.mark.parametrize("mark_predicate", [True, False])
def test_parameter_layers(bert, mark_predicate):
    source = Transformer(bert[0], fine_tune=True, mark_predicate=mark_predicate)
    layers = source.parameter_layers()
    assert layers["encoder.pieces.weight"] == layers["encoder.norm.bias"] == 0
    assert layers["encoder.layers.0.inner.weight"] == 1
    assert layers["encoder.layers.1.attention_norm.weight"] == 2
    # The embedding of the mark is new: it does not belong to a pretrained layer.
    assert ("encoder.types.weight" not in layers) == mark_predicate
    assert Transformer(bert[0], fine_tune=False).parameter_layers() == {}


def test_gradients_of_cached_states(bert):
    source = Transformer(bert[0], fine_tune=False)
    plain = source(source.collate([source.index(sentence("ab c def"))]))
    plain.square().sum().backward()
    expected = source.mix.weights.grad.clone()
    source.zero_grad()
    source.cache_states([sentence("ab c def")])
    source(source.collate([source.index(sentence("ab c def"))])).square().sum().backward()
    assert expected.abs().max() > 0.01
    assert_close(source.mix.weights.grad, expected, atol=1e-2, rtol=1e-2)
