import dataclasses
import random

import torch
from hypothesis import given
from hypothesis import strategies as st

from capsrl.model.batches import collate, collate_gold, collate_predicates
from capsrl.model.embeddings import WordVectors
from capsrl.model.embeddings.learned import Words
from capsrl.model.embeddings.source import WordSource
from capsrl.model.indexing import IGNORED, bucket, group_predicates, index_sentence
from capsrl.model.inventory import build_inventory
from capsrl.sentence import Argument, Proposition, Sentence
from tests.helpers.tiny_networks import SENTENCES, UNSEEN, sentence

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


def test_gold_is_ignored_at_padding():
    items = [index(s) for s in SENTENCES]
    gold = collate_gold(items, 20)
    assert gold.roles.shape == (7, 20)
    rows = [(s, p) for s in SENTENCES for p in s.propositions]
    for row, (s, proposition) in enumerate(rows):
        expected = [0] * len(s.words) + [IGNORED] * (20 - len(s.words))
        for argument in proposition.arguments:
            expected[argument.word] = INVENTORY.role_id(argument.role)
        assert gold.roles[row].tolist() == expected
    for row, s in enumerate(SENTENCES):
        expected = [int(i in s.predicates) for i in range(len(s.words))]
        assert gold.is_predicate[row].tolist() == expected + [IGNORED] * (20 - len(s.words))
    assert bool((gold.tags == IGNORED).all())
    assert collate_gold([], 3).senses.shape == (0,)


def test_tags_are_gold_if_known():
    tagged = Sentence(words=("a", "b"), tags=("DT", "NN"))
    inventory = build_inventory([*SENTENCES, tagged])
    items = [index_sentence(s, NO_VECTORS, inventory) for s in (tagged, SENTENCES[1])]
    gold = collate_gold(items, 3)
    assert gold.tags.tolist() == [[*inventory.tags.ids(["DT", "NN"]), IGNORED], [IGNORED] * 3]


def test_partial_annotation():
    yodel = sentence("Ann sees us and sings", (1, "see.01", {0: "A0", 2: "A9"}))
    tagged = dataclasses.replace(yodel, tags=("DT",) * 5)
    inventory = build_inventory([*SENTENCES, Sentence(words=("a",), tags=("DT",))])
    item = index_sentence(tagged, NO_VECTORS, inventory, partial=True)
    gold = collate_gold([item], 6)
    none = IGNORED
    assert bool((gold.is_predicate == none).all())
    # A9 is not in the inventory; it must not be learned as no role.
    assert gold.roles.tolist() == [[inventory.role_id("A0"), 0, none, 0, 0, none]]
    assert bool((gold.tags == none).all())


def test_predicates_have_candidates():
    two = dataclasses.replace(with_predicates(5, 0), predicates=(1, 4), lemmas=("see", "zzz"))
    one = dataclasses.replace(with_predicates(5, 0), predicates=(2,), lemmas=("go",))
    items = [two, with_predicates(2, 0), with_predicates(3, 0), one]
    predicates = collate_predicates(items, INVENTORY)
    assert predicates.rows.tolist() == [0, 0, 3]
    assert collate_predicates(items, INVENTORY, first_copy=4).rows.tolist() == [4, 5, 6]
    assert predicates.positions.tolist() == [1, 4, 2]
    assert predicates.n_candidates.tolist() == [2, 0, 1]
    assert predicates.candidates[0].tolist() == list(INVENTORY.candidates_of("see"))
    assert predicates.candidates[1].tolist() == [0, 0]
    assert predicates.candidates[2, 0].item() == INVENTORY.candidates_of("go")[0]
    assert INVENTORY.lemmas[predicates.lemmas[1].item()] == "<unk>"
    none = collate_predicates([], INVENTORY)
    assert none.rows.shape == (0,) and none.candidates.shape == (0, 1)


def test_a_batch_moves_to_a_device():
    vectors = WordVectors({"learned": Words(words=INVENTORY.words, width=2)})
    items = [index_sentence(s, vectors, INVENTORY) for s in SENTENCES]
    batch = collate(items, vectors, INVENTORY, mark_predicate=False).to("meta")
    tensors = [batch.mask, batch.inputs["learned"]["ids"]]
    for part in (batch.predicates, batch.gold):
        tensors += [getattr(part, field.name) for field in dataclasses.fields(part)]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert collate(items, vectors, INVENTORY, mark_predicate=False).pin().n_words == 35


class Syllables(WordSource):
    """A source that reads two positions per word."""

    width = 1

    def index(self, sentence):
        return 2 * len(sentence.words)

    def length(self, item):
        return item

    def collate(self, items, *, marked=None):
        return {"marked": torch.tensor([-1 if word is None else word for word in marked])}

    def forward(self, inputs):
        return inputs["marked"]


def test_the_longest_source_decides_the_length():
    vectors = WordVectors({"learned": Words(words=INVENTORY.words, width=2), "twice": Syllables()})
    item = index_sentence(SENTENCES[0], vectors, INVENTORY)
    assert (item.n_words, item.length) == (3, 6)
    assert item.source_items.keys() == {"learned", "twice"}


def test_every_predicate_gets_a_marked_copy():
    vectors = WordVectors({"twice": Syllables()})
    items = [index_sentence(s, vectors, INVENTORY) for s in SENTENCES[1:4]]
    batch = collate(items, vectors, INVENTORY, mark_predicate=True)
    assert batch.inputs["twice"]["marked"].tolist() == [-1, -1, -1, 1, 4, 6]
    assert (batch.n_unmarked, batch.n_words) == (3, 15)
    assert batch.predicates.rows.tolist() == [3, 4, 5]
    only = collate(items, vectors, INVENTORY, mark_predicate=True, unmarked=False, gold=False)
    assert only.inputs["twice"]["marked"].tolist() == [1, 4, 6]
    assert only.n_unmarked == 0 and only.gold is None
