"""Convert spaCy Docs to sentences: bare ones for the model, and labeled ones."""

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from spacy.tokens import Doc, Token

from capsrl.formats.fields import Plain, sentence_from_dict, to_plain
from capsrl.sentence import Sentence
from capsrl.spacy.storage import read_propositions
from capsrl.text import Layout
from capsrl.text.sentences import MAX_WORDS, split_text


def split_doc(doc: Doc) -> Iterator[list[Token]]:
    """The words of each sentence, without tokens that are white space.

    Sentences are those of the Doc; if it has none, those that `capsrl.text.sentences` finds in its
    text by the rules of its language. Sentences of more than MAX_WORDS words are split.
    """
    sentences: Iterable[Iterable[Token]]
    if doc.has_annotation("SENT_START"):
        sentences = doc.sents
    else:
        found = split_text(doc.text, Layout(language=doc.lang_))
        starts = [sentence.offsets[0][0] for sentence in found if sentence.offsets]
        groups = groupby(doc, key=lambda token: bisect_right(starts, token.idx))
        sentences = (group for _, group in groups)
    for tokens in sentences:
        words = [token for token in tokens if not token.is_space]
        for first in range(0, len(words), MAX_WORDS):
            yield words[first : first + MAX_WORDS]


def to_sentence(words: Sequence[Token], known_tags: Container[str]) -> Sentence:
    """The sentence of some tokens, with their tags and lemmas if all of them have some.

    known_tags  the tags of the model, which show whether it was trained on fine or universal tags
    """
    lemmas = tuple(token.lemma_ for token in words)
    both = [tuple(token.pos_ for token in words), tuple(token.tag_ for token in words)]
    return Sentence(
        tuple(token.text for token in words),
        lemmas=lemmas if all(lemmas) else None,
        tags=max(
            filter(all, both), key=lambda tags: sum(tag in known_tags for tag in tags), default=None
        ),
    )


def to_sentences(doc: Doc) -> list[Sentence]:
    """The sentences of a labeled Doc with their propositions, as `capsrl.load().label` gives them.

    Offsets count into the text of the Doc. Tokens that are white space are left out, and so are
    arguments that are not in the sentence of their predicate.
    """
    propositions, sentences = read_propositions(doc), []
    for words in split_doc(doc):
        positions = {token.i: position for position, token in enumerate(words)}
        own = [each for each in propositions if each["predicate"] in positions]
        data = to_plain(to_sentence(words, ())) | {
            "text": doc.text,
            "offsets": [[token.idx, token.idx + len(token)] for token in words],
            "propositions": [_moved(each, positions) for each in own],
        }
        sentences.append(sentence_from_dict(data))
    return sentences


def _moved(proposition: Plain, positions: Mapping[int, int]) -> Plain:
    """The proposition with positions in its sentence instead of those in the Doc."""
    arguments = [each for each in proposition["arguments"] if each["word"] in positions]
    return proposition | {
        "predicate": positions[proposition["predicate"]],
        "arguments": [_move_argument(each, positions) for each in arguments],
    }


def _move_argument(argument: Plain, positions: Mapping[int, int]) -> Plain:
    moved = argument | {"word": positions[argument["word"]]}
    phrase = moved.pop("phrase", None)
    if phrase is not None and phrase["first"] in positions and phrase["last"] in positions:
        edges = {edge: positions[phrase[edge]] for edge in ("first", "last")}
        moved["phrase"] = phrase | edges
    return moved
