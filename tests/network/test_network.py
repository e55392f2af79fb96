import pytest
import torch
from torch.testing import assert_close

from tests.helpers.tiny_networks import (
    SENTENCES,
    UNSEEN,
    compute_test_loss,
    make_config,
    make_labeler,
    write_encoder,
)

VARIANTS = ["capsule+global", "capsule", "word", "baseline"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    write_encoder(folder, limit=24)
    return str(folder)


def network_of(**choices):
    return make_labeler(make_config(**choices)).network.eval()


def collate(network, sentences, **options):
    return network.collate([network.index(s) for s in sentences], **options)


CHOICES = [
    {"variant": variant, "form": form} for variant in VARIANTS for form in ("dense", "factored")
] + [
    {"predicate": "vector"},
    {"predicate": "vector", "encoder": {"predicate_width": 6}},
    {"global_from": "squashed"},
    {"global_from": "squashed", "global_bias": False, "xavier": True},
    {"encoder": {"layers": 2, "highway": True}},
    {"encoder": {"layers": 3}},
    {"encoder": {"layers": 0, "predicate_width": 6}},
]


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_alone_equals_batch(choices):
    """The probabilities of every iteration, not only the labels."""
    network = network_of(**choices)
    sentences = [*SENTENCES, UNSEEN]
    with torch.no_grad():
        together = network(collate(network, sentences))
        row = 0
        for number, s in enumerate(sentences):
            alone = network(collate(network, [s]))
            n_words, n = len(s.words), len(s.propositions)
            assert_close(
                together.predicate_logits[number, :n_words].sigmoid(),
                alone.predicate_logits[0].sigmoid(),
                atol=1e-5,
                rtol=0,
            )
            ours, theirs = together.propositions, alone.propositions
            for step, expected in zip(ours.routing.logits, theirs.routing.logits, strict=True):
                found = step[row : row + n, :n_words].softmax(-1)
                assert_close(found, expected.softmax(-1), atol=1e-5, rtol=0)
            for step, expected in zip(ours.routing.capsules, theirs.routing.capsules, strict=True):
                assert_close(step[row : row + n], expected, atol=1e-5, rtol=1e-5)
            row += n
    assert row == len(together.propositions.senses)


def test_a_sentence_is_encoded_once(bert):
    network = network_of(embeddings={"transformer": bert})
    batch = collate(network, SENTENCES)
    assert batch.inputs["transformer"]["words"].shape[0] == len(SENTENCES)
    assert batch.n_unmarked == len(SENTENCES)
    assert batch.predicates.rows.tolist() == [0, 1, 2, 2, 4, 4, 5]


def test_marked_copies_follow_the_sentences(bert):
    network = network_of(embeddings={"transformer": bert, "mark_predicate": True})
    batch = collate(network, SENTENCES)
    n = len(SENTENCES)
    assert batch.n_unmarked == n
    assert batch.mask.sum(1).tolist() == [3, 2, 9, 4, 16, 1, 3, 2, 9, 9, 16, 16, 1]
    assert batch.predicates.rows.tolist() == list(range(n, n + 7))
    inputs = batch.inputs["transformer"]
    # Only the subwords of the predicate have type 1.
    types = inputs["types"].flatten()
    for row, position in zip(batch.predicates.rows, batch.predicates.positions, strict=True):
        assert types[inputs["words"][row, position]] == 1
        others = torch.arange(batch.mask.shape[1]) != position
        assert bool((types[inputs["words"][row][others & batch.mask[row]]] == 0).all())
    for row in range(n):
        assert bool((types[inputs["words"][row][batch.mask[row]]] == 0).all())
    only = collate(network, SENTENCES, unmarked=False)
    assert only.n_unmarked == 0 and only.predicates.rows.tolist() == list(range(7))


def test_marks_change_roles_but_not_predicates(bert):
    marked = network_of(embeddings={"transformer": bert, "mark_predicate": True})
    blind = network_of(embeddings={"transformer": bert})
    blind.load_state_dict(marked.state_dict())
    with torch.no_grad():
        ours, theirs = (n(collate(n, SENTENCES)) for n in (marked, blind))
    assert_close(ours.predicate_logits, theirs.predicate_logits, atol=1e-4, rtol=1e-5)
    difference = ours.propositions.routing.final - theirs.propositions.routing.final
    assert difference.abs().max() > 0.01


def test_more_iterations_in_prediction():
    network = network_of(iterations=2)
    batch = collate(network, SENTENCES)
    with torch.no_grad():
        assert len(network(batch).propositions.routing.logits) == 3
        assert len(network(batch, 6).propositions.routing.logits) == 7


def test_predicates_by_their_word_vectors():
    """Eq. 2: what is combined with the words is the vector that the encoder reads."""
    network = network_of(predicate="vector", encoder={"width": 7})
    batch = collate(network, SENTENCES)
    given = []
    network.forms.of_predicate.register_forward_pre_hook(lambda _, inputs: given.extend(inputs))
    with torch.no_grad():
        network(batch)
        vectors = network.vectors(batch.inputs)
    assert vectors.shape[-1] != network.encoder.width
    rows, positions = batch.predicates.rows.tolist(), batch.predicates.positions.tolist()
    for found, row, position in zip(given[0], rows, positions, strict=True):
        assert_close(found, vectors[row, position])


@pytest.mark.parametrize("choices", [*CHOICES, {"form": "factored", "routing_chunks": 3}], ids=str)
def test_every_parameter_has_a_gradient(choices):
    network = network_of(**choices).train()
    batch = collate(network, SENTENCES)
    compute_test_loss(network(batch), batch, uniqueness_weight=0.1).total.backward()
    still = [
        name
        for name, parameter in network.named_parameters()
        if parameter.grad is None or not bool((parameter.grad != 0).any())
    ]
    assert still == []
    assert all(bool(p.grad.isfinite().all()) for p in network.parameters())


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_training_equals_prediction(choices):
    """The order of the products differs; without dropout nothing else does."""
    network = network_of(**choices, dropout=0.0)
    for module in network.modules():
        if hasattr(module, "dropout"):
            module.dropout = 0.0
    network.vector_dropout = network.capsule_dropout = 0.0
    batch = collate(network, SENTENCES)
    with torch.no_grad():
        predicted = network.eval()(batch).propositions.routing
        trained = network.train()(batch).propositions.routing
    for ours, theirs in zip(predicted.logits, trained.logits, strict=True):
        assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    assert predicted.final.abs().max() > 0.01


def test_chunks_change_nothing():
    gradients = []
    for parts in (1, 3):
        network = network_of(form="factored", routing_chunks=parts)
        batch = collate(network, SENTENCES)
        loss = compute_test_loss(network(batch), batch).total
        loss.backward()
        gradients.append([loss.detach(), *(p.grad for p in network.parameters())])
    for one, three in zip(*gradients, strict=True):
        assert_close(one, three, atol=1e-5, rtol=1e-4)


def test_parameter_layers(bert):
    network = network_of(embeddings={"transformer": bert, "fine_tune": True})
    depths = network.parameter_layers()
    prefix = "vectors.sources.transformer.encoder."
    assert depths[prefix + "pieces.weight"] == 0
    assert depths[prefix + "layers.0.inner.weight"] == 1
    assert depths[prefix + "layers.1.inner.weight"] == 2
    assert all(name.startswith(prefix) for name in depths)
    assert network_of(embeddings={"transformer": bert}).parameter_layers() == {}
