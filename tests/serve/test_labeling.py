"""Batches of requests: each gets its own response, whatever the others are."""

import json

from capsrl.options import Options
from capsrl.serve.labeling import LabelResponse, label_requests
from capsrl.serve.requests import BadRequest, LabelRequest
from tests.helpers.serving import expected, same

FOUND = Options(predicates="found")


def test_each_request_gets_its_own_response(tiny):
    requests = [
        LabelRequest(("dogs bark. he sleeps",), False, FOUND),
        LabelRequest(("go",), False, Options(predicates="marked"), (7,)),
        LabelRequest(("", "go"), True, Options(predicates="found", iterations=1)),
        LabelRequest((), True, FOUND),
        LabelRequest(("he wants to leave",), False, FOUND),
    ]
    first, wrong, second, empty, third = label_requests(tiny, requests)
    assert isinstance(wrong, BadRequest) and "got 7" in str(wrong)
    assert (first.sentences, first.words) == (2, 5)
    assert same(json.loads(first.body), {"sentences": expected(tiny, "dogs bark. he sleeps")})
    results = [{"sentences": expected(tiny, text, iterations=1)} for text in ("", "go")]
    assert same(json.loads(second.body), {"results": results})
    assert empty == LabelResponse(b'{"results": []}', 0, 0, 0)
    assert same(json.loads(third.body), {"sentences": expected(tiny, "he wants to leave")})


def test_no_requests(tiny):
    assert label_requests(tiny, []) == []
