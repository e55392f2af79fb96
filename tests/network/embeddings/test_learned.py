from collections import Counter

import pytest
import torch
from torch.testing import assert_close

from capsrl.errors import DataError
from capsrl.network.embeddings.learned import (
    MAX_LETTERS,
    NGRAM_LENGTHS,
    Characters,
    LearnedWords,
    Tags,
)
from capsrl.predict.inventory import UNKNOWN_ID, Vocab, character_vocab
from capsrl.sentence import Sentence

TEXTS = ["a", "the dog sees extraordinarily", "The 猫", "of it all " + "x" * 100]
COUNTS = Counter({"the": 100, "dog": 4, "sees": 1, "a": 50})


def sentence(text):
    words = tuple(text.split())
    return Sentence(words=words, tags=tuple(word[:1] for word in words))


def inputs_of(module, *texts):
    return module.collate([module.index(sentence(text)) for text in texts])


def run(module, *texts):
    return module(inputs_of(module, *texts))


@pytest.fixture
def words():
    torch.manual_seed(1)
    return LearnedWords(words=Vocab.from_counts(COUNTS), width=5, counts=COUNTS)


@pytest.fixture
def characters():
    torch.manual_seed(1)
    return Characters(characters=character_vocab(COUNTS), width=10, size=6)


@pytest.fixture
def tags():
    torch.manual_seed(1)
    return Tags(tags=Vocab.from_counts({"t": 3, "d": 1}), width=4)


@pytest.mark.parametrize("kind", ["words", "characters", "tags"])
def test_alone_equals_batch(kind, request):
    module = request.getfixturevalue(kind).eval()
    together = run(module, *TEXTS)
    assert together.shape == (4, 4, module.width)
    for number, text in enumerate(TEXTS):
        alone = run(module, text)[0]
        assert_close(together[number, : len(alone)], alone, atol=1e-6, rtol=0)
        assert alone.abs().sum(1).min() > 0
        assert not together[number, len(alone) :].any()
    assert run(module, "").shape == (1, 0, module.width)


def test_known_lower_case_and_unknown_words(words):
    words.eval()
    ids = inputs_of(words, "the THE Dog cat")["ids"][0].tolist()
    assert [words.vocab[id] for id in ids] == ["the", "the", "dog", "<unk>"]
    assert torch.equal(run(words, "The cat")[0], words.vectors.weight[[ids[0], UNKNOWN_ID]])


def test_rare_words_are_dropped_in_training(words):
    inputs = inputs_of(words, *["the dog sees a cat"] * 4000)
    unknown = words.vectors.weight[UNKNOWN_ID]
    torch.manual_seed(0)
    dropped = (words.train()(inputs) == unknown).all(-1).float().mean(0)
    expected = torch.tensor([0.25 / (0.25 + n) for n in (100, 4, 1, 50)] + [1.0])
    assert_close(dropped, expected, atol=0.02, rtol=0)  # 3 standard deviations of 4000 draws
    torch.manual_seed(7)
    first = words(inputs)
    torch.manual_seed(7)
    assert torch.equal(words(inputs), first)
    assert (words.eval()(inputs) == unknown).all(-1).float().mean(0).tolist() == [0, 0, 0, 0, 1]


def test_words_without_counts_are_never_dropped(words):
    vocab = words.vocab
    plain = LearnedWords(words=vocab, width=5).train()
    assert torch.equal(run(plain, "sees the"), run(plain.eval(), "sees the"))
    heavy = LearnedWords(words=vocab, width=5, counts=COUNTS, dropout=1e9).train()
    vectors = run(heavy, "sees", "sees the")
    assert torch.equal(vectors[1], heavy.vectors.weight[[UNKNOWN_ID, UNKNOWN_ID]])
    assert not vectors[0, 1].any()


def test_counts_are_in_the_state_dict(words):
    again = LearnedWords(words=Vocab.from_list(list(words.vocab)), width=5)
    again.load_state_dict(words.state_dict())
    torch.manual_seed(3)
    expected = run(words, "the dog sees a")
    torch.manual_seed(3)
    assert torch.equal(run(again, "the dog sees a"), expected)


def by_hand(module, word):
    """Each filter over each n-gram of the word, by loops."""
    marked = ["<w>", *word, "</w>"]
    letters = module.vectors.weight[module.vocab.ids(marked)]
    missing = max(NGRAM_LENGTHS) - len(letters)
    if missing > 0:
        letters = torch.cat([letters, letters.new_zeros(missing, letters.shape[1])])
    found = []
    for convolve in module.convolutions:
        length = convolve.kernel_size[0]
        for weight, bias in zip(convolve.weight, convolve.bias, strict=True):
            answers = [
                (letters[start : start + length].T * weight).sum() + bias
                for start in range(len(letters) - length + 1)
            ]
            found.append(max(0, *answers))
    return torch.stack([torch.as_tensor(value) for value in found])


def test_characters_against_loops(characters):
    vectors = run(characters, "a dog", "sehenswürdig sees the")
    assert vectors.shape == (2, 3, 10)
    texts = [["a", "dog"], ["sehenswürdig", "sees", "the"]]
    for row, words in enumerate(texts):
        for position, word in enumerate(words):
            assert_close(vectors[row, position], by_hand(characters, word), atol=1e-6, rtol=0)


def test_unknown_words_differ_by_their_characters(characters):
    first, second, again = run(characters, "hogs dothe hogs")[0]
    assert torch.equal(first, again) and not torch.equal(first, second)
    assert inputs_of(characters, "hogs dothe hogs")["rows"].tolist() == [[1, 2, 1]]


def test_long_words_are_shortened(characters):
    (spelling,) = characters.index(sentence("t" * 30 + "h" * 5000 + "e" * 30))
    assert len(spelling) == MAX_LETTERS + 2
    marks, ends = [characters.vocab[id] for id in spelling], MAX_LETTERS // 2
    assert marks == ["<w>", *"t" * ends, *"e" * ends, "</w>"]


def test_gradients(words, characters, tags):
    for module in (words.eval(), characters, tags):
        (run(module, "a", "the dog sees cat") ** 2).sum().backward()
        for parameter in module.parameters():
            assert parameter.grad.isfinite().all() and parameter.grad.any()
        assert not module.vectors.weight.grad[0].any()


def test_errors(tags, characters):
    message = "sentence 'the dog': no parts of speech, .*; tag the words"
    with pytest.raises(DataError, match=message):
        tags.index(Sentence(words=("the", "dog")))
    with pytest.raises(DataError, match="sentence 's7': no parts"):
        tags.index(Sentence(words=("the", "dog"), id="s7"))
    with pytest.raises(ValueError, match="a width of at least 3, got 2"):
        Characters(characters=characters.vocab, width=2)
