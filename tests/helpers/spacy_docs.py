"""spaCy pipelines with capsrl, and labeled and parsed Docs."""

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from capsrl.sentence import Argument, Phrase, Proposition
from capsrl.spacy.sentences import split_doc
from capsrl.spacy.storage import store
from capsrl.spacy.tokens import propositions_of, set_spans

TEXT = "Hiti signed the contract yesterday. She didn't read it."
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


def labeled() -> Doc:
    """White space among the tokens is no word of the sentence."""
    words = ["Mira", "sold", "her", "\n", "old", "bicycle", "now"]
    doc = Doc(spacy.blank("en").vocab, words=words)
    [tokens] = split_doc(doc)
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
    return [(span.label_, span.text, span.id_, span.kb_id_) for span in doc.spans["capsrl"]]


def pipeline(**config) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("capsrl", config=config)
    return nlp


def plain(doc: Doc) -> list:
    """Everything but the probabilities, whose last digits depend on the batch."""
    return [
        (
            p.predicate.i,
            p.sense,
            [(a.role, a.word.i, a.phrase and a.phrase.text) for a in p.arguments],
        )
        for p in doc._.propositions
    ]


def parsed() -> Doc:
    """The man who left town signed it, with white space among the tokens."""
    return Doc(
        spacy.blank("en").vocab,
        words=["The", "man", "who", " ", "left", "town", "signed", "it", ".", "\n"],
        heads=[1, 6, 4, 2, 1, 4, 6, 6, 6, 8],
        deps=["det", "nsubj", "nsubj", "dep", "relcl", "obj", "ROOT", "obj", "punct", "dep"],
    )
