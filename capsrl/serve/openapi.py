"""The description of the routes: what /openapi.json gives, with the library's own JSON schema."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi

import capsrl
from capsrl.data.jsonl import json_schema
from capsrl.serve.limits import Limits
from capsrl.serve.schemas import ManyTexts, OneText

Handler = Callable[..., Awaitable[Response]]
Json = dict[str, Any]

_PLACE = "#/components/schemas/{model}"
_TEXT = {"text": "Hiti signed the contract."}
REQUESTS: dict[str, Json] = {
    "text": {"summary": "A text", "value": _TEXT},
    "texts": {
        "summary": "Several texts, without what is improbable",
        "value": {"texts": ["Hiti signed.", "The dog barked."], "threshold": 0.5},
    },
    "predicates": {
        "summary": "Known predicates, by an offset in each",
        "value": _TEXT | {"predicates": [5]},
    },
    "trace": {
        "summary": "How it settled, in three iterations",
        "value": _TEXT | {"iterations": 3, "trace": True, "kinds": ["verb"]},
    },
}
RESPONSE: Json = {
    "sentences": [
        {
            "text": "Hiti signed the contract.",
            "start": 0,
            "words": ["Hiti", "signed", "the", "contract", "."],
            "offsets": [[0, 4], [5, 11], [12, 15], [16, 24], [24, 25]],
            "tags": ["NNP", "VBD", "DT", "NN", "."],
            "propositions": [
                {
                    "predicate": 1,
                    "form": "signed",
                    "sense": "sign.01",
                    "probability": 0.98,
                    "start": 5,
                    "end": 11,
                    "arguments": [
                        {
                            "role": "A0",
                            "word": 0,
                            "form": "Hiti",
                            "probability": 1.0,
                            "start": 0,
                            "end": 4,
                        },
                        {
                            "role": "A1",
                            "word": 3,
                            "form": "contract",
                            "probability": 1.0,
                            "start": 16,
                            "end": 24,
                        },
                    ],
                }
            ],
        }
    ]
}
_REFUSALS = {
    401: "The token is missing or wrong",
    408: "The body did not come in time",
    413: "The body or its texts are too long",
    415: "The body is not JSON",
    422: "The body is not what it should be; the message is the library's",
    503: "Too many requests are waiting, or it took too long",
}


def add_routes(
    app: FastAPI, label: Handler, health: Handler, ready: Handler, metrics: Handler
) -> None:
    """Give the application its routes that are described."""
    answers = _content(
        {"oneOf": [{"$ref": _ref("Labelled")}, {"$ref": _ref("ManyLabelled")}]}, example=RESPONSE
    )
    app.add_api_route(
        "/label",
        label,
        methods=["POST"],
        responses={
            200: {"description": "The sentences of the text, with their propositions"} | answers,
            **{status: _refusal(status) for status in (408, 413, 415, 422, 503)},
        },
    )
    status = _content({"$ref": _ref("Status")})
    app.add_api_route("/health", health, responses={200: {"description": "It is alive"} | status})
    app.add_api_route(
        "/ready",
        ready,
        responses={200: {"description": "It is"} | status, 503: _refusal(503)},
    )
    app.add_api_route(
        "/metrics",
        metrics,
        responses={
            200: {
                "description": "Counters in the text format of Prometheus",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            }
        },
    )


def describe_routes(app: FastAPI, limits: Limits, *, with_token: bool) -> Json:
    """The OpenAPI document of an application that has its routes."""
    document = get_openapi(
        title="capsrl",
        version=capsrl.__version__,
        summary="Semantic role labelling: who did what to whom",
        routes=app.routes,
    )
    components = document.setdefault("components", {})
    components["schemas"] = _schemas()
    document["paths"]["/label"]["post"]["requestBody"] = _request_body(limits)
    for path in document["paths"].values():
        for operation in path.values():  # FastAPI describes a JSON body for each, besides ours
            content = operation["responses"]["200"]["content"]
            if "text/plain" in content:
                content.pop("application/json", None)
    if with_token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, method in (("/label", "post"), ("/metrics", "get")):
            operation = document["paths"][path][method]
            operation["security"] = [{"token": []}]
            operation["responses"]["401"] = _refusal(401)
    return document


def _request_body(limits: Limits) -> Json:
    schema = {"oneOf": [{"$ref": _ref("OneText")}, {"$ref": _ref("ManyTexts")}]}
    return {
        "description": f"At most {limits.body:,} bytes, with texts of at most "
        f"{limits.characters:,} characters in all, {limits.trace_characters:,} for a trace",
        "required": True,
        "content": {"application/json": {"schema": schema, "examples": REQUESTS}},
    }


def _schemas() -> Json:
    """Everything that is referred to; the library's schema is taken apart into its definitions."""
    text = json.dumps(json_schema())
    place = _ref("")
    sentence = json.loads(
        re.sub(r'"#/\$defs/(\w+)"', lambda name: f'"{place}{name[1].capitalize()}"', text)
    )
    del sentence["$schema"]
    schemas: Json = {name.capitalize(): part for name, part in sentence.pop("$defs").items()}
    schemas["Sentence"] = sentence
    for model in (OneText, ManyTexts):
        schemas[model.__name__] = model.model_json_schema(ref_template=_PLACE)
    schemas["Labelled"] = _object(sentences={"type": "array", "items": {"$ref": _ref("Sentence")}})
    schemas["ManyLabelled"] = _object(
        results={"type": "array", "items": {"$ref": _ref("Labelled")}}
    )
    schemas["Status"] = _object(status={"type": "string"})
    schemas["Refusal"] = _object(detail={"type": "string", "description": "what to do about it"})
    return schemas


def _object(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _refusal(status: int) -> Json:
    refusal: Json = {"description": _REFUSALS[status]} | _content({"$ref": _ref("Refusal")})
    if status == 503:
        refusal["headers"] = {
            "Retry-After": {"description": "seconds", "schema": {"type": "integer", "minimum": 1}}
        }
    return refusal


def _content(schema: Json, *, example: Json | None = None) -> Json:
    content: Json = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {"content": {"application/json": content}}


def _ref(name: str) -> str:
    return _PLACE.format(model=name)
