"""One batch from indexed sentences to propositions; `test_labeler.py` tests streams of them."""

import dataclasses

import numpy as np
import pytest
import torch

from capsrl.errors import ConfigError, ModelError
from capsrl.network.backend import TorchBackend
from capsrl.options import Options
from capsrl.predict.predictor import Predictor
from capsrl.text.lemmatizer import learn_lemmas
from capsrl.text.phrases import with_phrases
from tests.helpers.tiny_networks import make_config, make_labeler, write_encoder
from tests.helpers.tiny_sentences import SENTENCES, blind


def predict(network, sentences, **options):
    items = [network.index(s, gold=False) for s in sentences]
    return Predictor(TorchBackend(network, "cpu")).label_batch(sentences, items, Options(**options))


@pytest.fixture(scope="module")
def network():
    return make_labeler().network


def test_marked_predicates(network):
    labeled = predict(network, [blind(s) for s in SENTENCES], predicates="marked")
    assert [s.predicates for s in labeled] == [s.predicates for s in SENTENCES]
    assert all(p.sense and p.probability for s in labeled for p in s.propositions)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("predicates", ["found", "marked"])
def test_weights_that_are_not_finite(predicates, value):
    """They gave sentences without propositions."""
    network = make_labeler().network
    with torch.no_grad():
        network.finder.score.weight[0, 0] = value
    with pytest.raises(ModelError, match="scores that are not finite"):
        predict(network, [blind(s) for s in SENTENCES], predicates=predicates)


def test_found_predicates_ignore_the_marks(network):
    bare = [s.with_propositions(()) for s in SENTENCES]
    marked = predict(network, [blind(s) for s in SENTENCES], predicates="found")
    assert marked == predict(network, bare, predicates="found")
    assert any(s.propositions for s in marked)


def test_unknown_lemmas_come_from_the_lemmatizer(network):
    given = dataclasses.replace(blind(SENTENCES[4]), lemmas=None)
    (without,) = predict(network, [given], predicates="marked")
    assert [p.sense.partition(".")[0] for p in without.propositions] == ["sees", "sees"]
    inventory = dataclasses.replace(network.inventory, lemmatizer=learn_lemmas(SENTENCES))
    network = make_labeler().network
    network.inventory = inventory
    (found,) = predict(network, [given], predicates="marked")
    assert {p.sense for p in found.propositions} <= {"see.01", "see.02"}
    assert found.lemmas is None


def test_part_of_speech_of_predicates(network):
    tagged = dataclasses.replace(blind(SENTENCES[2]), tags=("NN",) * 6 + ("VB",) + ("NN",) * 2)
    (verbs,) = predict(network, [tagged], predicates="marked", pos=("verb",))
    assert verbs.predicates == (6,)
    (nouns,) = predict(network, [tagged], predicates="marked", pos=("noun",))
    assert nouns.predicates == (4,)
    with pytest.raises(ConfigError, match="pos: predicates are selected by the tags of words"):
        predict(network, [blind(SENTENCES[2])], predicates="marked", pos=("verb",))


def test_predicted_tags_are_added():
    tagged = [dataclasses.replace(s, tags=("NN",) * len(s.words)) for s in SENTENCES]
    config = dataclasses.replace(make_config(), tagger=True)
    network = make_labeler(config).network
    first, second = predict(network, [tagged[0], blind(SENTENCES[1])], predicates="found")
    assert first.tags == ("NN", "NN", "NN")
    assert len(second.tags) == 2


def test_predicted_tags_where_predicates_are_marked(tmp_path):
    """A network that encodes a sentence once per predicate tags it too."""
    write_encoder(tmp_path, limit=24)
    embeddings = {"transformer": str(tmp_path), "mark_predicate": True}
    config = dataclasses.replace(make_config(embeddings=embeddings), tagger=True)
    network = make_labeler(config).network
    (labeled,) = predict(network, [blind(SENTENCES[1])], predicates="marked")
    assert len(labeled.tags) == len(SENTENCES[1].words)
    assert labeled.predicates == SENTENCES[1].predicates


@pytest.mark.parametrize("phrases", [True, False])
def test_propositions_have_forms_offsets_and_phrases(network, phrases):
    """Those of `with_propositions`, and the phrases of the parse."""
    words = SENTENCES[2].words
    starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
    offsets = [(start, start + len(word)) for start, word in zip(starts, words, strict=False)]
    heads = (None, *(0 for _ in words[1:]))
    given = dataclasses.replace(
        blind(SENTENCES[2]), text=" ".join(words), offsets=tuple(offsets), heads=heads
    )
    (labeled,) = predict(network, [given], predicates="marked", phrases=phrases)
    bare = [
        dataclasses.replace(
            each,
            start=None,
            end=None,
            form=None,
            arguments=tuple(
                dataclasses.replace(argument, start=None, end=None, form=None, phrase=None)
                for argument in each.arguments
            ),
        )
        for each in labeled.propositions
    ]
    expected = given.with_propositions(bare)
    if phrases:
        expected = with_phrases(expected)
        assert any(a.phrase.text for p in labeled.propositions for a in p.arguments)
    assert labeled == expected
    assert labeled.to_dict() == expected.to_dict()
