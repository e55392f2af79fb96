"""Parse sentences with an English spaCy pipeline."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from capsrl.errors import ConfigError, install_hint
from corpora.content_heads import ParsedWords

if TYPE_CHECKING:
    from spacy.tokens import Doc

PIPELINE = "en_core_web_md"

Parse = Callable[[Iterable[Sequence[str]]], Iterator[ParsedWords]]


def load_parser(pipeline: str = PIPELINE) -> Parse:
    """Return a function that parses sentences given as words, in order.

    pipeline  name or folder of a pipeline with ClearNLP relations, such as en_core_web_md
    Raises ConfigError if spaCy or the pipeline is not installed, or has no tagger or parser.
    """
    try:
        import spacy
    except ImportError:
        raise ConfigError(f"parsing needs spaCy: {install_hint('spacy')}") from None
    try:
        nlp = spacy.load(pipeline)
    except (OSError, AttributeError):  # AttributeError: a package that is not a pipeline
        raise ConfigError(
            f"{pipeline}: not the name or folder of an installed spaCy pipeline; "
            f"to install the default: python -m spacy download {PIPELINE}"
        ) from None
    for name in ("tagger", "parser"):
        if name not in nlp.pipe_names:
            raise ConfigError(
                f"{pipeline}: this pipeline has no {name}; it needs a tagger and a parser"
            )

    def parse(sentences: Iterable[Sequence[str]]) -> Iterator[ParsedWords]:
        docs = (spacy.tokens.Doc(nlp.vocab, words=list(words)) for words in sentences)
        return map(_parsed, nlp.pipe(docs, batch_size=64))

    return parse


def _parsed(doc: "Doc") -> ParsedWords:
    return ParsedWords(
        words=tuple(token.text for token in doc),
        lemmas=tuple(token.lemma_ or token.text for token in doc),
        tags=tuple(token.tag_ or "_" for token in doc),
        heads=tuple(None if token.head.i == token.i else token.head.i for token in doc),
        relations=tuple(token.dep_ or "dep" for token in doc),
        continues_name=tuple(t.ent_iob_ == "I" and t.ent_type_ == "PERSON" for t in doc),
    )
