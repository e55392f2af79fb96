import random

import torch
from hypothesis import given
from hypothesis import strategies as st

from capsrl.model.batches import (
    IGNORED,
    bucket,
    collate_gold,
    collate_predicates,
    index_sentence,
    share_out,
)
from capsrl.model.inventory import build_inventory
from capsrl.sentence import Argument, Proposition, Sentence
from tests.helpers.tiny_networks import SENTENCES, UNSEEN, sentence

INVENTORY = build_inventory(SENTENCES)
LENGTHS = st.lists(st.integers(1, 60), max_size=80)


def index(given_sentence):
    return index_sentence(given_sentence, INVENTORY, {}, len(given_sentence.words))


@given(LENGTHS, st.integers(1, 200), st.none() | st.integers(0, 3))
def test_every_sentence_is_in_one_batch_no_larger_than_asked_for(lengths, batch_words, seed):
    batches = bucket(lengths, batch_words=batch_words, seed=seed)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert batch
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= batch_words


@given(LENGTHS)
def test_without_a_seed_batches_come_by_falling_length(lengths):
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
def test_every_predicate_is_in_one_group_no_larger_than_asked_for(sizes, most):
    items = [with_predicates(*size) for size in sizes]
    seen, longest = [], []
    for numbers, parts in share_out(items, most=most):
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
        for group in share_out(items, most=60)
    ]
    # 5 x 12, then 5 x 10: a sentence of many predicates is in both.
    assert groups == [[(2, (0,)), (0, (0, 1, 2, 3))], [(0, (4, 5, 6)), (1, (0, 1))]]


def test_without_the_answers_only_the_places_of_predicates_are_kept():
    item = index_sentence(SENTENCES[2], INVENTORY, {"words": 1}, 11, gold=False)
    assert (item.n_words, item.length, item.words) == (9, 11, {"words": 1})
    assert item.predicates == (4, 6)
    assert item.lemmas == ()
    assert item.tags is None
    assert item.roles.size == item.senses.size == item.patterns.size == 0


def test_a_seed_decides_who_meets_whom():
    rng = random.Random(1)
    lengths = [rng.randint(1, 50) for _ in range(500)]
    one, again, other = (bucket(lengths, batch_words=400, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert {frozenset(batch) for batch in one} != {frozenset(batch) for batch in other}
    firsts = [max(lengths[i] for i in batch) for batch in one]
    assert firsts != sorted(firsts, reverse=True)  # the order of batches is shuffled too


def test_sentences_of_a_batch_are_of_like_length():
    rng = random.Random(1)
    lengths = [rng.randint(1, 60) for _ in range(2000)]
    batches = bucket(lengths, batch_words=1000, seed=1)
    laid_out = sum(len(batch) * max(lengths[i] for i in batch) for batch in batches)
    assert laid_out < 1.25 * sum(lengths)
    assert len(batches) < 1.4 * sum(lengths) / 1000


def test_a_sentence_as_numbers():
    item = index(SENTENCES[2])
    names = list(INVENTORY.roles)
    assert (item.n_words, item.predicates, item.lemmas) == (9, (4, 6), ("want", "leave"))
    assert [[names[role] for role in row] for row in item.roles] == [
        ["AM-TMP", "_", "_", "A0", "_", "_", "A1", "_", "_"],
        ["_", "_", "_", "A0", "_", "_", "_", "_", "A1"],
    ]
    assert item.senses.tolist() == [0, 0]
    assert item.tags is None


def test_a_sense_is_counted_among_those_of_its_lemma():
    item = index(SENTENCES[4])
    senses = [INVENTORY.senses[i] for i in INVENTORY.candidates_of("see")]
    assert senses == ["see.01", "see.02"]
    assert item.senses.tolist() == [1, 0]
    assert [list(INVENTORY.patterns)[i] for i in item.patterns] == ["{}.02", "{}.01"]


def test_what_training_never_saw_is_ignored():
    item = index(UNSEEN)
    assert item.senses.tolist() == item.patterns.tolist() == [IGNORED]
    odd = sentence("Mary sees him", (1, "see.99", {0: "A7"}), lemmas="mary see he")
    assert index(odd).senses.tolist() == [IGNORED]
    assert index(odd).roles.tolist() == [[0, 0, 0]]


def test_of_two_roles_of_a_word_the_first_counts():
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


def test_tags_are_gold_where_known():
    tagged = Sentence(words=("a", "b"), tags=("DT", "NN"))
    inventory = build_inventory([*SENTENCES, tagged])
    items = [index_sentence(s, inventory, {}, len(s.words)) for s in (tagged, SENTENCES[1])]
    gold = collate_gold(items, 3)
    assert gold.tags.tolist() == [[*inventory.tags.ids(["DT", "NN"]), IGNORED], [IGNORED] * 3]


def test_predicates_with_their_candidates():
    predicates = collate_predicates([0, 0, 3], [1, 4, 2], ["see", "zzz", "go"], INVENTORY)
    assert predicates.rows.tolist() == [0, 0, 3]
    assert predicates.positions.tolist() == [1, 4, 2]
    assert predicates.n_candidates.tolist() == [2, 0, 1]
    assert predicates.candidates[0].tolist() == list(INVENTORY.candidates_of("see"))
    assert predicates.candidates[1].tolist() == [0, 0]
    assert predicates.candidates[2, 0].item() == INVENTORY.candidates_of("go")[0]
    assert INVENTORY.lemmas[predicates.lemmas[1].item()] == "<unk>"
    none = collate_predicates([], [], [], INVENTORY)
    assert none.rows.shape == (0,) and none.candidates.shape == (0, 1)


def test_moves_to_a_device_whole():
    gold = collate_gold([index(SENTENCES[0])], 3)
    assert gold.to(torch.device("meta")).roles.device.type == "meta"
