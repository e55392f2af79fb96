import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import ConfigError
from capsrl.score import BREAKDOWNS, MODES, Row, score
from capsrl.score.breakdown import OF_ARGUMENTS
from capsrl.sentence import Argument, Proposition, Sentence
from tests.helpers.score_sentences import pairs, sentence

WORDS = "She sold him a car yesterday"
GOLD = sentence(WORDS, (1, "sell.01", "A0:0 A2:2 A1:4 AM-TMP:5"))
PRED = sentence(WORDS, (1, "sell.01", "A0:0 A1:2 A1:4"), (5, "yesterday.01", "A0:1"))


def table(name, **options):
    return score([GOLD], [PRED], by=[name], **options).breakdowns[name]


def test_by_role():
    assert table("role") == {
        "A0": Row(correct=1, gold=1, pred=2),
        "A1": Row(correct=1, gold=1, pred=2),
        "A2": Row(correct=0, gold=1, pred=0),
        "AM-TMP": Row(correct=0, gold=1, pred=0),
    }


def test_by_distance():
    assert table("distance") == {
        "1": Row(correct=1, gold=2, pred=2),
        "3": Row(correct=1, gold=1, pred=1),
        "4": Row(correct=0, gold=1, pred=1),
    }


def test_far_distances_share_rows():
    words = "p " + "w " * 40
    far = sentence(words, (0, "x.01", "A0:0 A0:5 A0:6 A0:10 A0:11 A0:20 A0:21 A0:40"))
    rows = score([far], [far], by=["distance"]).breakdowns["distance"]
    assert {name: row.gold for name, row in rows.items()} == {
        **{"0": 1, "5": 1, "6-10": 2, "11-20": 2, "21+": 2},
    }


def test_by_number_of_arguments_a_pair_falls_where_gold_does():
    assert table("arguments") == {
        "1": Row(correct=0, gold=0, pred=2),
        "4": Row(correct=3, gold=5, pred=4, propositions=1, exact=0),
    }


def test_by_length():
    long = sentence("w " * 23, (0, "x.01", "A0:1"))
    rows = score([GOLD, long], [PRED, long], by=["length"]).breakdowns["length"]
    assert rows == {
        "0-9": Row(correct=3, gold=5, pred=6, propositions=1, exact=0),
        "20-29": Row(correct=2, gold=2, pred=2, propositions=1, exact=1),
    }
    assert rows["20-29"].exact_match == 100


def test_rows_come_in_the_order_of_their_numbers():
    gold = [sentence("w " * n, (0, "x.01", "A0:0 " * n)) for n in (101, 7, 35)]
    rows = score(gold, gold, by=["length"]).breakdowns["length"]
    assert list(rows) == ["0-9", "30-39", "100-109"]


def test_by_part_of_speech_of_the_gold_file():
    gold = Sentence(GOLD.words, GOLD.propositions, tags=("PRP", "VBD", "PRP", "DT", "NN", "NN"))
    rows = score([gold], [PRED], by=["pos"]).breakdowns["pos"]
    assert list(rows) == ["VBD", "NN"]
    assert rows["NN"] == Row(correct=0, gold=0, pred=2)
    assert list(table("pos")) == ["?"]


def test_seen_and_unseen():
    def labeled(lemma, sense):
        return Sentence(("we", "go"), (Proposition(1, sense, (Argument("A0", 0),)),), ("we", lemma))

    train = [labeled("go", "go.01"), labeled("walk", "walk.03")]
    gold = [labeled("go", "go.02"), labeled("run", "run.01"), labeled("walk", "walk.03")]
    pred = [labeled("go", "go.02"), labeled("run", "run.02"), labeled("walk", "walk.03")]
    tables = score(gold, pred, by=["lemma", "sense"], train=train).breakdowns
    assert tables["lemma"] == {
        "seen": Row(correct=4, gold=4, pred=4, propositions=2, exact=2),
        "unseen": Row(correct=1, gold=2, pred=2, propositions=1, exact=0),
    }
    assert tables["sense"]["seen"] == Row(correct=2, gold=2, pred=2, propositions=1, exact=1)


def test_without_lemmas_the_sense_tells_them():
    rows = score([GOLD], [GOLD], by=["lemma"], train=[GOLD]).breakdowns["lemma"]
    assert list(rows) == ["seen"]
    other = sentence("We buy", (1, "buy.01", ""))
    assert list(score([GOLD], [GOLD], by=["lemma"], train=[other]).breakdowns["lemma"]) == [
        "unseen"
    ]


@given(st.lists(pairs(), max_size=5), st.sampled_from(MODES))
def test_rows_add_up_to_the_whole(sentences, mode):
    gold, pred = [gold for gold, _ in sentences], [pred for _, pred in sentences]
    scores = score(gold, pred, mode=mode, by=tuple(BREAKDOWNS), train=gold[:2])
    for name, rows in scores.breakdowns.items():
        whole = scores.counts.arguments if name in OF_ARGUMENTS else scores.counts.labeled
        assert sum(row.gold for row in rows.values()) == whole.gold
        assert sum(row.pred for row in rows.values()) == whole.pred
        assert sum(row.correct for row in rows.values()) == whole.correct
        if name not in OF_ARGUMENTS:
            exact = sum(row.exact for row in rows.values())
            assert exact == scores.counts.correct_propositions


def test_an_unknown_breakdown_is_refused():
    with pytest.raises(ConfigError, match="breakdown: expected one of role, pos, .*, got roles"):
        score([], [], by=["roles"])


def test_novelty_needs_a_training_file():
    with pytest.raises(ConfigError, match="breakdown by lemma and sense: needs the training file"):
        score([], [], by=["lemma", "sense"])
