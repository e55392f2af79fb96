"""Read requests to /label: receive the body within limits, check it, make a LabelRequest of it."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, fields
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from fastapi import HTTPException, Request
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import from_json

from capsrl.errors import ConfigError
from capsrl.options import Options
from capsrl.serve.limits import MAX_ITERATIONS, MAX_PREDICATES, MAX_TEXTS, Limits

_MAX_MESSAGE = 300  # characters; a message may quote a value of any length
# Raw text marks no predicates: those that are known come as `at`.
_OPTIONS = {field.name: field for field in fields(Options) if field.name != "predicates"}
_RANGES = {  # for the OpenAPI document; `Options` checks them
    "iterations": {"minimum": 1, "maximum": MAX_ITERATIONS},
    "threshold": {"minimum": 0, "maximum": 1},
    "sense_threshold": {"minimum": 0, "maximum": 1},
    "proposition_threshold": {"minimum": 0, "maximum": 1},
    "pos": {"minItems": 1},
}
_EXPECTED = {
    "string_type": "a string",
    "list_type": "a list",
    "int_type": "an integer",
    "int_from_float": "an integer",
}


class BadRequest(Exception):
    """A request that cannot be understood, or that the library refuses; the message says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message[:_MAX_MESSAGE])


@dataclass(frozen=True)
class LabelRequest:
    """Texts to label, and how.

    many  whether the texts came as a list, so that the response has a list of results
    at    offsets of the predicates in the one text; None if the model finds them
    """

    texts: tuple[str, ...]
    many: bool
    options: Options
    at: tuple[int, ...] | None = None

    @property
    def characters(self) -> int:
        """The total length of the texts."""
        return sum(map(len, self.texts))


def _whole(value: object) -> object:
    """JSON has one type for numbers: 2.0 is the integer 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Offset = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]


def _describe_options(schema: dict[str, Any]) -> None:
    """Add the fields of `Options` to the JSON schema of a request."""
    hints = get_type_hints(Options)
    for name, field in _OPTIONS.items():
        described: dict[str, Any] = TypeAdapter(_json_type(hints[name])).json_schema()
        for part in described.get("anyOf", [described]):
            if part != {"type": "null"}:
                part |= _RANGES.get(name, {})
        schema["properties"][name] = described | {
            "default": field.default,
            "description": field.metadata["help"],
        }
    schema["additionalProperties"] = False


def _json_type(hint: Any) -> Any:  # noqa: ANN401
    """The type of an option as JSON has it: a list for any collection."""
    if get_origin(hint) is Collection:
        return list[get_args(hint)]  # type: ignore[misc]
    if isinstance(hint, UnionType):
        return Union[tuple(map(_json_type, get_args(hint)))]  # noqa: UP007
    return hint


class _Body(BaseModel):
    """Base of both request types: extra fields are options, which `Options` checks."""

    model_config = ConfigDict(extra="allow", strict=True, json_schema_extra=_describe_options)

    def options(self, **fixed: Any) -> Options:  # noqa: ANN401
        """The options of the request; raises BadRequest with the message of `Options`."""
        given: dict[str, Any] = {
            name: _whole(value) for name, value in (self.model_extra or {}).items()
        }
        for name in given.keys() - _OPTIONS.keys():
            known = sorted({*_OPTIONS, *TextRequest.model_fields, *TextsRequest.model_fields})
            raise BadRequest(f"{name[:40]}: expected a field named {', '.join(known)}, got another")
        try:
            options = Options(**fixed, **given)
        except ConfigError as error:
            raise BadRequest(str(error)) from None
        if (n := options.iterations or 0) > MAX_ITERATIONS:
            raise BadRequest(f"iterations: expected at most {MAX_ITERATIONS}, got {n}")
        return options


class TextRequest(_Body):
    """One text to label."""

    text: str = Field(description="Raw text with any number of sentences.")
    at: list[Offset] | None = Field(
        None,
        max_length=MAX_PREDICATES,
        description="Known predicates: for each, the offset of one of its characters, counted in "
        "Unicode code points. By default the model finds the predicates.",
    )


class TextsRequest(_Body):
    """Several texts to label, independently of each other."""

    texts: list[str] = Field(max_length=MAX_TEXTS, description="Raw texts.")


async def read_request(request: Request, limits: Limits) -> LabelRequest:
    """Receive and check a request to /label.

    Raises BadRequest for a body that is not as described, HTTPException for one that is too
    large, too slow or not JSON, ClientDisconnect when the client goes away.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        # Pages of other sites may post forms and plain text here without asking for permission.
        raise HTTPException(
            415, f"content-type: expected application/json, got {media_type[:40] or 'none'}"
        )
    parsed = parse_body(await _read_body(request, limits))
    most, what = limits.characters, "characters"
    if parsed.options.trace and limits.trace_characters < most:
        most, what = limits.trace_characters, "characters with a trace"
    if parsed.characters > most:
        raise HTTPException(
            413,
            f"text: expected at most {most:,} {what}, got {parsed.characters:,}; send it in parts",
        )
    return parsed


def parse_body(body: bytes) -> LabelRequest:
    """The request that a body describes; raises BadRequest naming the field that is wrong."""
    try:
        data = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise BadRequest(f"body: expected JSON, got an error: {error}") from None
    if not isinstance(data, dict):
        raise BadRequest(f'body: expected an object such as {{"text": "..."}}, got {data!r:.60}')
    if ("text" in data) == ("texts" in data):
        got = "both" if "text" in data else "neither"
        raise BadRequest(f"body: expected either text or texts, got {got}")
    try:
        if "texts" in data:
            if "at" in data:
                raise BadRequest("at: expected with text only, got texts; send them one by one")
            many = TextsRequest.model_validate(data)
            return LabelRequest(tuple(many.texts), True, many.options(predicates="found"))
        one = TextRequest.model_validate(data)
    except ValidationError as error:
        raise BadRequest(_message(error)) from None
    if one.at is None:
        return LabelRequest((one.text,), False, one.options(predicates="found"))
    return LabelRequest((one.text,), False, one.options(predicates="marked"), tuple(one.at))


def _message(error: ValidationError) -> str:
    """The first mistake, worded like the messages of the library."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "too_long":
        return f"{where}: expected at most {first['ctx']['max_length']:,} items, got more"
    expected = _EXPECTED.get(first["type"], first["msg"])
    return f"{where}: expected {expected}, got {first['input']!r:.60}"


async def _read_body(request: Request, limits: Limits) -> bytes:
    announced = request.headers.get("content-length", "")
    too_long = announced.isdecimal() and int(announced) > limits.body
    if too_long and "expect" in request.headers:
        raise _too_long(limits)  # the client waits for permission to send the body
    body, dropped = bytearray(), 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                too_long = too_long or len(body) + len(part) > limits.body
                if not too_long:
                    body += part
                    continue
                dropped += len(part)
                if dropped > limits.drain:
                    break
    except TimeoutError:
        if not too_long:
            raise HTTPException(
                408,
                f"body: expected all of it within {limits.seconds:g} seconds, "
                f"got {len(body):,} bytes",
            ) from None
    if too_long:
        raise _too_long(limits)
    return bytes(body)


def _too_long(limits: Limits) -> HTTPException:
    return HTTPException(
        413,
        f"body: expected at most {limits.body:,} bytes, got more; send the texts in parts",
        # What is left of the body is not read, so the connection cannot be used again.
        headers={"Connection": "close"},
    )


async def wait_for_disconnect(request: Request) -> None:
    """Return when the client has gone; its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
