"""The parts of /openapi.json that FastAPI cannot derive."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from capsrl.data.jsonl import json_schema
from capsrl.serve.limits import Limits
from capsrl.serve.requests import TextRequest, TextsRequest

Json = dict[str, Any]

_REF = "#/components/schemas/{model}"
_TEXT = {"text": "Hiti signed the contract."}
EXAMPLES: dict[str, Json] = {
    "text": {"summary": "One text", "value": _TEXT},
    "texts": {
        "summary": "Several texts, low-probability arguments dropped",
        "value": {"texts": ["Hiti signed.", "The dog barked."], "threshold": 0.5},
    },
    "at": {
        "summary": "Predicates given by character offset",
        "value": _TEXT | {"at": [5]},
    },
    "trace": {
        "summary": "Role probabilities of each of three iterations",
        "value": _TEXT | {"iterations": 3, "trace": True, "pos": ["verb"]},
    },
}


class Sentence(BaseModel):
    """A name for the OpenAPI document, where the library's own schema takes its place."""


class TextResult(BaseModel):
    """The sentences of a text, with their propositions."""

    sentences: list[Sentence]


class TextsResult(BaseModel):
    """The results of several texts, in the order of the request."""

    results: list[TextResult]


class Status(BaseModel):
    """Whether the server works."""

    status: str


class Error(BaseModel):
    """Why a request was refused."""

    detail: str


_DESCRIPTIONS = {
    401: "The token is missing or wrong",
    408: "The request body did not arrive in time",
    413: "The request body or its texts are too long",
    415: "The request body is not JSON",
    422: "The request body is not as described, or the library refuses it",
    503: "Too many requests are waiting, or the response took too long",
}


def error_responses(*statuses: int) -> dict[int | str, Json]:
    """For the `responses` of a route."""
    content = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
    responses: dict[int | str, Json] = {
        status: {"description": _DESCRIPTIONS[status], "content": content} for status in statuses
    }
    if 503 in responses:
        seconds = {"description": "Seconds", "schema": {"type": "integer", "minimum": 1}}
        responses[503]["headers"] = {"Retry-After": seconds}
    return responses


def request_body(limits: Limits) -> Json:
    """For the `openapi_extra` of /label, which reads the body itself, within limits."""
    models = [{"$ref": _REF.format(model=name)} for name in ("TextRequest", "TextsRequest")]
    body = {
        "description": f"At most {limits.body:,} bytes, with texts of at most "
        f"{limits.characters:,} characters in total, {limits.trace_characters:,} with a trace.",
        "required": True,
        "content": {"application/json": {"schema": {"oneOf": models}, "examples": EXAMPLES}},
    }
    return {"requestBody": body}


def make_document(app: FastAPI) -> Json:
    """FastAPI's own document, with the schemas it does not know of."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    models = (TextRequest, TextsRequest, Error)
    _, schemas = models_json_schema([(each, "validation") for each in models], ref_template=_REF)
    document["components"]["schemas"] |= schemas["$defs"] | _library_schemas()
    return document


def _library_schemas() -> Json:
    """The JSON schema of sentences, with its definitions as components."""
    schema = json_schema()
    parts = {_component(name): part for name, part in schema.pop("$defs").items()}
    parts["Sentence"] = {key: value for key, value in schema.items() if key != "$schema"}
    return {name: _with_refs(part) | {"title": name} for name, part in parts.items()}


def _component(name: str) -> str:
    return name[:1].upper() + name[1:]


def _with_refs(schema: Any) -> Any:  # noqa: ANN401
    """The schema with references to components instead of `$defs`."""
    if isinstance(schema, list):
        return [_with_refs(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: _with_refs(part) for key, part in schema.items()}
    if "$ref" in changed:
        changed["$ref"] = _REF.format(model=_component(changed["$ref"].rpartition("/")[2]))
    return changed
