"""Hand-written ClearNLP trees: WORD LEMMA TAG HEAD RELATION."""

import pytest

from corpora.content_heads import ParsedWords, content_heads, phrase_head
from corpora.heads import Tree


def parsed(rows: str, names: set[int] = frozenset()) -> ParsedWords:
    words, lemmas, tags, heads, relations = zip(
        *(row.split() for row in rows.strip().splitlines()), strict=True
    )
    return ParsedWords(
        words=words,
        lemmas=lemmas,
        tags=tags,
        heads=tuple(int(head) - 1 if head != "0" else None for head in heads),
        relations=relations,
        continues_name=tuple(i in names for i in range(len(words))),
    )


def heads(rows: str, names: set[int] = frozenset()) -> list[int]:
    """Convert rows to content heads, counted from 1, 0 at the root."""
    found = content_heads(parsed(rows, names)).heads
    return [0 if head is None else head + 1 for head in found]


LEFT = """
We    we    PRP 2 nsubj
left  leave VBD 0 ROOT
in    in    IN  2 prep
June  June  NNP 3 pobj
"""


def test_relations():
    tree = content_heads(parsed(LEFT))
    assert tree.heads == (1, None, 3, 1)
    assert tree.relations == ("nsubj", "ROOT", "case", "prep")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # a preposition of two words
        (
            "Along along IN 5 prep\nwith with IN 1 prep\nher her PRP$ 4 poss\n"
            "cat cat NN 2 pobj\nleft leave VBD 0 ROOT",
            [4, 4, 4, 5, 0],
        ),
        # a preposition with two children
        (
            "because because IN 0 ROOT\nof of IN 1 pcomp\nrain rain NN 1 pobj",
            [3, 3, 0],
        ),
        # a clause
        (
            "talks talk VBZ 0 ROOT\nabout about IN 1 prep\nleaving leave VBG 2 pcomp\n"
            "home home NN 3 dobj",
            [0, 3, 1, 3],
        ),
        # no object
        ("came come VBD 0 ROOT\nin in IN 1 prep", [0, 1]),
        # by the police
        ("seen see VBN 0 ROOT\nby by IN 1 agent\npolice police NNS 2 pobj", [0, 3, 1]),
    ],
)
def test_prepositions(rows, expected):
    assert heads(rows) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("It it PRP 2 nsubj\nis be VBZ 0 ROOT\nsure sure JJ 2 acomp", [3, 3, 0]),
        # is in the house
        (
            "It it PRP 2 nsubj\nis be VBZ 0 ROOT\nin in IN 2 prep\nParis Paris NNP 3 pobj",
            [4, 4, 4, 0],
        ),
        ("It it PRP 2 nsubj\nis be VBZ 0 ROOT\nhere here RB 2 advmod", [3, 3, 0]),
        ("It it PRP 2 nsubj\nis be VBZ 0 ROOT\nnot not RB 2 neg", [2, 0, 2]),
        # there is hope: the copula is the verb
        ("There there EX 2 expl\nis be VBZ 0 ROOT\nhope hope NN 2 attr", [2, 0, 2]),
        # another verb than be
        ("It it PRP 2 nsubj\nfelt feel VBD 0 ROOT\nsure sure JJ 2 acomp", [2, 0, 2]),
    ],
)
def test_copulas(rows, expected):
    assert heads(rows) == expected


def test_names_amounts_days_and_fixed_expressions():
    name = "to to IN 0 ROOT\nAnn Ann NNP 4 compound\nJane Jane NNP 4 compound\nBly Bly NNP 1 pobj"
    assert heads(name, {2, 3}) == [2, 0, 2, 2]
    assert heads("$ $ $ 2 quantmod\n5 5 CD 0 ROOT\nmore more JJR 2 amod") == [0, 1, 1]
    assert heads("May May NNP 0 ROOT\n5 5 CD 1 nummod") == [2, 0]
    assert heads("as as RB 2 advmod\nwell well RB 0 ROOT") == [0, 1]


def test_several_roots():
    tree = content_heads(parsed("Yes yes UH 0 ROOT\nGo go VB 0 ROOT\non on RP 2 prt"))
    assert tree.heads == (None, 0, 1)
    assert tree.relations == ("ROOT", "parataxis", "prt")


@pytest.mark.parametrize(
    ("words", "head"),
    [
        ({0, 1}, 1),  # both are children of the next noun
        ({0}, 0),
        ({1, 2}, 2),
        ({3, 4}, 3),  # a punctuation mark nearer to the root
        ({4}, 4),
    ],
)
def test_phrase_head(words, head):
    tree = Tree((2, 2, 5, 2, 5, None), ("det", "compound", "dobj", "npadvmod", "punct", "ROOT"))
    assert phrase_head(words, tree) == head
