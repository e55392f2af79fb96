"""Label a batch of requests in as few forward passes as possible, and write their responses."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, compress, groupby, islice

from fastapi import HTTPException
from starlette.requests import ClientDisconnect

from capsrl.errors import ConfigError, DataError
from capsrl.formats.conll09 import format_conll09
from capsrl.labeler import Labeler
from capsrl.options import Options
from capsrl.sentence import Sentence
from capsrl.serve.requests import LabelRequest
from capsrl.tables.cells import argument_rows
from capsrl.tables.columns import ARGUMENT_COLUMNS
from capsrl.tables.writing import csv_parts
from capsrl.text.reading import mark_predicates, outside, to_sentences

# Pairs of a predicate and a word, weighted by `_weight`: those of a request if all its words are
# predicates, those of the predicates that are found (some 5 s), and those of sentences that are
# labeled before it is looked again whether anybody waits for them.
MAX_PAIRS, MAX_FOUND, _AT_A_TIME = 2_000_000, 300_000, 200_000
_TOO_LONG = "sentences are too long; split the text"
_MAX_MESSAGE = 300  # characters; a message may quote a value of any length

Texts = Sequence[Sequence[Sentence]]  # the sentences of each text of a request


@dataclass(frozen=True)
class LabelResponse:
    """The body of a response, and the sentences in it, those of several texts if `many`."""

    body: bytes
    sentences: Sequence[Sentence] = ()
    many: bool = False


def label_requests(
    labeler: Labeler, requests: Sequence[LabelRequest], model: str
) -> list[LabelResponse | Exception]:
    """The response to each request, or the exception that this request alone caused.

    Sentences of requests with the same options share batches.

    model  the field `model` of responses, as JSON
    """
    responses: dict[int, LabelResponse | Exception] = {}
    groups: dict[Options, list[int]] = defaultdict(list)
    for number, request in enumerate(requests):
        groups[request.options].append(number)
    for options, numbers in groups.items():
        results = _label_group(labeler, [requests[number] for number in numbers], options)
        for number, result in zip(numbers, results, strict=True):
            responses[number] = _respond(labeler, requests[number], result, model)
    return [responses[number] for number in range(len(requests))]


def _label_group(
    labeler: Labeler, group: Sequence[LabelRequest], options: Options
) -> list[Texts | Exception]:
    """For each request its texts with their sentences labeled, or the exception it caused."""
    try:
        read = [_read_texts(labeler, request) for request in group]
        return _label_wanted(labeler, group, read, options)
    except Exception as error:
        if len(group) == 1:
            refused = isinstance(error, ConfigError | DataError)  # not a damaged model
            return [HTTPException(422, str(error)[:_MAX_MESSAGE]) if refused else error]
    # One bad request must not fail the others in its batch.
    return [_label_group(labeler, [request], options)[0] for request in group]


def _label_wanted(
    labeler: Labeler, group: Sequence[LabelRequest], read: Sequence[Texts], options: Options
) -> list[Texts | Exception]:
    """Label the texts, but not further for clients that have gone or ask for too much."""
    weight = _weight(labeler, options)
    waiting = [(n, sentence) for n, texts in enumerate(read) for sentence in chain(*texts)]
    sizes = accumulate(weight * len(sentence) ** 2 for _, sentence in waiting)
    labeled: list[Sentence] = []
    costs = [0] * len(group)
    for _, piece in groupby(waiting, key=lambda _: next(sizes) // _AT_A_TIME):
        owners, sentences = zip(*piece, strict=True)
        wanted = [not group[n].dropped.is_set() and costs[n] <= MAX_FOUND for n in owners]
        found = labeler.label_sentences(compress(sentences, wanted), options=options)
        for owner, sentence, is_wanted in zip(owners, sentences, wanted, strict=True):
            labeled.append(next(found) if is_wanted else sentence)
            costs[owner] += weight * len(sentence) * len(labeled[-1].propositions)
    rest = iter(labeled)
    results: list[Texts | Exception] = []
    for request, texts, cost in zip(group, read, costs, strict=True):
        results.append([list(islice(rest, len(text))) for text in texts])
        if cost > MAX_FOUND:
            results[-1] = HTTPException(422, _TOO_LONG)
        elif request.dropped.is_set():
            results[-1] = ClientDisconnect()
    return results


def _read_texts(labeler: Labeler, request: LabelRequest) -> Texts:
    layout = request.options.layout(labeler.inventory.language)
    texts = [to_sentences(text, layout) for text in request.texts]
    # Every word of a sentence may be a predicate, for which every word is scored.
    pairs = sum(len(sentence) ** 2 for sentence in chain(*texts))
    if pairs * _weight(labeler, request.options) > MAX_PAIRS:
        raise HTTPException(422, _TOO_LONG)
    if request.at is None:
        return texts
    return [mark_predicates(text, set(request.at) - outside(text, request.at)) for text in texts]


def _weight(labeler: Labeler, options: Options) -> int:
    """What a pair costs: with a trace, which is written as well, five times for each iteration."""
    iterations = options.iterations or labeler.config.capsules.iterations
    return 5 * (iterations + 1) if options.trace else 1


def _respond(
    labeler: Labeler, request: LabelRequest, labeled: Texts | Exception, model: str
) -> LabelResponse | Exception:
    if isinstance(labeled, Exception):
        return labeled
    texts = [[sentence.standalone() for sentence in text] for text in labeled]
    sentences = list(chain(*texts))
    if request.format == "csv":
        body = _write_csv(texts)
    elif request.format == "conll09":
        filled = map(labeler.inventory.fill_lemmas, sentences)
        body = "".join(map(format_conll09, filled))
    else:
        missing = sorted(outside(labeled[0], request.at)) if request.at else []
        body = _json_body(request, texts, missing, model)
    return LabelResponse(body.encode(), sentences, request.many)


def _write_csv(texts: Texts) -> str:
    tables = [
        argument_rows(sentence, document=document, number=number)
        for document, text in enumerate(texts, 1)
        for number, sentence in enumerate(text or [None], 1)
    ]
    return "".join(csv_parts(chain(*tables), ARGUMENT_COLUMNS))


def _json_body(request: LabelRequest, texts: Texts, missing: Sequence[int], model: str) -> str:
    results = [f'"sentences": [{", ".join(each.to_json() for each in text)}]' for text in texts]
    if request.many:
        listed = ", ".join(f"{{{result}}}" for result in results)
        return f'{{"model": {model}, "results": [{listed}]}}'
    told = [f"at: there is no word at offset {offset}" for offset in missing]
    warnings = f', "warnings": {json.dumps(told)}' if told else ""
    return f'{{"model": {model}, {results[0]}{warnings}}}'
