"""Groups, schedule, gradient and moving average, compared with torch and by hand."""

import copy
import math
import random

import pytest
import torch
from torch import nn

from capsrl.network.embeddings.frozen import LayerMix
from capsrl.train.optim import (
    Gradient,
    MovingAverage,
    SpikeGuard,
    make_groups,
    make_optimizer,
    rate_factor,
    set_rates,
    trained_parameters,
)


def make_net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def groups_of(net: nn.Module, layers=None, **changes):
    settings = {
        "learning_rate": 0.1,
        "transformer_rate": 0.01,
        "layer_decay": 0.5,
        "weight_decay": 0.3,
    }
    return make_groups(trained_parameters(net), layers or {}, **{**settings, **changes})


def test_frozen_parameters_are_left_out():
    net = make_net()
    net[0].weight.requires_grad_(False)
    assert [name for name, _ in trained_parameters(net)] == ["0.bias", "2.weight", "2.bias"]


def test_layer_decay():
    net = nn.ModuleDict({"low": nn.Linear(1, 1), "mid": nn.Linear(1, 1), "head": nn.Linear(1, 1)})
    layers = {"low.weight": 0, "low.bias": 0, "mid.weight": 1, "mid.bias": 1}
    found = {
        name: (group["base_rate"], group["weight_decay"])
        for group in groups_of(net, layers)
        for name, weight in net.named_parameters()
        if any(weight is other for other in group["params"])
    }
    assert found == {
        "low.weight": (0.005, 0.3),
        "low.bias": (0.005, 0.0),
        "mid.weight": (0.01, 0.3),
        "mid.bias": (0.01, 0.0),
        "head.weight": (0.1, 0.3),
        "head.bias": (0.1, 0.0),
    }


def test_l2_is_the_gradient_of_equation_16():
    ours, literal = make_net(), make_net()
    l2, x = 0.05, torch.randn(5, 3)
    optimizer = make_optimizer(groups_of(ours), l2=l2)
    reference = torch.optim.Adam(literal.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ours(x).square().mean().backward()
        optimizer.step()
        reference.zero_grad()
        penalty = sum(weight.square().sum() for weight in literal.parameters())
        (literal(x).square().mean() + l2 * penalty).backward()
        reference.step()
    for mine, theirs in zip(ours.parameters(), literal.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=1e-5)


def test_l2_on_the_weights_of_mixed_layers():
    class Source(nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = LayerMix(3)

    net = nn.ModuleDict({"elmo": Source(), "other": nn.Linear(2, 2)})
    optimizer = make_optimizer(groups_of(net, l2_on="mix"), l2=0.05)
    found = {
        name: group["weight_decay"]
        for group in optimizer.param_groups
        for name, weight in net.named_parameters()
        if any(weight is other for other in group["params"])
    }
    assert isinstance(optimizer, torch.optim.Adam)
    assert found.pop("elmo.mix.weights") == 0.1
    assert found == dict.fromkeys(["elmo.mix.gamma", "other.weight", "other.bias"], 0.0)


def test_weight_decay_without_l2():
    optimizer = make_optimizer(groups_of(make_net()), l2=0.0)
    assert isinstance(optimizer, torch.optim.AdamW)
    assert {group["weight_decay"] for group in optimizer.param_groups} == {0.3, 0.0}


def test_rate_factor():
    def factors(schedule, warmup=0.2, n=10):
        return [rate_factor(i / n, 1 / n, warmup=warmup, schedule=schedule) for i in range(n)]

    assert factors("constant") == [0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    linear = factors("linear")
    assert linear[:3] == [0.5, 1.0, 1.0]
    assert linear[2:] == pytest.approx([1 - i / 8 for i in range(8)])
    cosine = factors("cosine")
    assert cosine[2] == pytest.approx(1)
    assert cosine[6] == pytest.approx(0.5)
    assert all(a > b > 0 for a, b in zip(cosine[2:], cosine[3:], strict=False))
    assert factors("constant", warmup=0.0) == [1] * 10
    assert (
        rate_factor(0.0, 0.5, warmup=0.1, schedule="constant") == 1.0
    )  # one step passes the warm-up


def test_set_rates_keeps_the_ratio_of_groups():
    net = make_net()
    layers = {"0.weight": 0, "0.bias": 0}
    optimizer = make_optimizer(groups_of(net, layers, weight_decay=0.0), l2=0.0)
    for factor in (0.5, 0.25):  # not one on top of the other
        set_rates(optimizer, factor)
    assert sorted(group["lr"] for group in optimizer.param_groups) == [0.0025, 0.025]


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_rates_on_the_device(l2):
    ours, literal = make_net(), make_net()
    optimizers = [make_optimizer(groups_of(net), l2=l2) for net in (ours, literal)]
    for step in range(3):
        for net, optimizer in zip((ours, literal), optimizers, strict=True):
            optimizer.zero_grad()
            net(torch.ones(1, 3)).square().sum().backward()
            factor = 0.5 / (step + 1)
            set_rates(optimizer, torch.tensor(factor) if net is ours else factor)
            optimizer.step()
    for mine, theirs in zip(ours.parameters(), literal.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_gradient():
    net, other = make_net(), make_net()
    gradient = Gradient(net.parameters())
    x = torch.randn(5, 3)
    for _ in range(2):  # the second round would add up without clear()
        gradient.clear()
        (100 * net(x)).square().sum().backward()
        gradient.gather()
    (100 * other(x)).square().sum().backward()
    for mine, theirs in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)
    expected = torch.nn.utils.clip_grad_norm_(other.parameters(), 2.0)
    torch.testing.assert_close(gradient.clip(2.0), expected)
    for mine, theirs in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)
    before = gradient.flat.clone()
    gradient.clip(2.5)  # short enough already
    torch.testing.assert_close(gradient.flat, before)


def test_unused_parameters_have_zero_gradient():
    net = make_net()
    gradient = Gradient(net.parameters())
    gradient.flat.fill_(7.0)  # of a step that used them
    net[0](torch.ones(1, 3)).sum().backward()
    gradient.gather()
    assert net[2].weight.grad is not None
    assert not net[2].weight.grad.any()
    torch.testing.assert_close(net[0].bias.grad, torch.ones_like(net[0].bias))


def test_moving_average():
    weight = nn.Parameter(torch.tensor([0.0]))
    average = MovingAverage([weight], decay=0.5)
    values = []
    for step, value in enumerate([11.0, 22.0], start=1):
        weight.data.fill_(value)
        average.update(step)
        values.append(float(average.values[0]))
    # step 1: decay 1/11; step 2: decay 2/12
    assert values == pytest.approx([10.0, 10 / 6 + 22 * 5 / 6])
    for step in range(100, 110):  # decay stays at 0.5
        before = float(average.values[0])
        average.update(step)
        assert float(average.values[0]) == pytest.approx((before + 22) / 2)


def test_swap_twice():
    net = make_net()
    average = MovingAverage(net.parameters(), 0.9)
    for weight in net.parameters():
        weight.data.add_(1.0)
    before = copy.deepcopy(net.state_dict())
    average.swap()
    assert not torch.equal(net.state_dict()["0.weight"], before["0.weight"])
    average.swap()
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name])


def test_each_gradient_can_be_clipped_by_itself():
    weights = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(3))]
    gradient = Gradient(weights)
    weights[0].grad = torch.tensor([30.0, 40.0])
    weights[1].grad = torch.tensor([0.0, 0.3, 0.4])
    gradient.gather()
    norm = gradient.clip(1.0, each=True)
    assert norm.item() == pytest.approx((50**2 + 0.5**2) ** 0.5)
    torch.testing.assert_close(weights[0].grad, torch.tensor([0.6, 0.8]))
    torch.testing.assert_close(weights[1].grad, torch.tensor([0.0, 0.3, 0.4]))


def test_clipping_each_gradient_equals_that_of_torch():
    torch.manual_seed(1)
    ours, theirs = ([nn.Parameter(torch.zeros(n, 3)) for n in (1, 5, 40, 200)] for _ in range(2))
    gradient = Gradient(ours)
    for mine, other in zip(ours, theirs, strict=True):
        mine.grad = torch.randn_like(mine)
        other.grad = mine.grad.clone()
        nn.utils.clip_grad_norm_(other, 7.0)
    gradient.gather()
    gradient.clip(7.0, each=True)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=0, atol=0)


def make_guard(max_spike: float, memory: int) -> SpikeGuard:
    return SpikeGuard(max_spike, memory=memory, device=torch.device("cpu"))


def limits(guard: SpikeGuard, norms: list[float], *, start: int = 1, **settings) -> list[float]:
    """The factors on gradients with these norms; the first step has the number `start`."""
    return [
        float(guard.limit(torch.tensor(norm), step, **settings))
        for step, norm in enumerate(norms, start=start)
    ]


def literal_guard(norms: list[float], top: float, memory: int) -> list[tuple[float, float, float]]:
    """The factor on the gradient, on the rates and the usual norm of each step, in plain Python."""
    expected = []
    usual, rate = 0.0, 1.0
    for step, norm in enumerate(norms, start=1):
        factor = 1.0
        if step > memory and norm > top * usual > 0:
            factor = usual / norm
            rate = max(1 / 16, rate / 4)
        else:
            rate = min(1.0, 1.05 * rate)
        if norm > 0 and usual > 0:
            change = max(-math.log(top), min(math.log(top), math.log(norm / usual)))
            usual = math.exp(math.log(usual) + change / min(step, memory))
        elif norm > 0:
            usual = norm
        expected.append((factor, rate, usual))
    return expected


def test_spike_guard_equals_plain_python():
    draw = random.Random(4)
    norms = [
        10 ** draw.choice([0, 0, 0, 1, 3]) * draw.lognormvariate(0, 1) * draw.choice([0, 1, 1])
        for _ in range(200)
    ]
    guard = make_guard(4.0, memory=8)
    expected = literal_guard(norms, 4.0, 8)
    for step, norm in enumerate(norms, start=1):
        [factor] = limits(guard, [norm], start=step)
        found = (factor, float(guard.rate), float(guard.usual))
        assert found == pytest.approx(expected[step - 1], rel=1e-4)
    n_spikes = sum(factor < 1 for factor, _, _ in expected)
    assert int(guard.count) == n_spikes
    assert 20 < n_spikes < 180


def test_spikes_are_scaled_and_hardly_change_what_is_usual():
    guard = make_guard(10.0, memory=50)
    assert limits(guard, [1.0] * 50) == [1.0] * 50
    found = limits(guard, [9.9, 2e6, 0.5, 1e3, 10.0], start=51)
    assert found == pytest.approx([1.0, 1 / 2e6, 1.0, 1e-3, 1.0], rel=0.2)
    assert found[::2] == [1.0] * 3
    assert int(guard.count) == 2
    assert float(guard.usual) < 1.25


def test_rates_fall_in_spikes_and_recover():
    guard = make_guard(10.0, memory=1)
    rates = []
    for step, norm in enumerate([1.0, 1e6, 1e6, 1e6, *[10.0] * 60], start=1):
        limits(guard, [norm], start=step)
        rates.append(float(guard.rate))
        guard.usual.fill_(1.0)
    assert rates[:5] == pytest.approx([1.0, 1 / 4, 1 / 16, 1 / 16, 1.05 / 16])
    n_steps = math.ceil(math.log(16, 1.05))
    assert rates[3 + n_steps] == rates[-1] == 1.0
    assert rates[2 + n_steps] < 1.0


def test_norms_vary_freely_at_first():
    norms = [0.01, 100.0, 0.01, 1000.0]
    assert limits(make_guard(10.0, memory=4), norms) == [1.0] * 4
    assert limits(make_guard(10.0, memory=1), norms, warming_up=True) == [1.0] * 4
    assert limits(make_guard(10.0, memory=1), norms) == pytest.approx([1.0, 1e-4, 1.0, 1e-5])


def test_norms_that_stay_large_become_usual():
    guard = make_guard(10.0, memory=20)
    limits(guard, [1.0] * 20)
    found = limits(guard, [5000.0] * 120, start=21)
    # What is usual grows tenfold in 20 steps, until it is a tenth of the norm.
    n_spikes = math.ceil(20 * math.log10(500))
    assert int(guard.count) == n_spikes
    assert found[n_spikes:] == [1.0] * (120 - n_spikes)
    assert float(guard.rate) == 1.0


@pytest.mark.parametrize("norm", [0.0, math.nan, math.inf])
def test_norms_that_say_nothing(norm):
    guard = make_guard(10.0, memory=1)
    assert limits(guard, [norm, 2.0, norm]) == [1.0, 1.0, 1.0]
    assert float(guard.usual) == 2.0
