"""The examples of docs/serve.md do what the page says."""

import asyncio
import json
import re

from tests.helpers.serving import ROOT, client_of, post, same

GUIDE = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def test_request(labeler):
    body = json.loads(re.search(r"-d '(.*)'", GUIDE)[1])
    shown = json.loads(blocks("json")[0])  # with four digits
    found = post(labeler, body).json()
    shown["model"]["fingerprint"] = found["model"]["fingerprint"]  # that of every file
    assert same(found, shown, tolerance=0.0001)


def test_conll09(labeler):
    async def run():
        async with client_of(labeler) as client:
            return await client.post("/label?format=conll09", json=body)

    found = re.search(r"format=conll09' .* -d '(.*)'\n```\n\n```\n(.*?)```", GUIDE, re.DOTALL)
    body = json.loads(found[1])
    assert asyncio.run(run()).text == found[2] + "\n"


def test_errors(labeler):
    shown = [json.loads(line) for line in GUIDE.splitlines() if line.startswith('{"detail":')]
    bodies = ({"text": "a", "threshold": 2}, {"text": 5}, {"text": "x" * 20_001})

    async def run():
        async with client_of(labeler) as client:
            headers = {"Content-Type": "application/json"}
            cut = await client.post("/label", content='{"text":', headers=headers)
            latin = '{"text": "olé"}'.encode("latin-1")
            other = await client.post("/label", content=latin, headers=headers)
            return [cut.json(), other.json(), (await client.get("/label")).json()]

    assert [*(post(labeler, body).json() for body in bodies), *asyncio.run(run())] == shown


def test_python():
    [code] = blocks("python")
    names = {}
    exec(compile(code, "docs/serve.md", "exec"), names)
    assert names["app"].title == "capsrl"
