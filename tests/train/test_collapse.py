"""Which runs have collapsed."""

from capsrl.score import score
from capsrl.train.checkpoint import State
from capsrl.train.collapse import find_collapse, is_low
from tests.helpers.tiny_networks import SENTENCES


def without_arguments():
    return [
        s.with_propositions([type(p)(p.predicate, p.sense) for p in s.propositions])
        for s in SENTENCES
    ]


def test_an_f1_far_below_the_best_is_low():
    assert is_low(42.0, 85.0)
    assert not is_low(80.0, 85.0)
    assert not is_low(10.0, 10.0)


def test_the_second_low_epoch_in_a_row_is_reported_once():
    scores = score(SENTENCES, SENTENCES)
    states = [State(epoch=9, best_f1=85.0, best_epoch=6, low_epochs=n) for n in range(4)]
    found = [find_collapse(scores, state, n_epochs=14) for state in states]
    assert found[:2] == [None, None] and found[3] is None
    assert "epoch 9: dev F1 is 100.00, after 85.00 in epoch 6; the run has collapsed" in found[2]


def test_a_run_that_predicts_no_argument_is_reported_after_a_quarter():
    scores = score(SENTENCES, without_arguments())
    found = {
        epoch: find_collapse(scores, State(epoch=epoch), n_epochs=14) for epoch in range(1, 15)
    }
    reported = {epoch for epoch, message in found.items() if message}
    assert reported == {4}
    assert found[4].startswith("epoch 4: no argument has been predicted on dev so far; dev F1 is")
    fine = State(epoch=4, predicts_arguments=True)
    assert find_collapse(score(SENTENCES, SENTENCES), fine, n_epochs=14) is None


def test_a_run_that_hardly_predicts_arguments_any_more():
    found = find_collapse(
        score(SENTENCES, without_arguments()), State(epoch=4, predicts_arguments=True), n_epochs=14
    )
    assert found.startswith("epoch 4: 0 arguments are predicted on dev, gold has 12; the run may")
