from dataclasses import replace

import pytest

from reproduce.behaviour import behaviour_themes, curves, mean_curve
from reproduce.corpora import group_runs
from reproduce.results import Change, Measured
from reproduce.verdicts import Verdict
from tests.helpers.synthetic_runs import counts, run

GLOBAL = "with the global node"
ALONE = "without the global node"


def swept(variant, seed, *, rights=None, wrongs=None, repeated=None, changes=()):
    """A run on whose dev set iterations 1, 2, ... have these right and wrong arguments."""
    n = len(rights or wrongs or repeated or (0, 0))
    columns = (rights or [1500] * n, wrongs or [500] * n, repeated or [60] * n)
    sweep = {
        i: counts(right, wrong=wrong, repeated=twice, exact=right // 3)
        for i, (right, wrong, twice) in enumerate(zip(*columns, strict=True), start=1)
    }
    found = Measured({"dev": sweep[2]}, sweep=sweep, transitions={1: tuple(changes)})
    return run(variant=variant, seed=seed, measured=found)


def claims_of(runs):
    [corpus] = group_runs(runs)
    return {claim.text: claim for theme in behaviour_themes(corpus) for claim in theme.claims}


def test_curves_by_seed_and_their_means():
    runs = [swept("capsule", 1, repeated=[90, 70, 50]), swept("capsule", 2, repeated=[80, 70, 60])]
    [corpus] = group_runs(runs)
    assert curves(corpus, "capsule", "repeated") == [[90, 70, 50], [80, 70, 60]]
    means = mean_curve(curves(corpus, "capsule", "repeated"))
    assert [each.mean for each in means] == [85, 70, 55]
    assert curves(corpus, "capsule+global", "F1") == []


@pytest.mark.parametrize(
    ("second", "verdict", "shown"),
    [
        ([1500, 1600, 1550], Verdict.HELD, "2 of 2 runs; peaks at 2, 2"),
        ([1500, 1600, 1650], Verdict.UNSURE, "1 of 2 runs; peaks at 2, 3"),
    ],
)
def test_peaks(second, verdict, shown):
    runs = [swept("capsule", 1, rights=[1400, 1500, 1450]), swept("capsule", 2, rights=second)]
    found = claims_of(runs)
    for measure in ("F1", "EM"):
        claim = found[f"{measure} peaks at the trained number of iterations, {ALONE}"]
        assert (claim.verdict, claim.ours) == (verdict, shown)
    other = found[f"F1 peaks at the trained number of iterations, {GLOBAL}"]
    assert other.verdict is Verdict.MISSING


def test_a_trained_number_that_was_not_tried_or_is_the_last():
    beyond = swept("capsule", 1, rights=[1400, 1500]), swept("capsule", 2, rights=[1400, 1500])
    found = claims_of([replace(one, iterations=8) for one in beyond])
    peak = found[f"F1 peaks at the trained number of iterations, {ALONE}"]
    assert (peak.verdict, peak.ours) == (Verdict.MISSING, "–")
    for runs in (beyond, [replace(one, iterations=8) for one in beyond]):
        course = claims_of(runs)[f"Recall falls with every iteration, {ALONE}"]
        assert course.ours.startswith("0 of 2 runs; means ")  # nothing comes after 2


def test_precision_and_recall_with_every_iteration():
    rising = {"rights": [1600, 1590, 1580], "wrongs": [600, 400, 200]}
    falling = {"rights": [1600, 1600, 1600], "wrongs": [350, 300, 340]}
    runs = [swept("capsule", seed, **rising) for seed in (1, 2)]
    runs += [swept("capsule+global", seed, **falling) for seed in (1, 2)]
    found = claims_of(runs)
    rises = found[f"Precision rises with every iteration, {ALONE}"]
    # (900 + right) / (1000 + right + wrong): 2500/3200, 2490/2990, 2480/2780.
    assert rises.ours == "2 of 2 runs (from 2 on: 2); means 78.1 83.3 89.2"
    assert rises.verdict is Verdict.HELD
    assert found[f"Recall falls with every iteration, {ALONE}"].verdict is Verdict.HELD
    falls = found[f"Precision falls with every iteration, {GLOBAL}"]
    assert falls.verdict is Verdict.FAILED
    assert falls.ours.startswith("0 of 2 runs (from 2 on: 2); means ")


def test_duplicate_arguments():  # gold has 50
    runs = [swept("capsule", seed, repeated=[200, 80, 50 + seed]) for seed in (1, 2, 3)]
    runs += [swept("capsule+global", seed, repeated=[200, 60, 90 + seed]) for seed in (1, 2, 3)]
    for seed in (1, 2, 3):
        sets = {"dev": counts(1500, repeated=100 + seed)}
        runs.append(run(variant="baseline", seed=seed, measured=Measured(sets)))
    found = claims_of(runs)
    baseline = found["The baseline repeats roles in more propositions than gold does"]
    # 4.3027 / sqrt(3) = 2.48
    assert baseline.ours == "102.0 ± 1.0 against 50: +52.0 [+49.5, +54.5]"
    assert baseline.verdict is Verdict.HELD
    [converges] = [claim for text, claim in found.items() if "converge" in text]
    assert converges.verdict is Verdict.HELD
    assert converges.ours == "52.0 ± 1.0 after 3, gold 50; 3 of 3 runs"
    [grows] = [claim for text, claim in found.items() if "grow again" in text]
    assert (grows.verdict, grows.ours) == (Verdict.HELD, "from 2 to 3: +32.0 [+29.5, +34.5]")


def test_duplicates_that_stay_above_gold_and_go_on_falling():
    runs = [swept("capsule", seed, repeated=[200, 80, 56]) for seed in (1, 2)]
    runs += [swept("capsule+global", seed, repeated=[200, 60, 40 + seed]) for seed in (1, 2)]
    found = claims_of(runs)
    [converges] = [claim for text, claim in found.items() if "converge" in text]
    [grows] = [claim for text, claim in found.items() if "grow again" in text]
    assert converges.verdict is Verdict.FAILED
    # Down by 19 and 18: 12.706 * 0.5 either side.
    assert (grows.verdict, grows.ours) == (Verdict.FAILED, "from 2 to 3: −18.5 [−24.9, −12.1]")


def test_role_changes():
    filtering = [Change("A0", "_", 60, 20, 20), Change("_", "A1", 20, 10, 0)]
    runs = [
        swept("capsule", seed, changes=[*filtering, Change("A0", "A1", seed, 0, 0)])
        for seed in (1, 2, 3)
    ]
    runs += [
        swept("capsule+global", seed, changes=[Change("_", "A1", 10, 10 + seed, 5)])
        for seed in (1, 2, 3)
    ]
    found = claims_of(runs)
    right = found[f"Most role changes are right, {ALONE}"]
    # (80 + seed) / (110 + seed): 72.97, 73.21, 73.45
    assert right.ours == "73.2 ± 0.2 % of right and wrong ones (1 → 2: 73.2)"
    assert right.verdict is Verdict.HELD
    assert found[f"Most role changes are right, {GLOBAL}"].verdict is Verdict.UNSURE
    to_none = found[f"Roles change to none rather than from it, {ALONE}"]
    assert (to_none.ours, to_none.verdict) == ("76.9 ± 0.0 % of both go to none", Verdict.HELD)
    from_none = found[f"Roles change from none rather than to it, {GLOBAL}"]
    assert (from_none.ours, from_none.verdict) == ("0.0 ± 0.0 % of both go to none", Verdict.HELD)


def test_a_first_step_that_outweighs_the_second_is_told_apart():
    steps = {1: (Change("A0", "_", 80, 20, 0),), 2: (Change("_", "A0", 2, 8, 9),)}
    measured = Measured({"dev": counts(1500)}, transitions=steps)
    found = claims_of([run(variant="capsule", seed=seed, measured=measured) for seed in (1, 2)])
    # 82 of 110
    assert found[f"Most role changes are right, {ALONE}"].ours == (
        "74.5 ± 0.0 % of right and wrong ones (1 → 2: 80.0, 2 → 3: 20.0)"
    )


def test_prose_on_iterations_says_where_training_began_and_by_what_the_epoch_was_chosen():
    one = swept("capsule", 1, rights=[1400, 1500, 1450])
    [corpus] = group_runs([one])
    prose = behaviour_themes(corpus)[0].prose
    assert prose.startswith(
        "Trained with 2 iterations, from `initial_agreement` 1 and `initial_scale` 1. Without the "
    )
    assert prose.endswith("chosen by F1 on this same set at the trained number, which favours it.")
    values = {"model.capsules.initial_agreement": 0.1, "model.capsules.initial_scale": 10.0}
    [corpus] = group_runs([replace(one, recipe=values)])
    assert "from `initial_agreement` 0.1 and `initial_scale` 10. " in (
        behaviour_themes(corpus)[0].prose
    )


def test_nothing_is_claimed_of_what_was_not_measured():
    [corpus] = group_runs([run(measured=Measured({}))])
    for theme in behaviour_themes(corpus):
        assert theme.prose == "Not measured."
        assert {claim.verdict for claim in theme.claims} == {Verdict.MISSING}
        assert {claim.ours for claim in theme.claims} == {"–"}
