import pytest

from capsrl.errors import DataError
from capsrl.score import score
from capsrl.score.phrase_scores import PhraseScores, join_continuations
from capsrl.score.scorer import scores_to_dict
from capsrl.sentence import Argument, Phrase, Proposition, Sentence

# Gold and predicted columns of one predicate each, in the Start-End format of CoNLL-2005.
CASES = {
    "all right": (
        "(A0* *) (V*) (A1* * *) (AM-TMP*)",
        "(A0* *) (V*) (A1* * *) (AM-TMP*)",
    ),
    "boundary and role": (
        "(A0* *) (V*) (A1* * *) (AM-TMP*)",
        "* (A0*) (V*) (A2* * *) (AM-TMP*)",
    ),
    "continued": (
        "(A1* *) (V*) (C-A1* * *)",
        "(A1* *) (V*) (C-A1* * *)",
    ),
    "continuation missing": (
        "(A1* *) (V*) (C-A1* * *)",
        "(A1* *) (V*) * * *",
    ),
    "continuation too short": (
        "(A1* *) (V*) (C-A1* * *)",
        "(A1* *) (V*) (C-A1* *) *",
    ),
    "continuation too many": (
        "(A1* *) (V*) (A2*) *",
        "(A1* *) (V*) (A2*) (C-A1*)",
    ),
    "nothing continued": (
        "(C-A1* *) (V*) (A1*) (C-A1*)",
        "(A1* *) (V*) (A1*) (C-A1*)",
    ),
    "the last is continued": (
        "(A1*) (V*) (A1* *) (A0*) (C-A1*)",
        "(A1*) (V*) (A1* *) (A0*) (A1*)",
    ),
    "reference": (
        "(A0*) (R-A0*) (V*) (A1* *)",
        "(A0*) (A0*) (V*) (R-A1* *)",
    ),
    "continued reference": (
        "(R-A1*) (V*) (C-R-A1* *)",
        "(R-A1*) (V*) (C-R-A1* *)",
    ),
    "particle": (
        "(A0*) (V*) (C-V*) (A1* *)",
        "(A0*) (V*) * (A1* *)",
    ),
    "predicate not found": ("(A0*) (V*) (A1* *)", "* * * *"),
    "predicate not in gold": ("* * * *", "(A0*) (V*) (A1* *)"),
}
# What srl-eval.pl (2005/04/21) prints for a file of all of them: correct, excess, missed,
# precision, recall, F1.
OFFICIAL = """
   Overall       14       9      10    60.87   58.33   59.57
        A0        4       2       2    66.67   66.67   66.67
        A1        6       5       7    54.55   46.15   50.00
        A2        1       1       0    50.00  100.00   66.67
    AM-TMP        2       0       0   100.00  100.00  100.00
      R-A0        0       0       1     0.00    0.00    0.00
      R-A1        1       1       0    50.00  100.00   66.67
         V       10       1       2    90.91   83.33   86.96
"""
OFFICIAL_PERFECT = "41.67"  # per cent of 12 propositions


def read_props(text):
    """The sentence of one column, with one proposition or none; heads are the first words."""
    cells = text.split()
    arguments, predicate, begun = [], None, ("", 0)
    for word, cell in enumerate(cells):
        if cell[0] == "(":
            begun = (cell[1 : cell.index("*")], word)
        if cell[-1] == ")":
            role, first = begun
            if role == "V":
                predicate = word
            else:
                arguments.append(Argument(role, first, phrase=Phrase(first, word)))
    found = () if predicate is None else (Proposition(predicate, "be.01", tuple(arguments)),)
    return Sentence(("w",) * len(cells), found)


def scored(*names):
    phrases = PhraseScores()
    for name in names or CASES:
        gold, pred = map(read_props, CASES[name])
        phrases.add(gold, pred)
    return phrases


def line(name, prf):
    counts = (prf.correct, prf.pred - prf.correct, prf.gold - prf.correct)
    figures = (prf.precision, prf.recall, prf.f1)
    return [name, *map(str, counts), *(f"{figure:.2f}" for figure in figures)]


def test_equals_the_official_script():
    phrases = scored()
    rows = {"Overall": phrases.overall, **phrases.roles}
    assert [line(name, rows[name]) for name in ["Overall", *sorted(phrases.roles)]] == [
        row.split() for row in OFFICIAL.strip().splitlines()
    ]
    assert f"{phrases.exact_match:.2f}" == OFFICIAL_PERFECT
    assert phrases.gold_propositions == 12


@pytest.mark.parametrize(
    ("name", "correct", "gold", "pred"),
    [
        ("all right", 3, 3, 3),
        ("boundary and role", 1, 3, 3),
        ("continued", 1, 1, 1),
        ("continuation missing", 0, 1, 1),
        ("continuation too short", 0, 1, 1),
        ("continuation too many", 1, 2, 2),
        ("nothing continued", 2, 2, 2),
        ("the last is continued", 2, 3, 4),
        ("reference", 1, 3, 3),
        ("continued reference", 1, 1, 1),
        ("particle", 2, 2, 2),
        ("predicate not found", 0, 2, 0),
        ("predicate not in gold", 0, 0, 0),
    ],
)
def test_each_case(name, correct, gold, pred):
    overall = scored(name).overall
    assert (overall.correct, overall.gold, overall.pred) == (correct, gold, pred)


def test_end_to_end_counts_predicates_that_gold_does_not_have():
    phrases = scored("all right", "predicate not in gold")
    assert (phrases.overall.gold, phrases.overall.pred) == (3, 3)
    assert (phrases.end_to_end.correct, phrases.end_to_end.gold, phrases.end_to_end.pred) == (
        3,
        3,
        5,
    )
    assert phrases.roles["V"].pred == 1


def test_the_predicate_counts_only_for_itself():
    phrases = scored("particle")
    assert (phrases.roles["V"].correct, phrases.exact_match) == (0, 100)
    assert "V" not in phrases.by_role()


def test_joined_phrases():
    gold = read_props(CASES["the last is continued"][0]).propositions[0]
    assert list(join_continuations(gold)) == [
        ("A1", ((0, 0),)),
        ("V", ((1, 1),)),
        ("A1", ((2, 3), (5, 5))),
        ("A0", ((4, 4),)),
    ]


def test_order_of_arguments_does_not_matter():
    gold = read_props(CASES["continued"][0])
    [proposition] = gold.propositions
    turned = Proposition(proposition.predicate, "be.01", proposition.arguments[::-1])
    phrases = PhraseScores()
    phrases.add(gold, Sentence(gold.words, (turned,)))
    assert (phrases.overall.correct, phrases.overall.pred) == (1, 1)


def sentence(*arguments, predicate=0, n=9):
    return Sentence(("w",) * n, (Proposition(predicate, "be.01", arguments),))


def test_boundaries_of_right_heads():
    gold = sentence(
        Argument("A0", 2, phrase=Phrase(1, 3)),
        Argument("A1", 5, phrase=Phrase(4, 6)),
        Argument("A2", 8, phrase=Phrase(7, 8)),
    )
    pred = sentence(
        Argument("A1", 2, phrase=Phrase(1, 3)),  # the role does not matter
        Argument("A1", 5, phrase=Phrase(5, 6)),
        Argument("A2", 7, phrase=Phrase(7, 8)),  # another head
    )
    phrases = PhraseScores()
    phrases.add(gold, pred)
    assert (phrases.same_phrases, phrases.same_heads, phrases.boundaries) == (1, 2, 50)
    assert phrases.overall.correct == 1  # A2, whatever its head
    phrases.add(gold, sentence(predicate=1))
    assert phrases.same_heads == 2


def test_without_phrases_head_words_are_scored():
    gold = sentence(Argument("A0", 2, phrase=Phrase(2, 2)), Argument("A1", 5, phrase=Phrase(4, 6)))
    pred = sentence(Argument("A0", 2), Argument("A1", 5))
    phrases = PhraseScores()
    phrases.add(gold, pred)
    assert (phrases.overall.correct, phrases.gold_heads, phrases.pred_heads) == (1, 0, 2)


def test_nothing_at_all():
    phrases = PhraseScores()
    phrases.add(Sentence(("Well",)), Sentence(("Well",)))
    assert (phrases.overall.f1, phrases.boundaries, phrases.exact_match) == (0, 0, 0)


def test_two_propositions_at_one_word_are_refused():
    twice = Sentence(("a", "b"), (Proposition(1), Proposition(1)))
    with pytest.raises(
        DataError, match="'a b': expected one proposition per predicate, got two at"
    ):
        PhraseScores().add(twice, Sentence(("a", "b")))


def test_as_part_of_all_scores():
    pairs = [tuple(map(read_props, case)) for case in CASES.values()]
    golds, preds = zip(*pairs, strict=True)
    assert score(golds, preds).phrases is None
    assert "spans" not in scores_to_dict(score(golds, preds))
    found = score(golds, preds, phrases=True)
    assert found.phrases == scored()
    report = scores_to_dict(found)["spans"]
    assert (report["f1"], report["correct"], report["pred"]) == (scored().overall.f1, 14, 23)
    assert report["end_to_end"]["pred"] == 25
    assert list(report["roles"]) == ["A1", "A0", "AM-TMP", "A2", "R-A0", "R-A1"]
    assert report["predicates"]["gold"] == 12
    assert report["exact_propositions"] == {"percent": 500 / 12, "correct": 5, "of": 12}
    assert report["boundaries_of_right_heads"].keys() == {"percent", "correct", "of"}
