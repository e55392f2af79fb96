"""The challenge set is well formed, and its facts are counted right."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.challenge import (
    ANY,
    Case,
    Fact,
    answer,
    failures,
    holds,
    judge,
    kinds,
    read_challenge,
    table,
)
from capsrl.errors import DataError
from capsrl.files.opening import read_lines
from capsrl.formats.conll09 import read_conll09
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.text.lemmatizer import Lemmatizer
from capsrl.text.sentences import read_text

ROOT = Path(__file__).resolve().parent.parent
FRAMES = ROOT / "capsrl" / "models" / "en" / "frames.tsv"
CASES = read_challenge()
LEMMATIZER = Lemmatizer()
# Roles of the corpora that no roleset lists: modifiers, and the two halves of a light verb.
MODIFIERS = "LOC TMP MNR CAU PRP ADV NEG MOD PRR LVB".split()


def named(case: Case) -> str:
    return f"{case.phenomenon}: {case.text}"


def perfect(case: Case) -> list[Sentence]:
    """The sentences of a case with the propositions that its facts ask for, and nothing else."""
    given = answer(read_text(case.text))
    arguments: dict[int, list[Argument]] = {}
    senses: dict[int, str] = {}
    for fact in case.facts:
        predicate = given.position(fact.predicate)
        if fact.kind == "absent" or predicate is None:
            continue
        own = arguments.setdefault(predicate, [])
        if fact.kind == "sense":
            senses[predicate] = fact.value
        elif fact.kind == "role":
            word = given.position(fact.value)
            assert fact.role is not None and word is not None
            own.append(Argument(fact.role, word))
    propositions = (
        Proposition(at, senses.get(at, "x.01"), tuple(own)) for at, own in arguments.items()
    )
    return [Sentence(tuple(given.words)).with_propositions(propositions)]


def test_size():
    by_phenomenon = Counter(case.phenomenon for case in CASES)
    assert len(CASES) >= 150
    assert min(by_phenomenon.values()) >= 4
    assert len({case.text for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_words_are_found_and_facts_agree(case):
    words = answer(read_text(case.text))
    named_words = {fact.predicate for fact in case.facts}
    named_words |= {fact.value for fact in case.facts if fact.role and fact.value != ANY}
    assert [word for word in sorted(named_words) if words.position(word) is None] == []
    assert judge(case, perfect(case)).failures == ()
    assert len(set(case.facts)) == len(case.facts)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_every_fact_is_needed(case):
    """Without one of its arguments, a perfect answer fails in that fact alone."""
    (sentence,) = perfect(case)
    for proposition in sentence.propositions:
        for argument in proposition.arguments:
            rest = tuple(each for each in proposition.arguments if each != argument)
            others = [each for each in sentence.propositions if each != proposition]
            poorer = sentence.with_propositions([*others, replace(proposition, arguments=rest)])
            (failed,) = judge(case, [poorer]).failures
            assert (failed.kind, failed.role) == ("role", argument.role)
    assert all(
        fact.kind == "absent" or fact in judge(case, [sentence.with_propositions([])]).failures
        for fact in case.facts
    )


def test_senses_and_roles_are_those_of_the_frames():
    frames = pytest.importorskip("capsrl.frames.index").FrameIndex.load(FRAMES)
    for case in CASES:
        senses = {fact.predicate: fact.value for fact in case.facts if fact.kind == "sense"}
        for predicate, sense in senses.items():
            assert frames.has(sense) or sense.endswith(".LV"), named(case)
            form = predicate.partition("#")[0].lower()
            lemmas = {LEMMATIZER.find(form, tag) for tag in ("VBD", "VBZ", "NNS", "JJ")}
            senses = {each for lemma in lemmas for each in frames.rolesets_of(lemma)}
            assert sense in senses or sense.endswith(".LV") or form == "r", named(case)  # where r u
            for fact in case.facts:
                if fact.predicate == predicate and fact.kind == "role":
                    assert is_role(fact, sense, frames), f"{named(case)}: {fact}"


def is_role(fact, sense, frames):
    role = fact.role.removeprefix("R-").removeprefix("C-")
    if role.startswith("AM-"):
        return role.removeprefix("AM-") in MODIFIERS
    return role in {each.name for each in frames.roles_of(sense)}


def words_of(text):
    return tuple(word.lower() for word in answer(read_text(text)).words)


def test_no_text_is_in_a_training_corpus(request):
    files = [ROOT / "recipes" / "tiny" / "train.conll09"]
    if (ROOT.parent / "shared").is_dir():
        files += [request.getfixturevalue("shared") / "data" / "en_ewt" / "train.conll09.xz"]
    texts = {words_of(case.text) for case in CASES}
    for file in files:
        sentences = read_conll09(read_lines(str(file)), source=str(file))
        found = {tuple(word.lower() for word in each.words) for each in sentences}
        assert texts & found == set(), file


SOLD = Sentence(
    ("The", "man", "who", "left", "sold", "the", "car", "and", "left"),
    (
        Proposition(3, "leave.11", (Argument("A0", 1), Argument("R-A0", 2))),
        Proposition(4, "sell.01", (Argument("A0", 1), Argument("A1", 6))),
    ),
)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (Fact("predicate", "sold"), True),
        (Fact("predicate", "left#1"), True),
        (Fact("predicate", "left#2"), False),
        (Fact("predicate", "bought"), False),
        (Fact("sense", "sold", value="sell.01"), True),
        (Fact("sense", "left", value="leave.01"), False),
        (Fact("role", "sold", "A1", "car"), True),
        (Fact("role", "sold", "A0", "car"), False),
        (Fact("role", "left#2", "A0", "man"), False),
        (Fact("absent", "sold"), False),
        (Fact("absent", "left#2"), True),
        (Fact("absent", "bought"), False),  # a word that is not there shows nothing
        (Fact("absent", "sold", "R-*", ANY), True),
        (Fact("absent", "left", "R-*", ANY), False),
        (Fact("absent", "left", "R-A0", "man"), True),
        (Fact("absent", "sold", "A1", ANY), False),
    ],
    ids=str,
)
def test_facts(fact, expected):
    assert holds(fact, answer([SOLD])) == expected


def test_a_text_of_two_sentences_counts_its_words_on():
    again = answer([Sentence(("He", "left", ".")), SOLD])
    assert not holds(Fact("predicate", "left"), again)
    assert holds(Fact("role", "left#2", "A0", "man"), again)
    assert holds(Fact("role", "sold", "A1", "car"), again)


def test_table():
    cases = [
        Case("one", "a", (Fact("predicate", "sold"), Fact("role", "sold", "A1", "car"))),
        Case("one", "b", (Fact("predicate", "sold"), Fact("role", "sold", "A2", "car"))),
        Case("two", "c", (Fact("absent", "sold"),)),
    ]
    results = [judge(case, [SOLD]) for case in cases]
    rows = [line.split() for line in table(results)]
    assert rows[1:] == [
        ["one", "2", "1", "50.0", "4", "3", "75.0"],
        ["two", "1", "0", "0.0", "1", "0", "0.0"],
        ["all", "3", "1", "33.3", "5", "3", "60.0"],
    ]
    assert [line.split() for line in kinds(results)] == [
        ["predicate", "2", "2", "100.0"],
        ["role", "2", "1", "50.0"],
        ["absent", "1", "0", "0.0"],
    ]
    assert list(failures(results)) == [
        "[one] b",
        "    sold: A2 car",
        "[two] c",
        "    not sold",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[x]]\ntext = 'a'\nfind = [{ word = 'a' }]\nlang = 'en'", "x 1: .*got the key 'lang'"),
        ("[[x]]\nfind = [{ word = 'a' }]", r"x 1: .*got the keys \['find'\]"),
        ("[[x]]\ntext = 'a'\nfind = [{ A0 = 'a' }]", "x 1: expected the predicate as 'word'"),
        ("[[x]]\ntext = 'a'\nabsent = [{ word = 'a', sense = 'a.01' }]", "x 1: .*got a sense"),
        ("[[x]", "expected TOML"),
    ],
)
def test_wrong_files_are_refused(tmp_path, content, message):
    path = tmp_path / "cases.toml"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_challenge(path)


def test_a_role_may_have_several_heads(tmp_path):
    path = tmp_path / "cases.toml"
    path.write_text("[[x]]\ntext = 'a b'\nfind = [{ word = 'a', AM-TMP = ['a', 'b'] }]")
    assert read_challenge(path)[0].facts[1:] == (
        Fact("role", "a", "AM-TMP", "a"),
        Fact("role", "a", "AM-TMP", "b"),
    )
