"""Parameters that several commands share, and commands that take the fields of a dataclass."""

import dataclasses
import inspect
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from capsrl.errors import ConfigError
from capsrl.formats.formats import CORPORA, READABLE


def option(metavar: str, help: str, *flags: str, **others: Any) -> Any:  # noqa: ANN401
    """The description of an option, for `Annotated`; `typer.Option` with the usual arguments.

    Of a number below `min` or above `max` the errors are ours, not those of typer.
    """
    if "min" in others:
        low, high = others.pop("min"), others.pop("max", math.inf)
        metavar += f" [x>={low:g}]" if high == math.inf else f" [{low:g}<=x<={high:g}]"
        others["callback"] = _range_check(low, high)
    return typer.Option(*flags, metavar=metavar, help=help, **others)


def _range_check(low: float, high: float) -> Callable[..., float | None]:
    wanted = f"at least {low:g}" if high == math.inf else f"a number from {low:g} to {high:g}"

    def check(parameter: typer.CallbackParam, value: float | None) -> float | None:
        if value is not None and not low <= value <= high:
            raise ConfigError(f"{parameter.opts[-1]}: expected {wanted}, got {value}")
        return value

    return check


def _from(formats: Collection[str]) -> Any:  # noqa: ANN401
    known = f"Format of the input: {', '.join(formats)}. Default: by the suffix of the file."
    return option("FORMAT", known, "--from")


Model = Annotated[str, option("MODEL", "A model that ships with capsrl, or a model folder.")]
Device = Annotated[
    str | None, option("DEVICE", "cpu, cuda or cuda:N. Default: the GPU if there is one.")
]
Threads = Annotated[
    int | None,
    option("N", "CPU threads at most. Default: all cores, or one if they are busy.", min=1),
]
Runtime = Annotated[
    str | None,
    option("RUNTIME", "onnx or torch. Default: onnx on the CPU if the model was exported."),
]
Frames = Annotated[
    str | None,
    option(
        "FOLDER",
        "PropBank frame files, or an index of them, that say what roles mean. Default: the index "
        "that `capsrl frames` made, then that of the model.",
    ),
]
From = Annotated[str | None, _from(READABLE)]
FromCorpus = Annotated[str | None, _from(CORPORA)]  # for commands that need propositions
Encoding = Annotated[
    str | None,
    option("NAME", "Encoding of the files: latin-1, cp1252, utf-16, ... Default: utf-8."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

_Command = Callable[..., None]


def with_fields(
    name: str, cls: type, *, without: Collection[str] = ()
) -> Callable[[_Command], _Command]:
    """Give a command one option for each field of a dataclass.

    The command is called with `name=cls(...)`. The help of an option is the "help" in the field's
    metadata; a field whose type is `Annotated[..., typer.Option(...)]` is taken as it is.

    without  fields that keep their defaults
    """
    hints = get_type_hints(cls, include_extras=True)
    fields = {each.name: each for each in dataclasses.fields(cls) if each.name not in without}
    parameters = [_parameter(field, hints[key]) for key, field in fields.items()]

    def decorate(command: _Command) -> _Command:
        @wraps(command)
        def run(**arguments: Any) -> None:  # noqa: ANN401
            values = {key: arguments.pop(key) for key in fields}
            with option_errors(fields):
                made = cls(**_split_lists(values, hints))
            command(**arguments, **{name: made})

        own = [each for each in inspect.signature(command).parameters.values() if each.name != name]
        signature = inspect.Signature([*own, *parameters])
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in [*own, *parameters]}
        return run

    return decorate


@contextmanager
def option_errors(names: Iterable[str]) -> Iterator[None]:
    """Name options as they are typed in errors that begin with one of these Python names."""
    try:
        yield
    except ConfigError as error:
        name, colon, rest = str(error).partition(":")
        if not colon or name not in names:
            raise
        raise ConfigError(f"{_flag(name)}:{rest}") from None


def _parameter(field: "dataclasses.Field[Any]", hint: object) -> inspect.Parameter:
    if get_origin(hint) is not Annotated:
        hint = _annotated(field, _without_none(hint))
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hint
    )


def _annotated(field: "dataclasses.Field[Any]", kind: Any) -> object:  # noqa: ANN401
    flag = _flag(field.name)
    help = field.metadata["help"]
    if kind is bool:
        flags = f"{flag}/--no-{flag[2:]}" if field.default else flag
        return Annotated[bool, typer.Option(flags, help=help, show_default=False)]
    if get_origin(kind) is Literal:
        return Annotated[str, option("|".join(get_args(kind)), help, flag)]
    if _is_collection(kind):
        [member] = get_args(kind)
        return Annotated[str | None, option(",".join(get_args(member)) or "LIST", help, flag)]
    return Annotated[kind | None, option("NUMBER", help, flag)]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _split_lists(values: dict[str, Any], hints: dict[str, Any]) -> dict[str, Any]:
    """The values, with comma-separated text split where a collection is expected."""
    return {
        key: [part.strip() for part in value.split(",")]
        if isinstance(value, str) and _is_collection(_without_none(hints[key]))
        else value
        for key, value in values.items()
    }


def _without_none(hint: object) -> object:
    """X of `X | None`."""
    if get_origin(hint) in (Union, UnionType):
        [hint] = [member for member in get_args(hint) if member is not NoneType]
    return hint


def _is_collection(kind: object) -> bool:
    return get_origin(kind) is Collection


def split_names(names: str | None) -> list[str] | None:
    """The names of an option that has several, with commas between them."""
    if names is None:
        return None
    return [name.strip() for name in names.split(",") if name.strip()]
