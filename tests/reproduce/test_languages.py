from reproduce.corpora import group_runs
from reproduce.languages import by_language, languages_table, languages_theme, make_pairs
from reproduce.results import Measured
from reproduce.verdicts import Verdict
from tests.helpers.synthetic_runs import SIZE, counts, run, scored


def both(corpus, language, paper, gain, n_seeds=2, size=SIZE):
    """Runs of both variants; the baseline has 80 F1, the other so many right arguments more."""
    words = {"language": language, "paper": paper}
    found = []
    for seed in range(1, n_seeds + 1):
        for variant, right in (("baseline", 1500), ("capsule+global", 1500 + gain)):
            sets = {"test": counts(right, wrong=2000 - right, exact=right - 900)}
            sets["dev"] = counts(0, size=size)
            found.append(run(corpus, variant, seed, measured=Measured(sets), **words))
    return found


def corpora():
    return group_runs(
        [
            *both("de_up", "German", "de", 30, size=100),
            *both("zh_a", "Chinese", "zh", 90, size=300),
            *both("zh_b", "Chinese", "zh", -30, size=200),
            *both("fi_up", "Finnish", "", 60, n_seeds=1, size=400),
            scored("baseline", 1, 1500, corpus="xx", language="Xx"),  # has no partner
        ]
    )


def test_a_language_counts_once():
    pairs = make_pairs(corpora(), "F1")
    assert [pair.corpus.name for pair in pairs] == ["zh_a", "zh_b", "fi_up", "de_up"]
    found = {name: round(value, 6) for name, value in by_language(pairs).items()}
    assert found == {"Chinese": 1.0, "Finnish": 2.0, "German": 1.0}


def test_table():
    table = languages_table(corpora(), "F1")
    words = ["PropBank", "gte-small, fine-tuned"]
    assert table.rows[0] == ["Chinese", "zh_a", *words, "2", "80.00 ± 0.00", "83.00 ± 0.00"] + [
        "+3.00 [+3.00, +3.00]",
        "81.05",
        "81.65",
    ]
    assert table.rows[2] == ["Finnish", "fi_up", *words, "1", "80.00", "82.00", "+2.00", "–", "–"]
    # 1, 2, 1: mean 4/3, deviation 1/sqrt(3), 4.3027 / 3 either side.
    assert table.rows[4][:2] + table.rows[4][4:] == ["Xx", "xx", "1", "80.00", "–", "–"] + [
        "90.49",
        "91.06",
    ]
    assert table.rows[5] == ["average of 3 languages", *[""] * 6, "+1.33 [−0.10, +2.77]"] + [
        "82.55",
        "83.07",
    ]
    assert {len(row) for row in table.rows} == {len(table.head)}
    exact = languages_table(corpora(), "EM")
    assert exact.rows[0][5:] == ["60.00 ± 0.00", "69.00 ± 0.00", "+9.00 [+9.00, +9.00]"]
    assert {len(row) for row in exact.rows} == {len(exact.head)}
    assert languages_table([], "F1") is None


def test_claims():
    theme = languages_theme(corpora())
    every, average, size = theme.claims
    assert (every.ours, every.verdict) == ("3 of 3 languages", Verdict.HELD)
    assert average.ours == "+1.33 [−0.10, +2.77] over 3 languages"
    assert average.verdict is Verdict.UNSURE
    assert average.paper == "82.55 → 83.07: +0.52"
    # Sizes rank 3, 2, 4, 1; gains rank 4, 1, 3, 2: 1 - 6 * (1 + 1 + 1 + 1) / 60.
    assert size.ours == "rank correlation +0.60 over 4 rows"
    assert size.verdict is Verdict.REPORTED
    assert theme.prose.startswith(
        "On 4 rows in 3 languages, F1 on test is higher in 3; the interval is above 0 in 2 and "
        "below it in 1 (those of one seed have none). The difference goes from −1.00 (zh_b) to "
        "+3.00 (zh_a). EM, which the paper does not give by language, is higher in 3, on average "
        "over languages by +4.00 [−0.30, +8.30]."
    )
    assert size.paper == "among the largest on the smallest and on the largest corpus"


def test_corpora_without_a_language_are_not_one_language():
    pairs = make_pairs(group_runs([*both("a", "", "", 30), *both("b", "", "", 60)]), "F1")
    assert {name: round(value, 6) for name, value in by_language(pairs).items()} == {
        "a": 1.0,
        "b": 2.0,
    }


def test_a_language_where_it_is_lower_is_named():
    found = languages_theme(group_runs([*both("a", "A", "", 30), *both("b", "B", "", -30)]))
    assert found.claims[0].ours == "1 of 2 languages (not B)"
    assert found.claims[0].verdict is Verdict.UNSURE


def test_without_pairs_nothing_is_claimed():
    theme = languages_theme(group_runs([run()]))
    assert theme.prose == "Not measured."
    assert {claim.verdict for claim in theme.claims} == {Verdict.MISSING}


def test_one_language_has_no_average():
    theme = languages_theme(group_runs(both("a", "A", "", 30)))
    assert {claim.verdict for claim in theme.claims} == {Verdict.MISSING}
    assert theme.claims[0].ours == "1 of 1 language"
