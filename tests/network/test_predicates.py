import math

import pytest
import torch
from torch.nn.functional import elu
from torch.testing import assert_close

from capsrl.network.predicates import PredicateFinder, SenseScorer, Tagger


def make(width=6):
    torch.manual_seed(1)
    # Five senses; pattern 2 means none; the last sense has no training examples.
    return SenseScorer(
        4, width=width, counts=[9, 5, 2, 1, 0], patterns=[0, 1, 2, 0, 1], n_patterns=2
    )


def test_scores_by_hand():
    scorer = make()
    states = torch.randn(2, 4)
    candidates, n_candidates = torch.tensor([[0, 2, 4], [3, 0, 0]]), torch.tensor([3, 1])
    senses, patterns = scorer(states, candidates, n_candidates)
    assert patterns.shape == (2, 2)
    for p, ids in enumerate([[0, 2, 4], [3]]):
        query = elu(scorer.of_state(states[p]))
        for c, sense in enumerate(ids):
            pattern = [0, 1, 2, 0, 1][sense]
            expected = (
                query @ (scorer.senses.weight[sense] + scorer.patterns.weight[pattern])
                + scorer.prior[sense]
                + scorer.pattern_prior[pattern]
            )
            assert senses[p, c].item() == pytest.approx(expected.item(), abs=1e-5)
        for k in range(2):
            expected = query @ scorer.patterns.weight[k] + scorer.pattern_prior[k]
            assert patterns[p, k].item() == pytest.approx(expected.item(), abs=1e-5)


def test_padding_is_never_chosen():
    senses, _ = make()(
        torch.randn(2, 4), torch.tensor([[3, 0, 0], [1, 2, 0]]), torch.tensor([1, 2])
    )
    probs = senses.softmax(-1)
    assert_close(probs[0], torch.tensor([1.0, 0.0, 0.0]))
    assert probs[1, 2] == 0.0


def test_gradients_without_candidates():
    scorer = make()
    senses, patterns = scorer(torch.randn(1, 4), torch.zeros(1, 1).long(), torch.zeros(1).long())
    (senses.log_softmax(-1).sum() + patterns.sum()).backward()
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in scorer.parameters())


def test_prior_is_the_frequency():
    scorer = make()
    torch.nn.init.zeros_(scorer.of_state.weight)
    torch.nn.init.zeros_(scorer.of_state.bias)
    senses, _ = scorer(torch.randn(1, 4), torch.tensor([[0, 1, 2, 3, 4]]), torch.tensor([5]))
    expected = torch.tensor([[math.log(count + 0.5) for count in (9, 5, 2, 1, 0)]])
    assert_close(senses, expected)


def test_an_unseen_sense_is_its_pattern():
    assert_close(make().senses.weight[4], torch.zeros(6))
    assert bool((make().senses.weight[:4] != 0).all())


def test_finder_and_tagger():
    states = torch.randn(2, 3, 4)
    finder, tagger = PredicateFinder(4), Tagger(4, n_tags=7)
    assert_close(finder(states), (states @ finder.score.weight[0]) + finder.score.bias)
    assert tagger(states).shape == (2, 3, 7)
