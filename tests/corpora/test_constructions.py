"""Sentences made by rule have the propositions that the rules say, and none is for measuring."""

import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.challenge import read_challenge
from benchmarks.genre_texts import TEXTS
from capsrl.errors import ConfigError
from capsrl.frames.index import FrameIndex
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmatizer
from corpora.construction_grammar import read_grammar
from corpora.constructions import make_constructions, read_measuring
from corpora.held_out import HeldOut

ROOT = Path(__file__).resolve().parents[2]
FRAMES = ROOT / "capsrl" / "models" / "en" / "frames.tsv"
WORDS = """
[words.NNP]
ann = "Ann"
[words.PRP]
her = "her"
[words.NN]
toy = "toy"
[words.NNS]
guests = "guests"
[tags]
DT = "the a"
TO = "to"
RP = "away"
CC = "and"
"." = "."
[forms]
take = "took taken"
leave = "left left"
beg = "begged begged"
"""
RULES = """
[rules]
start = ["START"]
object = ["the <toy>"]
people = ["the <guests>"]
away = ["@take_away.05 A1:<object> C-V:away"]
beg = ["@beg.01 A1:<her>#o A2:<to leave:VB=o>"]
promise = ["@promise.01 A1:<her> A2:<to leave:VB=^>"]
"to leave" = ["to <leave:VB=^>"]
leave = ["@leave.11"]
arrive = ["A1^ @arrive.01"]
both = ["<leave=^>* and <arrive=^>"]
rain = ["-^ @rain.01"]
carry = ["@carry.01 and @clean.01 A1:<object>"]
"""


@pytest.fixture
def make(tmp_path):
    """Makes sentences of one rule; gives the first with its propositions as text."""

    def make(start, n=1, **construction):
        table = "".join(f'{key} = "{value}"\n' for key, value in construction.items())
        head = f'[constructions.x]\nstart = "start"\nn = {n}\n{table}'
        path = tmp_path / "grammar.toml"
        path.write_text(head + RULES.replace("START", start) + WORDS)
        *_, sentence = make_constructions(read_grammar(path))
        return " ".join(sentence.words), {
            proposition.sense: " ".join(
                f"{each.role}:{sentence.words[each.word]}" for each in proposition.arguments
            )
            for proposition in sentence.propositions
        }

    return make


@pytest.mark.parametrize(
    ("start", "text", "propositions"),
    [
        (
            "<ann>#s <away:past=s> .",
            "Ann took the toy away .",
            {"take_away.05": "A0:Ann A1:toy C-V:away"},
        ),
        # A particle that follows its verb has no role, as in EWT.
        ("<away:passive> .", "The toy was taken away .", {"take_away.05": "A1:toy"}),
        (
            "<ann>#s <beg:past=s> .",
            "Ann begged her to leave .",
            {"beg.01": "A0:Ann A1:her A2:leave", "leave.11": "A0:her"},
        ),
        (
            "<ann>#s <promise:past=s> .",
            "Ann promised her to leave .",
            {"promise.01": "A0:Ann A1:her A2:leave", "leave.11": "A0:Ann"},
        ),
        (
            "<beg:passive> .",
            "She was begged to leave .",
            {"beg.01": "A1:She A2:leave", "leave.11": "A0:She"},
        ),
        (
            "AM-MOD:will/MD <people>#s <both:VB=s> .",
            "Will the guests leave and arrive .",
            {"leave.11": "AM-MOD:Will A0:guests", "arrive.01": "AM-MOD:Will A1:guests"},
        ),
        (
            "<ann>#s who/WP#w <leave:past=s&w> <arrive:past=s> .",
            "Ann who left arrived .",
            {"leave.11": "A0:Ann R-A0:who", "arrive.01": "A1:Ann"},
        ),
        (
            "<people>#s {be:pres=s} <carry:VBG=s> .",
            "The guests are carrying and cleaning the toy .",
            {"carry.01": "A0:guests A1:toy", "clean.01": "A0:guests A1:toy"},
        ),
        ("it/PRP#s <rain:pres=s> .", "It rains .", {"rain.01": ""}),
    ],
)
def test_roles(make, start, text, propositions):
    assert make(start) == (text, propositions)


def test_headlines_and_chat(make):
    found = make("<away:passive>", style="headline")
    assert found == ("Toy taken away", {"take_away.05": "A1:Toy"})
    found = make("<ann>#s <V:past=s> a old/JJ thing/NN", style="chat", vp="arrive")
    assert found == ("ann arrived an old thing", {"arrive.01": "A1:ann"})


def test_too_few_sentences(make):
    with pytest.raises(ConfigError, match=r"^x: the rules give 1 sentences$"):
        make("<ann>#s <leave:past=s> .", n=2)


def test_held_out_sentences_and_pairs_are_left_out(make, tmp_path):
    for text in ("Ann left .", "They leave with Ann ."):
        make("<ann>#s <leave:past=s> .")
        grammar = read_grammar(tmp_path / "grammar.toml")
        with pytest.raises(ConfigError, match="the rules give 0 sentences"):
            list(make_constructions(grammar, held_out=[Sentence(tuple(text.split()))]))


@pytest.fixture(scope="module")
def grammar():
    return read_grammar()


@pytest.fixture(scope="module")
def made(grammar):
    return list(make_constructions(grammar, held_out=read_measuring()))


def test_the_rules_are_complete(grammar):
    known = {*grammar.words, *grammar.rules, "V", "S"}
    items = [item for rules in grammar.rules.values() for rule in rules for item in rule.items]
    assert {item.rule for item in items if item.rule} <= known
    for item in items:
        if item.word and not item.tag:
            grammar.tag_of(item.word)
    assert not grammar.words.keys() & grammar.rules.keys()
    given = {each.get(key) for each in grammar.constructions.values() for key in ("vp", "subject")}
    used = {item.rule for item in items} | given
    used |= {each["start"] for each in grammar.constructions.values()} | {"person"}
    assert known - {"V", "S"} <= used


def test_the_same_sentences_each_time(grammar, made):
    again = make_constructions(grammar, held_out=read_measuring())
    assert list(islice(again, 50)) == made[:50]
    other = make_constructions(grammar, seed=2)
    assert list(islice(other, 50)) != made[:50]
    assert len(made) == sum(each["n"] for each in grammar.constructions.values())
    assert len({each.words for each in made}) == len(made)


def test_senses_roles_and_lemmas(made):
    rolesets = {each.sense: each for each in FrameIndex.load(FRAMES)}
    for sentence in made:
        for proposition in sentence.propositions:
            roleset = rolesets[proposition.sense]
            roles = Counter(each.role for each in proposition.arguments)
            for role, n in roles.items():
                if re.fullmatch(r"(R-)?A\d", role):
                    assert n == 1 and role[-2:] in {each.name for each in roleset.roles}, sentence
            assert sentence.lemmas[proposition.predicate] == re.split("[_.]", roleset.sense)[0]


def test_no_sentence_is_for_measuring(made):
    cases = [*read_challenge(), *read_challenge(TEXTS)]
    measuring = read_measuring()
    assert " ".join(measuring[0].words).startswith(cases[0].text[:10])
    assert len(measuring) >= len(cases)
    overlap = HeldOut(measuring)
    assert not [each for each in made if overlap.overlaps(each.words)]
    lemmatizer = Lemmatizer()
    facts = {
        (lemmatizer.find(fact.predicate.partition("#")[0], "VBD"), fact.value.partition("#")[0])
        for case in cases
        for fact in case.facts
        if fact.kind == "role"
    }
    for sentence in made:
        for proposition in sentence.propositions:
            for argument in proposition.arguments:
                if sentence.tags[argument.word].startswith("N"):
                    lemma = sentence.lemmas[proposition.predicate]
                    assert (lemma, sentence.words[argument.word]) not in facts
