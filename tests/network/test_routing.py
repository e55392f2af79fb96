import math

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.testing import assert_close

from capsrl.network.capsules import WordCapsuleLayer
from capsrl.network.routing import Routing, route_predicates, squash
from tests.helpers import literal

P, T, R, D, M, H = 3, 5, 4, 6, 7, 8
LENGTHS = (5, 2, 1)
FORMS = pytest.mark.parametrize("form", ["dense", "factored"])
VARIANTS = pytest.mark.parametrize(
    ("variant", "global_from"),
    [
        ("capsule", "intermediate"),
        ("capsule+global", "intermediate"),
        ("capsule+global", "squashed"),
        ("capsule+global", "squashed, no bias"),
    ],
)


def make(form, variant, global_from="intermediate", *, size=D, n=P, std=0.5):
    """Random parameters and inputs; an identity matrix could hide a mistake."""
    torch.manual_seed(7)
    layer = WordCapsuleLayer(
        word_width=H, predicate_width=H, n_roles=R, size=size, rank=M, form=form
    )
    source, *without = global_from.split(", ")
    routing = Routing(
        variant=variant, n_roles=R, size=size, global_from=source, global_bias=not without
    )
    for parameter in [*layer.parameters(), *routing.parameters()]:
        torch.nn.init.normal_(parameter, std=std)
    words = torch.randn(n, T, H, dtype=torch.float64, requires_grad=True)
    predicates = torch.randn(n, H, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(T) < torch.tensor([LENGTHS[i % len(LENGTHS)] for i in range(n)])[:, None]
    return layer.double(), routing.double(), words, predicates, mask


def route_in_loops(u, routing, n_iterations):
    """Algorithm 1 for one predicate without padding, in lists of numbers.

    u  T R D
    """
    n_words, n_roles, size = len(u), len(u[0]), len(u[0][0])
    agreement = routing.agreement.tolist()
    node_agreement = routing.node_agreement.tolist() if routing.has_node else agreement
    b = [[0.0] * n_roles for _ in range(n_words)]
    history = [[row[:] for row in b]]
    for _ in range(n_iterations):
        s = [[0.0] * size for _ in range(n_roles)]
        for i in range(n_words):
            total = sum(math.exp(x) for x in b[i])
            for j in range(n_roles):
                for k in range(size):
                    s[j][k] += math.exp(b[i][j]) / total * u[i][j][k]
        v = []
        for j in range(n_roles):
            squared = sum(x * x for x in s[j])
            v.append([squared / (1 + squared) * x / math.sqrt(squared + 1e-8) for x in s[j]])
        g = node_in_loops(s, v, routing)
        for i in range(n_words):
            for j in range(n_roles):
                for k in range(size):
                    for m in range(size):
                        b[i][j] += v[j][k] * agreement[k][m] * u[i][j][m]
                        b[i][j] += g[k] * node_agreement[k][m] * u[i][j][m]
        history.append([row[:] for row in b])
    return history, v, g


def node_in_loops(s, v, routing):
    """Eq. 12, or its form in the authors' code; zeros without a node."""
    size = len(s[0])
    if not routing.has_node:
        return [0.0] * size
    if routing.global_from == "intermediate":
        source, bias = [x for row in s for x in row], [0.0] * size
    else:
        source, bias = [max(x, 0.0) for row in v for x in row], [0.0] * size
        if routing.node.bias is not None:
            bias = routing.node.bias.tolist()
    rows = zip(routing.node.weight.tolist(), bias, strict=True)
    return [b + sum(w * x for w, x in zip(row, source, strict=True)) for row, b in rows]


@FORMS
@VARIANTS
@pytest.mark.parametrize("n_iterations", [1, 2, 4])
def test_equals_algorithm_1_in_loops(form, variant, global_from, n_iterations):
    layer, routing, words, predicates, mask = make(form, variant, global_from)
    result = routing(layer(words, predicates), mask, n_iterations=n_iterations)
    u = literal.word_capsules(layer, words, predicates)
    for p, length in enumerate(LENGTHS):
        history, v, g = route_in_loops(u[p, :length].tolist(), routing, n_iterations)
        assert len(result.logits) == n_iterations + 1
        for step, expected in zip(result.logits, history, strict=True):
            assert_close(step[p, :length], torch.tensor(expected).double(), atol=1e-6, rtol=1e-6)
        assert_close(result.capsules[-1][p], torch.tensor(v).double(), atol=1e-6, rtol=1e-6)
        if routing.has_node:
            assert_close(result.nodes[-1][p], torch.tensor(g).double(), atol=1e-6, rtol=1e-6)


@FORMS
@VARIANTS
@pytest.mark.parametrize(("dtype", "std"), [(torch.float64, 0.5), (torch.float32, 0.2)])
def test_equals_the_literal_form(form, variant, global_from, dtype, std):
    layer, routing, words, predicates, mask = make(form, variant, global_from, std=std)
    layer, routing = layer.to(dtype), routing.to(dtype)
    words = words.detach().to(dtype).requires_grad_()
    predicates = predicates.detach().to(dtype).requires_grad_()
    leaves = [words, predicates, *layer.parameters(), *routing.parameters()]
    result = routing(layer(words, predicates), mask, n_iterations=3)
    u = literal.word_capsules(layer, words, predicates)
    logits, roles, nodes = literal.route(u, mask, routing, n_iterations=3)
    present = mask.unsqueeze(-1)
    for ours, theirs in zip(
        [*(step * present for step in result.logits), *result.capsules, *result.nodes],
        [*(step * present for step in logits), *roles, *nodes],
        strict=True,
    ):
        assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    target = torch.randn(P, T, R, dtype=dtype) * present
    ours = torch.autograd.grad((result.final * target).sum(), leaves)
    theirs = torch.autograd.grad((logits[-1] * target).sum(), leaves)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.abs().max() > 0
        assert_close(mine, other, atol=1e-5, rtol=1e-5)


@FORMS
@VARIANTS
def test_gradients_equal_finite_differences(form, variant, global_from):
    layer, routing, words, predicates, mask = make(form, variant, global_from)

    def final(words, predicates, weight, agreement):
        return torch.func.functional_call(
            CapsuleNetwork(layer, routing),
            {"layer.weight": weight, "routing.agreement": agreement},
            (words, predicates, mask),
        )

    inputs = (words, predicates, layer.weight, routing.agreement)
    assert torch.autograd.gradcheck(final, inputs, fast_mode=True)


class CapsuleNetwork(torch.nn.Module):
    """Word capsules and routing as one module."""

    def __init__(self, layer, routing):
        super().__init__()
        self.layer, self.routing = layer, routing

    def forward(self, words, predicates, mask):
        logits = self.routing(self.layer(words, predicates), mask, n_iterations=2).final
        return logits * mask.unsqueeze(-1)


@FORMS
def test_word_variant_is_a_mean(form):
    layer, routing, words, predicates, mask = make(form, "word")
    result = routing(layer(words, predicates), mask, n_iterations=5)
    expected = literal.word_capsules(layer, words, predicates).mean(-1)
    assert_close(result.final, expected, atol=1e-10, rtol=0)
    assert len(result.logits) == 1 and not result.capsules and not result.nodes
    assert not list(routing.parameters())


@FORMS
def test_baseline_is_bilinear(form):
    """Eq. 4: x_i W_j p."""
    layer, routing, words, predicates, mask = make(form, "baseline", size=1)
    expected = literal.word_capsules(layer, words, predicates)[..., 0]
    result = routing(layer(words, predicates), mask, n_iterations=2)
    assert_close(result.final, expected, atol=1e-10, rtol=0)


@FORMS
def test_a_zero_node_is_no_node(form):
    layer, full, words, predicates, mask = make(form, "capsule+global")
    plain = Routing(variant="capsule", n_roles=R, size=D, global_from="intermediate").double()
    plain.load_state_dict({"agreement": full.agreement})
    capsules = layer(words, predicates)
    with_node = full(capsules, mask, n_iterations=3).final
    without = plain(capsules, mask, n_iterations=3).final
    assert (with_node - without).abs().max() > 1e-3
    torch.nn.init.zeros_(full.node.weight)
    assert_close(full(capsules, mask, n_iterations=3).final, without, atol=1e-12, rtol=0)


def test_more_iterations_continue_fewer():
    layer, routing, words, predicates, mask = make("factored", "capsule+global")
    capsules = layer(words, predicates)
    few = routing(capsules, mask, n_iterations=2)
    more = routing(capsules, mask, n_iterations=6)
    assert [len(more.logits), len(more.capsules), len(more.nodes)] == [7, 6, 6]
    for ours, theirs in zip(few.logits, more.logits[:3], strict=True):
        assert_close(ours, theirs, atol=0, rtol=0)
    assert (more.final - few.final).abs().max() > 1e-3


@FORMS
@pytest.mark.parametrize("variant", ["capsule+global", "capsule", "word", "baseline"])
def test_padding_has_no_effect(form, variant):
    size = 1 if variant == "baseline" else D
    layer, routing, words, predicates, mask = make(form, variant, size=size)
    together = routing(layer(words, predicates), mask, n_iterations=3).final
    with torch.no_grad():
        words[~mask] = 1e3
    disturbed = routing(layer(words, predicates), mask, n_iterations=3).final
    for p, length in enumerate(LENGTHS):
        alone = routing(
            layer(words[p : p + 1, :length], predicates[p : p + 1]),
            mask[p : p + 1, :length],
            n_iterations=3,
        ).final
        assert_close(together[p, :length], alone[0], atol=1e-10, rtol=0)
        assert_close(disturbed[p, :length], alone[0], atol=1e-10, rtol=0)


def test_squash():
    assert_close(squash(torch.tensor([3.0, 4.0])), torch.tensor([0.6, 0.8]) * 25 / 26)
    lengths = squash(torch.randn(50, 4) * torch.logspace(-3, 3, 50)[:, None]).norm(dim=-1)
    assert bool((lengths > 0).all()) and bool((lengths <= 1).all())


def test_squash_has_a_gradient_at_zero():
    vector = torch.zeros(3, requires_grad=True)
    squash(vector).sum().backward()
    assert_close(vector.grad, torch.zeros(3))


@VARIANTS
@pytest.mark.parametrize(("n", "n_chunks"), [(9, 3), (7, 3), (4, 4), (2, 3)])
def test_chunks_equal_the_whole(variant, global_from, n, n_chunks):
    layer, routing, words, predicates, mask = make("factored", variant, global_from, n=n)
    leaves = [words, predicates, *layer.parameters(), *routing.parameters()]
    whole = routing(layer(words, predicates), mask, n_iterations=2)
    chunked = route_predicates(
        layer, routing, words, predicates, mask, n_iterations=2, chunks=n_chunks
    )
    ours = [*chunked.logits, *chunked.capsules, *chunked.nodes]
    theirs = [*whole.logits, *whole.capsules, *whole.nodes]
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine, other, atol=1e-12, rtol=0)
    target = torch.randn(n, T, R)
    ours = torch.autograd.grad((chunked.final * target).sum(), leaves)
    theirs = torch.autograd.grad((whole.final * target).sum(), leaves)
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine, other, atol=1e-10, rtol=1e-12)


def saved_bytes(function):
    """Bytes of the tensors that a forward pass saves for its gradients, each storage once."""
    saved = {}

    def save(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
        output = function()
    assert output.requires_grad
    return sum(saved.values())


def test_chunks_save_memory():
    layer, routing, words, predicates, mask = make("factored", "capsule+global", n=48)
    whole = saved_bytes(lambda: routing(layer(words, predicates), mask, n_iterations=2).final)
    parts = saved_bytes(
        lambda: (
            route_predicates(
                layer, routing, words, predicates, mask, n_iterations=2, chunks=3
            ).final
        )
    )
    assert parts < whole / 2


class Largest(TorchFunctionMode):
    """Records the size of the largest tensor that any operation returns."""

    size = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.size = max(self.size, result.untyped_storage().size() // result.element_size())
        return result


@FORMS
def test_word_capsules_are_never_built(form):
    """No tensor of P x T x R x D numbers: here larger than words, forms and logits."""
    n_words, n_roles, size = 40, 9, 8
    layer = WordCapsuleLayer(
        word_width=H, predicate_width=H, n_roles=n_roles, size=size, rank=M, form=form
    )
    routing = Routing(
        variant="capsule+global", n_roles=n_roles, size=size, global_from="intermediate"
    )
    words, predicates = torch.randn(P, n_words, H), torch.randn(P, H)
    with Largest() as implicit:
        routing(layer(words, predicates), torch.ones(P, n_words).bool(), n_iterations=2)
    with Largest() as explicit:
        literal.word_capsules(layer, words, predicates)
    assert explicit.size >= P * n_words * n_roles * size
    assert implicit.size < P * n_words * n_roles * size / 2


@pytest.mark.parametrize("global_from", ["intermediate", "squashed"])
@pytest.mark.parametrize("global_bias", [True, False])
def test_only_a_squashed_node_may_have_a_bias(global_from, global_bias):
    routing = Routing(
        variant="capsule+global",
        n_roles=R,
        size=D,
        global_from=global_from,
        global_bias=global_bias,
    )
    assert (routing.node.bias is not None) == (global_bias and global_from == "squashed")


def test_start_of_the_agreement():
    torch.manual_seed(0)
    settings = {"variant": "capsule+global", "n_roles": 50, "size": 16, "global_from": "squashed"}
    identity = Routing(**settings, initial_agreement=0.1)
    assert torch.equal(identity.agreement, 0.1 * torch.eye(16))
    assert torch.equal(identity.node_agreement, 0.1 * torch.eye(16))
    xavier = Routing(**settings, initial_agreement=None)
    for weight in (xavier.agreement, xavier.node_agreement, xavier.node.weight):
        bound = math.sqrt(6 / sum(weight.shape))
        assert 0.9 * bound < weight.abs().max() <= bound
        assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.1)
    assert not torch.equal(xavier.agreement, xavier.node_agreement)


def test_chunks_drop_the_same_again():
    """A chunk that is computed again for its gradient has the same dropout."""
    layer, routing, words, predicates, mask = make("factored", "capsule+global", n=6)
    layer.dropout = 0.5
    leaves = [words, *layer.parameters(), *routing.parameters()]
    target = torch.randn(6, T, R)

    def gradients(route):
        torch.manual_seed(5)
        return torch.autograd.grad((route() * target).sum(), leaves)

    def chunked():
        return route_predicates(
            layer, routing, words, predicates, mask, n_iterations=2, chunks=3
        ).final

    def parts():
        given = zip(*(each.split(2) for each in (words, predicates, mask)), strict=True)
        return torch.cat([routing(layer(w, p), m, n_iterations=2).final for w, p, m in given])

    for ours, theirs in zip(gradients(chunked), gradients(parts), strict=True):
        assert_close(ours, theirs, atol=1e-10, rtol=0)
