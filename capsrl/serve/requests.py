"""Read requests to /label: receive the body within limits, check it, make a LabelRequest of it."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from threading import Event
from typing import Annotated, Any, Literal, get_type_hints

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic_core import from_json

from capsrl.options import Options, PredicatePos

Format = Literal["json", "csv", "conll09"]

MAX_ITERATIONS = 10  # the paper goes to 6; the size of a trace grows with them
MAX_PREDICATES = 1000
MAX_TEXTS = 100
_MAX_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True)
class Limits:
    """The limits of one server. Traces have their own: their size is words x predicates."""

    body: int = 1 << 20  # bytes of a request body
    # Bytes of an oversized body that are read and dropped before it is refused: a client that is
    # still sending could not read the response.
    drain: int = 16 << 20
    characters: int = 20_000  # total length of the texts of a request
    trace_characters: int = 4_000  # the same with a trace
    seconds: float = 30.0  # time to receive a request, and time to answer it
    receiving: int = 512  # requests whose bodies may arrive at the same time
    queue: int = 64  # requests that may wait
    batch: int | None = None  # requests labeled together; None: 8 with onnx, else 32
    batch_characters: int = 10_000  # of their texts, unless a single request is longer


@dataclass(frozen=True)
class LabelRequest:
    """Texts to label, and how."""

    texts: tuple[str, ...]
    many: bool  # whether they came as a list, so that the response has a list of results
    options: Options
    at: tuple[int, ...] | None = None  # offsets of the predicates in the one text; None: found
    format: Format = "json"  # of the response
    # Set when its client waits no longer.
    dropped: Event = field(default_factory=Event, compare=False)

    @property
    def characters(self) -> int:
        """The total length of the texts."""
        return sum(map(len, self.texts))


def _to_int(value: object) -> object:
    """JSON has one type for numbers: 2.0 is the integer 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_Offset = Annotated[int, Field(ge=0), BeforeValidator(_to_int)]
_THRESHOLDS = ("threshold", "sense_threshold", "proposition_threshold")
_FIELD_TYPES = {  # where JSON has other types than `Options`, or a request has limits
    "pos": Annotated[list[PredicatePos], Field(min_length=1)] | None,
    "iterations": Annotated[int, Field(ge=1, le=MAX_ITERATIONS), BeforeValidator(_to_int)] | None,
    **dict.fromkeys(_THRESHOLDS, Annotated[float, Field(ge=0, le=1)]),
}
_types = get_type_hints(Options) | _FIELD_TYPES
_OPTION_FIELDS: dict[str, Any] = {
    field.name: (_types[field.name], Field(field.default, description=field.metadata["help"]))
    for field in fields(Options)
    if field.name != "predicates"  # raw text marks none: those that are known come as `at`
}
_config = ConfigDict(extra="forbid", strict=True)
_OptionFields: Any = create_model("_OptionFields", __config__=_config, **_OPTION_FIELDS)


class TextRequest(_OptionFields):  # type: ignore[misc]  # mypy knows nothing of its base
    """One text to label."""

    text: str = Field(description="Raw text with any number of sentences.")
    at: list[_Offset] | None = Field(
        None,
        max_length=MAX_PREDICATES,
        description="Offset of a character of each predicate, in Unicode code points; null: found.",
    )


class TextsRequest(_OptionFields):  # type: ignore[misc]
    """Several texts to label, independently of each other."""

    texts: list[str] = Field(max_length=MAX_TEXTS, description="Raw texts.")


async def read_request(request: Request, limits: Limits, format: Format) -> LabelRequest:
    """Receive and check a request to /label.

    Raises RequestValidationError for a body that is not as described, HTTPException for one that
    is too large or too slow or has another type, ClientDisconnect when the client goes away.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        # Pages of other sites may post forms and plain text here without asking for permission.
        sent = media_type[:_MAX_SHOWN] or "none"
        raise HTTPException(415, f"the content type must be application/json; you sent {sent}")
    if (encoding := request.headers.get("content-encoding", "identity").lower()) != "identity":
        raise HTTPException(415, f"the body must not be encoded; it is {encoding[:_MAX_SHOWN]}")
    parsed = parse_body(await _read_body(request, limits), format)
    most, when = limits.characters, ""
    if parsed.options.trace:
        most, when = min(most, limits.trace_characters), " when trace is true"
    if (n := parsed.characters) > most:
        must = f"must have at most {most:,} characters{when}; you sent {n:,}: send it in parts"
        raise HTTPException(413, f"the text {must}")
    return parsed


async def _read_body(request: Request, limits: Limits) -> bytes:
    """The body, or HTTPException; an oversized body is read up to a limit and discarded."""
    must = f"must have at most {limits.body:,} bytes; you sent more: send the texts in parts"
    # What is left of the body is not read, so the connection cannot be used again.
    too_long = HTTPException(413, f"the body {must}", {"Connection": "close"})
    size = int(request.headers.get("content-length", 0))
    if size > limits.body and "expect" in request.headers:
        raise too_long  # the client waits for permission to send the body
    body, read = bytearray(), 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                read += len(part)
                size = max(size, read)
                if size <= limits.body:
                    body += part
                elif read > limits.body + limits.drain:
                    break
    except TimeoutError:
        must = f"must arrive within {limits.seconds:g} seconds; {read:,} bytes did"
        raise HTTPException(408, f"the body {must}", {"Connection": "close"}) from None
    if size > limits.body:
        raise too_long
    return bytes(body)


def parse_body(body: bytes, format: Format = "json") -> LabelRequest:
    """The request that a body describes; raises RequestValidationError if it describes none."""
    try:
        data = from_json(body.decode("utf-8-sig"), allow_inf_nan=False)
        many = isinstance(data, dict) and "texts" in data and "text" not in data
        given = (TextsRequest if many else TextRequest).model_validate(data).model_dump()
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from None
    except ValueError as error:
        told = re.sub(r"EOF while parsing an? \w+", "it ends too soon", str(error))
        told = re.sub("expected (value|ident)", "there is no JSON value", told)
        if isinstance(error, UnicodeDecodeError):
            told = f"it is not UTF-8: byte 0x{body[error.start]:02x} at offset {error.start}"
        told = "it is gzip" if body[:2] == b"\x1f\x8b" else told if body else "it is empty"
        mistake = {"type": "json_invalid", "loc": (), "ctx": {"error": told}}
        raise RequestValidationError([mistake]) from None
    texts = given.pop("texts") if many else [given.pop("text")]
    at = given.pop("at", None)
    options = Options(predicates="found" if at is None else "marked", **given)
    return LabelRequest(tuple(texts), many, options, None if at is None else tuple(at), format)


# What is wrong, by pydantic's type of error: its own English is written for programmers.
_MUST = {
    "json_invalid": "must be JSON; {error}",
    "model_type": 'must be an object such as {{"text": "..."}}',
    "missing": 'is missing; send {{"text": "..."}} or {{"texts": ["...", "..."]}}',
    "extra_forbidden": "is not a field of this request; see /docs",
    "string_type": "must be a string",
    "list_type": "must be a list",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
    "too_long": "must have at most {max_length:,} items",
    "too_short": "must have at least {min_length} item",
}


def explain(error: Mapping[str, Any]) -> str:
    """One mistake in plain words: threshold must be at most 1; you sent 2."""
    if (error["type"], error["loc"]) == ("extra_forbidden", ("texts",)):
        return "only one of text and texts may be given; you sent both"
    names = [str(part)[:_MAX_SHOWN] for part in error["loc"]]
    where = ".".join(names).removeprefix("query.") or "the body"
    must = _MUST.get(error["type"], "is not as described").format_map(error.get("ctx", {}))
    if ";" in must:
        return f"{where} {must}"
    shown = json.dumps(error["input"], ensure_ascii=False)
    cut = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
    return f"{where} {must}; you sent {cut}"
