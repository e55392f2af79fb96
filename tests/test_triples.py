"""Triples of subject, predicate and object."""

import pytest

import capsrl
from capsrl import Proposition, Sentence, Triple


def test_passives_negation_and_light_verbs(labeler):
    text = "Hello. The shop was bought by Nora. Ivan never signed the form."
    first, second = capsrl.triples(labeler.label(text))
    assert (first.subject, first.predicate, first.object) == ("Nora", "buy", "The shop")
    assert (second.subject, second.predicate, second.object) == ("Ivan", "sign", "the form")
    assert [first.negated, second.negated] == [False, True]
    for triple in (first, second):
        assert text[slice(*triple.subject_span)] == triple.subject
        assert text[slice(*triple.object_span)] == triple.object
        assert 0 < triple.probability <= 1
    assert text[slice(*first.predicate_span)] == "bought"
    assert first.sense == "buy.01"


def test_roles_and_threshold(labeler):
    [sentence] = labeler.label("Mira sold her bicycle to a neighbor.")
    [triple] = capsrl.triples(sentence, objects=["A2"])
    assert (triple.subject, triple.object) == ("Mira", "a neighbor")
    assert not list(capsrl.triples(sentence, subjects=["A4"]))
    assert not list(capsrl.triples(sentence, threshold=1.0))


@pytest.mark.parametrize("sense", ["bark.01", None])
def test_sentences_without_text_or_probabilities(sense):
    arguments = (capsrl.Argument("A0", 0), capsrl.Argument("A1", 2))
    sentence = Sentence(["Dogs", "bark", "orders"], [Proposition(1, sense, arguments)])
    expected = Triple("Dogs", "bark", "orders", False, sense, None, None, None, None)
    assert list(capsrl.triples([sentence])) == [expected]


def test_several_texts(labeler):
    texts = ["Nora sold it. Ivan bought it.", "", "Omar lost it."]
    found = capsrl.triples(labeler.label(texts), threshold=0.1)
    assert [each.subject for each in found] == ["Nora", "Ivan", "Omar"]
    assert len(list(capsrl.triples(labeler.label_many(texts)))) == 3
    with pytest.raises(capsrl.DataError, match="triples: expected labeled sentences, got 'Omar"):
        list(capsrl.triples(texts[2:]))
