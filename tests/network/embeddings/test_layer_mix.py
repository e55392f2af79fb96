import torch
from torch.testing import assert_close

from capsrl.network.embeddings.layer_mix import LayerMix


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
