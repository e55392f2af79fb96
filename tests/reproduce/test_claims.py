import pytest

from capsrl.score import Row
from reproduce.claims import score_themes
from reproduce.corpora import group_runs
from reproduce.results import Measured
from reproduce.verdicts import Verdict
from tests.helpers.synthetic_runs import LENGTHS, full_plan, run, scored


def claims_of(runs):
    """Text -> claim, of the only corpus of some runs."""
    [corpus] = group_runs(runs)
    return {claim.text: claim for theme in score_themes(corpus) for claim in theme.claims}


def pair(new, old, **given):
    """Runs of both variants with so many right arguments for each seed."""
    return [
        scored(variant, seed, right, **given)
        for variant, rights in (("capsule+global", new), ("baseline", old))
        for seed, right in enumerate(rights, start=1)
    ]


HIGHER = "CapsuleNet has a higher F1 than the baseline on test"


@pytest.mark.parametrize(
    ("new", "old", "verdict"),
    [
        ((1640, 1650, 1660), (1490, 1500, 1510), Verdict.HELD),
        ((1490, 1500, 1510), (1640, 1650, 1660), Verdict.FAILED),
        ((1490, 1500, 1510), (1480, 1495, 1515), Verdict.UNSURE),
        ((1650,), (1500,), Verdict.ONE_SEED),
        ((1650, 1660, 1670), (1500,), Verdict.ONE_SEED),
        ((1650, 1660, 1670), (), Verdict.MISSING),
    ],
)
def test_refinement_against_the_baseline(new, old, verdict):
    assert claims_of(pair(new, old))[HIGHER].verdict is verdict


def test_one_seed_is_no_comparison_that_failed():
    [corpus] = group_runs(pair((1650,), (1500,)))
    prose = score_themes(corpus)[0].prose
    assert "+5.00 F1 and 0.00 EM on test" in prose and "held" not in prose


def test_the_figures_of_a_comparison():
    found = claims_of(pair((1640, 1650, 1660), (1490, 1500, 1510)))[HIGHER]
    # Means 85 and 80, deviations 1/3; error sqrt(2/27), 4 degrees of freedom: 2.7764 * 0.27217.
    assert found.ours == "80.00 ± 0.33 → 85.00 ± 0.33: +5.00 [+4.24, +5.76]"
    assert found.paper == "90.49 → 91.06: +0.57"


def test_exact_match_and_sets_are_judged_apart():
    sets = ("dev", "test", "ood")
    runs = [scored("baseline", seed, 1500 + seed, exact=600 + seed, sets=sets) for seed in (1, 2)]
    runs += [
        scored("capsule+global", seed, 1600 + seed, exact=500 + seed, sets=sets) for seed in (1, 2)
    ]
    found = claims_of(runs)
    for place in ("on dev", "on test", "out of domain"):
        name = f"CapsuleNet has a higher {{}} than the baseline {place}"
        assert found[name.format("F1")].verdict is Verdict.HELD
        assert found[name.format("EM")].verdict is Verdict.FAILED
    assert found["CapsuleNet has a higher EM than the baseline out of domain"].paper == (
        "50.75 → 53.14: +2.39"
    )


def test_each_step_of_the_ablation():
    rights = {"baseline": 1500, "word": 1500, "capsule": 1600, "capsule+global": 1590}
    runs = [scored(name, seed, right + seed) for name, right in rights.items() for seed in (1, 2)]
    [corpus] = group_runs(runs)
    theme = score_themes(corpus)[1]
    verdicts = {claim.text: claim.verdict for claim in theme.claims}
    assert verdicts["Word capsules raise F1 on test"] is Verdict.UNSURE
    assert verdicts["Role capsules (refinement) raise F1 on dev"] is Verdict.HELD
    assert verdicts["The global node raises F1 on test"] is Verdict.FAILED
    assert verdicts["The global node raises F1 out of domain"] is Verdict.MISSING
    assert "Word capsules raise F1 out of domain" not in verdicts  # nor do they in the paper
    assert len(verdicts) == 8
    assert "role capsules (refinement) +3.33 [" in theme.prose
    assert "the global node −0.33 [" in theme.prose


def grouped(variant, seed, rights):
    """A run whose test rows have so many right of 100 arcs."""
    rows = {
        name: Row(correct=right, gold=100, pred=100, propositions=20)
        for name, right in zip(LENGTHS, rights, strict=False)
    }
    return run(variant=variant, seed=seed, measured=Measured({}, lengths=rows))


@pytest.mark.parametrize(
    ("new", "verdict", "shown"),
    [
        ((81, 82, 83), Verdict.HELD, "3 of 3 groups"),
        ((81, 80, 83), Verdict.UNSURE, "2 of 3 groups (not 10-19 words)"),
        ((79, 80, 20), Verdict.FAILED, "0 of 3 groups (not 0-9, 10-19, 20-29 words)"),
    ],
)
def test_every_sentence_length(new, verdict, shown):
    runs = [grouped("baseline", seed, (80, 80, 80)) for seed in (1, 2)]
    runs += [grouped("capsule+global", seed, new) for seed in (1, 2)]
    found = claims_of(runs)
    claim = found["CapsuleNet has a higher F1 than the baseline at every sentence length"]
    assert (claim.verdict, claim.ours) == (verdict, shown)
    other = found["CapsuleNet has a higher F1 than the baseline at every number of arguments"]
    assert other.verdict is Verdict.MISSING


def test_a_group_of_one_seed_is_not_made_up_for_by_the_others():
    runs = [grouped("baseline", seed, (80, 80, 80)) for seed in (1, 2)]
    runs += [grouped("capsule+global", seed, (0, 81, 82)) for seed in (1, 2)]
    del runs[3].measured.lengths["0-9"]
    claim = claims_of(runs)["CapsuleNet has a higher F1 than the baseline at every sentence length"]
    assert claim.verdict is Verdict.ONE_SEED


def test_groups_that_were_not_measured():
    [corpus] = group_runs([scored("baseline", 1, 1500)])
    assert score_themes(corpus)[2].prose == "Not measured."


def test_the_uniqueness_loss_is_judged_by_pairs():
    runs = [
        scored("capsule", 1, right, uniqueness=eta, iterations=n)
        for eta, rights in ((0.0, (1600, 1630, 1610)), (1.0, (1570, 1597, 1583)))
        for n, right in zip((1, 2, 3), rights, strict=True)
    ]
    runs.append(scored("capsule", 2, 1650))  # has no partner
    found = claims_of(runs)
    # Differences -1.0, -1.1, -0.9: mean -1, deviation 0.1, 4.3027 * 0.1 / sqrt(3) = 0.2484.
    claim = found["The uniqueness loss at η = 1 lowers F1 on dev"]
    assert claim.ours == "−1.00 [−1.25, −0.75] over 3 pairs"
    assert claim.paper == "−0.93 over 1, 2 and 3 iterations"
    assert claim.verdict is Verdict.HELD
    assert found["The uniqueness loss at η = 0.1 lowers F1 on dev"].verdict is Verdict.MISSING
    best = found["Trained with η = 0, 2 iterations give the best F1 on dev"]
    assert best.verdict is Verdict.ONE_SEED
    assert best.ours == "83.33 / 84.67 ± 0.47 / 83.67 with 1 / 2 / 3"


def test_prose_says_what_was_found():
    corpus = next(corpus for corpus in group_runs(full_plan()) if corpus.name == "en_web")
    refinement, _, groups, uniqueness = score_themes(corpus)
    assert refinement.prose.endswith("The claim held in 6 of 6 comparisons.")
    assert "7 of 7 groups; by number of arguments: 7 of 7 groups" in groups.prose
    assert uniqueness.prose.startswith("Of 9 settings the best on dev is η = 0 with 2 iterations")
    assert " F1, 3 seeds). " in uniqueness.prose
