"""The penman package parses what is written, and finds every argument in it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl import Argument, Proposition, Sentence
from capsrl.formats.formats import write_sentences
from capsrl.formats.penman import format_penman
from tests.helpers.annotated_sentences import SENSES, sentences
from tests.helpers.score_sentences import sentence

WANTED = """\
# ::tok Mira wanted to sell but never left
(top / and
   :op1 (w / want-01~e.1
      :ARG0 (m / mira~e.0)
      :ARG1 (s / sell-01~e.3
         :ARG0 m))
   :op2 (l / leave-01~e.6 :polarity -))

"""


def test_a_worked_example():
    found = sentence(
        "Mira wanted to sell but never left",
        (1, "want.01", "A0:0 A1:3"),
        (3, "sell.01", "A0:0 R-A0:2"),
        (6, "leave.01", "AM-NEG:5"),
    )
    assert format_penman(found) == WANTED


def test_a_shared_argument_is_one_node():
    """As in *Mira came and gave up*: neither predicate is an argument of the other."""
    arguments = (Argument("A0", 0),)
    propositions = (Proposition(1, "come.01", arguments), Proposition(3, "give_up.07", arguments))
    words = ("Mira", "came", "and", "gave")
    tagged = Sentence(words, propositions, tags=("NNP", "VBD", "CC", "VBD"), id="s1")
    assert format_penman(tagged) == (
        "# ::id s1\n# ::tok Mira came and gave\n(top / and\n   :op1 (c / come-01~e.1\n"
        '      :ARG0 (m / "Mira"~e.0))\n   :op2 (g / give-up-07~e.3\n      :ARG0 m))\n\n'
    )


def test_light_verbs_and_sentences_without_propositions():
    speech = Proposition(2, "speak.01", (Argument("A0", 0), Argument("AM-LVB", 1)))
    gave = Proposition(1, "give.LV", (Argument("AM-PRR", 2),))
    found = Sentence(("Omar", "gave", "speeches"), (gave, speech))
    text = format_penman(found)
    assert "(s / speak-01~e.2\n   :ARG0 (o / omar~e.0))\n" in text and "give" not in text
    assert format_penman(Sentence(("Well",))) == "# ::tok Well\n(top / amr-empty)\n\n"


def test_any_depth():
    chain = [Proposition(n, "say.01", (Argument("A1", n + 1),)) for n in range(2000)]
    text = format_penman(Sentence(("so",) * 2001, tuple(chain)))
    assert text.count("(") == text.count(")") == 2001


def edges(found):
    """The arguments that a graph should have, as relations between words."""
    first = {each.predicate: each for each in reversed(found.propositions) if not each.noun}
    return {
        (each.predicate, argument.role[-2:], argument.word)
        for each in first.values()
        for argument in each.arguments
        if argument.role in ("A0", "A1") and argument.word != each.predicate
    }


@settings(max_examples=60)
@given(st.lists(sentences(senses=SENSES | st.just('a "b" (c) ~e.7 \u2028')), max_size=3))
def test_penman_reads_it(tmp_path_factory, found):
    penman = pytest.importorskip("penman")
    surface = pytest.importorskip("penman.surface")
    path = tmp_path_factory.mktemp("penman") / "x.txt"
    write_sentences(found, path, "penman")
    graphs = penman.loads(path.read_text(encoding="utf-8"))
    assert len(graphs) == len(found)
    for graph, expected in zip(graphs, found, strict=True):
        nodes = {triple[0]: at.indices[0] for triple, at in surface.alignments(graph).items()}
        links = [
            (nodes[edge.source], edge.role, nodes[edge.target])
            for edge in graph.edges()
            if edge.source in nodes
        ]
        assert len(set(nodes.values())) == len(nodes)
        assert {(a, role[1:], b) for a, role, b in links if role in (":ARG0", ":ARG1")} == {
            (a, role.replace("A", "ARG"), b) for a, role, b in edges(expected)
        }
        denied = {nodes[node] for node, role, _ in graph.attributes() if role == ":polarity"}
        assert denied <= {each.predicate for each in expected.propositions}
