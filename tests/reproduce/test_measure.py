"""One pass with traces measures the same as one pass for each number of iterations."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from capsrl.score import score
from capsrl.sentence import Argument, Proposition, Trace
from reproduce.measure import measure, measure_iterations
from reproduce.results import NO_ROLE, Change
from tests.helpers.tiny_networks import SENTENCES, UNSEEN, make_config, make_labeler, sentence

# Gold in which a word has two roles, and predicates are not in their order.
TWICE = sentence("she and he see the man", (3, "see.01", {0: "A0", 5: "A1"}))
TWICE = TWICE.with_propositions(
    [
        Proposition(5, "man.01", (Argument("A0", 0),)),
        replace(
            TWICE.propositions[0],
            arguments=(Argument("A0", 0), Argument("A1", 0), Argument("A1", 5)),
        ),
    ]
)
DEV = [*SENTENCES, UNSEEN, TWICE]
FILES = {"dev": DEV, "test": SENTENCES, "ood": [*SENTENCES[:3], UNSEEN]}


@pytest.fixture(scope="module", params=[("capsule", 2), ("capsule+global", 3)], ids=str)
def labeler(request):
    """A network whose predictions change often between iterations."""
    variant, iterations = request.param
    labeler = make_labeler(make_config(variant=variant, iterations=iterations), seed=4)
    with torch.no_grad():
        labeler.network.forms.weight[0] *= 3
        for parameter in labeler.network.routing.parameters():
            parameter *= -8
    return labeler


@pytest.fixture(scope="module")
def measured(labeler):
    return measure(labeler, FILES)


def test_each_set_is_scored_as_usual(labeler, measured):
    assert list(measured.sets) == ["dev", "test", "ood"]
    for name, gold in FILES.items():
        counts = score(gold, labeler.label_sentences(gold)).counts
        assert measured.sets[name] == counts
        assert counts.correct_arguments < counts.pred_arguments  # an untrained network


@pytest.mark.parametrize("n", range(1, 7))
def test_the_sweep_is_what_each_number_of_iterations_gives(labeler, measured, n):
    counts = score(DEV, labeler.label_sentences(DEV, iterations=n)).counts
    assert measured.sweep[n] == counts


def test_the_sweep_passes_through_the_model_as_trained(labeler, measured):
    assert list(measured.sweep) == [1, 2, 3, 4, 5, 6]
    assert measured.sweep[labeler.config.capsules.iterations] == measured.sets["dev"]
    assert len({counts.pred_arguments for counts in measured.sweep.values()}) > 3


def roles_of(labeled, n_words):
    """The role of every word of every proposition, in the order of predicates."""
    found = []
    for p in labeled.propositions:
        roles = {a.word: a.role for a in p.arguments}
        found.append([roles.get(word, NO_ROLE) for word in range(n_words)])
    return found


def recount(before, after):
    """Changes between two labelings of DEV: (before, after) -> [right, wrong, other]."""
    found = {}
    for gold, one, other in zip(DEV, before, after, strict=True):
        right = {p.predicate: Counter() for p in gold.propositions}
        for p in gold.propositions:
            for a in p.arguments:
                right[p.predicate][a.word, a.role] += 1
        n = len(gold.words)
        predicates = [p.predicate for p in one.propositions]
        for predicate, old, new in zip(
            predicates, roles_of(one, n), roles_of(other, n), strict=True
        ):
            for word in range(n):
                if old[word] == new[word]:
                    continue
                has_role = any(place == word for place, _ in right[predicate])

                def is_gold(role, word=word, roles=right[predicate], has_role=has_role):
                    return (word, role) in roles if has_role else role == NO_ROLE

                kinds = found.setdefault((old[word], new[word]), [0, 0, 0])
                if is_gold(new[word]):
                    kinds[0] += 1
                elif is_gold(old[word]):
                    kinds[1] += 1
                else:
                    kinds[2] += 1
    return found


def test_transitions_are_those_between_two_labelings(labeler, measured):
    labeled = {n: list(labeler.label_sentences(DEV, iterations=n)) for n in range(1, 7)}
    assert list(measured.transitions) == [1, 2, 3, 4, 5]
    kinds = Counter()
    for n, changes in measured.transitions.items():
        wanted = recount(labeled[n], labeled[n + 1])
        assert {(c.before, c.after): [c.right, c.wrong, c.other] for c in changes} == wanted
        assert list(changes) == sorted(changes, key=lambda c: (c.before, c.after))
        for change in changes:
            kinds.update(right=change.right, wrong=change.wrong, other=change.other)
    assert min(kinds[kind] for kind in ("right", "wrong", "other")) > 20


def changes_of(gold_roles, steps):
    """The changes of a word with these gold roles and these predicted roles.

    steps  predicted after 0, 1, ... iterations; the last one stays
    """
    roles = (NO_ROLE, "A0", "A1", "A2")
    beliefs = np.zeros((7, 2, 4), dtype=np.float32)
    for n in range(7):
        beliefs[n, 0, roles.index(steps[min(n, len(steps) - 1)])] = 1
        beliefs[n, 1, 0] = 1
    gold = Proposition(1, "see.01", tuple(Argument(role, 0) for role in gold_roles))

    class Predictor:
        def label_sentences(self, sentences, *, predicates, iterations, trace):
            assert (predicates, iterations, trace) == ("marked", 6, True)
            yield sentences[0].with_propositions([replace(gold, trace=Trace(roles, beliefs))])

    sentences = [sentence("he sees").with_propositions([gold])]
    _, transitions = measure_iterations(Predictor(), sentences)
    return {n: changes for n, changes in transitions.items() if changes}


@pytest.mark.parametrize(
    ("gold", "before", "after", "kind"),
    [
        (["A0"], "A1", "A0", "right"),
        (["A0"], "A0", "A1", "wrong"),
        (["A0"], "A1", "A2", "other"),
        (["A0"], NO_ROLE, "A1", "other"),
        ([], "A1", NO_ROLE, "right"),
        ([], NO_ROLE, "A1", "wrong"),
        ([], "A1", "A2", "other"),
        (["A0", "A1"], "A0", "A1", "right"),  # both are gold
        (["A0", "A1"], "A1", NO_ROLE, "wrong"),
        (["A0", "A1"], NO_ROLE, "A1", "right"),
        (["A0", "A1"], "A2", NO_ROLE, "other"),
    ],
)
def test_right_wrong_and_other(gold, before, after, kind):
    counts = {"right": 0, "wrong": 0, "other": 0} | {kind: 1}
    # What the first iteration changes is no refinement yet.
    assert changes_of(gold, ["A2", before, after]) == {1: (Change(before, after, **counts),)}


def test_every_change_counts_between_its_iterations():
    assert changes_of(["A0"], [NO_ROLE, "A1", "A1", "A0", "A1"]) == {
        2: (Change("A1", "A0", 1, 0, 0),),
        3: (Change("A0", "A1", 0, 1, 0),),
    }


@pytest.mark.parametrize("rows", ["lengths", "arguments"])
def test_rows_add_up_to_the_whole(measured, rows):
    table, whole = getattr(measured, rows), measured.sets["test"]
    assert len(table) > 1
    for name, wanted in (
        ("correct", whole.labeled.correct),
        ("gold", whole.labeled.gold),
        ("pred", whole.labeled.pred),
        ("propositions", whole.gold_predicates),
        ("exact", whole.correct_propositions),
    ):
        assert sum(getattr(row, name) for row in table.values()) == wanted


def test_rows_are_named_by_length_and_by_number_of_gold_arguments(measured):
    assert set(measured.lengths) == {"0-9", "10-19"}
    assert measured.lengths["10-19"].propositions == 2
    n_arguments = Counter(str(len(p.arguments)) for s in SENTENCES for p in s.propositions)
    assert {n: row.propositions for n, row in measured.arguments.items()} == n_arguments


def test_gold_roles_are_counted_on_dev(measured):
    roles = Counter(a.role for s in DEV for p in s.propositions for a in p.arguments)
    assert measured.gold_roles == roles
    assert roles["A1"] == 7


@pytest.mark.parametrize("variant", ["baseline", "word"])
def test_nothing_to_watch_where_nothing_iterates(variant):
    found = measure(make_labeler(make_config(variant=variant)), {"dev": DEV, "test": SENTENCES})
    assert found.sweep == found.transitions == {}
    assert list(found.sets) == ["dev", "test"]
    assert found.gold_roles["AM-TMP"] == 1
    assert found.lengths and found.arguments
