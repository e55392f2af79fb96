"""A parsed sentence and an argument in, the phrase around the argument's head word out.

Dependency SRL names the head word of each argument. Where the syntactic heads are known, the
phrase is what hangs from that word, with exceptions that bring it close to the spans of PropBank:

- A predicate inside the phrase is left out, and with it all that hangs between it and the head:
  in *the man who left* the A0 of *left* is *the man*, not a phrase that holds its own predicate.
- In universal dependencies a copula hangs from what is said of the subject, and so does the rest
  of the clause: in *she is a friend, I hope* the A2 of *is* is *a friend*.
- Modals and other roles of single words (`SINGLE_WORDS`) and a predicate that is its own argument
  are not extended. In CoNLL-2009 trees a modal is the head of the whole clause.
- Commas, colons, dashes and full stops at the ends of a phrase are not part of it.

Of a phrase that is interrupted (a non-projective tree, or a predicate in the middle) only the
unbroken stretch around the head is given. Heads may come from any file or parser: ones that go in
circles or point nowhere end the search, they do not hang it.
"""

from collections.abc import Container, Iterable, Sequence

from capsrl.sentence import Argument, Proposition, Sentence

SINGLE_WORDS = frozenset(("AM-MOD", "AM-LVB", "AM-PRR", "C-V"))
# Universal relations by which the predicate may hang in the phrase -> others that are then not of
# the phrase: *she is a friend* (is), *she has been a friend of people who left* (left).
_CLAUSE = frozenset("nsubj csubj expl aux cop mark parataxis discourse vocative dislocated".split())
_LEFT_OUT = {"cop": _CLAUSE} | dict.fromkeys(("acl", "relcl"), _CLAUSE | {"case", "cc"})
_EDGES = frozenset((",", ";", ":", ".", "-", "--", "---", "–", "—", "...", "…"))


def phrase_of(
    sentence: Sentence, proposition: Proposition, argument: Argument
) -> tuple[int, int] | None:
    """(first, last) word of the phrase, both in it; None when the sentence has no parse."""
    heads, head = sentence.heads, argument.word
    if heads is None:
        return None
    if argument.role in SINGLE_WORDS or head == proposition.predicate:
        return head, head
    outside = _outside(sentence, head, proposition.predicate)
    first, last = stretch_around(heads, head, outside)
    while first < head and sentence.words[first] in _EDGES:
        first += 1
    while last > head and sentence.words[last] in _EDGES:
        last -= 1
    return first, last


def stretch_around(
    heads: Sequence[int | None], head: int, outside: Iterable[int] = ()
) -> tuple[int, int]:
    """(first, last) of the unbroken stretch of words around `head` that hang from it.

    outside  words that are not to be in it, nor what hangs from them
    """
    inside = dict.fromkeys(outside, False) | {head: True}  # grows with the words looked at
    first = last = head
    while first > 0 and _hangs(heads, first - 1, inside):
        first -= 1
    while last + 1 < len(heads) and _hangs(heads, last + 1, inside):
        last += 1
    return first, last


def _outside(sentence: Sentence, head: int, predicate: int) -> set[int]:
    """The words right below `head` that lead away from the phrase."""
    assert sentence.heads is not None
    way = _way_up(sentence.heads, predicate, {head})
    if sentence.heads[way[-1]] != head:
        return set()
    left_out = _LEFT_OUT.get(_relation(sentence, way[-1]), frozenset())
    below = (word for word, above in enumerate(sentence.heads) if above == head)
    return {way[-1], *(word for word in below if _relation(sentence, word) in left_out)}


def _relation(sentence: Sentence, word: int) -> str:
    return sentence.relations[word].split(":")[0] if sentence.relations else ""


def _hangs(heads: Sequence[int | None], word: int, inside: dict[int, bool]) -> bool:
    if word not in inside:
        way = _way_up(heads, word, inside)
        above = heads[way[-1]]
        # A way that ends at a root, in a circle or nowhere leads past the head.
        inside |= dict.fromkeys(way, above is not None and inside.get(above, False))
    return inside[word]


def _way_up(heads: Sequence[int | None], word: int, known: Container[int]) -> list[int]:
    """The word and those above it, up to the last before one that is known."""
    way = {word: None}  # ordered, and quick to look up
    above = heads[word]
    while above is not None and 0 <= above < len(heads) and above not in known and above not in way:
        way[above] = None
        above = heads[above]
    return list(way)
