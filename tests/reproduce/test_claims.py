"""The verdict and the numbers of every kind of claim."""

from dataclasses import replace

import pytest

from capsrl.score import Row
from reproduce import published
from reproduce.results import Change, Measured
from tests.helpers.synthetic_runs import LENGTHS, SIZE, counts, run, scored

pytest.importorskip("scipy")

from reproduce.claims import (
    LANGUAGE_TESTS,
    TESTS,
    Evidence,
    Verdict,
    evaluate,
    evaluate_languages,
    judge,
    read_claims,
    tally,
)
from reproduce.corpora import group_runs
from reproduce.stats import Difference

HELD, FAILED, UNSURE = Verdict.HELD, Verdict.FAILED, Verdict.UNSURE
ONE_SEED, MISSING = Verdict.ONE_SEED, Verdict.MISSING


def find(runs, test, **fields):
    """(verdict, our numbers) of the only claim with these fields, on the only corpus."""
    [corpus] = group_runs(runs)
    [found] = [
        finding
        for finding in evaluate(corpus)
        if finding.claim.test == test
        and all(getattr(finding.claim, key) == value for key, value in fields.items())
    ]
    return found.verdict, found.ours


def test_the_table_of_claims():
    claims = read_claims()
    assert {claim.test for claim in claims} == set(TESTS) | set(LANGUAGE_TESTS)
    assert len({claim.text for claim in claims}) == len(claims) == 61
    assert all(claim.sign in ("+", "-") or claim.test == "correlation" for claim in claims)


def test_numbers_of_the_paper():
    columns = published.COLUMNS
    for claim in read_claims():
        if claim.test == "variants" and "decoder" not in claim.left + claim.right:
            old, new = (
                published.ABLATION[variant, claim.where][columns.index(claim.measure)]
                for variant in (claim.right, claim.left)
            )
        elif claim.test == "average":
            old, new = published.LANGUAGES_AVERAGE
        else:
            continue
        sign = "+" if new > old else ""
        assert claim.paper == f"{old:.2f} → {new:.2f}: {sign}{new - old:.2f}"
        assert new >= old  # a claim
    table = {key: scores[2] for key, scores in published.UNIQUENESS.items()}
    for claim in read_claims():
        if claim.test == "pairs":
            mean = sum(table[float(claim.left), n] - table[0.0, n] for n in (1, 2, 3)) / 3
            assert claim.paper.startswith(f"−{-mean:.2f} over")
        if claim.test == "best":
            assert claim.paper.startswith(" / ".join(f"{table[0.0, n]:.2f}" for n in (1, 2, 3)))


@pytest.mark.parametrize(
    ("difference", "higher", "lower"),
    [
        (Difference(0.5, 0.4), HELD, FAILED),
        (Difference(-0.5, 0.4), FAILED, HELD),
        (Difference(0.5, 0.5), UNSURE, UNSURE),
        (Difference(-0.1, 0.3), UNSURE, UNSURE),
        (Difference(0.5, None), ONE_SEED, ONE_SEED),
        (None, Verdict.REPORTED, Verdict.REPORTED),
    ],
)
def test_verdicts_on_differences(difference, higher, lower):
    assert judge(Evidence("", difference), "+") == higher
    assert judge(Evidence("", difference), "-") == lower


@pytest.mark.parametrize(
    ("truths", "n_seeds", "wanted"),
    [
        ([True, True], 2, HELD),
        ([True, False], 2, UNSURE),
        ([False, False], 2, FAILED),
        ([True, True], 1, ONE_SEED),
    ],
)
def test_verdicts_on_properties(truths, n_seeds, wanted):
    assert judge(Evidence("", truths=truths, n_seeds=n_seeds), "+") == wanted


def test_nothing_was_measured():
    [corpus] = group_runs([run(measured=Measured({}))])
    findings = [*evaluate(corpus), *evaluate_languages([corpus])]
    assert {finding.ours for finding in findings} == {"–"}
    assert tally(findings)[MISSING] == len(findings) == 61


def pair(new, old, **given):
    """Runs of both variants with these numbers of right arguments, one for each seed."""
    return [
        scored(variant, seed, right, **given)
        for variant, rights in (("capsule+global", new), ("baseline", old))
        for seed, right in enumerate(rights, start=1)
    ]


@pytest.mark.parametrize(
    ("new", "old", "verdict"),
    [
        ((1640, 1650, 1660), (1490, 1500, 1510), HELD),
        ((1490, 1500, 1510), (1640, 1650, 1660), FAILED),
        ((1490, 1500, 1510), (1480, 1495, 1515), UNSURE),
        ((1650, 1660, 1670), (1500,), ONE_SEED),
        ((1650, 1660, 1670), (), MISSING),
    ],
)
def test_two_variants(new, old, verdict):
    wanted = {"measure": "F1", "left": "capsule+global", "right": "baseline", "where": "test"}
    found, ours = find(pair(new, old), "variants", **wanted)
    assert found is verdict
    if verdict is HELD:
        # Means 85 and 80, deviations 1/3; error sqrt(2/27), 4 degrees of freedom: 2.7764 * 0.27217.
        assert ours == "80.00 ± 0.33 → 85.00 ± 0.33: +5.00 [+4.24, +5.76]"


def test_scores_and_sets_are_tested_separately():
    sets = ("dev", "ood")
    runs = [scored("baseline", seed, 1500 + seed, exact=600 + seed, sets=sets) for seed in (1, 2)]
    runs += [scored("capsule+global", s, 1600 + s, exact=500 + s, sets=sets) for s in (1, 2)]
    verdicts = {"dev": {"F1": HELD, "EM": FAILED}, "test": {"F1": MISSING, "EM": MISSING}}
    for where, wanted in (verdicts | {"ood": verdicts["dev"]}).items():
        for measure, verdict in wanted.items():
            key = {"where": where, "measure": measure, "right": "baseline"}
            assert find(runs, "variants", left="capsule+global", **key)[0] is verdict


def grouped(variant, seed, rights):
    """A run whose groups of test have these numbers of right arcs, of 100."""
    rows = {
        name: Row(correct=right, gold=100, pred=100, propositions=20)
        for name, right in zip(LENGTHS, rights, strict=False)
    }
    return run(variant=variant, seed=seed, measured=Measured({}, lengths=rows))


@pytest.mark.parametrize(
    ("new", "verdict", "shown"),
    [
        ((81, 82, 83), HELD, "3 of 3 groups"),
        ((81, 80, 83), UNSURE, "2 of 3 groups (not 10-19 words)"),
        ((79, 80, 20), FAILED, "0 of 3 groups (not 0-9, 10-19, 20-29 words)"),
    ],
)
def test_groups(new, verdict, shown):
    runs = [grouped("baseline", seed, (80, 80, 80)) for seed in (1, 2)]
    runs += [grouped("capsule+global", seed, new) for seed in (1, 2)]
    assert find(runs, "groups", measure="lengths") == (verdict, shown)
    assert find(runs, "groups", measure="arguments") == (MISSING, "–")
    del runs[3].measured.lengths["0-9"]
    assert find(runs, "groups", measure="lengths")[0] is ONE_SEED


def test_uniqueness_loss():
    runs = [
        scored("capsule", 1, right, uniqueness=eta, iterations=n)
        for eta, rights in ((0.0, (1600, 1630, 1610)), (1.0, (1570, 1597, 1583)))
        for n, right in zip((1, 2, 3), rights, strict=True)
    ]
    runs.append(scored("capsule", 2, 1650))  # not paired
    # Differences -1.0, -1.1, -0.9: mean -1, deviation 0.1, 4.3027 * 0.1 / sqrt(3) = 0.2484.
    assert find(runs, "pairs", left="1") == (HELD, "−1.00 [−1.25, −0.75] over 3 pairs")
    assert find(runs, "pairs", left="0.1")[0] is MISSING
    assert find(runs, "best") == (ONE_SEED, "83.33 / 84.67 ± 0.47 / 83.67 with 1 / 2 / 3")


def swept(variant, seed, *, rights=None, wrongs=None, repeated=None, changes=()):
    """A run with these numbers of right and wrong arguments after 1, 2, ... iterations on dev."""
    n = len(rights or wrongs or repeated or (0, 0))
    columns = (rights or [1500] * n, wrongs or [500] * n, repeated or [60] * n)
    sweep = {
        i: counts(right, wrong=wrong, repeated=twice, exact=right // 3)
        for i, (right, wrong, twice) in enumerate(zip(*columns, strict=True), start=1)
    }
    steps = {step: (change,) for step, change in enumerate(changes, start=1)}
    found = Measured({"dev": sweep[2]}, sweep=sweep, transitions=steps)
    return run(variant=variant, seed=seed, measured=found)


@pytest.mark.parametrize(
    ("second", "wanted"),
    [
        ([1500, 1600, 1550], (HELD, "2 of 2 runs; peaks at 2, 2")),
        ([1500, 1600, 1650], (UNSURE, "1 of 2 runs; peaks at 2, 3")),
    ],
)
def test_peaks(second, wanted):
    runs = [swept("capsule", 1, rights=[1400, 1500, 1450]), swept("capsule", 2, rights=second)]
    for measure in ("F1", "EM"):
        assert find(runs, "peak", measure=measure, left="capsule") == wanted
        assert find(runs, "peak", measure=measure, left="capsule+global")[0] is MISSING
    beyond = [replace(one, iterations=8) for one in runs]
    assert find(beyond, "peak", measure="F1", left="capsule")[0] is MISSING
    trend = find(beyond, "trend", measure="R", left="capsule")
    assert trend[1].startswith("0 of 2 runs; means ")  # not "from 8 on"


def test_trends():
    rising = {"rights": [1600, 1590, 1580], "wrongs": [600, 400, 200]}
    falling = {"rights": [1600, 1600, 1600], "wrongs": [350, 300, 340]}
    runs = [swept("capsule", seed, **rising) for seed in (1, 2)]
    runs += [swept("capsule+global", seed, **falling) for seed in (1, 2)]
    # (900 + right) / (1000 + right + wrong): 2500/3200, 2490/2990, 2480/2780.
    shown = "2 of 2 runs (from 2 on: 2); means 78.1 83.3 89.2"
    assert find(runs, "trend", measure="P", left="capsule") == (HELD, shown)
    assert find(runs, "trend", measure="R", left="capsule")[0] is HELD
    verdict, shown = find(runs, "trend", measure="P", left="capsule+global")
    assert verdict is FAILED and shown.startswith("0 of 2 runs (from 2 on: 2); means ")


def test_duplicate_arguments():  # gold has 50
    runs = [swept("capsule", seed, repeated=[200, 80, 50 + seed]) for seed in (1, 2, 3)]
    runs += [swept("capsule+global", seed, repeated=[200, 60, 90 + seed]) for seed in (1, 2, 3)]
    for seed in (1, 2, 3):
        sets = {"dev": counts(1500, repeated=100 + seed)}
        runs.append(run(variant="baseline", seed=seed, measured=Measured(sets)))
    # 4.3027 / sqrt(3) = 2.48
    assert find(runs, "gold") == (HELD, "102.0 ± 1.0 against 50: +52.0 [+49.5, +54.5]")
    assert find(runs, "converge") == (HELD, "3 of 3 runs; 52.0 ± 1.0 after 3, gold 50")
    assert find(runs, "growth") == (HELD, "from 2 to 3: +32.0 [+29.5, +34.5]")
    runs = [swept("capsule", seed, repeated=[200, 80, 56]) for seed in (1, 2)]
    runs += [swept("capsule+global", seed, repeated=[200, 60, 40 + seed]) for seed in (1, 2)]
    assert find(runs, "converge")[0] is FAILED
    # Down by 19 and 18: 12.706 * 0.5 on either side.
    assert find(runs, "growth") == (FAILED, "from 2 to 3: −18.5 [−24.9, −12.1]")


def test_role_changes():
    steps = [Change("A0", "_", 80, 20, 0), Change("_", "A0", 2, 8, 9)]
    runs = [swept("capsule", seed, changes=steps) for seed in (1, 2)]
    changes = [[Change("_", "A1", 10, 10 + seed, 5)] for seed in (1, 2, 3)]
    runs += [swept("capsule+global", i, changes=found) for i, found in enumerate(changes)]
    # 82 of 110; to none 100 of 119.
    right = "74.5 ± 0.0 % of right and wrong changes are right (1 → 2: 80.0, 2 → 3: 20.0)"
    assert find(runs, "changes", measure="right", left="capsule") == (HELD, right)
    assert find(runs, "changes", measure="right", left="capsule+global")[0] is UNSURE
    verdict, shown = find(runs, "changes", measure="to none", left="capsule")
    assert verdict is HELD and shown.startswith("84.0 ± 0.0 % of")
    verdict, shown = find(runs, "changes", measure="to none", left="capsule+global")
    assert verdict is HELD and shown.startswith("0.0 ± 0.0 % of")


def both(corpus, language, gain, n_seeds=2, size=SIZE):
    """Runs of both variants; the baseline has 80 F1 and the other `gain` right arguments more."""
    found = []
    for seed in range(1, n_seeds + 1):
        for variant, right in (("baseline", 1500), ("capsule+global", 1500 + gain)):
            sets = {"test": counts(right, wrong=2000 - right), "dev": counts(0, size=size)}
            measured = Measured(sets, train_propositions=size)
            found.append(run(corpus, variant, seed, measured=measured, language=language))
    return found


def languages(runs):
    return {f.claim.test: (f.verdict, f.ours) for f in evaluate_languages(group_runs(runs))}


def test_languages():
    runs = [
        *both("de_up", "German", 30, size=100),
        *both("zh_a", "Chinese", 90, size=300),
        *both("zh_b", "Chinese", -30, size=200),
        *both("fi_up", "Finnish", -60, n_seeds=1, size=400),
    ]
    found = languages(runs)
    assert found["languages"] == (UNSURE, "2 of 3 languages (not Finnish)")
    # Means by language 1, 1, -2: mean 0, deviation sqrt(3), half 4.3027.
    assert found["average"] == (UNSURE, "0.00 [−4.30, +4.30] over 3 languages")
    # Ranks of sizes 1 3 2 4, of gains 3 4 2 1.
    assert found["correlation"] == (
        Verdict.REPORTED,
        "rank correlation −0.40 over 4 training files",
    )
    found = languages(both("de_up", "German", 30))
    assert {verdict for verdict, _ in found.values()} == {MISSING}


def test_a_training_file_counts_once():
    runs = [*both("a", "German", 30, size=100), *both("b", "Czech", 90, size=300)]
    runs += [*both("c", "Czech", 60, size=300)]
    settings = {"a": "x", "b": "y", "c": "y"}
    runs = [replace(one, settings={"data.train": settings[one.corpus]}) for one in runs]
    assert languages(runs)["correlation"][1] == "rank correlation +1.00 over 2 training files"


def test_the_decoder_as_control():
    runs = pair([1530, 1533], [1500, 1503])
    decoded = {"test": counts(1560, wrong=440, exact=650)}
    runs[2:] = [replace(one, measured=replace(one.measured, decoded=decoded)) for one in runs[2:]]
    verdict, shown = find(
        runs,
        "variants",
        measure="F1",
        left="capsule+global",
        right="baseline+decoder",
        where="test",
    )
    assert verdict == FAILED and shown.startswith("82.00 ± 0.00 → 81.05 ± 0.07")


def test_sizes_need_all_sentences():
    claim = next(c for c in read_claims() if c.test == "sizes" and c.right == "baseline")
    few = [*pair([1600, 1610], [1500, 1510], axes={"sentences": "250"})]
    more = [*pair([1600, 1610], [1550, 1560], axes={"sentences": "500"})]
    found = {}
    for name, runs in {
        "few": few + more,
        "all": few + more + pair([1600, 1610], [1590, 1600]),
    }.items():
        [corpus] = group_runs(runs)
        [finding] = [f for f in evaluate(corpus) if f.claim == claim]
        found[name] = finding
    assert found["few"].verdict == MISSING
    assert (
        found["all"].ours.count("; ") == 3
        and "fewest less all: +3.00 [+2.07, +3.93]" in found["all"].ours
    )
    assert found["all"].verdict == HELD
