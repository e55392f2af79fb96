"""The log and the metrics, around an application of a few lines."""

import asyncio
import json

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from capsrl.sentence import Proposition, Sentence
from capsrl.serve.labeling import LabelResponse
from capsrl.serve.observability import (
    CLIENT_GONE,
    LOGGER,
    Metrics,
    RequestLog,
    describe_error,
    log_fields,
)


@pytest.fixture
def metrics():
    return Metrics(lambda: 3, {"model": "en", "revision": None})


def fields_of(records):
    return [record.fields for record in records if record.name == LOGGER.name]


def ask(metrics, path, endpoint, method="GET", **headers):
    """One request to an application with one route, /known."""
    log = Middleware(RequestLog, metrics=metrics)
    app = Starlette(routes=[Route("/known", endpoint)], middleware=[log])

    async def run():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(run())


def test_a_request_is_counted_and_logged(metrics, caplog):
    caplog.set_level("INFO")

    def endpoint(request):
        log_fields(request, words=7)
        return PlainTextResponse("done")

    response = ask(metrics, "/known?q=secret", endpoint)
    [line] = fields_of(caplog.records)
    assert line.pop("ms") >= 0
    assert line == {
        "method": "GET",
        "path": "/known",
        "id": response.headers["x-request-id"],
        "status": 200,
        "words": 7,
    }
    assert response.headers["x-content-type-options"] == "nosniff"
    assert b'capsrl_requests_total{path="/known",status="200"} 1.0' in metrics.text()


@pytest.mark.parametrize("id", ["abc-123", "7f3c.b_A", "a" * 64])
def test_the_id_of_a_proxy_is_kept(metrics, caplog, id):
    caplog.set_level("INFO")
    response = ask(metrics, "/known", PlainTextResponse("x"), **{"X-Request-ID": id})
    [line] = fields_of(caplog.records)
    assert line["id"] == response.headers["x-request-id"] == id


@pytest.mark.parametrize("id", ["", "a" * 65, "a b", 'a"b', "na\xefve", "<b>", "a\\n"])
def test_other_ids_are_replaced(metrics, caplog, id):
    caplog.set_level("INFO")
    given = {"X-Request-ID": id.encode("latin-1")}
    response = ask(metrics, "/known", PlainTextResponse("x"), **given)
    [line] = fields_of(caplog.records)
    assert line["id"] == response.headers["x-request-id"]
    assert len(line["id"]) == 16 and line["id"] != id


@pytest.mark.parametrize("path", ["/secret", "/known/secret"])
def test_paths_and_methods_of_users_are_not_kept(metrics, caplog, path):
    caplog.set_level("INFO")
    assert ask(metrics, path, PlainTextResponse("x"), "SECRET").status_code == 404
    [line] = fields_of(caplog.records)
    assert (line["method"], line["path"], line["status"]) == ("other", "other", 404)
    assert b"secret" not in metrics.text().lower()


def test_an_exception_becomes_an_opaque_500(metrics, caplog):
    def endpoint(request):
        raise RuntimeError("secret")

    response = ask(metrics, "/known", endpoint)
    name = response.headers["x-request-id"]
    assert (response.status_code, response.json()) == (
        500,
        {"detail": f"internal error; request id {name}"},
    )
    [fault] = [each for each in fields_of(caplog.records) if "error" in each]
    assert (fault["id"], fault["error"]) == (name, "RuntimeError")
    assert fault["traceback"][-1].endswith(" endpoint")
    assert "secret" not in json.dumps(fields_of(caplog.records))


def test_clients_that_go_away_are_not_faults(metrics, caplog):
    caplog.set_level("INFO")

    def endpoint(request):
        raise ClientDisconnect

    assert ask(metrics, "/known", endpoint).status_code == CLIENT_GONE
    [line] = fields_of(caplog.records)
    assert line["status"] == CLIENT_GONE


def test_batches_are_counted(metrics):
    said = Sentence(("a",) * 5, (Proposition(0), Proposition(1), Proposition(2)))
    other = Sentence(("b",) * 4)
    responses = [LabelResponse(b"{}", [said, other]), ValueError("x"), LabelResponse(b"", [other])]
    metrics.count_batch(responses)
    lines = metrics.text().decode().splitlines()
    assert {
        "capsrl_sentences_total 3.0",
        "capsrl_words_total 13.0",
        "capsrl_propositions_total 3.0",
        "capsrl_batch_requests_count 1.0",
        "capsrl_batch_requests_sum 3.0",
        "capsrl_queue_requests 3.0",
        'capsrl_model_info{model="en",revision=""} 1.0',
    } <= set(lines)


def test_errors_are_described_without_their_message():
    try:
        raise KeyError("secret")
    except KeyError as error:
        described = describe_error(error)
    assert described["error"] == "KeyError"
    assert "test_errors_are_described_without" in described["traceback"][0]
    assert "secret" not in json.dumps(described)
