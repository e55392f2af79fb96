"""Find the phrase around the head word of an argument in a parsed sentence.

Dependency SRL names the head word of each argument. Where the syntactic heads are known, the
phrase is the subtree of that word, with exceptions that make it similar to the spans of PropBank:

- A predicate inside the subtree is left out, with everything between it and the head: in
  *the man who left* the A0 of *left* is *the man*, not a phrase with its own predicate inside.
- In Universal Dependencies a copula depends on the predicative word, as does the rest of the
  clause: in *she is a friend, I hope* the A2 of *is* is *a friend*.
- Modals and other roles of single words (`SINGLE_WORDS`) and a predicate that is its own argument
  are not extended. In CoNLL-2009 trees a modal is the head of the whole clause.
- Commas, colons, dashes and full stops at the ends of a phrase are left out.

Of an interrupted phrase (a non-projective tree, or a predicate in the middle) only the contiguous
part around the head is returned. Heads may come from any file or parser: cycles and heads out of
range end the search.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from capsrl.sentence import Argument, Phrase, Proposition, Sentence

SINGLE_WORDS = frozenset(("AM-MOD", "AM-LVB", "AM-PRR", "C-V"))
# Relation of the predicate to a word of the phrase -> relations that are then outside the phrase:
# *she is a friend* (is), *she has been a friend of people who left* (left).
_CLAUSE = frozenset("nsubj csubj expl aux cop mark parataxis discourse vocative dislocated".split())
_LEFT_OUT = {"cop": _CLAUSE} | dict.fromkeys(("acl", "relcl"), _CLAUSE | {"case", "cc"})
_EDGES = frozenset((",", ";", ":", ".", "-", "--", "---", "–", "—", "...", "…"))


def with_phrases(sentence: Sentence) -> Sentence:
    """Return the sentence with a phrase for every argument, if it has a parse.

    Phrases that arguments already have are kept. Without a parse the sentence is unchanged.
    """

    def with_phrase(proposition: Proposition, argument: Argument) -> Argument:
        found = None if argument.phrase else phrase_of(sentence, proposition, argument)
        return replace(argument, phrase=Phrase(*found)) if found else argument

    changed = [
        replace(each, arguments=tuple(with_phrase(each, argument) for argument in each.arguments))
        for each in sentence.propositions
    ]
    # Offsets and texts are only computed again where something has changed.
    same = tuple(changed) == sentence.propositions
    return sentence if same else sentence.with_propositions(changed)


def phrase_of(
    sentence: Sentence, proposition: Proposition, argument: Argument
) -> tuple[int, int] | None:
    """Return the first and last word of the phrase; None if the sentence has no parse."""
    return find_phrase(sentence, proposition.predicate, argument.role, argument.word)


def find_phrase(sentence: Sentence, predicate: int, role: str, head: int) -> tuple[int, int] | None:
    """First and last word of the phrase of `head`, which fills `role`; None without a parse."""
    heads = sentence.heads
    if heads is None:
        return None
    if role in SINGLE_WORDS or head == predicate:
        return head, head
    outside = _outside(sentence, head, predicate)
    return without_edges(sentence.words, head, *subtree_around(heads, head, outside))


def without_edges(words: Sequence[str], head: int, first: int, last: int) -> tuple[int, int]:
    """The phrase from `first` to `last` without commas, dashes and the like at its ends."""
    while first < head and words[first] in _EDGES:
        first += 1
    while last > head and words[last] in _EDGES:
        last -= 1
    return first, last


def subtree_around(
    heads: Sequence[int | None], head: int, outside: Iterable[int] = ()
) -> tuple[int, int]:
    """Return the first and last word of the contiguous part of the subtree around `head`.

    outside  words to leave out, with their subtrees
    """
    inside = dict.fromkeys(outside, False) | {head: True}  # grows with the words visited
    first = last = head
    while first > 0 and _in_subtree(heads, first - 1, inside):
        first -= 1
    while last + 1 < len(heads) and _in_subtree(heads, last + 1, inside):
        last += 1
    return first, last


def _outside(sentence: Sentence, head: int, predicate: int) -> set[int]:
    """Return the dependents of `head` that are not part of the phrase."""
    assert sentence.heads is not None
    path = _path_up(sentence.heads, predicate, {head})
    if sentence.heads[path[-1]] != head:
        return set()
    left_out = _LEFT_OUT.get(_relation(sentence, path[-1]), frozenset())
    below = (word for word, above in enumerate(sentence.heads) if above == head)
    return {path[-1], *(word for word in below if _relation(sentence, word) in left_out)}


def _relation(sentence: Sentence, word: int) -> str:
    return sentence.relations[word].split(":")[0] if sentence.relations else ""


def _in_subtree(heads: Sequence[int | None], word: int, inside: dict[int, bool]) -> bool:
    if word not in inside:
        path = _path_up(heads, word, inside)
        above = heads[path[-1]]
        # A path that ends at a root, in a cycle or out of range does not lead to the head.
        inside |= dict.fromkeys(path, above is not None and inside.get(above, False))
    return inside[word]


def _path_up(heads: Sequence[int | None], word: int, known: Container[int]) -> list[int]:
    """Return the word and its ancestors, up to the last before one that is known."""
    path = {word: None}  # a dict as an ordered set
    above = heads[word]
    while (
        above is not None and 0 <= above < len(heads) and above not in known and above not in path
    ):
        path[above] = None
        above = heads[above]
    return list(path)
