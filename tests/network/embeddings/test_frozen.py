import torch
from torch.testing import assert_close

from capsrl.network.embeddings.frozen import LayerMix, StateCache, collate_cached

SENTENCES = [("a", "bb"), ("ccc",), ("dddd", "e", "f")]


def encode(items):
    """Two layers of width 1: the length of each word, and its double. B T L E."""
    states = torch.full((len(items), max(map(len, items)), 2, 1), -1.0)
    for row, words in enumerate(items):
        lengths = torch.tensor([float(len(word)) for word in words])
        states[row, : len(words), 0, 0] = lengths
        states[row, : len(words), 1, 0] = 2 * lengths
    return states


def add(cache, sentences, batch_length=100):
    batches = []

    def recorded(items):
        batches.append(items)
        return encode(items)

    items = {words: words for words in sentences}
    cache.add(items, recorded, length=len, batch_length=batch_length)
    return batches


def test_states_of_a_batch():
    cache = StateCache()
    add(cache, SENTENCES)
    rows = collate_cached([cache.find(words) for words in SENTENCES], [2, 1, 3])
    first, second = cache.layers(rows)
    expected = torch.tensor([[1.0, 2, 0], [3, 0, 0], [4, 1, 1]])
    mask = expected > 0
    assert first.shape == (3, 3, 1)
    assert_close(first[..., 0][mask], expected[mask])
    assert_close(second, 2 * first)


def test_sentences_are_encoded_once_and_longest_first():
    cache = StateCache()
    assert add(cache, SENTENCES[:2], batch_length=2) == [[SENTENCES[0]], [SENTENCES[1]]]
    row = cache.find(SENTENCES[1])
    assert add(cache, [*SENTENCES, ()]) == [[SENTENCES[2]]]
    assert cache.find(SENTENCES[1]) == row
    assert cache.find(["a", "bb"]) == cache.find(SENTENCES[0])
    assert cache.find(("zzz",)) is None


def test_runs_share_the_states_of_a_file(tmp_path):
    file, device = tmp_path / "states" / "bert.pt", torch.device("cpu")
    first, second = StateCache(), StateCache()
    with first.shared(file, device):
        assert len(add(first, SENTENCES)) == 1
    before = file.read_bytes()
    with second.shared(file, device):
        assert add(second, SENTENCES) == []
    assert file.read_bytes() == before
    assert [second.find(words) for words in SENTENCES] == [first.find(words) for words in SENTENCES]
    rows = torch.tensor([[0, 1, 2], [3, 4, 5]])
    assert all(map(torch.equal, second.layers(rows), first.layers(rows)))
    with second.shared(None, device):  # on without a file
        assert add(second, [("new",)]) == [[("new",)]]
    assert file.read_bytes() == before


def test_a_batch_is_cached_only_as_a_whole():
    assert collate_cached([0, None], [2, 1]) is None
    assert collate_cached([], []) is None
    assert collate_cached([3, 0], [2, 1]).tolist() == [[3, 4], [0, 0]]


def test_starts_as_the_mean():
    layers = [torch.randn(2, 3), torch.randn(2, 3)]
    assert_close(LayerMix(2)(layers), (layers[0] + layers[1]) / 2)


def test_weights_and_scale():
    mix = LayerMix(3)
    mix.weights.data = torch.tensor([0.0, 1.0, -1.0])
    mix.gamma.data = torch.tensor(2.0)
    layers = list(torch.randn(3, 4, 5))
    shares = torch.tensor([0.0, 1.0, -1.0]).exp()
    expected = sum(s * layer for s, layer in zip(shares / shares.sum(), layers, strict=True))
    assert_close(mix(layers), 2 * expected)
