"""The paper's tables with numbers that can be checked by hand."""

import random
from dataclasses import replace

import pytest

from capsrl.score import Row
from reproduce import published
from reproduce.results import VARIANTS, Change, Measured
from tests.helpers.synthetic_runs import SIZE, counts, full_plan, measured, run, scored

pytest.importorskip("scipy")

from reproduce import tables
from reproduce.corpora import group_runs


def one_corpus(runs):
    [corpus] = group_runs(runs)
    return corpus


def rows(text):
    """The cells of a Markdown table, without its head."""
    return [[c.strip() for c in line[1:-1].split(" | ")] for line in text.splitlines()[2:]]


def test_uniqueness():
    runs = [
        scored("capsule", seed, 1500 + 30 * n, uniqueness=eta, iterations=n, exact=600 + n)
        for eta, n, seed in ((1.0, 1, 1), (1.0, 4, 1), (0.0, 2, 1), (0.0, 2, 2))
    ]
    assert rows(tables.uniqueness_table(one_corpus(runs))) == [
        ["1", "1", "1", "81.00", "81.00", "81.00", "60.10", "89.31", "88.31", "88.80", "63.21"],
        ["1", "4", "1", "84.00", "84.00", "84.00", "60.40", "–", "–", "–", "–"],
        ["0", "2", "2", *["82.00 ± 0.00"] * 3, "60.20 ± 0.00", "89.88", "89.97", "89.92", "66.93"],
    ]
    assert tables.uniqueness_table(one_corpus(runs[:1])) is None


def test_results_and_their_difference():
    sets = ("test", "ood")
    runs = [scored("baseline", seed, 1500 + 10 * seed, sets=sets) for seed in (1, 2, 3)]
    runs += [scored("capsule+global", seed, 1650 + 10 * seed, sets=sets) for seed in (1, 2, 3)]
    decoded = {name: counts(1560, wrong=2 * SIZE - 1560) for name in sets}
    runs[:3] = [replace(run, measured=replace(run.measured, decoded=decoded)) for run in runs[:3]]
    corpus = one_corpus(runs)
    found = rows(tables.results_table(corpus))
    assert found[:-6] == [
        [name, "", "–", "–", f"{test:.2f}", f"{ood:.2f}" if ood else "–"]
        for name, (test, ood) in published.SYSTEMS.items()
    ]
    assert rows(tables.results_table(corpus, with_systems=False)) == found[-6:]
    assert found[-6:] == [
        ["Baseline", "`baseline`", *["80.67 ± 0.33"] * 2, "90.49", "81.95"],
        ["Baseline + decoder", "`baseline+decoder`", *["82.00 ± 0.00"] * 2, "–", "–"],
        ["CapsuleNet", "`capsule+global`", *["85.67 ± 0.33"] * 2, "91.06", "82.72"],
        ["CapsuleNet + decoder", "`capsule+global+decoder`", *["–"] * 4],
        ["difference", "", *["+5.00 [+4.24, +5.76]"] * 2, "+0.57", "+0.77"],
        ["difference from Baseline + decoder", "", *["+3.67 [+2.84, +4.49]"] * 2, "–", "–"],
    ]


def test_ablation_with_a_variant_that_was_not_run():
    rights = {"baseline": 1500, "capsule": 1530, "capsule+global": 1560}
    runs = [scored(variant, 1, right) for variant, right in rights.items()]
    found = rows(tables.ablation_table(one_corpus(runs)))
    assert [row[:2] for row in found] == [
        [name, f"`{variant}`"]
        for name in ("dev", "test")
        for variant in reversed(VARIANTS)
        if variant in rights
    ]
    assert found[3][2:] == ["1", "82.00", "82.00", "82.00", "60.00", "–", "–"] + [
        f"{score:.2f}" for score in published.ABLATION["capsule+global", "test"]
    ]


def test_ablation_with_the_decoder_and_what_it_rules_out():
    one = run(variant="capsule", measured=measured("capsule", random.Random(1), ood=False))
    alone, decoded, gold = rows(tables.ablation_table(one_corpus([one])))[:3]
    assert alone[7:9] == ["12.0", "5.0"] and gold[7:9] == ["3", "0"]
    assert decoded[1] == "`capsule+decoder`" and decoded[7:9] == ["–", "–"]
    assert float(decoded[6]) == pytest.approx(float(alone[6]) + 0.5)  # EM, of 1,000


def test_cells():
    runs = [
        scored(variant, seed, right + 3 * seed, axes=axes)
        for axes, variant, right in (
            ({}, "baseline", 1500),
            ({}, "capsule+global", 1530),
            ({"sentences": "1000"}, "capsule+global", 1410),
            ({"sentences": "250"}, "capsule+global", 1380),
        )
        for seed in (1, 2)
    ]
    corpus = one_corpus(runs)
    assert [run.variant for run in corpus.runs] == ["baseline"] * 2 + ["capsule+global"] * 2
    found = [row[:6] for row in rows(tables.cells_table(corpus, "test"))]
    half = "[−1.30, −0.70]"  # Welch: 4.3027 * sqrt(2 * 0.1 ** 2 / 2 / 2)
    assert found == [
        ["–", "`baseline`", "2", "80.15 ± 0.07", f"−1.00 {half}", "0.000"],
        ["–", "`capsule+global`", "2", "81.15 ± 0.07", "–", "–"],
        ["sentences=250", *found[2][1:3], "76.15 ± 0.07", "−5.00 [−5.30, −4.70]", "0.000"],
        ["sentences=1000", *found[3][1:3], "77.15 ± 0.07", "−4.00 [−4.30, −3.70]", "0.000"],
    ]


def test_changes():
    changes = {1: (Change("A0", "_", 6, 2, 2), Change("_", "A1", 0, 1, 0))}
    one = run(variant="capsule", measured=Measured({}, transitions=changes))
    first, second, *_ = rows(tables.changes_table(one_corpus([one])))
    assert first == ["`capsule`", "1 → 2", "6", "3", "2", "66.7", "54.5"]
    assert second == ["`capsule`", "2 → 3", "0", "0", "0", "–", "–"]


def test_groups():
    groups = {
        "0-9": Row(correct=60, gold=80, pred=70, propositions=1234),
        "10-19": Row(correct=50, gold=100, pred=100, propositions=40),
        "70-79": Row(correct=50, gold=100, pred=100, propositions=40),  # not in the paper
    }
    measured = Measured({}, lengths=groups)
    corpus = one_corpus([run(variant=v, measured=measured) for v in ("baseline", "capsule")])
    # 2 * 60 / (80 + 70)
    found = tables.groups_rows(corpus)
    assert [row[1:] for row in found if row[3] != "capsule"] == [
        ["words", "0-9", "baseline", "80.00", "", "1234", "181"],
        ["words", "0-9", "capsule+global", "", "", "1234", "181"],
        ["words", "10-19", "baseline", "50.00", "", "40", "1806"],
        ["words", "10-19", "capsule+global", "", "", "40", "1806"],
    ]


def test_iterations():
    corpus = next(corpus for corpus in group_runs(full_plan()) if corpus.name == "en_web")
    found = tables.iterations_rows(corpus)
    assert found[1][:3] == ["en_web", "capsule", "2"]
    values = [curve[3] for curve in corpus.curves("capsule+global", "P")]
    assert found[9][3] == f"{sum(values) / 3:.2f}"
    assert found[12][:3] == ["en_web", "baseline", ""]
    assert found[13] == ["en_web", "gold", *[""] * 9, "50", ""]
    assert {len(row) for row in found} == {len(tables.ITERATIONS)}


def test_languages():
    runs = [
        scored(variant, seed, right, corpus=name, language=language, paper=paper)
        for name, language, paper in (("a", "German", "de"), ("b", "Finnish", ""))
        for variant, right in (("baseline", 1500), ("capsule+global", 1560))
        for seed in (1, 2)
    ]
    corpora = group_runs([*runs, scored("word", 1, 1500, corpus="c")])
    finnish, german, average = rows(tables.languages_table(corpora))
    assert finnish[:2] == ["Finnish", "b"] and finnish[-2:] == ["–", "–"]
    scores = ["2", "80.00 ± 0.00", "82.00 ± 0.00", "+2.00 [+2.00, +2.00]"]
    assert german[2:6] == scores and german[-2:] == ["76.01", "76.44"]
    assert average[0] == "average of 2 languages"
    assert german[-3] == "80.10" and german[6] == "–"  # no decoder
    assert average[5] == "+2.00 [+2.00, +2.00]" and average[-3:] == ["82.90", "82.55", "83.07"]
    assert tables.languages_table(corpora[:0]) is None
