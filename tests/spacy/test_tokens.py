"""The attributes of Docs, spans and tokens."""

import json
import pickle
import re

import pytest
import spacy
from spacy.tokens import Doc, Span, Token

import capsrl
from capsrl.errors import ConfigError, DataError
from capsrl.sentence import Sentence
from capsrl.spacy import TokenArgument, TokenProposition, register, storage
from capsrl.spacy.tokens import propositions_in, propositions_of
from tests.helpers.spacy_docs import TEXT, labeled, spans

GOLD = {
    "predicate": 1,
    "sense": "sign.02",
    "arguments": [
        {"role": "A0", "word": 0},
        {"role": "A1", "word": 3, "phrase": {"first": 2, "last": 3}},
    ],
}


def make_doc() -> Doc:
    return Doc(spacy.blank("en").vocab, words=["Hiti", "signed", "the", "contract"])


def test_attributes_are_tokens_and_spans(nlp):
    doc = nlp(TEXT)
    signed, _ = doc._.propositions
    assert isinstance(signed, TokenProposition)
    assert (signed.predicate, signed.sense, signed.guessed) == (doc[1], "sign.02", False)
    _, contract, _ = signed.arguments
    assert isinstance(contract, TokenArgument)
    assert (contract.role, contract.word, contract.phrase) == ("A1", doc[3], doc[2:4])
    assert contract.probability == contract["probability"]
    assert (signed.form, signed.frames, contract.start) == ("signed", tuple(signed["frames"]), 16)
    with pytest.raises(AttributeError, match="'TokenArgument' object has no attribute 'sense'"):
        _ = contract.sense


def test_values_are_those_of_the_library(nlp):
    """The same words: the same JSON, with offsets into the text."""
    doc = nlp(TEXT.partition(".")[0] + ".")
    sentence = Sentence(
        tuple(token.text for token in doc),
        text=doc.text,
        offsets=tuple((token.idx, token.idx + len(token)) for token in doc),
    )
    [labeled_sentence] = capsrl.load().label(sentence)
    ours, theirs = doc._.propositions, labeled_sentence.to_dict()["propositions"]
    assert json.loads(json.dumps(ours), parse_float=lambda digits: round(float(digits), 4)) == (
        json.loads(json.dumps(theirs), parse_float=lambda digits: round(float(digits), 4))
    )
    assert [list(each) for each in ours] == [list(each) for each in theirs]


def test_json(nlp):
    doc = nlp(TEXT)
    data = json.loads(json.dumps(doc.to_json(underscore=["propositions"])))
    assert data["_"]["propositions"][1]["sense"] == "read.01"
    again = Doc(nlp.vocab).from_json(data)
    assert again._.propositions == doc._.propositions
    assert spans(again) == spans(doc)


def test_propositions_of_spans(nlp):
    doc = nlp(TEXT)
    first, second = doc.sents
    assert [each.sense for each in first._.propositions] == ["sign.02"]
    assert second._.propositions == doc._.propositions[1:]
    assert doc[2:4]._.propositions == []
    assert doc[0:2]._.propositions[0].arguments[1].phrase == doc[2:4]  # outside the span


def test_propositions_of_tokens(nlp):
    doc = nlp(TEXT)
    found = {token.i: token._.proposition for token in doc}
    assert [i for i, proposition in found.items() if proposition] == [1, 9]
    assert [found[1], found[9]] == doc._.propositions
    assert found[9].predicate == doc[9]


def test_the_predicate_of_a_merged_token(nlp):
    doc = nlp("Hiti has signed it.")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
    assert doc[1]._.proposition.predicate.text == "has signed"
    assert doc[0]._.proposition is None


def test_pickled_propositions(nlp):
    [proposition] = nlp("Hiti signed it.")._.propositions
    again = pickle.loads(pickle.dumps(proposition))
    assert again == proposition
    assert again.predicate.text == "signed" and again.arguments[0].word.text == "Hiti"


def test_set_propositions():
    doc = make_doc()
    register()
    doc._.propositions = [GOLD]
    [signed] = doc._.propositions
    assert [(a.role, a.word.text, a.phrase and a.phrase.text) for a in signed.arguments] == [
        ("A0", "Hiti", None),
        ("A1", "contract", "the contract"),
    ]
    assert (signed.probability, signed.arguments[0].probability) == (None, None)
    assert spans(doc) == [
        ("V", "signed", "1", "sign.02"),
        ("A0", "Hiti", "1", ""),
        ("A1", "the contract", "1", ""),
    ]
    doc._.propositions = []
    assert doc._.propositions == [] and spans(doc) == []


def test_set_phrases_are_not_looked_up_in_the_parse(nlp):
    doc = make_doc()
    for token, head in zip(doc, (1, 1, 3, 1), strict=True):
        token.head, token.dep_ = doc[head], "dep"
    doc._.propositions = [{"predicate": 1, "sense": None, "arguments": [{"role": "A1", "word": 3}]}]
    [signed] = doc._.propositions
    assert (signed.sense, signed.arguments[0].phrase) == (None, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predicate": 4}, r"doc: propositions\[0\].predicate: expected .* of 4 words.*, got 4"),
        ({"predicat": 1}, r"doc: propositions\[0\]: expected the keys .*, got 'predicat'"),
        ({"form": "read"}, r"propositions\[0\].form: expected 'signed', word 1, got 'read'"),
    ],
)
def test_set_wrong_propositions(change, message):
    doc = make_doc()
    register()
    doc._.propositions = [GOLD]
    with pytest.raises(DataError, match=message):
        doc._.propositions = [GOLD | change]
    assert len(doc._.propositions) == 1  # as before


def test_register_twice():
    register()
    register()
    assert Doc.get_extension("propositions")[2] is propositions_of
    assert Span.get_extension("propositions")[2] is propositions_in


@pytest.mark.parametrize(
    ("extended", "name"), [(Doc, "propositions"), (Span, "propositions"), (Token, "proposition")]
)
def test_register_a_name_in_use(extended, name):
    register()
    extended.set_extension(name, default=None, force=True)
    place = f"{extended.__name__.lower()}._.{name}: "
    advice = f'{extended.__name__}.remove_extension("{name}")'
    try:
        with pytest.raises(ConfigError, match=f"{re.escape(place)}.*{re.escape(advice)}"):
            register()
    finally:
        extended.remove_extension(name)
        register()


def test_spans():
    assert spans(labeled()) == [
        ("V", "sold", "1", "sell.01"),
        ("A0", "Mira", "1", ""),
        ("A1", "her \n old bicycle", "1", ""),
        ("AM-TMP", "now", "1", ""),
    ]


def test_senses_and_roles_for_the_matcher():
    from spacy.matcher import Matcher

    nlp = spacy.blank("en")
    nlp.add_pipe("capsrl")
    doc = nlp("Google acquired a startup.")
    matcher = Matcher(nlp.vocab)
    matcher.add("verb", [[{"_": {"sense": {"REGEX": "^acquire"}}}]])
    matcher.add("agent", [[{"_": {"roles": {"INTERSECTS": ["acquire.01:A0"]}}}]])
    found = {(nlp.vocab.strings[name], doc[first].text) for name, first, _ in matcher(doc)}
    assert found == {("verb", "acquired"), ("agent", "Google")}


def test_roles_follow_what_is_stored():
    """They are kept for a Doc, until its propositions or tokens change."""
    doc = make_doc()
    assert doc[0]._.roles == []
    doc._.propositions = [GOLD]
    assert (doc[0]._.roles, doc[3]._.roles) == (["A0", "sign.02:A0"], ["A1", "sign.02:A1"])
    doc._.propositions = [GOLD | {"sense": "sign.01"}]
    assert doc[3]._.roles == ["A1", "sign.01:A1"]
    for part in (doc[:1], doc[2:]):  # without the predicate
        assert not any(token._.roles for token in part.as_doc(copy_user_data=True))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert (doc[2].text, doc[2]._.roles) == ("the contract", ["A1", "sign.01:A1"])
    assert (doc[1]._.sense, doc[2]._.sense) == ("sign.01", "")


def test_roles_of_a_long_doc_cost_no_more_for_each_token(monkeypatch):
    reads = []
    stored = storage._stored
    monkeypatch.setattr(storage, "_stored", lambda doc: reads.append(doc) or stored(doc))
    doc = labeled()
    reads.clear()
    assert any(token._.roles for token in doc)
    assert len(reads) == 1
