"""What the service says of itself is so."""

import asyncio

import jsonschema
import pytest

from capsrl.data.jsonl import json_schema
from capsrl.serve.openapi import REQUESTS, RESPONSE
from tests.helpers.serving import client_of, post, same


def document(labeler, **options):
    async def run():
        async with client_of(labeler, **options) as client:
            return (await client.get("/openapi.json")).json()

    return asyncio.run(run())


@pytest.mark.parametrize("name", REQUESTS)
def test_the_examples_work(labeler, name):
    response = post(labeler, REQUESTS[name]["value"])
    assert response.status_code == 200
    if name == "text":
        assert same(response.json(), RESPONSE, tolerance=0.005)


def test_sentences_are_described_as_in_the_library(tiny):
    schemas = document(tiny)["components"]["schemas"]
    ours, theirs = schemas["Sentence"], json_schema()
    assert ours["properties"].keys() == theirs["properties"].keys()
    assert schemas.keys() >= {name.capitalize() for name in theirs["$defs"]}
    whole = {"$ref": "#/components/schemas/Labelled", "components": {"schemas": schemas}}
    jsonschema.validate(RESPONSE, whole)
    for place, value in (("propositions", [{"sense": "x.01"}]), ("words", "a b")):
        wrong = {"sentences": [RESPONSE["sentences"][0] | {place: value}]}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, whole)


def test_a_token_is_asked_for_only_if_there_is_one(tiny):
    without, having = document(tiny), document(tiny, token="t")
    assert "securitySchemes" not in without["components"]
    assert "401" not in without["paths"]["/label"]["post"]["responses"]
    assert having["paths"]["/label"]["post"]["security"] == [{"token": []}]
    assert having["paths"]["/metrics"]["get"]["responses"]["401"]
    assert "security" not in having["paths"]["/health"]["get"]


def test_every_route_is_there_with_its_refusals(tiny):
    paths = document(tiny)["paths"]
    assert paths.keys() == {"/label", "/health", "/ready", "/metrics"}
    statuses = paths["/label"]["post"]["responses"].keys()
    assert statuses == {"200", "408", "413", "415", "422", "503"}
    assert "20,000 characters" in paths["/label"]["post"]["requestBody"]["description"]
    assert paths["/metrics"]["get"]["responses"]["200"]["content"].keys() == {"text/plain"}
