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
from capsrl.model.embeddings.transformer import (
    Transformer,
    best_window,
    windows_of,
)
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
        return source.eval()(source.collate([source.index(s) for s in sentences], marked))


def hidden(model, ids, types=None):
    ids = torch.tensor([ids])
    arguments = {} if types is None else {"token_type_ids": torch.tensor([types])}
    with torch.no_grad():
        return model(input_ids=ids, output_hidden_states=True, **arguments).hidden_states


def test_a_word_has_the_vector_of_its_first_piece(bert):
    folder, model = bert
    source = Transformer(folder, fine_tune=True)
    spelt = source.tokenizer.encode(["ab", "c", "def"], is_pretokenized=True)
    assert spelt.tokens == ["[CLS]", "a", "##b", "c", "d", "##e", "##f", "[SEP]"]
    expected = hidden(model, spelt.ids)[-1][0, [1, 3, 4]]
    assert source.width == 16
    assert_close(vectors(source, sentence("ab c def"))[0], expected, atol=1e-5, rtol=1e-5)


def test_a_frozen_encoder_is_a_mix_of_its_layers(bert):
    folder, model = bert
    source = Transformer(folder, fine_tune=False)
    source.mix.weights.data = torch.tensor([0.1, 0.7, -0.4])
    source.mix.gamma.data = torch.tensor(1.3)
    layers = hidden(model, source.tokenizer.encode(["ab", "c"], is_pretokenized=True).ids)
    shares = source.mix.weights.softmax(0)
    expected = 1.3 * sum(share * layer for share, layer in zip(shares, layers, strict=True))
    assert_close(
        vectors(source, sentence("ab c"))[0], expected.detach()[0, [1, 3]], atol=1e-5, rtol=1e-5
    )
    trained = [name for name, p in source.named_parameters() if p.requires_grad]
    assert trained == ["mix.weights", "mix.gamma"]


def test_a_frozen_encoder_has_no_dropout_in_training_and_a_tuned_one_has(bert):
    frozen, tuned = (Transformer(bert[0], fine_tune=tune).train() for tune in (False, True))
    for source, alike in ((frozen, True), (tuned, False)):
        inputs = source.collate([source.index(SENTENCES[2])])
        assert torch.equal(source(inputs), source(inputs)) == alike
    tuned(inputs).sum().backward()
    assert all(p.grad is not None for p in tuned.encoder.parameters())


@pytest.mark.parametrize("fine_tune", [True, False])
def test_alone_as_in_a_batch(bert, fine_tune):
    source = Transformer(bert[0], fine_tune=fine_tune)
    together = vectors(source, *SENTENCES)
    for row, s in enumerate(SENTENCES):
        alone = vectors(source, s)[0]
        assert_close(together[row, : len(s.words)], alone, atol=1e-5, rtol=0)


def test_the_marked_word_gets_token_type_1(bert):
    folder, model = bert
    source = Transformer(folder, fine_tune=True)
    ids = source.tokenizer.encode(["ab", "c", "de"], is_pretokenized=True).ids
    found = vectors(source, *[sentence("ab c de")] * 3, marked=[None, 0, 2])
    for row, types in enumerate(
        [[0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0]]
    ):
        expected = hidden(model, ids, types)[-1][0, [1, 3, 4]]
        assert_close(found[row], expected, atol=1e-5, rtol=1e-5)


def test_words_without_pieces_and_lone_surrogates_have_vectors(bert):
    source = Transformer(bert[0], fine_tune=True)
    odd = Sentence(words=("ab", "", "\u200b", "a\ud83d", "c"))
    pieces = source.index(odd)
    assert len(pieces.firsts) == 5
    assert pieces.ids[pieces.firsts[1]] == source.unknown
    assert pieces.ids[pieces.firsts[4]] == source.tokenizer.token_to_id("c")
    assert bool(vectors(source, odd).isfinite().all())


@given(st.integers(0, 200), st.integers(1, 40))
def test_windows_cover_every_piece(n_pieces, size):
    starts, width = windows_of(n_pieces, size)
    assert width <= size
    covered = {piece for start in starts.tolist() for piece in range(start, start + width)}
    assert covered >= set(range(n_pieces))
    if n_pieces > size:
        assert starts.min() == 0 and starts.max() + size == n_pieces
        assert bool((np.diff(starts) <= max(size // 2, 1)).all())
        pieces = np.arange(n_pieces)
        window = starts[best_window(pieces, starts, size)]
        assert bool(((window <= pieces) & (pieces < window + size)).all())
        # Away from the ends of the sentence a piece sees a good part of a window each way.
        inner = (pieces >= size // 2) & (pieces < n_pieces - size // 2)
        room = np.minimum(pieces - window, window + size - 1 - pieces)
        assert bool((room[inner] >= size // 4 - 1).all())


def test_a_long_sentence_is_read_in_windows(tmp_path):
    """12 positions hold 10 pieces: every word from the window where it stands most centrally."""
    model = write_encoder(tmp_path, limit=12)
    source = Transformer(tmp_path, fine_tune=True)
    assert source.max_pieces == 10
    words = "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c".split()
    found = vectors(source, sentence("a b"), Sentence(words=tuple(words)))[1]
    ids = source.index(Sentence(words=tuple(words))).ids.tolist()
    assert len(ids) == 29
    starts = [0, 5, 10, 15, 19]
    for i in range(29):
        start = max(starts, key=lambda s: min(i - s, s + 9 - i))
        window = [*source.opening, *ids[start : start + 10], *source.closing]
        expected = hidden(model, window)[-1][0, 1 + i - start]
        assert_close(found[i], expected, atol=1e-5, rtol=1e-5)


def test_a_tokeniser_that_would_cut_sentences_does_not(copy):
    tokenizer = Tokenizer.from_file(str(copy / "tokenizer.json"))
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    tokenizer.save(str(copy / "tokenizer.json"))
    source = Transformer(copy, fine_tune=True)
    assert len(source.index(sentence("a b c d e f g")).ids) == 7


@pytest.mark.parametrize("kind", ["Roberta", "DistilBert", "Electra"])
@pytest.mark.parametrize("fine_tune", [True, False])
def test_encoders_of_other_kinds(tmp_path, kind, fine_tune):
    model = write_encoder(tmp_path / "encoder", kind, limit=26)
    source = Transformer(tmp_path / "encoder", fine_tune=fine_tune)
    assert source.width == 16
    layers = hidden(model, source.tokenizer.encode(["ab", "c"], is_pretokenized=True).ids)
    expected = layers[-1] if fine_tune else sum(layers) / 3
    found = vectors(source, sentence("ab c"))[0]
    assert_close(found, expected[0, [1, 3]], atol=1e-5, rtol=1e-5)
    embeddings = {"transformer": str(tmp_path / "encoder"), "fine_tune": fine_tune}
    labeler = make_labeler(make_config(embeddings=embeddings))
    together = list(labeler.label_sentences(map(blind, SENTENCES)))
    alone = [next(labeler.label_sentences([blind(s)])) for s in SENTENCES]
    assert_same_answers(together, alone)
    labeler.save(tmp_path / "model")
    shutil.rmtree(tmp_path / "encoder")  # a model folder stands on its own
    loaded = Labeler.load(tmp_path / "model")
    assert_same_answers(list(loaded.label_sentences(map(blind, SENTENCES))), together)


def test_a_bert_of_another_kind_goes_through_transformers(tmp_path):
    model = write_encoder(tmp_path, hidden_act="relu")
    source = Transformer(tmp_path, fine_tune=True)
    expected = hidden(model, source.tokenizer.encode(["ab"], is_pretokenized=True).ids)[-1][0, [1]]
    assert_close(vectors(source, sentence("ab"))[0], expected, atol=1e-5, rtol=1e-5)
    assert source.encoder.config.hidden_act == "relu"


def test_words_of_a_byte_level_tokeniser_begin_with_a_space(copy):
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2, "d": 3, "o": 4, "g": 5, "Ġ": 6, "Ġd": 7}
    tokenizer = Tokenizer(models.BPE(vocab, [("Ġ", "d")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    tokenizer.save(str(copy / "tokenizer.json"))
    source = Transformer(copy, fine_tune=True)
    pieces = source.index(sentence("dog dog"))
    assert pieces.ids.tolist() == [7, 4, 5, 7, 4, 5]
    assert pieces.firsts.tolist() == [0, 3]
    assert (source.opening, source.closing) == ([1], [2])


def test_marks_need_two_token_types(tmp_path):
    write_encoder(tmp_path, type_vocab_size=1)
    config = make_config(embeddings={"transformer": str(tmp_path), "mark_predicate": True})
    with pytest.raises(ConfigError, match=r"mark_predicate: expected an encoder with 2 .* got 1"):
        make_labeler(config)


def test_kept_states_are_those_of_the_encoder(bert):
    source = Transformer(bert[0], fine_tune=False)
    with torch.no_grad():
        source.mix.weights.copy_(torch.arange(len(source.mix.weights), dtype=torch.float))
    some, others = [sentence("ab c def"), sentence("c")], [sentence("def ab"), sentence("c")]
    before = [vectors(source, *some), vectors(source, *others), vectors(source, *some, *others)]
    source.keep(some)
    assert source.collate([source.index(s) for s in some]).keys() == {"kept"}
    assert "pieces" in source.collate([source.index(s) for s in others])  # one is not kept
    source.keep([*others, *some], batch_pieces=1)  # what was kept stays where it was
    assert len(source._kept._states) == 3 + 1 + 2
    assert source.collate([source.index(s) for s in others]).keys() == {"kept"}
    after = [vectors(source, *some), vectors(source, *others), vectors(source, *some, *others)]
    for old, new, lengths in zip(before, after, [(3, 1), (2, 1), (3, 1, 2, 1)], strict=True):
        for row, length in enumerate(lengths):  # half precision
            assert_close(new[row, :length], old[row, :length], atol=2e-3, rtol=1e-3)


def test_words_in_a_list_are_words(bert):
    source = Transformer(bert[0], fine_tune=False)
    listed = Sentence(words=["ab", "c"])
    assert source.index(listed).kept is None
    source.keep([sentence("ab c")])
    assert source.index(listed).kept == 0


def test_kept_states_are_not_used_for_a_marked_predicate(bert):
    source = Transformer(bert[0], fine_tune=False)
    source.keep([sentence("ab c")])
    items = [source.index(sentence("ab c"))]
    assert "pieces" in source.collate(items, [1])
    assert "kept" in source.collate(items, [None])


def test_gradients_reach_the_mix_of_kept_states(bert):
    source = Transformer(bert[0], fine_tune=False)
    plain = source(source.collate([source.index(sentence("ab c def"))]))
    plain.square().sum().backward()
    expected = source.mix.weights.grad.clone()
    source.zero_grad()
    source.keep([sentence("ab c def")])
    source(source.collate([source.index(sentence("ab c def"))])).square().sum().backward()
    assert expected.abs().max() > 0.01
    assert_close(source.mix.weights.grad, expected, atol=1e-2, rtol=1e-2)
