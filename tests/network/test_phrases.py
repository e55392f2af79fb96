"""The scorer of phrases: its masks, a brute-force oracle, and training with gold phrases."""

import dataclasses
import math

import pytest
import torch

from capsrl.labeler import Labeler
from capsrl.network.build import make_network
from capsrl.network.phrases import PhraseScorer
from capsrl.predict.indexing import IGNORED
from capsrl.predict.inventory import build_inventory
from teachers.ensemble import Ensemble
from tests.helpers.tiny_networks import (
    OLD_MAN,
    SENTENCES,
    blind,
    compute_test_loss,
    make_config,
    make_labeler,
    sentence,
    with_phrases,
)


@pytest.fixture
def network():
    torch.manual_seed(4)
    config = make_config(phrase_width=5, encoder={"predicate_width": 6})
    return make_network(config, build_inventory(SENTENCES)).eval()


def test_scores_by_hand():
    torch.manual_seed(1)
    scorer = PhraseScorer(view_width=3, state_width=4, width=2, dropout=0.0).eval()
    torch.nn.init.normal_(scorer.of_distance)
    states, views = torch.randn(2, 5, 4), torch.randn(3, 5, 3)
    rows = torch.tensor([0, 1, 1])
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2, [True] * 3 + [False] * 2])
    with torch.no_grad():
        logits = scorer(states, views, rows, mask)
        for p, row in enumerate(rows.tolist()):
            for head in range(5):
                for edge in range(5):
                    parts = [
                        torch.nn.functional.gelu(
                            scorer.of_state(states[row, word]) + scorer.of_view(views[p, word])
                        ).view(4, 2)
                        for word in (head, edge)
                    ]
                    near = abs(head - edge)
                    first = parts[0][0] @ parts[1][1] / math.sqrt(2) + scorer.of_distance[0, near]
                    last = parts[0][2] @ parts[1][3] / math.sqrt(2) + scorer.of_distance[1, near]
                    if edge > head:
                        first = torch.tensor(-1e9)
                    if edge < head or not mask[p, edge]:
                        last = torch.tensor(-1e9)
                    assert torch.allclose(logits.firsts[p, head, edge], first, atol=1e-5)
                    assert torch.allclose(logits.lasts[p, head, edge], last, atol=1e-5)


def test_phrases_contain_their_heads_alone_and_in_any_batch():
    labeler = make_labeler(make_config(phrase_width=5, encoder={"predicate_width": 6}))
    blinded = [blind(each) for each in SENTENCES]
    together = list(labeler.label_sentences(blinded))
    arguments = [a for s in together for p in s.propositions for a in p.arguments]
    assert arguments
    for argument in arguments:
        assert argument.phrase.first <= argument.word <= argument.phrase.last
    assert any(argument.phrase.first < argument.phrase.last for argument in arguments)
    alone = [next(labeler.label_sentences([each])) for each in blinded]
    for one, other in zip(together, alone, strict=True):
        for left, right in zip(one.propositions, other.propositions, strict=True):
            assert [a.phrase for a in left.arguments] == [a.phrase for a in right.arguments]


def test_targets(network):
    batch = network.collate([network.index(SENTENCES[0]), network.index(OLD_MAN)])
    firsts, lasts = batch.gold.firsts.tolist(), batch.gold.lasts.tolist()
    assert set(firsts[0]) == {IGNORED}  # its arguments have no phrases
    assert firsts[1] == [0, IGNORED, IGNORED, 1, IGNORED, IGNORED, 5, IGNORED, IGNORED]
    assert lasts[2] == [IGNORED, IGNORED, IGNORED, 3, IGNORED, IGNORED, IGNORED, IGNORED, 8]


def test_loss_is_the_mean_over_arguments(network):
    batch = network.collate([network.index(OLD_MAN)])
    output = network(batch)
    spans = output.propositions.spans
    firsts, lasts = spans.firsts.log_softmax(-1), spans.lasts.log_softmax(-1)
    gold = [(0, 0, 0, 0), (0, 3, 1, 3), (0, 6, 5, 8), (1, 3, 1, 3), (1, 8, 7, 8)]
    by_hand = -sum(firsts[p, h, a] + lasts[p, h, b] for p, h, a, b in gold) / len(gold)
    loss = compute_test_loss(output, batch, phrase_weight=0.3)
    assert torch.allclose(loss.phrases, 0.3 * by_hand)


def test_mean_of_members(network):
    other = make_network(make_config(phrase_width=3), build_inventory(SENTENCES)).eval()
    heads_only = make_network(make_config(), build_inventory(SENTENCES)).eval()
    ensemble = Ensemble({"a": network, "b": other, "c": heads_only}).eval()
    with torch.no_grad():
        results = []
        for each in (network, other, ensemble):
            batch = each.collate(
                [dataclasses.replace(each.index(OLD_MAN, gold=False), lemmas=("want", "leave"))],
                gold=False,
            )
            logits = each.score_propositions(each.encode(batch), batch.mask, batch.predicates)
            results.append(logits.spans.firsts.softmax(-1))
    assert torch.allclose(results[2], (results[0] + results[1]) / 2, atol=1e-6)


def test_phrases_are_learned(network):
    """A few steps of training give the phrases of the training sentence."""
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    batch = network.collate([network.index(OLD_MAN)])
    for _ in range(60):
        optimizer.zero_grad()
        compute_test_loss(network(batch), batch).total.backward()
        optimizer.step()
    labeler = Labeler(network, make_config(phrase_width=5, encoder={"predicate_width": 6}))
    (labeled,) = labeler.label_sentences([blind(OLD_MAN)])
    assert [[a.phrase for a in p.arguments] for p in labeled.propositions] == [
        [a.phrase for a in p.arguments] for p in OLD_MAN.propositions
    ]


def test_texts_of_phrases():
    given = with_phrases(sentence("Mary sees him", (1, "see.01", {0: "A0"})), {0: (0, 1)})
    assert given.propositions[0].arguments[0].phrase.text == "Mary sees"
