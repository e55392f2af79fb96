"""Find the head of a span in a dependency tree."""

from collections.abc import Sequence, Set
from typing import NamedTuple

Heads = Sequence[int | None]  # the head of each word, None at a root


class Tree(NamedTuple):
    """The heads of the words of a sentence and their relations, None if unknown."""

    heads: Heads
    relations: Sequence[str] | None


def span_head(words: Set[int], tree: Tree) -> int:
    """Return the word of a span that is nearest to the root; of equals an xcomp, then the first.

    In UD a small clause ("wants [the company to raise wages]") has two tops, the object and the
    xcomp. As in CoNLL-2009, the xcomp is the head.
    """

    def rank(word: int) -> tuple[int, bool, int]:
        relation = tree.relations[word] if tree.relations is not None else ""
        return depth(word, tree.heads), relation.partition(":")[0] != "xcomp", word

    return min(words, key=rank)


def depth(word: int, heads: Heads) -> int:
    """Return the number of arcs from a word to its root."""
    n_arcs = 0
    while (head := heads[word]) is not None:
        word, n_arcs = head, n_arcs + 1
    return n_arcs
