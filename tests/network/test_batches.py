import dataclasses

import torch

from capsrl.network.batches import collate, collate_gold, collate_predicates
from capsrl.network.embeddings.learned import LearnedWords
from capsrl.network.embeddings.source import WordSource, WordVectors
from capsrl.predict.indexing import IGNORED, index_sentence, with_predicates
from capsrl.predict.inventory import build_inventory
from capsrl.sentence import Sentence
from tests.helpers.tiny_networks import SENTENCES, sentence

INVENTORY = build_inventory(SENTENCES)
NO_VECTORS = WordVectors({})


def test_gold_is_ignored_at_padding():
    items = [index_sentence(s, NO_VECTORS, INVENTORY) for s in SENTENCES]
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
    five, two, three = (
        index_sentence(Sentence(words=("w",) * n), NO_VECTORS, INVENTORY) for n in (5, 2, 3)
    )
    first = with_predicates(five, (1, 4), ("see", "zzz"))
    items = [first, two, three, with_predicates(five, (2,), ("go",))]
    predicates = collate_predicates(items, INVENTORY)
    assert predicates.rows.tolist() == [0, 0, 3]
    assert collate_predicates(items, INVENTORY, first_copy=4).rows.tolist() == [4, 5, 6]
    assert predicates.positions.tolist() == [1, 4, 2]
    assert predicates.n_candidates.tolist() == [2, 0, 1]
    assert predicates.candidates[0].tolist() == list(INVENTORY.candidates_of("see"))
    assert predicates.candidates[1].tolist() == [0, 0]
    assert predicates.candidates[2, 0].item() == INVENTORY.candidates_of("go")[0]
    none = collate_predicates([], INVENTORY)
    assert none.rows.shape == (0,) and none.candidates.shape == (0, 1)


def test_a_batch_moves_to_a_device():
    vectors = WordVectors({"learned": LearnedWords(words=INVENTORY.words, width=2)})
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
    vectors = WordVectors(
        {"learned": LearnedWords(words=INVENTORY.words, width=2), "twice": Syllables()}
    )
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
