"""Propositions stored in Docs, wherever the Docs go."""

import gc
import weakref

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from capsrl.sentence import Proposition
from capsrl.spacy.storage import DocReader, Parse, clear, read_propositions, store
from capsrl.spacy.tokens import propositions_of
from tests.formats.test_fields import PROPOSITION as PROPOSITION_WITH_NEW_FIELDS
from tests.formats.test_fields import LongProposition
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


# What older versions stored: role, distance, probability, and edges of the phrase in a list.
OLDEST = {"sense": "sell.01", "probability": 0.9, "arguments": [["A0", -5, 0.9], ["A1", 15, 0.8]]}
OLDER = OLDEST | {
    "phrases": True,
    "arguments": [["A0", -5, 0.9, -5, -5], ["A1", 15, 0.8, 5, 15]],
    "definition": None,
    "guessed": False,
    "predicate_probability": 0.5,
    "joint_probability": None,
    "frames": [],
    "meanings": {"A0": "Agent", "A1": None},
}


@pytest.mark.parametrize(
    ("stored", "found"),
    [(OLDEST, [("A0", "Mira", None), ("A1", "bicycle", None)]), (OLDER, FOUND[:2])],
)
def test_docs_of_older_versions(stored, found):
    doc = labeled()
    doc.user_data[("._.", "capsrl", 5, None)] = stored
    doc = Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert phrases(doc) == found
    [sold] = propositions_of(doc)
    assert (sold.definition, sold.frames, sold.guessed) == (None, (), False)
    assert (sold.probability, sold.joint_probability) == (0.9, None)
    if stored is OLDER:
        assert (sold.predicate_probability, sold.arguments[0].meaning) == (0.5, "Agent")
        assert list(sold) == [
            *("predicate", "form", "sense", "probability", "predicate_probability"),
            *("start", "end", "arguments"),
        ]


def test_new_fields_are_stored_and_read():
    doc = Doc(labeled().vocab, words=["Dogs", "barked"])
    store(list(doc), [PROPOSITION_WITH_NEW_FIELDS])
    [entry] = doc.user_data.items()
    [barked] = DocReader(doc, LongProposition).read([(entry[0][2], entry[1])])
    assert (barked["tense"], barked["arguments"][0]["animate"]) == ("past", True)


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


# As spaCy's English pipelines parse it: prepositions are the heads of their objects.
WORDS = "She walked in the dark of night with people who left after leaving it .".split()
HEADS = [1, 1, 1, 4, 2, 4, 5, 1, 7, 10, 8, 1, 11, 12, 1]
DEPS = "nsubj ROOT prep det pobj prep pobj prep pobj nsubj relcl prep pcomp dobj punct".split()


def parse_words(deps=DEPS, heads=HEADS):
    doc = Doc(spacy.blank("en").vocab, words=WORDS, heads=heads, deps=deps)
    [sentence] = doc.sents
    return doc, Parse(sentence)


def phrase(predicate, word, **changes):
    doc, tree = parse_words(**changes)
    first, last = tree.phrase(doc[predicate], "A1", doc[word])
    return doc[first : last + 1].text


@pytest.mark.parametrize(
    ("predicate", "word", "expected"),
    [
        (1, 4, "in the dark of night"),  # the model names the object of a preposition
        (1, 2, "in the dark of night"),  # or the preposition itself
        (1, 12, "after leaving it"),
        (4, 6, "of night"),
        (1, 8, "with people who left"),
        (10, 8, "people"),  # the predicate is below the word: *with* is not part of its argument
        (12, 13, "it"),
        (1, 0, "She"),
    ],
)
def test_prepositions(predicate, word, expected):
    assert phrase(predicate, word) == expected


def test_the_predicate_is_not_part_of_its_phrase():
    assert phrase(2, 4) == "the dark of night"


def test_a_root_called_object():
    """Relations may be anything; the search for a preposition ends."""
    assert phrase(0, 1, deps=["pobj"] * len(DEPS)).endswith("leaving it")


def test_other_sentences():
    doc, tree = parse_words()
    other = Doc(doc.vocab, words=["Go"] * 20, heads=[0] * 20, deps=["dep"] * 20)
    assert tree.phrase(doc[1], "A1", other[19]) is None
    assert tree.phrase(other[19], "A1", doc[1]) is None
