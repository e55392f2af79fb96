"""Models and examples for /openapi.json."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from capsrl.formats.fields import schema_components
from capsrl.serve.requests import Limits, TextRequest, TextsRequest

Json = dict[str, Any]

MEDIA_TYPES = {"json": "application/json", "csv": "text/csv", "conll09": "text/plain"}
_REF = "#/components/schemas/{model}"
_EXAMPLE = {"text": "Hiti signed the contract."}
EXAMPLES: dict[str, Json] = {
    "One text": _EXAMPLE,
    "Several texts, no improbable roles": {"texts": ["Hiti left.", "Dogs bark."], "threshold": 0.5},
    "Predicates given by character offset": _EXAMPLE | {"at": [5]},
    "Role probabilities of each iteration": _EXAMPLE | {"iterations": 3, "trace": True},
}


class Model(BaseModel):
    """The model that a server runs."""

    name: str = Field(description="A model that ships with capsrl, or the name of its folder.")
    version: str = Field(description="The version of capsrl.")
    fingerprint: str | None = Field(description="Changes with any file that decides the answers.")


class Sentence(BaseModel):
    """A name for the OpenAPI document, where the library's own schema takes its place."""


class TextResult(BaseModel):
    """The sentences of one of several texts."""

    sentences: list[Sentence]


class TextResponse(TextResult):
    """The sentences of a text."""

    model: Model
    warnings: list[str] = Field([], description="Of offsets without a word; else absent.")


class TextsResponse(BaseModel):
    """The sentences of several texts, in the order of the request."""

    model: Model
    results: list[TextResult]


class Status(BaseModel):
    """How the server is, and what it runs."""

    status: str
    model: Model


class Error(BaseModel):
    """Why a request was refused."""

    detail: str


_STRING = {"schema": {"type": "string"}}
LABELED: Json = {
    "description": "The sentences of each text, with their propositions",
    "model": TextResponse | TextsResponse,
    "content": {MEDIA_TYPES["csv"]: _STRING, MEDIA_TYPES["conll09"]: _STRING},
}
METRICS: Json = {"description": "Metrics for Prometheus", "content": {"text/plain": _STRING}}


def refusals(*statuses: int) -> dict[int | str, Json]:
    """For the `responses` of a route."""
    responses: dict[int | str, Json] = {
        status: {"description": HTTPStatus(status).phrase, "model": Error} for status in statuses
    }
    if 503 in responses:
        seconds = {"description": "Seconds", "schema": {"type": "integer", "minimum": 1}}
        responses[503]["headers"] = {"Retry-After": seconds}
    return responses


def request_body(limits: Limits) -> Json:
    """For the `openapi_extra` of /label, which reads the body itself, within limits."""
    models = [{"$ref": _REF.format(model=name)} for name in ("TextRequest", "TextsRequest")]
    examples = {name: {"value": value} for name, value in EXAMPLES.items()}
    most = f"{limits.characters:,} characters in total, {limits.trace_characters:,} with a trace"
    content = {"schema": {"oneOf": models}, "examples": examples}
    about = f"At most {limits.body:,} bytes, with texts of at most {most}."
    body = {"required": True, "description": about, "content": {"application/json": content}}
    return {"requestBody": body}


def add_schemas(app: FastAPI) -> None:
    """Add the schemas of requests and sentences to the document that FastAPI has made."""
    _, schemas = models_json_schema(
        [(TextRequest, "validation"), (TextsRequest, "validation")], ref_template=_REF
    )
    document = app.openapi()
    document["components"]["schemas"] |= schemas["$defs"] | schema_components(_REF)
    app.openapi = lambda: document  # type: ignore[method-assign]  # FastAPI's way to extend it
