"""Convert trees whose heads are function words to trees whose heads are content words, as in UD.

The English models of spaCy predict ClearNLP trees: a preposition is the head of its noun ("in
[1984]") and a copula of its predicate ("is [sure]"). In UD the noun and the predicate are the
heads, and corpora such as en_ewt mark these as arguments. Only what decides the head of a phrase is
converted; all other arcs and relations remain as in ClearNLP.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from corpora.heads import Tree, depth, span_head

_PREPOSITIONS = ("prep", "agent", "dative")
_PREPOSITION_TAGS = ("IN", "TO")
_PREDICATES = ("attr", "acomp", "oprd")
_MODIFIERS = frozenset("det case mark aux auxpass cc poss amod nummod".split())
# Adverbs that can be the predicate of a copula: "the shop is [here]".
_PLACES = frozenset(
    "here there where home away back out in on off up down over around together inside outside "
    "upstairs downstairs abroad ahead".split()
)
_MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "jan. feb. mar. apr. jun. jul. aug. sept. sep. oct. nov. dec.".split()
)


@dataclass(frozen=True, slots=True)
class ParsedWords:
    """A sentence with its ClearNLP tree.

    heads           position of the head of each word, None at a root
    continues_name  True at the second, third, ... word of the name of a person
    """

    words: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int | None, ...]
    relations: tuple[str, ...]
    continues_name: tuple[bool, ...]


def content_heads(parsed: ParsedWords) -> Tree:
    """Return the tree with one root in which content words are the heads of their function words.

    A content word gets the head and the relation of its function word, which then depends on it
    as `case` or `cop`. The first word of the name of a person is the head of the others (`flat`),
    a currency sign of its amount, and a day of its month.
    """
    tree = _MutableTree(parsed)
    for word in reversed(range(len(parsed.words))):
        tree.raise_first_name(word)
        tree.raise_currency(word)
        tree.raise_day(word)
        tree.raise_as(word)
    # From the bottom up: for "is [in the house]", "house" is first raised above "in".
    order = sorted(range(len(parsed.words)), key=lambda word: depth(word, tree.heads), reverse=True)
    for word in order:
        tree.raise_object(word)
        tree.raise_predicate(word)
    return tree.with_one_root()


def phrase_head(words: Set[int], tree: Tree) -> int:
    """Return the head of a phrase in a predicted tree; like `span_head`, but allows for mistakes.

    Where the parser broke up the phrase, a modifier is taken only if there is nothing else at its
    depth, and a punctuation mark only if there is nothing else.
    """
    assert tree.relations is not None, "content_heads gives relations"
    words = {word for word in words if tree.relations[word] != "punct"} or words
    top = span_head(words, tree)
    content = {word for word in words if tree.relations[word] not in _MODIFIERS} or words
    best = span_head(content, tree)
    return best if depth(best, tree.heads) == depth(top, tree.heads) else top


class _MutableTree:
    def __init__(self, parsed: ParsedWords) -> None:
        self._words = [word.lower() for word in parsed.words]
        self._parsed = parsed
        self.heads = list(parsed.heads)
        self._relations = list(parsed.relations)

    def raise_object(self, word: int) -> None:
        """Raise the object of a preposition, or the clause after it, above the preposition."""
        relation = self._relations[word]
        if relation not in _PREPOSITIONS and self._parsed.tags[word] not in _PREPOSITION_TAGS:
            return
        found = self._children(word, "pobj") or self._children(word, "pcomp")
        if not found and relation == "prep":  # along with, for free, before long
            found = self._children(word, "prep", "amod", "advmod", "nummod")
        self._raise_first([child for child in found if child > word], "case")

    def raise_predicate(self, word: int) -> None:
        """Raise the predicate of a copula above the copula, except in "there is a house"."""
        if self._parsed.lemmas[word].lower() != "be" or self._children(word, "expl"):
            return
        found = self._children(word, *_PREDICATES) or [
            child
            for child in self._children(word, "prep", "advmod")
            if child > word and (self._relations[child] == "prep" or self._words[child] in _PLACES)
        ]
        self._raise_first(found, "cop")

    def raise_first_name(self, word: int) -> None:
        if self._parsed.continues_name[word]:
            self._raise_first(self._before(word), "flat")

    def raise_currency(self, word: int) -> None:
        if self._parsed.tags[word] == "CD":
            signs = [child for child in self._children(word) if self._parsed.tags[child] == "$"]
            self._raise_first(signs, "nummod")

    def raise_day(self, word: int) -> None:
        if self._words[word] in _MONTHS:
            self._raise_first(self._children(word, "nummod"), "nmod")

    def raise_as(self, word: int) -> None:
        """Raise "as" above "well" in "as well", a fixed expression in UD."""
        if self._words[word] == "well":
            self._raise_first([i for i in self._before(word) if self._words[i] == "as"], "fixed")

    def with_one_root(self) -> Tree:
        first, *others = [word for word, head in enumerate(self.heads) if head is None]
        for word in others:
            self.heads[word], self._relations[word] = first, "parataxis"
        return Tree(tuple(self.heads), tuple(self._relations))

    def _before(self, word: int) -> list[int]:
        """Return the word directly before this one if it is a child of it."""
        return [child for child in self._children(word) if child == word - 1]

    def _children(self, word: int, *relations: str) -> list[int]:
        """Return the children with one of these relations, or all if none is given."""
        return [
            child
            for child, head in enumerate(self.heads)
            if head == word and (not relations or self._relations[child] in relations)
        ]

    def _raise_first(self, children: Sequence[int], relation: str) -> None:
        """Put the first of these children, if any, in the place of its head.

        The head and its other children become children of the raised word, the head with this
        relation.
        """
        if not children:
            return
        child, head = children[0], self.heads[children[0]]
        assert head is not None, "a child has a head"
        self.heads[child], self._relations[child] = self.heads[head], self._relations[head]
        for word in self._children(head):
            self.heads[word] = child
        self.heads[head], self._relations[head] = child, relation
