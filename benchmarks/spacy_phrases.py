"""Compare the phrases that the model predicts with those of the parser of a spaCy pipeline.

    python benchmarks/spacy_phrases.py en_core_web_md [../shared/data/en_ewt/test.conll09.xz]

The corpus has a phrase file beside it. The pipeline tags and parses its words, capsrl finds and
labels the predicates, and the scorer of the component scores them. Then the phrases of the model
are removed, so that those of the parse are given.

F1         senses and arguments, official scorer
phrases    F1 of phrases with their roles, as in CoNLL-2005
same       the share of arguments that have the same phrase by model and by parse
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from capsrl.formats.formats import read_sentences
from capsrl.formats.phrase_file import phrase_file_of
from capsrl.sentence import Sentence
from capsrl.spacy import register, score_examples, to_sentences
from capsrl.spacy.sentences import split_doc
from capsrl.spacy.storage import clear, store
from capsrl.text.phrases import without_phrases

CORPUS = Path(__file__).resolve().parents[2] / "shared/data/en_ewt/test.conll09.xz"


def main() -> None:
    """Print the scores of both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pipeline", help="name or folder of a spaCy pipeline with a parser")
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS, help="CoNLL-2009 file")
    options = parser.parse_args()
    nlp = spacy.load(options.pipeline)
    nlp.add_pipe("capsrl", config={"device": "cpu"})
    register()
    examples = [
        Example(make_doc(nlp, sentence), make_doc(nlp, sentence, gold=True))
        for sentence in read_sentences(options.corpus, phrases=phrase_file_of(options.corpus))
        if sentence.words
    ]
    docs = list(nlp.pipe(example.predicted for example in examples))
    of_model = phrases_of(docs)
    print_scores("model", examples)
    for doc in docs:
        keep_heads(doc)
    of_parse = phrases_of(docs)
    print_scores("parse", examples)
    same = sum(model == parse for model, parse in zip(of_model, of_parse, strict=True))
    print(f"same   {same / len(of_model):.1%} of {len(of_model)} arguments")


def make_doc(nlp: Language, sentence: Sentence, *, gold: bool = False) -> Doc:
    """The words of a sentence, with its propositions if they are gold."""
    starts = [True] + [False] * (len(sentence) - 1)
    doc = Doc(nlp.vocab, words=list(sentence.words), sent_starts=list(starts))
    if gold:
        doc._.propositions = sentence.to_dict()["propositions"]
    return doc


def print_scores(name: str, examples: Iterable[Example]) -> None:
    """Print one line."""
    scores = score_examples(examples)
    print(f"{name}  F1 {100 * scores['srl_f']:.2f}  phrases {100 * scores['srl_phrases_f']:.2f}")


def phrases_of(docs: Iterable[Doc]) -> list[tuple[int, int]]:
    """The first token of each phrase and the one after its last."""
    arguments = (
        argument
        for doc in docs
        for proposition in doc._.propositions
        for argument in proposition.arguments
    )
    return [(argument.phrase.start, argument.phrase.end) for argument in arguments]


def keep_heads(doc: Doc) -> None:
    """Remove the phrases that the model predicted, so that those of the parse are looked up."""
    sentences = to_sentences(doc)
    clear(doc)
    for words, sentence in zip(split_doc(doc), sentences, strict=True):
        store(words, without_phrases(sentence).propositions)


if __name__ == "__main__":
    main()
