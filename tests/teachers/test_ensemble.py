"""An ensemble predicts the mean of its members' probabilities."""

import dataclasses

import pytest
import torch

from capsrl.errors import ModelError
from capsrl.labeler import Labeler
from capsrl.network.build import make_network
from capsrl.predict.inventory import build_inventory
from teachers.ensemble import Ensemble
from tests.helpers.tiny_networks import (
    SENTENCES,
    assert_same_answers,
    make_config,
    make_labeler,
    write_encoder,
)


def test_network_twice():
    labeler = make_labeler()
    twice = Labeler(Ensemble({"a": labeler.network, "b": labeler.network}), labeler.config)
    for source in ("marked", "found"):
        ours = list(twice.label_sentences(SENTENCES, predicates=source))
        theirs = list(labeler.label_sentences(SENTENCES, predicates=source))
        assert_same_answers(ours, theirs)


def test_probabilities_are_averaged():
    one, other = (make_labeler(seed=seed) for seed in (1, 2))
    ensemble = Ensemble({"a": one.network, "b": other.network}).eval()
    batch = ensemble.collate([ensemble.index(s) for s in SENTENCES])
    own = one.network.collate([one.network.index(s) for s in SENTENCES])
    states = ensemble.encode(batch)
    answers = ensemble.score_propositions(states, batch.mask, batch.predicates)
    outputs = [labeler.network.eval()(own) for labeler in (one, other)]
    for found, expected in (
        (answers.routing.final, [o.propositions.routing.final for o in outputs]),
        (answers.routing.logits[1], [o.propositions.routing.logits[1] for o in outputs]),
        (answers.senses, [o.propositions.senses for o in outputs]),
        (answers.patterns, [o.propositions.patterns for o in outputs]),
    ):
        mean = sum(logits.softmax(-1) for logits in expected) / 2
        torch.testing.assert_close(found.softmax(-1), mean)
    mean = sum(o.predicate_logits.sigmoid() for o in outputs) / 2
    real = batch.mask
    torch.testing.assert_close(ensemble.finder(states).sigmoid()[real], mean[real])


def test_different_sources_of_vectors(tmp_path):
    write_encoder(tmp_path / "bert")
    config = make_config(embeddings={"transformer": str(tmp_path / "bert"), "fine_tune": True})
    letters, again, words = make_labeler(config), make_labeler(config, seed=2), make_labeler()
    ensemble = Ensemble({"a": letters.network, "b": words.network, "c": again.network})
    item = ensemble.index(SENTENCES[2])
    assert item.source_items.keys() == {"0/transformer", "1/learned", "1/characters"}
    assert item.length == letters.network.index(SENTENCES[2]).length
    alone = Labeler(ensemble, letters.config).label_sentences([SENTENCES[2]])
    together = list(Labeler(ensemble, letters.config).label_sentences(SENTENCES))
    assert_same_answers(list(alone), [together[2]])


def test_other_inventory():
    first = make_labeler()
    network = make_network(make_config(), build_inventory(SENTENCES[:2]))
    with pytest.raises(ModelError, match=r"other: has other roles.* than one; train both"):
        Ensemble({"one": first.network, "other": network})


def test_member_that_marks_predicates():
    network = make_labeler().network
    network.mark_predicate = True
    with pytest.raises(ModelError, match="marked: a model with .*mark_predicate cannot be"):
        Ensemble({"marked": network})


def test_variant_without_iterations():
    routed = make_labeler(make_config(iterations=3))
    plain = make_labeler(dataclasses.replace(make_config(variant="baseline")), seed=2)
    ensemble = Ensemble({"a": routed.network, "b": plain.network}).eval()
    batch = ensemble.collate([ensemble.index(s) for s in SENTENCES])
    answers = ensemble.score_propositions(ensemble.encode(batch), batch.mask, batch.predicates)
    assert len(answers.routing.logits) == 1
