"""Docs as sentences, bare and labeled."""

import pytest
import spacy
from spacy.tokens import Doc

import capsrl
from capsrl.sentence import Sentence
from capsrl.spacy import to_sentences
from capsrl.spacy.sentences import split_doc, to_sentence
from tests.helpers.spacy_docs import TEXT, labeled


def test_white_space_is_skipped(nlp):
    doc = nlp("  Hiti \n\n signed   the\tcontract.")
    [found] = doc._.propositions
    assert [token.text for tokens in split_doc(doc) for token in tokens] == [
        *("Hiti", "signed", "the", "contract", ".")
    ]
    assert (found.predicate.text, [a.word.text for a in found.arguments]) == (
        "signed",
        ["Hiti", "contract"],
    )


def test_docs_without_sentences():
    doc = spacy.blank("en")("Mr. Hiti left. He (she said) didn't!  Why?")
    assert not doc.has_annotation("SENT_START")
    assert [" ".join(token.text for token in tokens) for tokens in split_doc(doc)] == [
        "Mr. Hiti left .",
        "He ( she said ) did n't !",
        "Why ?",
    ]
    assert not doc.has_annotation("SENT_START")  # the Doc is unchanged


def test_docs_with_sentences():
    doc = Doc(spacy.blank("en").vocab, words=["a", "b", ".", "c"], sent_starts=[1, 1, 0, 0])
    assert [len(tokens) for tokens in split_doc(doc)] == [1, 3]


def test_long_sentences_are_split():
    words = ["word"] * 600
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[1] + [-1] * 599)
    assert [len(tokens) for tokens in split_doc(doc)] == [256, 256, 88]


def test_tags_and_lemmas():
    doc = Doc(
        spacy.blank("en").vocab,
        words=["He", "left"],
        tags=["PRP", "VBD"],
        pos=["PRON", "VERB"],
        lemmas=["he", "leave"],
    )
    words = list(doc)
    fine = to_sentence(words, {"PRP", "VBD", "NN"})
    assert fine == Sentence(("He", "left"), tags=("PRP", "VBD"), lemmas=("he", "leave"))
    assert to_sentence(words, {"PRON", "VERB"}).tags == ("PRON", "VERB")
    assert to_sentence(words, ()).tags == ("PRON", "VERB")
    doc[0].lemma_ = doc[0].tag_ = doc[0].pos_ = ""
    assert to_sentence(words, ()) == Sentence(("He", "left"))


def test_labeled_sentences_are_those_of_the_labeler(nlp):
    """Both tokenize this text alike."""
    theirs = capsrl.load().label(TEXT)
    ours = to_sentences(nlp(TEXT))
    assert [sentence.words for sentence in ours] == [sentence.words for sentence in theirs]
    for our, their in zip(ours, theirs, strict=True):
        our = our.standalone()  # as those of the labeler
        assert (our.text, our.offsets) == (their.text, their.offsets)
        data, expected = our.to_dict(), their.to_dict()
        for each in (*data["propositions"], *expected["propositions"]):
            for part in (each, *each["arguments"]):
                del part["probability"]  # its last digits depend on the batch
            del each["predicate_probability"], each["joint_probability"]
        assert data["propositions"] == expected["propositions"]


def test_positions_in_sentences_skip_white_space():
    [sentence] = to_sentences(labeled())
    assert sentence.words == ("Mira", "sold", "her", "old", "bicycle", "now")
    [sold] = sentence.propositions
    assert [
        (a.role, a.form, a.phrase and (a.phrase.first, a.phrase.last)) for a in sold.arguments
    ] == [
        ("A0", "Mira", (0, 0)),
        ("A1", "bicycle", (2, 4)),
        ("AM-TMP", "now", None),
    ]
    assert sentence.text[sold.arguments[1].phrase.start : sold.arguments[1].phrase.end] == (
        "her \n old bicycle"
    )


def test_arguments_in_other_sentences_are_left_out():
    doc = labeled()
    doc[4].is_sent_start = True
    assert [len(sentence) for sentence in to_sentences(doc)] == [3, 3]
    [sold], [] = (sentence.propositions for sentence in to_sentences(doc))
    assert [argument.role for argument in sold.arguments] == ["A0"]


def test_unlabeled_docs():
    vocab = spacy.blank("en").vocab
    assert to_sentences(Doc(vocab, words=["Go", "!"])) == [
        Sentence(("Go", "!"), text="Go ! ", offsets=((0, 2), (3, 4)))
    ]
    assert to_sentences(Doc(vocab)) == []


def test_a_doc_without_sentences_is_split_by_the_rules_of_its_language():
    pytest.importorskip("sentencex")
    doc = spacy.blank("de")("Am 3. Mai kam er. Gut.")
    assert [words[-1].idx for words in split_doc(doc)] == [16, 21]
