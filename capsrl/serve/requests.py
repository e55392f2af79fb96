"""Orders that were gathered -> an answer for each, by as few runs of the model as can be."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from capsrl.errors import CapsrlError
from capsrl.labeler import Labeler
from capsrl.options import Options
from capsrl.sentence import Sentence
from capsrl.text.reading import mark_predicates, to_sentences

# Sentences that meet by chance have all lengths, and a processor pays for the padding between
# them: in smaller batches of like lengths short texts take a fifth less time. A GPU does not mind.
_CPU_BATCH = 16


@dataclass(frozen=True)
class Order:
    """What a request wants labelled, and how.

    many    whether the texts came as a list, and so go back as one
    places  offsets of the predicates in the one text; None to have them found
    """

    texts: tuple[str, ...]
    many: bool
    options: Options
    places: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Answer:
    """The JSON of a response, and how much is in it."""

    body: bytes
    sentences: int
    words: int
    propositions: int


class BadOrder(Exception):
    """The library refused the text or the options; the message is its own."""


def label_orders(labeler: Labeler, orders: Sequence[Order]) -> list[Answer | Exception]:
    """An answer for each order, or what went wrong with it alone.

    The sentences of orders with the same options share batches.
    """
    answers: list[Answer | Exception] = [BadOrder()] * len(orders)
    groups: dict[Options, list[int]] = defaultdict(list)
    prepared: dict[int, list[list[Sentence]]] = {}
    for number, order in enumerate(orders):
        try:
            prepared[number] = _prepare(order)
            groups[order.options].append(number)
        except (ValueError, CapsrlError) as error:
            answers[number] = BadOrder(str(error))
    for options, numbers in groups.items():
        group = [prepared[number] for number in numbers]
        for number, result in zip(numbers, _label_group(labeler, group, options), strict=True):
            if isinstance(result, Exception):
                answers[number] = result
            else:
                answers[number] = _answer(orders[number], result)
    return answers


def _prepare(order: Order) -> list[list[Sentence]]:
    """The sentences of each text. Raises ValueError for what the library would not take."""
    if order.places is not None:
        return [mark_predicates(to_sentences(text), order.places) for text in order.texts]
    return [to_sentences(text) for text in order.texts]


def _label_group(
    labeler: Labeler, group: Sequence[list[list[Sentence]]], options: Options
) -> list[list[list[Sentence]] | Exception]:
    """For each order its texts with their sentences labelled, or the exception it caused."""
    try:
        labelled = labeler.label_sentences(
            [sentence for texts in group for text in texts for sentence in text],
            options=options,
            batch_size=_CPU_BATCH if labeler.device.type == "cpu" else None,
        )
        return [[list(islice(labelled, len(text))) for text in texts] for texts in group]
    except Exception as error:
        if len(group) == 1:
            return [BadOrder(str(error)) if isinstance(error, CapsrlError) else error]
    # What is wrong with one order must not be the fate of those it met by chance.
    return [_label_group(labeler, [texts], options)[0] for texts in group]


def _answer(order: Order, texts: Sequence[Sequence[Sentence]]) -> Answer:
    """The answer to an order; each sentence has its own stretch of the text, see `standalone`."""
    results = [
        f'{{"sentences": [{", ".join(sentence.standalone().to_json() for sentence in text)}]}}'
        for text in texts
    ]
    body = f'{{"results": [{", ".join(results)}]}}' if order.many else results[0]
    sentences = [sentence for text in texts for sentence in text]
    return Answer(
        body.encode(),
        sentences=len(sentences),
        words=sum(map(len, sentences)),
        propositions=sum(len(sentence.propositions) for sentence in sentences),
    )
