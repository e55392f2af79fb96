"""The body of a request -> Order, or a message that says what is wrong with it."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import from_json

from capsrl.data.json_check import shown
from capsrl.options import Options, PredicatePos
from capsrl.serve.limits import MAX_ITERATIONS, MAX_PREDICATES, MAX_TEXTS
from capsrl.serve.requests import BadOrder, Order


def _whole(value: object) -> object:
    """JSON has one kind of number: 2.0 is the integer 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# What is too small is left to the library to refuse, by its own message.
Iterations = Annotated[
    int,
    Field(le=MAX_ITERATIONS),
    BeforeValidator(_whole),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_ITERATIONS}),
]
Offset = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]


class _Request(BaseModel):
    # Strict: "2" is no number, true is none either.
    model_config = ConfigDict(extra="forbid", strict=True)

    iterations: Iterations | None = Field(
        None, description="rounds of routing; as many as in training if not given"
    )
    threshold: float = Field(
        0.0, ge=0, le=1, allow_inf_nan=False, description="leave out arguments less probable"
    )
    pos: list[PredicatePos] | None = Field(
        None, description="keep only predicates of these parts of speech"
    )
    trace: bool = Field(False, description="give what was believed after every iteration")

    def options(self, predicates: Literal["marked", "found"]) -> Options:
        return Options(
            predicates=predicates,
            pos=self.pos,
            iterations=self.iterations,
            threshold=self.threshold,
            trace=self.trace,
        )


class OneText(_Request):
    """A text to label."""

    text: str = Field(description="raw text, of any number of sentences")
    predicates: list[Offset] | None = Field(
        None,
        max_length=MAX_PREDICATES,
        description="where the predicates are: for each, the offset of a character in it, "
        "counted in Unicode code points; they are found by the model if not given",
    )

    def order(self) -> Order:
        """What to do for it."""
        if self.predicates is None:
            return Order((self.text,), False, self.options("found"))
        return Order((self.text,), False, self.options("marked"), tuple(self.predicates))


class ManyTexts(_Request):
    """Texts to label, each for itself."""

    texts: list[str] = Field(max_length=MAX_TEXTS, description="raw texts")

    def order(self) -> Order:
        """What to do for them."""
        return Order(tuple(self.texts), True, self.options("found"))


def parse_order(body: bytes) -> Order:
    """The order that a request's body holds; raises BadOrder naming the field."""
    try:
        data = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise BadOrder(f"body: expected JSON, got {error}") from None
    if not isinstance(data, dict):
        raise BadOrder(f'body: expected an object such as {{"text": "..."}}, got {shown(data)}')
    if ("text" in data) == ("texts" in data):
        got = "both" if "text" in data else "neither"
        raise BadOrder(f"body: expected either text or texts, got {got}")
    if "texts" in data and "predicates" in data:
        raise BadOrder("predicates: expected them with text alone, got texts; send one at a time")
    try:
        request = OneText.model_validate(data) if "text" in data else ManyTexts.model_validate(data)
    except ValidationError as error:
        raise BadOrder(_message(error)) from None
    return request.order()


def _message(error: ValidationError) -> str:
    """The first mistake, in the manner of the library's messages."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = sorted({*OneText.model_fields, *ManyTexts.model_fields})
        return f"{where[:40]}: expected one of {', '.join(known)}, got a field of another name"
    if first["type"] == "too_long":  # the value is too long to show
        return f"{where}: {first['msg'].replace('List should have', 'expected')}"
    expected = first["msg"].replace("Input should be", "expected")
    return f"{where}: {expected}, got {shown(first['input'])}"
