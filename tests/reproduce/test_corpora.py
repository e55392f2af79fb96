import random
from dataclasses import replace

import pytest

from capsrl.errors import DataError
from reproduce.results import Measured

pytest.importorskip("scipy")

from reproduce.corpora import average_gain, gains, gains_by_language, group_runs, scores
from tests.helpers.synthetic_runs import full_plan, run, scored


def test_corpora_come_by_language_whatever_the_order_of_runs():
    runs = full_plan()
    corpora = group_runs(runs)
    names = [corpus.name for corpus in corpora]
    assert names == ["zh_one", "zh_two", "cs_up", "en_web", "fi_up", "de_up", "ja_web"]
    random.Random(1).shuffle(runs)
    assert group_runs(runs) == corpora
    assert [corpus.name for corpus in corpora if corpus.is_full] == ["en_web"]


def test_the_main_setting_is_the_commonest():
    runs = [run(variant="capsule", seed=seed, iterations=3) for seed in (1, 2)]
    runs += [run(variant="capsule", iterations=2), run(variant="capsule", uniqueness=1.0)]
    [corpus] = group_runs(runs)
    assert (corpus.iterations, corpus.uniqueness) == (3, 0.0)
    assert [one.seed for one in corpus.runs_of("capsule")] == [1, 2]
    assert [one.iterations for one in corpus.runs_at("capsule", 1.0, 2)] == [2]
    assert corpus.settings == [(1.0, 2), (0.0, 2), (0.0, 3)]


def test_of_equally_common_settings_the_smallest_is_the_main_one():
    [corpus] = group_runs([run(variant="capsule", iterations=n, uniqueness=0.5) for n in (3, 2)])
    assert (corpus.iterations, corpus.uniqueness) == (2, 0.5)


def test_what_does_not_iterate_belongs_to_every_number_of_iterations():
    runs = [run(variant="capsule", iterations=3), run(variant="baseline", iterations=2)]
    [corpus] = group_runs(runs)
    assert corpus.iterations == 3
    assert [len(corpus.runs_of(variant)) for variant in ("baseline", "word", "capsule")] == [
        1,
        0,
        1,
    ]


def test_scores_over_seeds():
    runs = [scored("word", 1, 1500), scored("word", 2, 1800, exact=640)]
    [corpus] = group_runs(runs)
    assert corpus.score("word", "test", "F1").values == pytest.approx((80.0, 90.0))
    assert corpus.score("word", "test", "EM").values == pytest.approx((60.0, 64.0))
    assert corpus.score("word", "ood", "F1") is None
    assert corpus.score("capsule", "test", "F1") is None
    assert scores([], "test", "P") is None
    assert corpus.sets == ("dev", "test")


def test_groups_and_repeated_roles():
    one = run(variant="baseline")
    [corpus] = group_runs([one])
    row = one.measured.lengths["10-19"]
    assert corpus.group_score("baseline", "lengths", "10-19").values == (row.correct / 2,)
    assert corpus.group_score("baseline", "arguments", "99") is None
    repeated = one.measured.sets["dev"].pred_repeated
    assert corpus.score("baseline", "dev", "repeated").values == (repeated,)
    assert corpus.gold_repeated == 50


def test_curves_have_the_iterations_that_all_seeds_have():
    one, two = run(variant="capsule", seed=1), run(variant="capsule", seed=2)
    del two.measured.sweep[6]
    [corpus] = group_runs([two, one])
    assert corpus.sweep("capsule") == [1, 2, 3, 4, 5]
    wanted = [[r.measured.sweep[n].labeled.f1 for n in range(1, 6)] for r in (one, two)]
    assert corpus.curves("capsule", "F1") == wanted
    assert corpus.mean_curve("capsule", "F1")[2].values == (wanted[0][2], wanted[1][2])
    assert corpus.sweep("baseline") == corpus.curves("baseline", "F1") == []


def test_gains_by_language():
    runs = []
    for name, language, gain in (("zh_a", "Chinese", 90), ("zh_b", "Chinese", -30), ("x", "", 60)):
        for variant, right in (("baseline", 1500), ("capsule+global", 1500 + gain)):
            runs.append(scored(variant, 1, right, corpus=name, language=language))
    corpora = group_runs([*runs, scored("baseline", 1, 1500, corpus="alone")])
    assert [(corpus.name, round(d.mean, 6)) for corpus, d in gains(corpora, "F1")] == [
        ("x", 2.0),
        ("zh_a", 3.0),
        ("zh_b", -1.0),
    ]
    assert gains_by_language(corpora, "F1") == pytest.approx({"x": 2.0, "Chinese": 1.0})


def test_a_training_that_two_corpora_share():
    runs = [run("one", name="one_x_1a"), run("two", name="two_x_1a"), run("two", name="two_x_2b")]
    assert runs[0].training == runs[1].training != runs[2].training


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"variant": "lstm"}, r"corpus en_web: expected variants of baseline, word, .*, got lstm"),
        (
            {"encoder": "ELMo", "seed": 2},
            r"corpus en_web: expected the same .*, got encoder 'gte-small, fine-tuned' and 'ELMo'",
        ),
        (
            {"iterations": 3},  # the baseline does not iterate
            r"corpus en_web: expected one run of baseline with uniqueness 0 and seed 1, got 2",
        ),
        (
            {"seed": 2, "settings": {"train.epochs": 5, "train.seed": 2}},
            r"corpus en_web: expected the same .* in every run, got train.epochs 4 and 5",
        ),
    ],
)
def test_runs_that_cannot_be_compared(other, message):
    with pytest.raises(DataError, match=message):
        group_runs([run(), replace(run(), **other)])


def test_a_run_that_is_there_twice():
    with pytest.raises(
        DataError, match=r"one run of capsule with 2 iterations, uniqueness 0.1 and seed 1, got 2"
    ):
        group_runs([run(variant="capsule", uniqueness=0.1)] * 2)


def test_runs_may_differ_in_what_is_compared():
    first = {"train.epochs": 4, "train.seed": 1, "loss.uniqueness": 0.0}
    second = {"train.epochs": 4, "train.seed": 2, "loss.uniqueness": 1.0, "loss.new": 1}
    runs = [run(settings=first), run(seed=2, settings=second), run(seed=3, measured=Measured({}))]
    [corpus] = group_runs(runs)
    assert [one.seed for one in corpus.runs_of("baseline")] == [1, 2, 3]


def test_sizes_are_cells_by_number_of_sentences():
    axes = [{}, {"sentences": "2500"}, {"sentences": "1000"}, {"sentences": "1k"}, {"rate": "1"}]
    [corpus] = group_runs(
        [run(variant="baseline", seed=1), run(variant="capsule", seed=1)]
        + [run(variant="baseline", seed=1, axes=each) for each in axes[1:]]
    )
    assert list(corpus.sizes) == ["1,000", "2,500", "all"]
    assert [cell.axes for cell in corpus.full_cells] == ["", "rate=1"]


def test_the_average_gain_is_over_settings_with_all_sentences():
    best = {"": 1530, "rate": 1560, "sentences": 1800}  # the last one is not among them
    runs = [
        scored(variant, seed, right + 30 * seed, axes={axis: "10"} if axis else {})
        for axis, most in best.items()
        for variant, right in (("baseline", 1500), ("capsule+global", most))
        for seed in (1, 2)
    ]
    [corpus] = group_runs(runs)
    found = average_gain(corpus, "", "test", "F1")
    # F1 is a thirtieth of these numbers. Deviations of 1 / sqrt(2): 4 means, each off by 1 / 2;
    # half of the sum of 2 gains, 4 degrees of freedom.
    assert found.mean == pytest.approx((1 + 2) / 2)
    assert found.half == pytest.approx(2.7764 * 1 / 2, abs=1e-4)
    assert average_gain(corpus.full_cells[0], "", "test", "F1") is None
