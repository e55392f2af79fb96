"""The OpenAPI document describes what the service does."""

import asyncio
import json

import jsonschema
import pytest

from capsrl.formats.jsonl import json_schema
from capsrl.serve.openapi import EXAMPLES
from tests.helpers.serving import client_of, post


def document(labeler, **options):
    async def run():
        async with client_of(labeler, **options) as client:
            return (await client.get("/openapi.json")).json()

    return asyncio.run(run())


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(labeler, name):
    response = post(labeler, EXAMPLES[name])
    assert response.status_code == 200
    components = document(labeler)["components"]
    result = "TextsResponse" if "texts" in EXAMPLES[name] else "TextResponse"
    schema = {"$ref": f"#/components/schemas/{result}", "components": components}
    jsonschema.validate(response.json(), schema)
    for key, value in (("propositions", [{"sense": "x.01"}]), ("words", "a b")):
        [sentence, *_] = (response.json().get("results") or [response.json()])[0]["sentences"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(
                sentence | {key: value}, schema | {"$ref": "#/components/schemas/Sentence"}
            )


def test_schemas_have_names_for_clients(tiny):
    schemas = document(tiny)["components"]["schemas"]
    assert schemas["Sentence"]["properties"].keys() == json_schema()["properties"].keys()
    for name in ("Sentence", "Proposition", "Argument", "Trace", "TextRequest", "TextResponse"):
        assert schemas[name]["title"] == name
    assert "$defs" not in json.dumps(schemas)


def test_security_only_with_a_token(tiny):
    without, having = document(tiny), document(tiny, token="t")
    assert "securitySchemes" not in without["components"]
    assert "401" not in without["paths"]["/label"]["post"]["responses"]
    assert having["components"]["securitySchemes"] == {
        "token": {"type": "http", "scheme": "bearer"}
    }
    assert having["paths"]["/label"]["post"]["security"] == [{"token": []}]
    assert having["paths"]["/metrics"]["get"]["responses"]["401"]
    assert "security" not in having["paths"]["/health"]["get"]


def test_routes(tiny):
    paths = document(tiny)["paths"]
    operations = {
        path: [each["operationId"] for each in item.values()] for path, item in paths.items()
    }
    assert operations == {f"/{name}": [name] for name in ("label", "health", "ready", "metrics")}
    statuses = paths["/label"]["post"]["responses"].keys()
    assert statuses == {"200", "408", "413", "415", "422", "503"}
    assert "20,000 characters" in paths["/label"]["post"]["requestBody"]["description"]
    assert paths["/metrics"]["get"]["responses"]["200"]["content"].keys() == {"text/plain"}
