"""Rules are read as constructions.toml describes them, and verbs are inflected."""

import pytest

from capsrl.errors import ConfigError
from corpora.construction_grammar import Item, make_passive, read_grammar

GRAMMAR = """
[constructions]
[rules]
vp = ["@take_off.07 A1:<wet coat>#o ?C-V:off/RP", "A1^ @fall.01", "-^ @rain.01/VBG"]
clause = ["<name>#s who/WP#w <vp:past=s&w> {be:pres=s} <vp=^>* ."]
[words.NNP]
name = "Ann Bob"
[tags]
"." = "."
[forms]
take = "took taken"
stop = "stopped stopped stopping"
have = "had had having has"
"""


@pytest.fixture
def read(tmp_path):
    """Reads the grammar above with other text in place of some of it."""

    def read(old="", new=""):
        path = tmp_path / "grammar.toml"
        path.write_text(GRAMMAR.replace(old, new, 1) if old else GRAMMAR)
        return read_grammar(path)

    return read


def test_items(read):
    grammar = read()
    (clause,) = grammar.rules["clause"]
    assert clause.items == (
        Item(rule="name", name="s"),
        Item(word="who", tag="WP", name="w"),
        Item(rule="vp", form="past", subject="s", pronoun="w"),
        Item(auxiliary="be", tense="pres", agrees="s"),
        Item(rule="vp", subject="^", head="*"),
        Item(word="."),
    )
    take, fall, rain = grammar.rules["vp"]
    assert take.items == (
        Item(sense="take_off.07"),
        Item(role="A1", rule="wet coat", name="o"),
        Item(optional="?", role="C-V", word="off", tag="RP"),
    )
    assert [each.subject_role for each in (take, fall, rain)] == ["A0", "A1", None]
    assert rain.items == (Item(sense="rain.01", fixed="VBG"),)
    assert grammar.words == {"name": [("Ann", "NNP"), ("Bob", "NNP")]}
    assert grammar.tag_of(".") == "."


def test_mistakes(read):
    with pytest.raises(ConfigError, match=r"^<name\?>#s who/WP.*: cannot read <name\?>#s$"):
        read("<name>", "<name?>")
    with pytest.raises(ConfigError, match=r"^away: no tag, neither with the word nor in \[tags\]"):
        read().tag_of("away")


@pytest.mark.parametrize(
    ("lemma", "form", "number", "word", "tag"),
    [
        ("take", "past", 1, "took", "VBD"),
        ("take", "VBN", 1, "taken", "VBN"),
        ("take", "VBG", 2, "taking", "VBG"),
        ("take", "pres", 1, "takes", "VBZ"),
        ("take", "pres", 0, "take", "VBP"),
        ("take", "", 1, "take", "VB"),
        ("stop", "VBG", 1, "stopping", "VBG"),
        ("try", "past", 1, "tried", "VBD"),
        ("try", "pres", 1, "tries", "VBZ"),
        ("stay", "past", 1, "stayed", "VBD"),
        ("stay", "pres", 1, "stays", "VBZ"),
        ("watch", "pres", 1, "watches", "VBZ"),
        ("agree", "VBG", 1, "agreeing", "VBG"),
        ("agree", "past", 1, "agreed", "VBD"),
        ("have", "pres", 1, "has", "VBZ"),
        ("be", "pres", 0, "am", "VBP"),
        ("be", "past", 2, "were", "VBD"),
    ],
)
def test_inflection(read, lemma, form, number, word, tag):
    assert read().inflect(lemma, form, number) == (word, tag)


def test_the_object_of_a_passive_comes_first():
    verb, away = Item(sense="take_away.05"), Item(role="C-V", word="away")
    taken = Item(role="A1", rule="toy")
    first, be, *rest = make_passive([verb, taken, away])
    assert (first.rule, first.role, first.nominative) == ("toy", "A1", "yes")
    assert (be.auxiliary, be.agrees) == ("be", first.name)
    assert rest == [verb, away]
