"""Models, descriptions and examples for /openapi.json, and the page /docs that shows them."""

import json
import re
from pathlib import Path
from typing import Any

import fastapi_offline
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from capsrl.data.jsonl import json_schema
from capsrl.serve.limits import Limits
from capsrl.serve.requests import TextRequest, TextsRequest

Json = dict[str, Any]

MEDIA_TYPES = {"json": "application/json", "csv": "text/csv", "conll09": "text/plain"}
_REF = "#/components/schemas/{model}"
_TEXT = {"text": "Hiti signed the contract."}
EXAMPLES: dict[str, Json] = {
    "text": {"summary": "One text", "value": _TEXT},
    "texts": {
        "summary": "Several texts, low-probability arguments dropped",
        "value": {"texts": ["Hiti signed.", "The dog barked."], "threshold": 0.5},
    },
    "at": {"summary": "Predicates given by character offset", "value": _TEXT | {"at": [5]}},
    "trace": {
        "summary": "Role probabilities of each of three iterations",
        "value": _TEXT | {"iterations": 3, "trace": True, "pos": ["verb"]},
    },
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
LABELED: Json = {  # the response of /label
    "description": "The sentences of each text, with their propositions",
    "model": TextResponse | TextsResponse,
    "content": {MEDIA_TYPES["csv"]: _STRING, MEDIA_TYPES["conll09"]: _STRING},
}
METRICS: Json = {
    "description": "Metrics in the text format of Prometheus",
    "content": {"text/plain": _STRING},
}
_ERRORS = {
    401: "The token is missing or wrong",
    408: "The request body did not arrive in time",
    413: "The request body or its texts are too long",
    415: "The request body is not JSON",
    422: "The request is not as described, or the library refuses it",
    503: "Too many requests are waiting, or the response took too long",
}


def error_responses(*statuses: int) -> dict[int | str, Json]:
    """For the `responses` of a route."""
    responses: dict[int | str, Json] = {
        status: {"description": _ERRORS[status], "model": Error} for status in statuses
    }
    if 503 in responses:
        seconds = {"description": "Seconds", "schema": {"type": "integer", "minimum": 1}}
        responses[503]["headers"] = {"Retry-After": seconds}
    return responses


def request_body(limits: Limits) -> Json:
    """For the `openapi_extra` of /label, which reads the body itself, within limits."""
    models = [{"$ref": _REF.format(model=name)} for name in ("TextRequest", "TextsRequest")]
    most = f"{limits.characters:,} characters in total, {limits.trace_characters:,} with a trace"
    body = {
        "description": f"At most {limits.body:,} bytes, with texts of at most {most}.",
        "required": True,
        "content": {"application/json": {"schema": {"oneOf": models}, "examples": EXAMPLES}},
    }
    return {"requestBody": body}


def make_document(app: FastAPI) -> Json:
    """FastAPI's own document, with the schemas of requests and sentences."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    models = (TextRequest, TextsRequest)
    _, schemas = models_json_schema([(each, "validation") for each in models], ref_template=_REF)
    document["components"]["schemas"] |= schemas["$defs"] | _library_schemas()
    return document


def _library_schemas() -> Json:
    """The JSON schema of sentences, with its definitions as components."""
    text = re.sub(
        r"#/\$defs/(\w+)",
        lambda found: _REF.format(model=found[1].capitalize()),
        json.dumps(json_schema()),
    )
    sentence = json.loads(text)
    del sentence["$schema"]
    parts = {name.capitalize(): part for name, part in sentence.pop("$defs").items()}
    return {name: part | {"title": name} for name, part in (parts | {"Sentence": sentence}).items()}


def add_docs(app: FastAPI) -> None:
    """Show Swagger UI at /docs, with the files that come in the package fastapi-offline.

    Its addresses are relative, so that it also works below a path of a proxy.
    """
    page = get_swagger_ui_html(
        openapi_url="openapi.json",
        title="capsrl: requests and responses",
        swagger_js_url="docs-files/swagger-ui-bundle.js",
        swagger_css_url="docs-files/swagger-ui.css",
        swagger_favicon_url="static/icon.svg",
        swagger_ui_parameters={"validatorUrl": None},  # would send the document to another site
    )
    files = Path(fastapi_offline.__file__).parent / "static"
    app.mount("/docs-files", StaticFiles(directory=files))
    app.add_api_route("/docs", lambda: page, include_in_schema=False)
