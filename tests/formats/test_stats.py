import re
from pathlib import Path

import pytest

from capsrl.files.opening import read_lines
from capsrl.formats.conll09 import read_conll09
from capsrl.formats.stats import count_sentences, length_bin, ranked
from capsrl.sentence import Argument, Proposition, Sentence

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


def count_file(path):
    return count_sentences(read_conll09(read_lines(path), source=str(path)))


def test_worked_example():
    twice = Proposition(0, "a.01", (Argument("A0", 1), Argument("A0", 2), Argument("A1", 2)))
    # Three roles on one word, each once: a word with several roles, no role twice.
    thrice = Proposition(2, "a.01", (Argument("A0", 0), Argument("A1", 0), Argument("A2", 0)))
    stats = count_sentences(
        [
            Sentence(("x", "y", "z"), (twice, thrice), lemmas=("a", "y", "a")),
            Sentence(("w",) * 10, (Proposition(9),)),
            Sentence(("w",) * 9),
        ]
    )
    assert stats.to_dict() == {
        "sentences": 3,
        "tokens": 22,
        "predicates": 3,
        "arguments": 6,
        "duplicate_role_propositions": 1,
        "duplicate_role_percent": pytest.approx(100 / 3),
        "multiple_role_words": 2,
        "lengths": {"0-9": 2, "10-19": 1},
        "predicates_per_sentence": {"0": 1, "1": 1, "2": 1},
        "roles": {"A0": 3, "A1": 2, "A2": 1},
        "senses": {"a.01": 2},
        "lemmas": {"a": 2},
    }


def test_nothing():
    stats = count_sentences([])
    assert stats.n_sentences == 0
    assert stats.duplicate_share == 0


def test_tiny():
    stats = count_file(TINY)
    assert stats.n_sentences == 14
    assert stats.n_tokens == TINY.read_text(encoding="utf-8").count("\n") - 14
    assert stats.n_multiple == 1  # "here" in sentence 5
    assert stats.n_duplicate == 1  # "fell" in sentence 11
    assert stats.lengths == {0: 10, 1: 3, 5: 1}


def test_bins_and_ranks():
    assert [length_bin(0), length_bin(6)] == ["0-9", "60-69"]
    stats = count_sentences(
        [Sentence(("a",), (Proposition(0, s, (Argument(s, 0),)),)) for s in "bcacb"]
    )
    assert ranked(stats.roles) == [("b", 2), ("c", 2), ("a", 1)]


def published(shared, splits):
    """Rows of the table of counts in the README of the corpora."""
    text = (shared / "data" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (\w+) \| ([\d| .]+) \|$", text, re.MULTILINE)
    return [
        (corpus, split, cells.split(" | ")[:7]) for corpus, split, cells in rows if split in splits
    ]


def assert_as_published(shared, splits):
    rows = published(shared, splits)
    assert len(rows) >= 10
    for corpus, split, expected in rows:
        stats = count_file(shared / "data" / corpus / f"{split}.conll09.xz")
        counts = [stats.n_sentences, stats.n_tokens, stats.n_predicates, stats.n_arguments]
        counts += [len(stats.roles), len(stats.senses)]
        assert [*map(str, counts), f"{stats.duplicate_share:.1f}"] == expected, (corpus, split)


def test_counts_are_those_published(shared):
    assert_as_published(shared, ["dev"])


@pytest.mark.slow
def test_all_counts_are_those_published(shared):
    assert_as_published(shared, ["train", "test", "ood"])
