"""Docs as sentences, and propositions stored in Docs."""

import re

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from capsrl.errors import ConfigError
from capsrl.sentence import Sentence
from capsrl.spacy import register
from capsrl.spacy.tokens import propositions_of, read_sentences, to_sentence
from tests.spacy.test_component import TEXT, plain


def test_white_space_is_skipped(nlp):
    doc = nlp("  Hiti \n\n signed   the\tcontract.")
    [found] = doc._.propositions
    assert [token.text for tokens in read_sentences(doc) for token in tokens] == [
        *("Hiti", "signed", "the", "contract", ".")
    ]
    assert (found.predicate.text, [a.word.text for a in found.arguments]) == (
        "signed",
        ["Hiti", "contract"],
    )


def test_docs_without_sentences():
    doc = spacy.blank("en")("Mr. Hiti left. He (she said) didn't!  Why?")
    assert not doc.has_annotation("SENT_START")
    assert [" ".join(token.text for token in tokens) for tokens in read_sentences(doc)] == [
        "Mr. Hiti left .",
        "He ( she said ) did n't !",
        "Why ?",
    ]
    assert not doc.has_annotation("SENT_START")  # the Doc is unchanged


def test_docs_with_sentences():
    doc = Doc(spacy.blank("en").vocab, words=["a", "b", ".", "c"], sent_starts=[1, 1, 0, 0])
    assert [len(tokens) for tokens in read_sentences(doc)] == [1, 3]


def test_long_sentences_are_split():
    words = ["word"] * 600
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[1] + [-1] * 599)
    assert [len(tokens) for tokens in read_sentences(doc)] == [256, 256, 88]


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


def test_propositions_stay_with_copies(nlp):
    doc = nlp(TEXT)
    assert plain(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == plain(doc)
    [stored] = DocBin(store_user_data=True, docs=[doc]).get_docs(nlp.vocab)
    assert plain(stored) == plain(doc)
    first, second = (sentence.as_doc(copy_user_data=True) for sentence in doc.sents)
    assert [plain(first)[0][0], plain(second)[0][0]] == [1, 3]
    assert plain(Doc.from_docs([first, second])) == plain(doc)


def test_parts_of_docs(nlp):
    doc = nlp("Hiti signed the contract yesterday.")
    [found] = doc[1:4].as_doc(copy_user_data=True)._.propositions
    assert [a.word.text for a in found.arguments] == ["contract"]
    assert doc[3:].as_doc(copy_user_data=True)._.propositions == []


def test_merged_tokens(nlp):
    doc = nlp("Hiti signed the contract yesterday.")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert [a.word.text for a in doc._.propositions[0].arguments] == [
        *("Hiti", "the contract", "yesterday")
    ]


def test_register_twice():
    register()
    register()
    assert Doc.get_extension("propositions")[2] is propositions_of


def test_register_a_name_in_use():
    register()
    Doc.set_extension("propositions", default=None, force=True)
    try:
        with pytest.raises(ConfigError, match=re.escape('remove_extension("propositions")')):
            register()
    finally:
        Doc.remove_extension("propositions")
        register()
