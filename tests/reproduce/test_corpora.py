import random

import pytest

from capsrl.errors import DataError
from reproduce.corpora import gold_repeated, group_runs, repeated, row_scores, scores
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
    assert [one.seed for one in corpus.of("capsule")] == [1, 2]
    assert [one.iterations for one in corpus.at("capsule", 1.0, 2)] == [2]
    assert corpus.settings == [(1.0, 2), (0.0, 2), (0.0, 3)]


def test_of_equally_common_settings_the_smallest_is_the_main_one():
    [corpus] = group_runs([run(variant="capsule", iterations=n, uniqueness=0.5) for n in (3, 2)])
    assert (corpus.iterations, corpus.uniqueness) == (2, 0.5)


def test_what_does_not_iterate_belongs_to_every_number_of_iterations():
    runs = [run(variant="capsule", iterations=3), run(variant="baseline", iterations=2)]
    [corpus] = group_runs(runs)
    assert corpus.iterations == 3
    assert corpus.variants == ("baseline", "capsule")


def test_scores_over_seeds():
    runs = [scored("word", 1, 1500), scored("word", 2, 1800, exact=640)]
    [corpus] = group_runs(runs)
    assert corpus.score("word", "test", "F1").values == pytest.approx((80.0, 90.0))
    assert corpus.score("word", "test", "EM").values == pytest.approx((60.0, 64.0))
    assert corpus.score("word", "ood", "F1") is None
    assert corpus.score("capsule", "test", "F1") is None
    assert scores([], "test", "P") is None
    assert corpus.sets == ("dev", "test")


def test_rows_and_repeated_roles():
    one = run(variant="baseline")
    [corpus] = group_runs([one])
    row = one.measured.lengths["10-19"]
    assert row_scores(corpus, "baseline", "lengths", "10-19").values == (row.correct / 2,)
    assert row_scores(corpus, "baseline", "arguments", "99") is None
    assert repeated([one]).values == (one.measured.sets["dev"].pred_repeated,)
    assert gold_repeated(corpus) == 50


def test_the_sweep_has_the_iterations_that_all_seeds_have():
    one, two = run(variant="capsule", seed=1), run(variant="capsule", seed=2)
    del two.measured.sweep[6]
    [corpus] = group_runs([two, one])
    assert list(corpus.sweep("capsule")) == [1, 2, 3, 4, 5]
    assert corpus.sweep("capsule")[3] == [one.measured.sweep[3], two.measured.sweep[3]]
    assert corpus.sweep("baseline") == {}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"variant": "lstm"}, r"corpus en_web: expected variants of baseline, word, .*, got lstm"),
        (
            {"encoder": "ELMo", "seed": 2},
            r"corpus en_web: expected the same .* in every run, "
            r"got English / PropBank / ELMo / en and English / PropBank / gte-small, fine-tuned",
        ),
        (
            {"iterations": 3},  # nothing iterates
            r"corpus en_web: expected one run of baseline with uniqueness 0 and seed 1, got 2; "
            r"keep one of the files",
        ),
        (
            {"seed": 2, "recipe": {"train.epochs": 5, "train.seed": 2}},
            r"corpus en_web: expected the same settings and files in every run, got train.epochs "
            r"4 and 5; move the runs of one of them to another folder",
        ),
    ],
)
def test_runs_that_cannot_be_compared(other, message):
    given = {"measured": run().measured} | other
    with pytest.raises(DataError, match=message):
        group_runs([run(), run(**given)])


def test_earlier_iterations_tell_runs_apart_only_where_there_are_some():
    every, last = {"loss.earlier": 0.5}, {"loss.earlier": 0.0}
    [corpus] = group_runs([run(recipe=every), run(variant="capsule", recipe=last)])
    assert len(corpus.runs) == 2
    # A run of an older capsrl does not name the key.
    for old in ({}, last):
        with pytest.raises(DataError, match=r"got loss.earlier 0.5 and 0.0"):
            group_runs(
                [
                    run(variant="capsule", recipe=every),
                    run(variant="capsule", seed=2, recipe=old),
                ]
            )


def test_a_run_that_is_there_twice():
    with pytest.raises(
        DataError, match=r"one run of capsule with 2 iterations, uniqueness 0.1 and seed 1, got 2"
    ):
        group_runs([run(variant="capsule", uniqueness=0.1)] * 2)


def test_runs_may_differ_in_what_is_compared_and_in_what_does_not_matter():
    first = {"train.epochs": 4, "train.seed": 1, "train.keep_states": False}
    second = {"train.epochs": 4, "train.seed": 2, "train.keep_states": True, "train.new": 1}
    [corpus] = group_runs([run(recipe=first), run(seed=2, recipe=second)])
    assert [one.seed for one in corpus.of("baseline")] == [1, 2]
