"""Phrases around the heads of arguments, in trees drawn by hand."""

from hypothesis import given
from hypothesis import strategies as st

from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.text.phrases import phrase_of, subtree_around, with_phrases


def parsed(rows: str) -> Sentence:
    """A sentence from `word head relation` lines; heads count from 1, 0 is the root."""
    words, heads, relations = zip(*(row.split() for row in rows.strip().splitlines()), strict=True)
    places = tuple(None if head == "0" else int(head) - 1 for head in heads)
    return Sentence(words, heads=places, relations=relations)


def phrase(sentence: Sentence, predicate: str, role: str, word: str) -> str:
    found = phrase_of(
        sentence,
        Proposition(sentence.words.index(predicate)),
        Argument(role, sentence.words.index(word)),
    )
    assert found is not None
    return " ".join(sentence.words[found[0] : found[1] + 1])


WHO_LEFT = parsed("""
For 3 case
old 3 amod
men 10 obl
who 5 nsubj
left 3 acl:relcl
town 5 obj
, 3 punct
life 10 nsubj
is 10 cop
hard 0 root
. 10 punct
""")


def test_the_subtree_without_commas_at_its_ends():
    assert phrase(WHO_LEFT, "left", "A1", "town") == "town"
    assert phrase(WHO_LEFT, "is", "AM-ADV", "men") == "For old men who left town"


def test_a_predicate_inside_the_phrase_is_left_out_with_its_clause():
    assert phrase(WHO_LEFT, "left", "A0", "men") == "old men"


def test_the_clause_around_a_copula_is_left_out():
    hope = parsed("""
    now 5 advmod
    she 5 nsubj
    is 5 cop
    a 5 det
    friend 0 root
    of 7 case
    Hiti 5 nmod
    , 9 punct
    hope 5 parataxis
    . 5 punct
    """)
    assert phrase(hope, "is", "A2", "friend") == "a friend of Hiti"
    assert phrase(hope, "hope", "A1", "friend") == "now she is a friend of Hiti"


def test_a_participle_between_article_and_noun():
    vase = parsed("The 3 det\nbroken 3 amod\nvase 4 nsubj\nfell 0 root")
    assert phrase(vase, "broken", "A1", "vase") == "vase"
    assert phrase(vase, "fell", "A1", "vase") == "The broken vase"


def test_a_modal_that_heads_the_clause_is_one_word():
    may = parsed("He 2 SBJ\nmay 0 ROOT\nleave 2 VC\nsoon 3 TMP\n. 2 P")
    assert phrase(may, "leave", "AM-MOD", "may") == "may"
    assert phrase(may, "leave", "A0", "He") == "He"


def test_a_predicate_that_is_its_own_argument_is_one_word():
    author = parsed("The 2 det\nauthor 3 nsubj\nslept 0 root")
    assert phrase(author, "author", "A0", "author") == "author"


def test_an_interrupted_phrase_is_the_part_around_its_head():
    hearing = parsed("""
    A 2 det
    hearing 4 nsubj
    is 4 aux
    scheduled 0 root
    on 6 case
    it 2 nmod
    """)
    assert phrase(hearing, "scheduled", "A1", "hearing") == "A hearing"


def test_no_parse_no_phrase():
    assert phrase_of(Sentence(("Go", "on")), Proposition(0), Argument("A1", 1)) is None


LEFT = Proposition(3, "leave.01", (Argument("A0", 1), Argument("R-A0", 2, phrase=Phrase(1, 2))))
BARE = Sentence(("the", "man", "who", "left"), (LEFT,))
PARSED = Sentence(BARE.words, (LEFT,), heads=(1, None, 3, 1))


def test_sentences_with_phrases():
    def phrases(sentence):
        return [argument.phrase for argument in sentence.propositions[0].arguments]

    assert phrases(with_phrases(PARSED)) == [Phrase(0, 1), Phrase(1, 2)]
    assert phrases(with_phrases(PARSED))[0].text == "the man"
    assert with_phrases(BARE) is BARE
    assert with_phrases(with_phrases(PARSED)) == with_phrases(PARSED)


def test_heads_without_relations():
    bare = Sentence(("the", "man", "who", "left"), heads=(1, None, 3, 1))
    assert phrase_of(bare, Proposition(3), Argument("A0", 1)) == (0, 1)


def test_circles_and_heads_outside_the_sentence_end():
    assert subtree_around((1, 0, 1), 2) == (2, 2)
    assert subtree_around((1, 2, 0, 0), 1) == (0, 3)
    assert subtree_around((7, -3, 1), 1) == (1, 2)
    circle = Sentence(("a", "b", "c"), heads=(1, 0, 1), relations=("x", "x", "x"))
    assert phrase_of(circle, Proposition(0), Argument("A1", 2)) == (2, 2)
    assert phrase_of(circle, Proposition(0), Argument("A1", 1)) == (1, 2)


graphs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.none() | st.integers(-1, n), min_size=n, max_size=n),
        st.integers(0, n - 1),
        st.integers(0, n - 1),
    )
)


@given(graphs)
def test_any_graph_gives_words_that_hang_from_the_head_and_never_the_predicate(graph):
    heads, head, predicate = graph
    sentence = Sentence(("w",) * len(heads), heads=tuple(heads))
    first, last = phrase_of(sentence, Proposition(predicate), Argument("A1", head))
    assert 0 <= first <= head <= last < len(heads)
    assert head == predicate or not first <= predicate <= last
    for word in range(first, last + 1):
        ways = [word]
        while ways[-1] != head:
            assert len(ways) <= len(heads)
            ways.append(heads[ways[-1]])
        assert head == predicate or predicate not in ways


@given(graphs)
def test_the_stretch_is_as_long_as_can_be(graph):
    heads, head, _ = graph
    first, last = subtree_around(heads, head)

    def hangs(word: int) -> bool:
        for _ in heads:
            if word == head:
                return True
            above = heads[word]
            if above is None or not 0 <= above < len(heads):
                return False
            word = above
        return word == head

    assert first == 0 or not hangs(first - 1)
    assert last == len(heads) - 1 or not hangs(last + 1)
