"""Spans of CoNLL-2005 and CoNLL-2012, on sentences of our own."""

import pytest

from capsrl.errors import DataError
from capsrl.formats.props import read_conll05, read_conll12

CONLL05 = """\
The     DT   (S(NP*   *  -     (A0*   *
nurse   NN   *)       *  -     *      (A0*
who     WP   *        *  -     *)     *)
promised VBD *        *  promise (V*) *
to      TO   *        *  -     (A1*   *
come    VB   *        *  come  *)     (V*)
.       .    *)       *  -     *      *

Well    UH   *        *  -
"""
CONLL12 = """\
#begin document (bn/x); part 000
x 0 0 Mira   NNP (S*  -    -  - - (PERSON) (ARG0*)     (0)
x 0 1 sold   VBD *    sell 01 1 - *        (V*)        -
x 0 2 her    PRP$ *   -    -  - - *        (ARG1*      (0)
x 0 3 bike   NN  *    -    -  - - *        *)          -
x 0 4 today  NN  *    -    -  - - *        (ARGM-TMP*) -
x 0 5 /.     .   *)   -    -  - - *        *           -

#end document
"""


def test_conll05():
    first, second = read_conll05(CONLL05.splitlines(keepends=True))
    assert first.words[:2] == ("The", "nurse") and first.tags[3] == "VBD"
    promise, come = first.propositions
    assert (promise.predicate, promise.sense) == (3, "promise")
    spans = [(a.role, a.form, a.phrase.first, a.phrase.last) for a in promise.arguments]
    assert spans == [("A0", "nurse", 0, 2), ("A1", "come", 4, 5)]
    assert [(a.role, a.phrase.text) for a in come.arguments] == [("A0", "nurse who")]
    assert not second.propositions


def test_words_lemmas_and_props_alone():
    lines = ["Dogs\t-\t(A0*)\n", "bark\tbark\t(V*)\n"]
    [found] = read_conll05(lines)
    assert found.tags is None
    assert [(a.role, a.form) for a in found.propositions[0].arguments] == [("A0", "Dogs")]


def test_conll12():
    [found] = read_conll12(CONLL12.splitlines(keepends=True))
    assert found.words == ("Mira", "sold", "her", "bike", "today", ".")
    [sold] = found.propositions
    assert (sold.sense, sold.predicate) == ("sell.01", 1)
    assert [(a.role, a.form) for a in sold.arguments] == [
        ("A0", "Mira"),
        ("A1", "bike"),
        ("AM-TMP", "today"),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a - x", "b b (V*)"], "f:1: expected a column of predicates"),
        (["a - (A0*", "b b (V*)"], "f:1: the bracket of A0 stays open"),
        (["a - *)", "b b (V*)"], "f:1: a bracket is closed that is not open"),
        (["a - *", "b b *"], r"f:1: expected one \(V\*\) in a column, got 0"),
        (["a - (A0*x", "b b (V*)"], r"f:1: expected \(ROLE\*\), \* and the like, got '\(A0\*x'"),
        (["a -", "b b (V*)"], "f:2: expected 2 columns, got 3"),
    ],
)
def test_mistakes(rows, message):
    with pytest.raises(DataError, match=message):
        list(read_conll05(rows, source="f"))


def test_rows_of_another_format():
    with pytest.raises(DataError, match="f:1: expected 12 columns or more, got 2"):
        list(read_conll12(["a b"], source="f"))
