"""The service answers what the library answers, and says why when it refuses."""

import asyncio
import gzip
import json
import re

import jsonschema
import pytest

import capsrl
from capsrl.errors import ConfigError
from capsrl.formats.jsonl import json_schema
from capsrl.labeler import Labeler
from capsrl.models import shipped_models
from capsrl.predict.folder import fingerprint
from capsrl.serve.requests import Limits
from tests.helpers.serving import JSON, Held, client_of, expected, post, same, until
from tests.helpers.tiny_networks import make_labeler

TEXT = "An injury prevented Hiti from signing the contract. Her lawyers were angry."


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"iterations": 3, "trace": True},
        {"pos": ["verb"], "threshold": 0.9},
        {"at": [10, 36]},
        {"one_sentence_per_line": True},
        {"phrases": False},
    ],
)
def test_same_as_the_library(labeler, options):
    response = post(labeler, {"text": TEXT} | options)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    sentences = response.json()["sentences"]
    assert any(sentence["propositions"] for sentence in sentences)
    assert same(sentences, expected(labeler, TEXT, **options))
    for sentence in sentences:
        jsonschema.validate(sentence, json_schema())


def test_html(labeler):
    text = "<p>Hiti <b>signed</b> the contract.</p>"
    response = post(labeler, {"text": text, "html": True})
    [sentence] = response.json()["sentences"]
    assert same([sentence], expected(labeler, text, html=True))
    assert sentence["words"] == ["Hiti", "signed", "the", "contract", "."]
    signed = sentence["propositions"][0]
    start, end = sentence["start"] + signed["start"], sentence["start"] + signed["end"]
    assert text[start:end] == "signed"
    [at] = post(labeler, {"text": text, "html": True, "at": [start]}).json()["sentences"]
    assert [each["predicate"] for each in at["propositions"]] == [1]


def test_several_texts(labeler):
    texts = ["Dogs bark.", "", TEXT, "Naïve 猫 sat."]
    response = post(labeler, {"texts": texts})
    results = [{"sentences": expected(labeler, text)} for text in texts]
    assert same(response.json()["results"], results)


def test_every_response_names_the_model(labeler):
    folder = shipped_models()["en"]
    model = {
        "name": "en",
        "version": capsrl.__version__,
        "fingerprint": fingerprint(folder),
    }

    async def run():
        async with client_of(labeler) as client:
            answers = [await client.get(path) for path in ("/health", "/ready")]
            for body in ({"text": "Dogs bark."}, {"texts": []}):
                answers.append(await client.post("/label", json=body))
            csv = await client.post("/label?format=csv", json={"text": "Dogs bark."})
            return answers, csv, (await client.get("/metrics")).text

    answers, csv, metrics = asyncio.run(run())
    assert [answer.json()["model"] for answer in answers] == [model] * 4
    assert json.loads(csv.headers["x-model"]) == model
    labels = ",".join(f'{name}="{value}"' for name, value in sorted(model.items()))
    assert f"capsrl_model_info{{{labels}}} 1.0" in metrics


@pytest.mark.parametrize(
    ("format", "kind", "start"),
    [
        ("json", "application/json", b'{"model": {'),
        ("csv", "text/csv; charset=utf-8", b"document,sentence,"),
        ("conll09", "text/plain; charset=utf-8", b"1\tDogs\t"),
    ],
)
def test_formats(tiny, format, kind, start):
    async def run():
        async with client_of(tiny) as client:
            return await client.post(f"/label?format={format}", json={"text": "Dogs bark."})

    response = asyncio.run(run())
    assert response.status_code == 200
    assert response.headers["content-type"] == kind
    assert response.content.startswith(start)


def test_monitors_may_ask_for_the_head_only(tiny):
    async def run():
        async with client_of(tiny) as client:
            paths = ("/health", "/ready", "/", "/docs", "/page/model", "/favicon.ico", "/metrics")
            return [await client.head(path) for path in paths]

    assert {head.status_code for head in asyncio.run(run())} == {200}


def test_unknown_format(tiny):
    async def run():
        async with client_of(tiny) as client:
            return await client.post("/label?format=xml", json={"text": "Dogs bark."})

    response = asyncio.run(run())
    detail = "format must be 'json', 'csv' or 'conll09'; you sent \"xml\""
    assert (response.status_code, response.json()) == (422, {"detail": detail})


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", "/labels", 404, "there is nothing at this path; POST texts to /label, and see"),
        ("GET", "/static/app.py", 404, "there is nothing at this path; POST texts to /label"),
        ("GET", "/label", 405, "the method must be POST at this path; you sent GET"),
        ("PUT", "/label", 405, "the method must be POST at this path; you sent PUT"),
        ("POST", "/metrics", 405, "the method must be GET at this path; you sent POST"),
        ("POST", "/static/app.js", 405, "the method must be GET"),
    ],
)
def test_wrong_paths_and_methods(tiny, method, path, status, detail):
    async def run():
        async with client_of(tiny) as client:
            return await client.request(method, path)

    response = asyncio.run(run())
    assert response.status_code == status
    assert response.json()["detail"].startswith(detail)
    assert status == 404 or path == "/static/app.js" or response.headers["allow"] in detail


def test_requests_with_different_options_at_the_same_time(tiny):
    bodies = [
        {"text": TEXT, "iterations": 1},
        {"text": TEXT, "iterations": 2, "trace": True},
        {"text": TEXT, "threshold": 0.5},
        {"text": TEXT, "pos": ["noun"]},
        {"text": TEXT, "at": [0]},
        {"text": TEXT},
    ]

    async def run():
        async with client_of(tiny) as client:
            return await asyncio.gather(*(client.post("/label", json=body) for body in bodies))

    for body, response in zip(bodies, asyncio.run(run()), strict=True):
        options = {name: value for name, value in body.items() if name != "text"}
        assert same(response.json()["sentences"], expected(tiny, TEXT, **options))


def test_responses_are_never_swapped(tiny):
    texts = [
        f"Worker {i} wants to leave house {i * i} this year." + " No." * (i % 7) for i in range(100)
    ]

    async def run():
        held = Held(tiny)
        async with client_of(held, limits=Limits(seconds=120, queue=100, batch=16)) as client:
            tasks = [asyncio.create_task(client.post("/label", json={"text": t})) for t in texts]
            while "capsrl_queue_requests 99.0" not in (await client.get("/metrics")).text:
                await asyncio.sleep(0.005)  # until one is being labeled and all others wait
            held.go.set()
            return await asyncio.gather(*tasks), (await client.get("/metrics")).text

    responses, metrics = asyncio.run(run())
    for text, response in zip(texts, responses, strict=True):
        assert same(response.json()["sentences"], expected(tiny, text))
    assert 'capsrl_requests_total{path="/label",status="200"} 100.0' in metrics
    assert "capsrl_batch_requests_count 8.0" in metrics  # the first, and the others by sixteens
    assert f"capsrl_sentences_total {sum(1 + i % 7 for i in range(100))}.0" in metrics
    assert "capsrl_queue_requests 0.0" in metrics
    assert "process_resident_memory_bytes" in metrics


def test_pos_needs_a_tagger():
    without = make_labeler()
    with pytest.raises(ConfigError, match="tagger") as refused:
        without.label("dogs bark", pos=["verb"])
    response = post(without, {"text": "dogs bark", "pos": ["verb"]})
    assert (response.status_code, response.json()) == (422, {"detail": str(refused.value)})


def test_too_long_texts(tiny):
    limits = Limits(characters=30, trace_characters=20)
    assert post(tiny, {"text": "x " * 15}, limits=limits).status_code == 200
    for body, most, n in (
        ({"text": "x" * 31}, "30 characters", 31),
        ({"texts": ["x" * 20, "x" * 20]}, "30 characters", 40),
        ({"text": "x" * 21, "trace": True}, "20 characters when trace is true", 21),
    ):
        response = post(tiny, body, limits=limits)
        detail = f"the text must have at most {most}; you sent {n}: send it in parts"
        assert (response.status_code, response.json()) == (413, {"detail": detail})


@pytest.mark.parametrize(
    ("headers", "expected_read"),
    [
        ({}, 6100),
        ({"Content-Length": "100000"}, 6100),
        ({"Content-Length": "100000", "Expect": "100-continue"}, 0),
    ],
)
def test_long_bodies_are_read_to_a_limit_and_dropped(tiny, headers, expected_read):
    read = 0

    async def parts():
        nonlocal read
        for _ in range(1000):
            read += 100
            yield b" " * 100

    async def run():
        async with client_of(tiny, limits=Limits(body=1000, drain=5000)) as client:
            return await client.post("/label", content=parts(), headers=JSON | headers)

    response = asyncio.run(run())
    detail = "the body must have at most 1,000 bytes; you sent more: send the texts in parts"
    assert (response.status_code, response.json()) == (413, {"detail": detail})
    assert read == expected_read


def test_slow_body(tiny):
    async def parts():
        yield b'{"text": '
        await asyncio.sleep(20)

    async def run():
        async with client_of(tiny, limits=Limits(seconds=0.1)) as client:
            return await client.post(
                "/label", content=parts(), headers={"Content-Type": "application/json"}
            )

    response = asyncio.run(run())
    assert response.status_code == 408
    assert response.json()["detail"] == "the body must arrive within 0.1 seconds; 9 bytes did"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_content_type(tiny, kind):
    response = post(tiny, b'{"text": "x"}', headers={"Content-Type": kind})
    detail = f"the content type must be application/json; you sent {kind or 'none'}"
    assert (response.status_code, response.json()) == (415, {"detail": detail})


def test_compressed_bodies(tiny):
    packed = gzip.compress(b'{"text": "dogs bark"}')
    response = post(tiny, packed, headers={"Content-Encoding": "gzip"})
    detail = "the body must not be encoded; it is gzip"
    assert (response.status_code, response.json()) == (415, {"detail": detail})
    plain = post(tiny, b'{"text": "dogs bark"}', headers={"Content-Encoding": "identity"})
    assert plain.status_code == 200


def test_long_responses_are_compressed_for_those_who_accept_it(tiny):
    text = "dogs bark. " * 50
    packed, plain = (
        post(tiny, {"text": text}, headers={"Accept-Encoding": accepted})
        for accepted in ("gzip", "identity")
    )
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 5
    assert same(packed.json(), plain.json())
    assert "content-encoding" not in post(tiny, {"text": ""}).headers  # too short


async def until_full(client):
    while (await client.get("/ready")).status_code == 200:
        await asyncio.sleep(0.005)


def test_full_queue(tiny):
    async def run():
        held = Held(tiny)
        async with client_of(held, limits=Limits(queue=2, batch=1)) as client:
            assert (await client.get("/ready")).json()["status"] == "ready"
            tasks = [asyncio.create_task(client.post("/label", json={"text": "a b"}))]
            await until(held.busy.is_set)
            for text in ("c", "d"):
                tasks.append(asyncio.create_task(client.post("/label", json={"text": text})))
            await until_full(client)
            refused = await client.post("/label", json={"text": "e"})
            ready = await client.get("/ready")
            assert (await client.head("/ready")).status_code == 503
            alive = await client.get("/health")
            held.go.set()
            return refused, ready, alive, await asyncio.gather(*tasks)

    refused, ready, alive, served = asyncio.run(run())
    for response in (refused, ready):
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
        assert response.json()["detail"].startswith("the server is busy; try again in ")
    assert alive.json()["status"] == "ok"
    words = [response.json()["sentences"][0]["words"] for response in served]
    assert words == [["a", "b"], ["c"], ["d"]]


def test_timeout(tiny):
    async def run():
        held = Held(tiny)
        async with client_of(held, limits=Limits(seconds=0.1)) as client:
            response = await client.post("/label", json={"text": "x"})
            held.go.set()
            return response

    response = asyncio.run(run())
    assert response.status_code == 503
    assert response.headers["retry-after"] == "5"
    assert response.json()["detail"].startswith(
        "the server is too busy, or the text too long, to answer within 0.1 s"
    )


def test_disconnected_clients_leave_the_queue(tiny):
    async def ask(app, text, gone):
        """One request by hand, from a client that disconnects at `gone`."""
        messages = [{"type": "http.request", "body": json.dumps({"text": text}).encode()}]
        sent = []

        async def receive():
            if messages:
                return messages.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/label",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        }
        await app(scope, receive, send)
        return sent[0]["status"]

    async def run():
        held = Held(tiny)
        async with client_of(held, limits=Limits(queue=1, batch=1)) as client:
            never, leaves = asyncio.Event(), asyncio.Event()
            first = asyncio.create_task(ask(client.app, "a", never))
            await until(held.busy.is_set)
            second = asyncio.create_task(ask(client.app, "b", leaves))
            await until_full(client)
            assert await ask(client.app, "c", never) == 503
            leaves.set()
            assert await second == 499
            third = asyncio.create_task(ask(client.app, "d", never))
            await until_full(client)
            held.go.set()
            return await asyncio.gather(first, third)

    assert asyncio.run(run()) == [200, 200]


@pytest.mark.parametrize("path", ["/label", "/metrics"])
@pytest.mark.parametrize("header", [None, "Bearer ", "Bearer wrong", "Basic right", "right"])
def test_without_token(tiny, path, header):
    headers = {} if header is None else {"Authorization": header}

    async def run():
        async with client_of(tiny, token="right") as client:
            method = "POST" if path == "/label" else "GET"
            return await client.request(method, path, headers=headers)

    response = asyncio.run(run())
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["detail"].startswith("this server needs its token")


def test_with_token(tiny):
    async def run():
        async with client_of(tiny, token="right") as client:
            # These say nothing about users, and monitoring often has no token.
            for path in ("/health", "/ready", "/openapi.json", "/docs", "/"):
                assert (await client.get(path)).status_code == 200
            client.headers["Authorization"] = "bearer right"
            assert (await client.get("/metrics")).status_code == 200
            return await client.post("/label", json={"text": TEXT})

    assert asyncio.run(run()).json()["sentences"] == expected(tiny, TEXT)


@pytest.mark.parametrize("cors", [("https://a.org", "https://b.org"), ("*",)])
def test_cors(tiny, cors):
    asks = {
        "Origin": "https://b.org",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }

    async def run(**options):
        async with client_of(tiny, **options) as client:
            asked = await client.options("/label", headers=asks)
            origin = {"Origin": "https://b.org"}
            return asked, await client.post("/label", json={"text": "go"}, headers=origin)

    asked, answer = asyncio.run(run(cors=cors))
    allowed = "*" if cors == ("*",) else "https://b.org"
    assert asked.status_code == answer.status_code == 200
    assert asked.headers["access-control-allow-origin"] == allowed
    assert answer.headers["access-control-allow-origin"] == allowed
    assert "Retry-After" in answer.headers["access-control-expose-headers"]
    for response in asyncio.run(run(cors=("https://a.org",))) + asyncio.run(run()):
        assert "access-control-allow-origin" not in response.headers


def test_page_and_its_files(tiny):
    async def run():
        async with client_of(tiny) as client:
            page = await client.get("/")
            names = re.findall(r'(?:src|href)="(/?static/[^"]+)"', page.text)
            files = [await client.get("/" + name.lstrip("/")) for name in names]
            outside = [await client.get(path) for path in ("/static/../app.py", "/app.py")]
            return page, files, outside

    page, files, outside = asyncio.run(run())
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert len(files) >= 2
    assert {response.status_code for response in files} == {200}
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text)
    assert {response.status_code for response in outside} == {404}


class Failing(Labeler):
    """A labeler that fails on one text."""

    def label_sentences(self, sentences, **options):
        sentences = list(sentences)
        if any("hunter2" in sentence.words for sentence in sentences):
            raise RuntimeError("cannot label: my password is hunter2")
        return super().label_sentences(sentences, **options)


def test_an_internal_error_fails_one_request(tiny, caplog):
    caplog.set_level("INFO")

    async def run():
        async with client_of(Failing(tiny.network, tiny.config)) as client:
            texts = ("dogs bark", "my password is hunter2", "go")
            return await asyncio.gather(
                *(client.post("/label", json={"text": text}) for text in texts)
            )

    first, failed, last = asyncio.run(run())
    assert same(first.json()["sentences"], expected(tiny, "dogs bark"))
    assert same(last.json()["sentences"], expected(tiny, "go"))
    assert failed.status_code == 500
    name = failed.headers["x-request-id"]
    assert failed.json() == {"detail": f"internal error; request id {name}"}
    fields = [record.fields for record in caplog.records if record.name == "capsrl.serve"]
    [fault] = [each for each in fields if "error" in each]
    assert (fault["id"], fault["error"]) == (name, "RuntimeError")
    assert any("label_sentences" in frame for frame in fault["traceback"])
    assert "hunter2" not in json.dumps(fields)


def test_log_without_text(tiny, caplog):
    caplog.set_level("INFO")

    async def run():
        async with client_of(tiny) as client:
            await client.post("/label?q=secret", json={"text": "secret words. go"})
            await client.post("/label", json={"text": "x", "secret": "secret"})
            await client.get("/secret")
            await client.request("SECRET", "/static/secret")

    asyncio.run(run())
    lines = [record.fields for record in caplog.records if record.name == "capsrl.serve"]
    shown = [(line["method"], line["path"], line["status"]) for line in lines]
    assert shown == [
        ("POST", "/label", 200),
        ("POST", "/label", 422),
        ("GET", "other", 404),
        ("other", "other", 405),
    ]
    assert (lines[0]["texts"], lines[0]["characters"], lines[0]["sentences"]) == (1, 16, 2)
    assert lines[0]["ms"] > 0
    assert "secret" not in json.dumps(lines)
