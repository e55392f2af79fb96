"""dkpro-cassis accepts what is written for INCEpTION, and reads it back equal, with changes."""

import json
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capsrl import Argument, Proposition, Sentence
from capsrl.errors import ConfigError, DataError
from capsrl.formats.cas import write_cas
from capsrl.formats.formats import read_sentences, write_sentences
from tests.formats.test_brat import sold
from tests.helpers.annotated_sentences import sentences

# dkpro-cassis 0.12 reads its type system with it.
pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
TYPES = "de.tudarmstadt.ukp.dkpro.core.api."


@pytest.fixture(scope="module")
def cassis():
    return pytest.importorskip("cassis")


@pytest.fixture
def load(cassis):
    """Read a file as other programs do; with XMI no type may be unknown to DKPro Core."""

    def read(path):
        if path.suffix == ".json":
            return cassis.load_cas_from_json(path.read_text(encoding="utf-8"))
        types = cassis.load_dkpro_core_typesystem()
        return cassis.load_cas_from_xmi(path.read_text(encoding="utf-8"), typesystem=types)

    return read


@pytest.mark.parametrize("suffix", ["xmi", "json"])
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(found=st.lists(sentences(), max_size=3))
def test_read_back_equal(tmp_path, load, suffix, found):
    path = tmp_path / f"x.{suffix}"
    write_cas(found, path)
    assert list(read_sentences(path, "cas")) == found
    load(path)


@pytest.mark.parametrize("name", ["x.xmi", "x.json"])
def test_what_other_programs_see(tmp_path, load, name):
    # The emoji is one character here, and two in the offsets of UIMA.
    happy = Sentence(("😀", "Omar", "left"), (Proposition(2, "leave.01", (Argument("A0", 1),)),))
    write_sentences([happy, sold()], tmp_path / name, "cas")
    cas = load(tmp_path / name)
    assert cas.sofa_string == f"😀 Omar left\n{sold().text}"
    texts = [each.get_covered_text() for each in cas.select(f"{TYPES}segmentation.type.Sentence")]
    assert texts == cas.sofa_string.split("\n")
    tokens = cas.select(f"{TYPES}segmentation.type.Token")
    assert tuple(each.get_covered_text() for each in tokens) == happy.words + sold().words
    assert cas.typecheck() == []
    found = [
        (each.get_covered_text(), each.category, link.role, link.target.get_covered_text())
        for each in cas.select(f"{TYPES}semantics.type.SemPred")
        for link in each.arguments.elements
    ]
    assert found == [
        ("left", "leave.01", "A0", "Omar"),
        ("sold", "sell.01", "A0", "Mira"),
        ("sold", "sell.01", "A1", "her bicycle"),
    ]


def changed(load, path, change) -> Sentence:
    """What is read after an annotator has changed the one SemPred of a file."""
    write_cas([sold()], path)
    cas = load(path)
    [predicate] = cas.select(f"{TYPES}semantics.type.SemPred")
    change(cas, predicate)
    path.write_text(cas.to_xmi() if path.suffix == ".xmi" else cas.to_json(), encoding="utf-8")
    [sentence] = read_sentences(path, "cas")
    return sentence


def relabel(cas, predicate):
    predicate.category = "sell.02"
    predicate.arguments.elements[1].role = "A2"


def move(cas, predicate):
    predicate.arguments.elements[1].target.end = 29


def draw(cas, predicate):
    """A new argument, and one that was begun and has no target yet."""
    target = cas.typesystem.get_type(f"{TYPES}semantics.type.SemArg")(begin=30, end=39)
    cas.add(target)
    link = cas.typesystem.get_type(f"{TYPES}semantics.type.SemArgLink")
    predicate.arguments.elements += [link(role="AM-TMP", target=target), link(role="A3")]


@pytest.mark.parametrize("name", ["x.xmi", "x.json"])
def test_changes_of_annotators(tmp_path, load, name):
    before = sold().propositions[0]
    [found] = changed(load, tmp_path / name, relabel).propositions
    assert (found.sense, found.probability, found.joint_probability) == ("sell.02", None, None)
    assert found.arguments[0] == before.arguments[0]
    assert found.arguments[1] == replace(before.arguments[1], role="A2", probability=None)
    [found] = changed(load, tmp_path / name, move).propositions
    moved = found.arguments[1]
    assert (moved.word, moved.phrase.first, moved.phrase.last) == (3, 2, 5)
    assert (moved.probability, found.probability) == (None, 0.7)
    [found] = changed(load, tmp_path / name, draw).propositions
    assert found.arguments[:2] == before.arguments
    assert [(a.role, a.form, a.probability) for a in found.arguments[2:]] == [
        ("AM-TMP", "yesterday", None)
    ]


def annotated(cassis, *, tokens: bool):
    """A document of others, which has a type that DKPro Core does not know."""
    types = cassis.load_dkpro_core_typesystem()
    types.create_type("webanno.custom.Mood")
    cas = cassis.Cas(types)
    cas.sofa_string = "Greetings!  Mira  sold ice-cream."

    def add(name, begin, end, **features):
        made = types.get_type(name)(begin=begin, end=end, **features)
        cas.add(made)
        return made

    if tokens:
        for begin, end in ((0, 10), (12, 33)):
            add(f"{TYPES}segmentation.type.Sentence", begin, end)
        for begin, end in ((0, 10), (12, 16), (18, 22), (23, 26), (26, 27), (27, 33)):
            add(f"{TYPES}segmentation.type.Token", begin, end)
    add("webanno.custom.Mood", 0, 10)
    mira = add(f"{TYPES}semantics.type.SemArg", 12, 16)
    link = types.get_type(f"{TYPES}semantics.type.SemArgLink")(role="A0", target=mira)
    array = types.get_type("uima.cas.FSArray")(elements=[link])
    add(f"{TYPES}semantics.type.SemPred", 18, 22, category="sell.01", arguments=array)
    add(f"{TYPES}semantics.type.SemPred", 0, 10)
    return cas


@pytest.mark.parametrize("name", ["x.xmi", "x.json"])
def test_documents_of_others(tmp_path, cassis, name):
    for tokens, words in (
        (True, ("Mira", "sold", "ice", "-", "cream.")),
        (False, ("Mira", "sold", "ice", "-", "cream", ".")),
    ):
        cas = annotated(cassis, tokens=tokens)
        text = cas.to_xmi() if name == "x.xmi" else cas.to_json()
        (tmp_path / name).write_text(text)
        greeting, found = read_sentences(tmp_path / name, "cas")
        assert [each.sense for each in greeting.propositions] == [None]
        assert found.words == words and found.text == "Mira  sold ice-cream."
        [proposition] = found.propositions
        assert (proposition.form, proposition.sense) == ("sold", "sell.01")
        assert [(a.role, a.form) for a in proposition.arguments] == [("A0", "Mira")]


def test_mistakes(tmp_path, cassis):
    for content in ("", "<a>", "{}", "[1]", "<xmi:XMI/>", '{"%FEATURE_STRUCTURES": 7}', "[" * 9999):
        (tmp_path / "x.xmi").write_text(content)
        with pytest.raises(DataError, match=r"x\.xmi: expected a CAS as XMI or JSON: "):
            list(read_sentences(tmp_path / "x.xmi"))
    odd = Sentence(("a",), (Proposition(0, "a\x00.01"),))
    with pytest.raises(DataError, match=r"x\.xmi: a sense or role has a character that XML does"):
        write_cas([odd], tmp_path / "x.xmi")
    write_cas([odd], tmp_path / "x.json")
    assert list(read_sentences(tmp_path / "x.json", "cas")) == [odd]
    value = json.loads((tmp_path / "x.json").read_text())
    for each in value["%FEATURE_STRUCTURES"]:
        if "sofaString" in each:
            each["sofaString"] = "b"
    (tmp_path / "x.json").write_text(json.dumps(value))
    with pytest.raises(DataError, match="the text is not that of its sentences"):
        list(read_sentences(tmp_path / "x.json", "cas"))


def test_without_cassis(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cassis", None)
    with pytest.raises(ConfigError, match=r"x\.xmi: CAS needs dkpro-cassis: pip install 'capsrl"):
        write_cas([sold()], tmp_path / "x.xmi")
    (tmp_path / "x.xmi").write_text("<")
    with pytest.raises(ConfigError, match=r"x\.xmi: CAS needs dkpro-cassis"):
        list(read_sentences(tmp_path / "x.xmi"))
