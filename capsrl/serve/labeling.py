"""Label a batch of requests in as few forward passes as possible."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from capsrl.errors import CapsrlError
from capsrl.options import Options
from capsrl.sentence import Sentence
from capsrl.serve.requests import BadRequest, LabelRequest
from capsrl.text.reading import mark_predicates, to_sentences

if TYPE_CHECKING:  # `capsrl serve --help` needs no torch
    from capsrl.labeler import Labeler

# Requests that arrive together have sentences of all lengths, and a CPU also computes the padding:
# smaller batches of similar lengths take a fifth less time. On a GPU padding costs little.
_CPU_BATCH = 16


@dataclass(frozen=True)
class LabelResponse:
    """The JSON of a response, and the numbers of what is in it."""

    body: bytes
    sentences: int
    words: int
    propositions: int


def label_requests(
    labeler: "Labeler", requests: Sequence[LabelRequest]
) -> list[LabelResponse | Exception]:
    """The response to each request, or the exception that this request alone caused.

    Sentences of requests with the same options share batches.
    """
    responses: dict[int, LabelResponse | Exception] = {}
    groups: dict[Options, dict[int, list[list[Sentence]]]] = defaultdict(dict)
    for number, request in enumerate(requests):
        try:
            groups[request.options][number] = _read_texts(request)
        except CapsrlError as error:
            responses[number] = BadRequest(str(error))
    for options, group in groups.items():
        labeled = _label_group(labeler, list(group.values()), options)
        for number, result in zip(group, labeled, strict=True):
            responses[number] = (
                result if isinstance(result, Exception) else _response(requests[number], result)
            )
    return [responses[number] for number in range(len(requests))]


def _read_texts(request: LabelRequest) -> list[list[Sentence]]:
    """The sentences of each text; raises DataError for an offset outside the words."""
    texts = [to_sentences(text, request.options.layout) for text in request.texts]
    if request.at is None:
        return texts
    return [mark_predicates(sentences, request.at) for sentences in texts]


def _label_group(
    labeler: "Labeler", group: Sequence[list[list[Sentence]]], options: Options
) -> list[list[list[Sentence]] | Exception]:
    """For each request its texts with their sentences labeled, or the exception it caused."""
    try:
        labeled = labeler.label_sentences(
            [sentence for texts in group for text in texts for sentence in text],
            options=options,
            batch_size=_CPU_BATCH if labeler.device == "cpu" else None,
        )
        return [[list(islice(labeled, len(text))) for text in texts] for texts in group]
    except Exception as error:
        if len(group) == 1:
            return [BadRequest(str(error)) if isinstance(error, CapsrlError) else error]
    # One bad request must not fail the others in its batch.
    return [_label_group(labeler, [texts], options)[0] for texts in group]


def _response(request: LabelRequest, texts: Sequence[Sequence[Sentence]]) -> LabelResponse:
    results = [
        f'{{"sentences": [{", ".join(sentence.standalone().to_json() for sentence in text)}]}}'
        for text in texts
    ]
    body = f'{{"results": [{", ".join(results)}]}}' if request.many else results[0]
    sentences = [sentence for text in texts for sentence in text]
    return LabelResponse(
        body.encode(),
        sentences=len(sentences),
        words=sum(map(len, sentences)),
        propositions=sum(len(sentence.propositions) for sentence in sentences),
    )
