from capsrl.score import Row
from reproduce import published
from reproduce.corpora import group_runs
from reproduce.results import VARIANTS, Measured
from reproduce.tables import (
    ablation_table,
    groups_table,
    iterations_table,
    results_table,
    uniqueness_table,
)
from tests.helpers.synthetic_runs import full_plan, run, scored


def one_corpus(runs):
    [corpus] = group_runs(runs)
    return corpus


def english():
    return next(corpus for corpus in group_runs(full_plan()) if corpus.name == "en_web")


def test_uniqueness():
    runs = [
        scored("capsule", seed, 1500 + 30 * n, uniqueness=eta, iterations=n, exact=600 + n)
        for eta, n, seed in ((1.0, 1, 1), (1.0, 4, 1), (0.0, 2, 1), (0.0, 2, 2))
    ]
    table = uniqueness_table(one_corpus(runs))
    assert table.head == ["η", "iterations", "seeds", "P", "R", "F1", "EM"] + [
        f"paper {name}" for name in ("P", "R", "F1", "EM")
    ]
    assert table.rows == [
        ["1", "1", "1", "81.00", "81.00", "81.00", "60.10", "89.31", "88.31", "88.80", "63.21"],
        ["1", "4", "1", "84.00", "84.00", "84.00", "60.40", "–", "–", "–", "–"],
        ["0", "2", "2", *["82.00 ± 0.00"] * 3, "60.20 ± 0.00", "89.88", "89.97", "89.92", "66.93"],
    ]
    assert uniqueness_table(one_corpus(runs[:1])) is None


def test_results_and_their_difference():
    sets = ("test", "ood")
    runs = [scored("baseline", seed, 1500 + 10 * seed, sets=sets) for seed in (1, 2, 3)]
    runs += [scored("capsule+global", seed, 1650 + 10 * seed, sets=sets) for seed in (1, 2, 3)]
    table = results_table(one_corpus(runs))
    assert table.head == ["", "variant", "test", "out of domain", "paper test"] + [
        "paper out of domain"
    ]
    ours = ["80.67 ± 0.33"] * 2, ["85.67 ± 0.33"] * 2, ["+5.00 [+4.24, +5.76]"] * 2
    assert table.rows == [
        ["Baseline", "`baseline`", *ours[0], "90.49", "81.95"],
        ["CapsuleNet", "`capsule+global`", *ours[1], "91.06", "82.72"],
        ["difference", "", *ours[2], "+0.57", "+0.77"],
    ]


def test_ablation_with_a_variant_that_was_not_run():
    rights = {"baseline": 1500, "capsule": 1530, "capsule+global": 1560}
    runs = [scored(variant, 1, right) for variant, right in rights.items()]
    rows = ablation_table(one_corpus(runs)).rows
    assert [row[:2] for row in rows] == [
        [name, f"`{variant}`"] for name in ("dev", "test") for variant in reversed(VARIANTS)
    ]
    assert rows[4][2:] == ["1", "82.00", "82.00", "82.00", "60.00"] + [
        f"{figure:.2f}" for figure in published.ABLATION["capsule+global", "test"]
    ]
    assert rows[6][1:7] == ["`word`", "0", "–", "–", "–", "–"]


def test_groups_with_their_counts():
    rows = {
        "0-9": Row(correct=60, gold=80, pred=70, propositions=1234),
        "10-19": Row(correct=50, gold=100, pred=100, propositions=40),
        "70-79": Row(correct=50, gold=100, pred=100, propositions=40),  # not of the paper's
    }
    runs = [
        run(variant=variant, measured=Measured({}, lengths=rows))
        for variant in ("baseline", "capsule")
    ]
    table = groups_table(one_corpus(runs), "lengths")
    # 2 * 60 / (80 + 70)
    assert table.rows == [
        ["0-9", "80.00", "80.00", "–", "1,234", "181"],
        ["10-19", "50.00", "50.00", "–", "40", "1,806"],
    ]
    assert groups_table(one_corpus(runs), "arguments") is None


def test_iterations():
    corpus = english()
    rows = iterations_table(corpus).rows
    assert [row[:2] for row in rows[:3]] == [
        ["`capsule`", "1"],
        ["`capsule`", "2 (trained)"],
        ["`capsule`", "3"],
    ]
    assert len(rows) == 14
    values = [counts.labeled.precision for counts in corpus.sweep("capsule+global")[4]]
    assert rows[9][2].startswith(f"{sum(values) / 3:.2f} ± ")
    assert rows[12][:2] == ["`baseline`", "–"]
    assert rows[13] == ["gold", *["–"] * 5, "50"]
    assert iterations_table(one_corpus([run()])) is None
