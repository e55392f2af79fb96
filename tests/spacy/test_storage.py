"""Propositions stored in Docs, wherever the Docs go."""

import gc
import weakref

import pytest
from spacy.tokens import Doc, DocBin

from capsrl.sentence import Proposition
from capsrl.spacy.storage import clear, read_propositions, store
from capsrl.spacy.tokens import propositions_of
from tests.helpers.spacy_docs import FOUND, PROPOSITION, TEXT, labeled, phrases, plain, spans


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


def test_phrases_of_the_model():
    assert phrases(labeled()) == FOUND


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
    stored = Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert phrases(stored) == [(role, word, None) for role, word, _ in FOUND]


def test_cleared():
    doc = labeled()
    clear(doc)
    assert propositions_of(doc) == []
    clear(doc)


def test_read_once():
    doc = labeled()
    first = read_propositions(doc)
    assert read_propositions(doc) is first
    copies = [doc.copy(), Doc(doc.vocab).from_bytes(doc.to_bytes())]
    for copy in copies:
        assert read_propositions(copy) == first


def test_what_was_read_cannot_be_changed_through_a_copy():
    doc = labeled()
    [sold] = propositions_of(doc)
    sold.arguments[0]["phrase"]["last"] = 3
    sold["sense"] = sold.arguments[0]["role"] = "?"
    sold["arguments"].clear()
    assert phrases(doc) == FOUND
    assert propositions_of(doc)[0].sense == "sell.01"


def merge(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[4:6])


def split(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[5], ["bi", "cycle"], heads=[doc[4], doc[4]])


def parse(doc):
    for token in doc:
        token.head, token.dep_ = doc[1], "dep"


def reparse(doc):
    for token in doc:
        token.head, token.dep_ = doc[1], "dep"
    read_propositions(doc)
    doc[4].head = doc[6]
    doc[2].head = doc[6]
    doc[3].head = doc[6]
    doc[5].head = doc[6]


@pytest.mark.parametrize("change", [merge, split, parse, reparse])
def test_read_again_when_the_doc_changes(change):
    doc = labeled()
    before = read_propositions(doc)
    change(doc)
    after = read_propositions(doc)
    assert after != before
    doc.spans.clear()  # spaCy does not move them with the tokens
    assert after == read_propositions(Doc(doc.vocab).from_bytes(doc.to_bytes()))


def test_read_again_when_the_propositions_change():
    doc = labeled()
    read_propositions(doc)
    tokens = [token for token in doc if not token.is_space]
    store(tokens, [Proposition(1, "sell.02")])
    assert [each["sense"] for each in read_propositions(doc)] == ["sell.02"]
    doc.user_data.update(labeled().user_data)
    assert [each["sense"] for each in read_propositions(doc)] == ["sell.01"]
    doc.user_data = {}
    assert read_propositions(doc) == ()


def test_docs_are_freed():
    doc = labeled()
    assert doc._.propositions
    gone = weakref.ref(doc)
    gc.disable()  # no cycle keeps the Doc
    try:
        del doc
        assert gone() is None
    finally:
        gc.enable()
