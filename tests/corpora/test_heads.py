import pytest

from corpora.heads import Tree, span_head


@pytest.mark.parametrize(
    ("words", "head"),
    [
        ({3}, 3),
        ({2, 3}, 3),  # a word and its modifier
        ({0, 2, 3}, 0),  # the first of two words of the same depth
        ({2, 5}, 2),  # depths 2 and 3
        ({4, 5}, 4),
        ({0, 1, 2, 3, 4, 5}, 1),
    ],
)
def test_span_head(words, head):
    assert span_head(words, Tree((1, None, 3, 1, 3, 4), None)) == head


@pytest.mark.parametrize(
    ("words", "head"),
    [
        ({2, 3, 4, 5}, 4),  # "the company raise wages": obj and xcomp have the same depth
        ({2, 3, 4, 5, 6}, 4),
        ({2, 3}, 3),
        ({1, 3, 4}, 1),  # nearer to the root than the xcomp
    ],
)
@pytest.mark.parametrize("relation", ["xcomp", "xcomp:pred"])
def test_xcomp_is_the_head_of_a_small_clause(words, head, relation):
    """We want the company (to) raise wages soon."""
    heads = (1, None, 3, 1, 1, 4, 1)
    relations = ("nsubj", "root", "det", "obj", relation, "obj", "advmod")
    assert span_head(words, Tree(heads, relations)) == head
