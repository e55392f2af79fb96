import random

from hypothesis import given
from hypothesis import strategies as st

from capsrl.network.embeddings.source import WordVectors
from capsrl.predict.indexing import IGNORED, bucket, group_predicates, index_sentence
from capsrl.predict.inventory import build_inventory
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from tests.helpers.tiny_sentences import SENTENCES, UNSEEN, sentence

INVENTORY = build_inventory(SENTENCES)
NO_VECTORS = WordVectors({})
LENGTHS = st.lists(st.integers(1, 60), max_size=80)


def index(given_sentence):
    return index_sentence(given_sentence, NO_VECTORS, INVENTORY)


@given(LENGTHS, st.integers(1, 200), st.none() | st.integers(0, 3))
def test_batches_partition_the_sentences(lengths, batch_words, seed):
    batches = bucket(lengths, batch_words=batch_words, seed=seed)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert batch
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= batch_words


@given(LENGTHS)
def test_batches_are_sorted_without_a_seed(lengths):
    batches = bucket(lengths, batch_words=100, seed=None)
    in_order = [lengths[i] for batch in batches for i in batch]
    assert in_order == sorted(lengths, reverse=True)


def with_predicates(n_words, n_predicates):
    words = Sentence(words=("w",) * n_words)
    return index(words.with_propositions(Proposition(i) for i in range(n_predicates)))


@given(
    st.lists(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))),
    st.integers(1, 300),
)
def test_groups_partition_the_predicates(sizes, most):
    items = [with_predicates(*size) for size in sizes]
    seen, longest = [], []
    for numbers, parts in group_predicates(items, max_pairs=most):
        assert len(set(numbers)) == len(numbers) == len(parts)
        n_predicates = sum(len(part.predicates) for part in parts)
        longest.append(parts[0].n_words)
        assert longest[-1] == max(part.n_words for part in parts)
        assert n_predicates == 1 or n_predicates * longest[-1] <= most
        for number, part in zip(numbers, parts, strict=True):
            assert part.n_words == items[number].n_words
            assert len(part.lemmas) == len(part.predicates) > 0
            seen += [(number, position) for position in part.predicates]
    assert sorted(seen) == [(n, p) for n, item in enumerate(items) for p in item.predicates]
    assert longest == sorted(longest, reverse=True)


def test_groups_are_filled():
    items = [with_predicates(10, 7), with_predicates(3, 2), with_predicates(12, 1)]
    groups = [
        [(n, part.predicates) for n, part in zip(*group, strict=True)]
        for group in group_predicates(items, max_pairs=60)
    ]
    # 5 x 12, then 5 x 10: a sentence of many predicates is in both.
    assert groups == [[(2, (0,)), (0, (0, 1, 2, 3))], [(0, (4, 5, 6)), (1, (0, 1))]]


def test_index_without_gold():
    item = index_sentence(SENTENCES[2], NO_VECTORS, INVENTORY, gold=False)
    assert (item.n_words, item.length, item.source_items) == (9, 9, {})
    assert item.predicates == (4, 6)
    assert item.lemmas == ()
    assert item.tags is None
    assert item.roles.size == item.senses.size == item.patterns.size == 0


def test_a_seed_decides_the_batches():
    rng = random.Random(1)
    lengths = [rng.randint(1, 50) for _ in range(500)]
    one, again, other = (bucket(lengths, batch_words=400, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert {frozenset(batch) for batch in one} != {frozenset(batch) for batch in other}
    firsts = [max(lengths[i] for i in batch) for batch in one]
    assert firsts != sorted(firsts, reverse=True)  # the order of batches is shuffled too


def test_batches_have_little_padding():
    rng = random.Random(1)
    lengths = [rng.randint(1, 60) for _ in range(2000)]
    batches = bucket(lengths, batch_words=1000, seed=1)
    laid_out = sum(len(batch) * max(lengths[i] for i in batch) for batch in batches)
    assert laid_out < 1.25 * sum(lengths)
    assert len(batches) < 1.4 * sum(lengths) / 1000


def test_index_with_gold():
    item = index(SENTENCES[2])
    names = list(INVENTORY.roles)
    assert (item.n_words, item.predicates, item.lemmas) == (9, (4, 6), ("want", "leave"))
    assert [[names[role] for role in row] for row in item.roles] == [
        ["AM-TMP", "_", "_", "A0", "_", "_", "A1", "_", "_"],
        ["_", "_", "_", "A0", "_", "_", "_", "_", "A1"],
    ]
    assert item.senses.tolist() == [0, 0]
    assert item.tags is None


def test_senses_are_numbered_by_lemma():
    item = index(SENTENCES[4])
    senses = [INVENTORY.senses[i] for i in INVENTORY.candidates_of("see")]
    assert senses == ["see.01", "see.02"]
    assert item.senses.tolist() == [1, 0]
    assert [list(INVENTORY.patterns)[i] for i in item.patterns] == ["{}.02", "{}.01"]


def test_unseen_senses_and_roles():
    item = index(UNSEEN)
    assert item.senses.tolist() == item.patterns.tolist() == [IGNORED]
    odd = sentence("Mary sees him", (1, "see.99", {0: "A7"}), lemmas="mary see he")
    assert index(odd).senses.tolist() == [IGNORED]
    assert index(odd).roles.tolist() == [[0, 0, 0]]


def test_the_first_of_two_roles_counts():
    both = (Argument("A1", 0), Argument("A0", 0))
    item = index(Sentence(words=("a", "b"), propositions=(Proposition(1, None, both),)))
    assert item.roles.tolist() == [[INVENTORY.role_id("A1"), 0]]


def test_phrases_are_kept_at_the_words_of_arguments():
    argument = Argument("A1", 2, phrase=Phrase(1, 3))
    words = ("sees", "the", "old", "man")
    item = index(Sentence(words, propositions=(Proposition(0, "see.01", (argument,)),)))
    assert item.firsts.tolist() == [[IGNORED, IGNORED, 1, IGNORED]]
    assert item.lasts.tolist() == [[IGNORED, IGNORED, 3, IGNORED]]
