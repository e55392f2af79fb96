"""Docs as sentences, and propositions stored in Docs."""

import re

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from capsrl.errors import ConfigError
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.spacy import register
from capsrl.spacy.tokens import (
    clear,
    propositions_of,
    read_sentences,
    set_spans,
    store,
    to_sentence,
)
from tests.spacy.test_component import TEXT, plain

PROPOSITION = Proposition(
    1,
    "sell.01",
    (
        Argument("A0", 0, 0.9, phrase=Phrase(0, 0)),
        Argument("A1", 4, 0.8, phrase=Phrase(2, 4)),
        Argument("AM-TMP", 5, 0.7),
    ),
    0.9,
)
FOUND = [("A0", "Mira", "Mira"), ("A1", "bicycle", "her \n old bicycle"), ("AM-TMP", "now", None)]


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


def labeled() -> Doc:
    """White space among the tokens is no word of the sentence."""
    words = ["Mira", "sold", "her", "\n", "old", "bicycle", "now"]
    doc = Doc(spacy.blank("en").vocab, words=words)
    [tokens] = read_sentences(doc)
    store(tokens, [PROPOSITION])
    set_spans(doc)
    return doc


def phrases(doc):
    return [
        (argument.role, argument.word.text, argument.phrase and argument.phrase.text)
        for proposition in propositions_of(doc)
        for argument in proposition.arguments
    ]


def spans(doc):
    return [(span.label_, span.text, span.id_) for span in doc.spans["capsrl"]]


def test_phrases_of_the_model():
    assert phrases(labeled()) == FOUND


def test_spans():
    assert spans(labeled()) == [
        ("V", "sold", "1"),
        ("A0", "Mira", "1"),
        ("A1", "her \n old bicycle", "1"),
        ("AM-TMP", "now", "1"),
    ]


def test_the_phrase_of_the_model_comes_before_that_of_the_parse():
    doc = labeled()
    for token, head in zip(doc, (1, 1, 5, 2, 5, 1, 1), strict=True):
        token.head, token.dep_ = doc[head], "dep"
    store([token for token in doc if not token.is_space], [PROPOSITION])
    assert phrases(doc)[:2] == FOUND[:2]
    assert phrases(doc)[2] == ("AM-TMP", "now", "now")
    store([token for token in doc if not token.is_space], [PROPOSITION], phrases=False)
    assert phrases(doc) == FOUND


def test_stored_docs_keep_phrases():
    doc = labeled()
    merged = Doc.from_docs([Doc(doc.vocab, words=["Well", "."]), doc])
    assert phrases(merged) == FOUND
    again = list(DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab))[0]
    assert phrases(again) == FOUND
    assert spans(again) == spans(doc)


def test_a_part_of_a_doc():
    assert phrases(labeled()[:5].as_doc(copy_user_data=True)) == [("A0", "Mira", "Mira")]
    cut = labeled()[1:].as_doc(copy_user_data=True)
    assert phrases(cut) == FOUND[1:]


def test_docs_stored_before_there_were_phrases():
    doc = labeled()
    [data] = [value for key, value in doc.user_data.items() if key[1] == "capsrl"]
    data["arguments"] = [argument[:3] for argument in data["arguments"]]
    del data["phrases"]
    assert phrases(doc) == [(role, word, None) for role, word, _ in FOUND]


def test_cleared():
    doc = labeled()
    clear(doc)
    assert propositions_of(doc) == [] and "capsrl" not in doc.spans
    clear(doc)
