"""Batches of requests: each gets its own response, whatever the others are."""

import csv
import io
import json
import shutil

import pytest
from fastapi import HTTPException
from starlette.requests import ClientDisconnect

from capsrl.errors import ModelError
from capsrl.formats.conll09 import read_conll09
from capsrl.labeler import Labeler
from capsrl.models import shipped_models
from capsrl.options import Options
from capsrl.serve.labeling import LabelResponse, label_requests
from capsrl.serve.requests import LabelRequest
from capsrl.tables.cells import argument_rows
from tests.helpers.serving import expected, same
from tests.helpers.tiny_networks import make_labeler

FOUND = Options(predicates="found")
MODEL = {"name": "tiny", "version": "1", "fingerprint": None}
TEXTS = ("Dogs bark. He sleeps.", "", "naïve 猫, he said")


def one_response(labeler, request):
    [response] = label_requests(labeler, [request], json.dumps(MODEL))
    return response


def test_each_request_gets_its_own_response(tiny):
    requests = [
        LabelRequest(("dogs bark. he sleeps",), False, FOUND),
        LabelRequest(("go now",), False, Options(predicates="marked"), (3, 2, 70)),
        LabelRequest(("", "go"), True, Options(predicates="found", iterations=1)),
        LabelRequest((), True, FOUND),
        LabelRequest(("he wants to leave",), False, FOUND),
    ]
    first, marked, second, empty, third = label_requests(tiny, requests, json.dumps(MODEL))
    assert [*map(len, first.sentences)] == [3, 2]
    sentences = expected(tiny, "dogs bark. he sleeps")
    assert same(json.loads(first.body), {"model": MODEL, "sentences": sentences})
    assert same(
        json.loads(marked.body),
        {
            "model": MODEL,
            "sentences": expected(tiny, "go now", at=[3]),
            "warnings": [f"at: there is no word at offset {offset}" for offset in (2, 70)],
        },
    )
    results = [{"sentences": expected(tiny, text, iterations=1)} for text in ("", "go")]
    assert same(json.loads(second.body), {"model": MODEL, "results": results})
    assert json.loads(empty.body) == {"model": MODEL, "results": []}
    assert empty == LabelResponse(empty.body, [], many=True)
    assert same(json.loads(third.body)["sentences"], expected(tiny, "he wants to leave"))


def test_no_requests(tiny):
    assert label_requests(tiny, [], "{}") == []


def test_a_refusal_of_the_library_fails_one_request():
    labeler = make_labeler()  # without a tagger
    verbs = LabelRequest(("dogs bark",), False, Options(predicates="found", pos=["verb"]))
    refused, answered = label_requests(labeler, [verbs, LabelRequest(("go",), False, FOUND)], "{}")
    assert isinstance(refused, HTTPException) and refused.status_code == 422
    assert "tagger" in refused.detail
    assert isinstance(answered, LabelResponse)


def test_a_damaged_model_is_no_mistake_of_the_request(tmp_path):
    """It is told to the operator, in the log: the message names folders of the server."""
    left_out = shutil.ignore_patterns("propositions-trace*", "manifest.json")
    shutil.copytree(shipped_models()["en"], tmp_path / "model", ignore=left_out)
    labeler = Labeler.load(tmp_path / "model", runtime="onnx")
    traced = LabelRequest(("go",), False, Options(predicates="found", trace=True))
    assert isinstance(one_response(labeler, traced), ModelError)


def test_traces_of_long_sentences_are_refused(tiny):
    """Every word may be a predicate: the trace of 4 kB could have 300 MB."""
    traced = Options(predicates="found", trace=True, iterations=3)
    for n_words, n_labeled in ((200, 1), (1000, 0)):  # 20 x n x n is at most 2 million
        watched = Watched(tiny)
        label_requests(watched, [LabelRequest((" ".join(["go"] * n_words),), False, traced)], "{}")
        assert watched.n_sentences == n_labeled
    text = " ".join(["go"] * 1000)
    requests = [LabelRequest((each,), False, traced) for each in (text, "go")]
    refused, answered = label_requests(tiny, requests, "{}")
    assert refused.status_code == 422
    assert refused.detail == "sentences are too long; split the text"
    assert isinstance(answered, LabelResponse)


class Watched:
    """A labeler that counts the sentences it labels, and calls a function after each piece."""

    def __init__(self, labeler, after=lambda: None):
        self._labeler, self._after, self.n_sentences = labeler, after, 0

    def __getattr__(self, name):
        return getattr(self._labeler, name)

    def label_sentences(self, sentences, **options):
        found = list(self._labeler.label_sentences(sentences, **options))
        self.n_sentences += len(found)
        self._after()
        return iter(found)


def n_words(response: LabelResponse) -> int:
    return sum(map(len, response.sentences))


def test_work_ends_when_too_many_predicates_are_found(labeler):
    """20 kB of *is go* would take a minute on a busy core; a text as long without them is fine."""
    watched = Watched(labeler)
    costly = LabelRequest(("is go " * 3300,), False, FOUND)
    refused = one_response(watched, costly)
    assert (refused.status_code, refused.detail) == (422, "sentences are too long; split the text")
    assert 3 <= watched.n_sentences < 15  # of 26
    long = LabelRequest(("the old red book of my friend and " * 500,), False, FOUND)
    assert n_words(one_response(labeler, long)) == 4000


def test_work_ends_when_its_client_has_gone(tiny):
    requests = [LabelRequest(("go now and " * 400,), False, FOUND) for _ in range(2)]
    watched = Watched(tiny, requests[0].dropped.set)
    gone, answered = label_requests(watched, requests, "{}")
    assert isinstance(gone, ClientDisconnect)
    assert n_words(answered) == 1200
    assert watched.n_sentences < 2 * len(answered.sentences)
    alone = one_response(tiny, requests[1])
    assert same(json.loads(answered.body), json.loads(alone.body) | {"model": {}})


def test_csv(labeler):
    response = one_response(labeler, LabelRequest(TEXTS, True, FOUND, format="csv"))
    rows = list(csv.DictReader(io.StringIO(response.body.decode(), newline="")))
    texts = labeler.label(TEXTS)
    wanted = [
        row
        for document, sentences in enumerate(texts, 1)
        for number, sentence in enumerate(sentences or [None], 1)
        for row in argument_rows(sentence, document=document, number=number)
    ]
    assert len(rows) == len(wanted) > 3
    [empty] = [row for row in rows if row["document"] == "2"]  # a text without sentences
    assert not any(value for name, value in empty.items() if name != "document")
    for row, want in zip(rows, wanted, strict=True):
        assert row.keys() == want.keys()
        for name in ("document", "sentence", "text", "predicate", "sense", "role", "phrase_end"):
            assert row[name] == ("" if want[name] is None else str(want[name]))


def test_conll09(labeler):
    response = one_response(labeler, LabelRequest(TEXTS, True, FOUND, format="conll09"))
    sentences = list(read_conll09(response.body.decode().splitlines(keepends=True)))
    labeled = [sentence for text in labeler.label(TEXTS) for sentence in text]
    assert [each.words for each in sentences] == [each.words for each in labeled]
    fill = labeler.inventory.lemmatizer.fill
    assert [each.lemmas for each in sentences] == [fill(each).lemmas for each in labeled]
    assert sentences[0].lemmas == ("dog", "bark", ".")
    for ours, theirs in zip(sentences, labeled, strict=True):
        assert [each.sense for each in ours.propositions] == [
            each.sense for each in theirs.propositions
        ]
        assert [[(a.role, a.word) for a in each.arguments] for each in ours.propositions] == [
            [(a.role, a.word) for a in each.arguments] for each in theirs.propositions
        ]


@pytest.mark.parametrize("format", ["csv", "conll09"])
def test_no_texts(tiny, format):
    response = one_response(tiny, LabelRequest((), True, FOUND, format=format))
    lines = response.body.decode().splitlines()
    assert len(lines) == (1 if format == "csv" else 0)  # a header


@pytest.mark.parametrize("format", ["csv", "conll09"])
def test_tables_have_no_warnings(tiny, format):
    marked = Options(predicates="marked")
    with_missing = LabelRequest(("go now",), False, marked, (3, 70), format=format)
    without = LabelRequest(("go now",), False, marked, (3,), format=format)
    assert one_response(tiny, with_missing) == one_response(tiny, without)
