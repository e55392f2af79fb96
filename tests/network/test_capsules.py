import pytest
import torch
from torch.testing import assert_close

from capsrl.network.capsules import DenseCapsules, FactoredCapsules, WordCapsuleLayer
from tests.helpers import literal

P, T, R, D, M, H = 3, 5, 4, 6, 7, 8


def make(form, seed=0):
    torch.manual_seed(seed)
    layer = WordCapsuleLayer(word_width=H, predicate_width=H, n_roles=R, size=D, rank=M, form=form)
    return layer.double(), torch.randn(P, T, H).double(), torch.randn(P, H).double()


@pytest.mark.parametrize("form", ["dense", "factored"])
def test_pull_is_a_weighted_sum(form):
    layer, words, predicates = make(form)
    u = literal.word_capsules(layer, words, predicates)
    weights = torch.rand(P, T, R).double()
    expected = torch.zeros(P, R, D).double()
    for p in range(P):
        for i in range(T):
            for j in range(R):
                expected[p, j] += weights[p, i, j] * u[p, i, j]
    assert_close(layer(words, predicates).pull(weights), expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("form", ["dense", "factored"])
def test_pull_with_one_weight_for_all_roles(form):
    layer, words, predicates = make(form)
    capsules = layer(words, predicates)
    even = torch.rand(P, T, 1).double()
    assert_close(capsules.pull(even), capsules.pull(even.expand(-1, -1, R)), atol=1e-12, rtol=0)


@pytest.mark.parametrize("form", ["dense", "factored"])
def test_push_is_a_product_with_vectors(form):
    layer, words, predicates = make(form)
    u = literal.word_capsules(layer, words, predicates)
    vectors = torch.randn(P, R, D).double()
    expected = torch.zeros(P, T, R).double()
    for p in range(P):
        for i in range(T):
            for j in range(R):
                expected[p, i, j] = sum(vectors[p, j, k] * u[p, i, j, k] for k in range(D))
    assert_close(layer(words, predicates).push(vectors), expected, atol=1e-10, rtol=0)


def test_dense_capsules_are_bilinear_forms():
    """Eq. 7 for one entry, index by index; a 1 is appended to each."""
    layer, words, predicates = make("dense")
    x = torch.nn.functional.elu(layer.of_word(words))[1, 2].tolist() + [1.0]
    p = torch.nn.functional.elu(layer.of_predicate(predicates))[1].tolist() + [1.0]
    weight = layer.weight[3, 4].tolist()
    expected = sum(x[m] * weight[m][n] * p[n] for m in range(M + 1) for n in range(M + 1))
    capsules = layer(words, predicates)
    assert isinstance(capsules, DenseCapsules)
    one = torch.zeros(P, R, D).double()
    one[1, 3, 4] = 1.0
    assert capsules.push(one)[1, 2, 3].item() == pytest.approx(expected, abs=1e-10)


def test_factored_capsules_share_factors():
    layer, words, predicates = make("factored")
    met = (layer.of_word(words)[1, 2] * layer.of_predicate(predicates)[1]).tolist()
    expected = sum(c * m for c, m in zip(layer.weight[3, 4].tolist(), met, strict=True))
    capsules = layer(words, predicates)
    assert isinstance(capsules, FactoredCapsules)
    one = torch.zeros(P, R, D).double()
    one[1, 3, 4] = 1.0
    assert capsules.push(one)[1, 2, 3].item() == pytest.approx(expected, abs=1e-10)
    assert layer.weight.numel() == R * D * M


@pytest.mark.parametrize("form", ["dense", "factored"])
@pytest.mark.parametrize("n_view", [None, 0, 3, H - 1])
def test_shared_states(form, n_view):
    """Equal to the capsules of the concatenated [view; state] of every predicate."""
    layer, _, predicates = make(form)
    rows = torch.tensor([1, 1, 0])
    states = torch.randn(2, T, H - (n_view or 0)).double()
    views = None if n_view is None else torch.randn(P, T, n_view).double()
    words = states[rows] if views is None else torch.cat([views, states[rows]], -1)
    shared = layer.forward_shared(states, views, rows, predicates)
    vectors = torch.randn(P, R, D).double()
    expected = layer(words, predicates).push(vectors)
    assert_close(shared.push(vectors), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("form", ["dense", "factored"])
def test_dropout_after_the_projection(form):
    """Words and predicate lose whole dimensions, all words of a predicate the same ones."""
    layer, words, predicates = make(form)
    whole = layer(words, predicates)
    layer.dropout = 0.5
    dropped = layer(words, predicates)
    ratio = dropped.joint / whole.joint
    assert_close(ratio, ratio[:, :1].expand_as(ratio))
    assert_close(ratio.round(decimals=9).unique(), torch.tensor([0.0, 4.0]).double())
    if form == "dense":
        assert bool((dropped.words[..., -1] == 1).all())  # the constant is kept
        ratio = (dropped.words / whole.words)[..., :-1]
        assert_close(ratio, ratio[:, :1].expand_as(ratio))
        assert_close(ratio.round(decimals=9).unique(), torch.tensor([0.0, 2.0]).double())
        p = torch.nn.functional.elu(layer.of_predicate(predicates))
        # A column of the weight that a predicate does not use cannot change its forms.
        used = torch.autograd.grad(dropped.forms[0].sum(), layer.weight)[0][0, 0, 0]
        kept = used[:-1] != 0
        assert 0 < int(kept.sum()) < M and used[-1] == 1
        assert_close(used[:-1][kept], 2 * p[0][kept])
    evaluated = layer.eval()(words, predicates).joint
    assert_close(evaluated, whole.joint)
