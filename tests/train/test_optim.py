"""Groups, schedule, gradient and moving average, compared with torch and by hand."""

import copy
import math
import random

import pytest
import torch
from torch import nn

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


def test_l2_is_the_gradient_of_equation_15():
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


def test_rates_of_zero_on_the_device():
    net = make_net()
    optimizer = make_optimizer(groups_of(net), l2=0.0)
    net(torch.ones(1, 3)).sum().backward()
    before = copy.deepcopy(net.state_dict())
    set_rates(optimizer, torch.tensor(0.0))
    optimizer.step()
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    set_rates(optimizer, torch.tensor(1.0))
    optimizer.step()
    assert not any(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_gradient():
    net, other = make_net(), make_net()
    gradient = Gradient(net.parameters())
    x = torch.randn(5, 3)
    for _ in range(2):  # the second round would add up without clear()
        gradient.clear()
        (100 * net(x)).square().sum().backward()
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
    net[0](torch.ones(1, 3)).sum().backward()
    assert net[2].weight.grad is not None
    assert not net[2].weight.grad.any()
    assert gradient.flat.any()


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
    weights[0].grad.copy_(torch.tensor([30.0, 40.0]))
    weights[1].grad.copy_(torch.tensor([0.0, 0.3, 0.4]))
    norm = gradient.clip(1.0, each=True)
    assert norm.item() == pytest.approx((50**2 + 0.5**2) ** 0.5)
    torch.testing.assert_close(weights[0].grad, torch.tensor([0.6, 0.8]))
    torch.testing.assert_close(weights[1].grad, torch.tensor([0.0, 0.3, 0.4]))


def make_guard(max_spike: float, memory: int) -> SpikeGuard:
    return SpikeGuard(max_spike, memory=memory, device=torch.device("cpu"))


def keeps(guard: SpikeGuard, norms: list[float], *, start: int = 1, **settings) -> list[float]:
    """The factors of steps with these gradient norms; the first one has the number `start`."""
    return [
        float(guard.keep(torch.tensor(norm), step, **settings))
        for step, norm in enumerate(norms, start=start)
    ]


def literal_guard(norms: list[float], top: float, memory: int) -> tuple[list[float], list[bool]]:
    """The usual norm after each step and whether the step is a spike, in plain Python."""
    usual, spikes = [], []
    log = -math.inf
    for step, norm in enumerate(norms, start=1):
        spikes.append(step > memory and norm > top * math.exp(log) > 0)
        if norm > 0:
            if log > -math.inf:
                change = max(-math.log(top), min(math.log(top), math.log(norm) - log))
                log += change / min(step, memory)
            else:
                log = math.log(norm)
        usual.append(math.exp(log))
    return usual, spikes


def test_spike_guard_equals_plain_python():
    draw = random.Random(4)
    norms = [
        10 ** draw.choice([0, 0, 0, 1, 3]) * draw.lognormvariate(0, 1) * draw.choice([0, 1, 1])
        for _ in range(200)
    ]
    guard = make_guard(4.0, memory=8)
    usual, spikes = literal_guard(norms, 4.0, 8)
    for step, norm in enumerate(norms, start=1):
        assert keeps(guard, [norm], start=step) == [0.0 if spikes[step - 1] else 1.0]
        assert float(guard.usual) == pytest.approx(usual[step - 1], rel=1e-4)
    assert int(guard.count) == sum(spikes)
    assert 20 < sum(spikes) < 180


def test_spikes_are_skipped_and_hardly_change_what_is_usual():
    guard = make_guard(10.0, memory=50)
    assert keeps(guard, [1.0] * 50) == [1.0] * 50
    assert keeps(guard, [9.9, 2e6, 0.5, 1e3, 10.0], start=51) == [1, 0, 1, 0, 1]
    assert int(guard.count) == 2
    assert float(guard.usual) < 1.25


def test_norms_vary_freely_at_first():
    norms = [0.01, 100.0, 0.01, 1000.0, 1.0]
    assert keeps(make_guard(10.0, memory=5), norms) == [1.0] * 5
    assert keeps(make_guard(10.0, memory=1), norms, warming_up=True) == [1.0] * 5
    assert keeps(make_guard(10.0, memory=1), norms[:4]) == [1.0, 0.0, 1.0, 0.0]


def test_norms_that_stay_large_become_usual():
    guard = make_guard(10.0, memory=20)
    keeps(guard, [1.0] * 20)
    kept = keeps(guard, [5000.0] * 100, start=21)
    # What is usual grows tenfold in 20 steps, until it is a tenth of the norm.
    n_skipped = math.ceil(20 * math.log10(500))
    assert kept == [0.0] * n_skipped + [1.0] * (100 - n_skipped)


@pytest.mark.parametrize("norm", [0.0, math.nan, math.inf])
def test_norms_that_say_nothing(norm):
    guard = make_guard(10.0, memory=1)
    assert keeps(guard, [norm, 2.0, norm]) == [1.0, 1.0, 1.0]
    assert float(guard.usual) == 2.0
