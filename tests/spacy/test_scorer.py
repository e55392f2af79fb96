"""The figures of nlp.evaluate."""

import dataclasses

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from capsrl.score import score
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.spacy import register, score_examples
from tests.helpers.spacy_docs import TEXT, pipeline
from tests.helpers.tiny_networks import SENTENCES, make_labeler

NLP = spacy.blank("en")


def make_doc(words, propositions=(), spaces=None) -> Doc:
    register()
    doc = Doc(NLP.vocab, words=words, spaces=spaces)
    sentence = Sentence(tuple(words)).with_propositions(propositions)
    doc._.propositions = sentence.to_dict()["propositions"]
    return doc


def sign(*arguments: Argument, sense="sign.02", predicate=1) -> Proposition:
    return Proposition(predicate, sense, arguments)


WORDS = ["Hiti", "signed", "the", "contract", "today"]
GOLD = sign(
    Argument("A0", 0, phrase=Phrase(0, 0)),
    Argument("A1", 3, phrase=Phrase(2, 3)),
    Argument("AM-TMP", 4, phrase=Phrase(4, 4)),
)


def test_worked_example():
    """Wrong: the sense, the role of *today*, the second predicate, and the phrase of A1."""
    found = [
        sign(
            Argument("A0", 0, phrase=Phrase(0, 0)),
            Argument("A1", 3, phrase=Phrase(3, 3)),
            Argument("AM-LOC", 4, phrase=Phrase(4, 4)),
            sense="sign.01",
        ),
        Proposition(3, "contract.01"),
    ]
    scores = score_examples([Example(make_doc(WORDS, found), make_doc(WORDS, [GOLD]))])
    assert (scores["srl_p"], scores["srl_r"]) == pytest.approx((2 / 5, 2 / 4))
    assert scores["srl_f"] == pytest.approx(2 * 2 / (5 + 4))
    assert (scores["srl_senses_p"], scores["srl_senses_r"], scores["srl_senses_f"]) == (0, 0, 0)
    assert (scores["srl_roles_p"], scores["srl_roles_r"]) == pytest.approx((2 / 3, 2 / 3))
    assert scores["srl_phrases_f"] == pytest.approx(1 / 3)
    per_role = scores["srl_roles_per_type"]
    assert per_role["A1"] == {"p": 1, "r": 1, "f": 1}
    assert per_role["AM-TMP"] == {"p": 0, "r": 0, "f": 0} == per_role["AM-LOC"]


def test_same_as_the_scorer_of_the_library():
    labeler = make_labeler()
    predicted = list(labeler.label_sentences(SENTENCES))
    examples = [
        Example(make_doc(p.words, p.propositions), make_doc(g.words, g.propositions))
        for g, p in zip(SENTENCES, predicted, strict=True)
    ]
    ours, theirs = score_examples(examples), score(SENTENCES, predicted)
    assert ours["srl_f"] == pytest.approx(theirs.labeled_f1 / 100)
    assert ours["srl_senses_f"] == pytest.approx(theirs.counts.senses.f1 / 100)
    assert ours["srl_roles_f"] == pytest.approx(theirs.counts.arguments.f1 / 100)


def test_evaluate(nlp):
    gold = nlp(TEXT)
    silent = nlp.make_doc("Yes.")
    scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc) for doc in (gold, silent)])
    assert scores["srl_f"] == scores["srl_senses_f"] == scores["srl_phrases_f"] == 1.0
    wrong = gold.copy()
    wrong._.propositions = [each | {"sense": "x.09"} for each in wrong._.propositions]
    scores = nlp.evaluate([Example(nlp.make_doc(gold.text), wrong)])
    assert (scores["srl_senses_f"], scores["srl_roles_f"]) == (0.0, 1.0)


def test_without_gold_there_are_no_figures(nlp):
    scores = nlp.evaluate([Example(nlp.make_doc(TEXT), nlp.make_doc(TEXT))])
    assert {name: value for name, value in scores.items() if name.startswith("srl")} == (
        dict.fromkeys(nlp.get_pipe_meta("capsrl").default_score_weights)
    )


def test_without_gold_phrases():
    heads = sign(*(dataclasses.replace(each, phrase=None) for each in GOLD.arguments))
    scores = score_examples([Example(make_doc(WORDS, [GOLD]), make_doc(WORDS, [heads]))])
    assert (scores["srl_f"], scores["srl_phrases_f"]) == (1.0, None)


def test_propositions_without_gold_ones_are_wrong():
    one = Example(make_doc(WORDS, [GOLD]), make_doc(WORDS, [GOLD]))
    other = Example(make_doc(WORDS, [GOLD]), make_doc(WORDS))
    assert score_examples([one, other])["srl_p"] == 0.5


def test_other_tokens():
    """What is predicted at a token that the reference does not have is wrong."""
    words = ["She", "can", "not", "leave"]
    gold = sign(Argument("A0", 0), Argument("AM-MOD", 1), Argument("AM-NEG", 2), predicate=3)
    found = sign(Argument("A0", 0), Argument("AM-NEG", 1, phrase=Phrase(1, 1)), predicate=2)
    example = Example(
        make_doc(["She", "cannot", "leave"], [found]),
        make_doc(words, [gold], spaces=[True, False, True, True]),
    )
    scores = score_examples([example])
    assert (scores["srl_roles_p"], scores["srl_roles_r"]) == pytest.approx((1 / 2, 1 / 3))
    assert scores["srl_senses_f"] == 1.0
    back = score_examples([Example(example.reference, example.predicted)])
    assert (back["srl_roles_p"], back["srl_roles_r"]) == pytest.approx((1 / 3, 1 / 2))


def test_no_scorer():
    nlp = pipeline(scorer=None)
    assert "srl_f" not in nlp.evaluate([Example(nlp.make_doc("Go."), nlp.make_doc("Go."))])
