"""Declare commands: their options, those that several share, and those made of dataclass fields."""

import dataclasses
import inspect
import math
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from capsrl.errors import ConfigError
from capsrl.files.opening import STANDARD
from capsrl.files.replacing import replacing_folder
from capsrl.formats.formats import CORPORA
from capsrl.models import find_model, shipped_models

_LEFT = 25  # columns of the names of options; the help of a longer one begins in the next line

Groups = Mapping[str, Sequence[click.Parameter]]


class Command(click.Command):
    """A command whose help lists its arguments and options under headings, in two columns."""

    def __init__(self, groups: Groups, callback: Callable[..., None]) -> None:
        self._groups = groups
        super().__init__(
            callback.__name__.removesuffix("_command"),
            params=[parameter for group in groups.values() for parameter in group],
            callback=callback,
            # click fills paragraphs, but for those that begin with \b: here, the tables.
            help=re.sub(r"\n\n(?=.*\S  +\S)", "\n\n\b\n", inspect.getdoc(callback) or ""),
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the headings and the options below them; all help texts begin in one column."""
        rows = {each: each.get_help_record(ctx) or ("", "") for each in self.params}
        lengths = [len(left) for left, _ in rows.values()]
        width = max((length for length in lengths if length <= _LEFT), default=0)
        for heading, group in self._groups.items():
            with formatter.section(heading):
                pairs = [(rows[each][0].ljust(width), rows[each][1]) for each in group]
                formatter.write_dl(pairs, col_max=width)


class _Argument(click.Argument):
    def __init__(self, name: str, *, help: str, **others: Any) -> None:  # noqa: ANN401
        super().__init__([name], **others)
        self._help = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return str(self.metavar), self._help


def argument(name: str, metavar: str, help: str, **others: Any) -> click.Argument:  # noqa: ANN401
    """A positional argument; one whose metavar ends in `...` may be repeated."""
    if metavar.endswith("..."):
        others["nargs"] = -1
    others.setdefault("required", not metavar.startswith("["))
    return _Argument(name, metavar=metavar, help=help, **others)


def option(
    flags: str,
    help: str,
    *,
    name: str | None = None,
    kind: type = str,
    low: float = -math.inf,
    high: float = math.inf,
    **others: Any,  # noqa: ANN401
) -> click.Option:
    """An option, such as `option("-o, --output FILE", "File to write.")`; without FILE, a flag.

    Of `--rows argument|proposition|sentence`, the value is one of the three.

    name  of the parameter, if it is not that of the flag
    kind  str, int, float, or list: names with commas between them; int if there is a `low`
    """
    parts = [part.rstrip(",") for part in flags.split()]
    names = [part for part in parts if part.startswith("-")]
    if len(names) == len(parts):
        others["is_flag"] = True
    else:
        others |= {"type": str, "metavar": parts[-1]}
        others["callback"] = _converter(kind, parts[-1], low, high)
        if others.get("default"):
            help = f"{help.removesuffix('.')} (default: {others['default']})."
    return click.Option([*names, *([name] if name else [])], help=help, **others)


def _converter(kind: type, metavar: str, low: float, high: float) -> Callable[..., Any] | None:
    """The callback of click that turns the text of an option into its value."""
    if kind is list:
        return lambda ctx, param, text: None if text is None else split_names(text)
    if kind is str and low == -math.inf:
        return _choice(metavar.split("|")) if "|" in metavar else None
    wanted = "a number" if kind is float else "an integer"
    if high < math.inf:
        wanted += f" from {low:g} to {high:g}"
    elif low > -math.inf:
        wanted += f" of at least {low:g}"

    def convert(ctx: click.Context, param: click.Parameter, text: str | None) -> float | None:
        try:
            value = None if text is None else float(text) if kind is float else int(text)
        except ValueError:
            value = math.nan
        if value is None or low <= value <= high:
            return value
        raise ConfigError(f"{param.opts[-1]}: expected {wanted}, got {text}")

    return convert


def _choice(allowed: Sequence[str]) -> Callable[..., str | None]:
    def check(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
        if text is None or text in allowed:
            return text
        wanted = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise ConfigError(f"{param.opts[-1]}: expected {wanted}, got {text}")

    return check


def split_names(text: str) -> list[str]:
    """The names in a text that has commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def format_option(flag: str, formats: Iterable[str], *, default: str = "by suffix") -> click.Option:
    """--from or --to, a format, by the suffix of a file if it is not given."""
    help = f"{', '.join(formats)} (default: {default})."
    return option(f"{flag} FORMAT", help, name=f"{flag[2:]}_format")


def table_options(max_characters: int) -> list[click.Option]:
    """The options of tables with a column of texts."""
    return [
        option("--text-column NAME", "Column of the texts (default: text)."),
        option("--id-column NAME", "Column of the ids (default: id)."),
        option("--columns NAMES", "Other columns to keep: a,b,c (default: all).", kind=list),
        option("--max-characters N", "Longer texts in tables fail.", low=1, default=max_characters),
    ]


FROM_CORPUS = format_option("--from", CORPORA)  # for commands that need propositions
ENCODING = option("--encoding NAME", "latin-1, utf-16, ... (default: utf-8).")
MODEL = option("--model MODEL", "Name or folder of a model.", default="en")
COPY = option("--out FOLDER", "Write a copy of the model, instead of changing its folder.")
DEVICE = option("--device DEVICE", "cpu, cuda or cuda:N (default: a GPU if any).")
THREADS = option(
    "--threads N", "Maximum CPU threads (default: all cores; 1 on a busy machine).", low=1
)
ROWS_OPTION = option(
    "--rows argument|proposition|sentence",
    "What a row is (default: argument in tables, else sentence).",
)
ESCAPE = option("--escape-formulas", "Put ' before cells of csv that begin formulas.")
RUNTIME = option(
    "--runtime onnx|torch",
    "What runs the model (default: onnx on a CPU, if the model is exported).",
)
FRAME_FILES = option("--frames FOLDER", "Frame files, or an index made by capsrl frames.")
JSON = option("--json", "Print JSON instead of tables.", name="as_json")


def command(groups: Groups, **classes: type) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function.

    groups   the parameters by the headings of the help
    classes  `options=Options`: instead of the parameters that are fields of Options, the function
             gets `options`, made of them
    """

    def decorate(function: Callable[..., None]) -> Command:
        @wraps(function)
        def run(**values: Any) -> None:  # noqa: ANN401
            for name, cls in classes.items():
                own = {field.name for field in dataclasses.fields(cls)} & values.keys()
                with option_errors(own):
                    values[name] = cls(**{key: values.pop(key) for key in own})
            with option_errors(("device", "threads")):
                function(**values)

        return Command(groups, run)

    return decorate


def field_options(
    cls: type, names: Collection[str] | None = None, *, without: Collection[str] = ()
) -> list[click.Option]:
    """One option for each field of a dataclass, or for those named, but `without` some.

    A field has its "help" in its metadata.
    """
    hints = get_type_hints(cls)
    return [
        _field_option(field, _without_none(hints[field.name]))
        for field in dataclasses.fields(cls)
        if field.name not in without and (names is None or field.name in names)
    ]


def _field_option(field: "dataclasses.Field[Any]", kind: Any) -> click.Option:  # noqa: ANN401
    flag, help, default = _flag(field.name), field.metadata["help"], field.default
    if kind is bool:
        return option(f"{flag}/--no-{flag[2:]}" if default else flag, help, default=default)
    if get_origin(kind) is Literal:
        return option(f"{flag} {'|'.join(get_args(kind))}", help, default=default)
    if get_origin(kind) is Collection:
        [member] = get_args(kind)
        return option(f"{flag} {','.join(get_args(member))}", help, kind=list, default=default)
    return option(f"{flag} {'N' if kind is int else 'X'}", help, kind=kind, default=default)


def check_standard_input(files: Iterable[str | None]) -> None:
    """Raise ConfigError if several files are standard input."""
    if list(files).count(STANDARD) > 1:
        raise ConfigError("-: standard input can be read for one file only")


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


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _without_none(hint: object) -> object:
    """X of `X | None`."""
    if get_origin(hint) in (Union, UnionType):
        [hint] = [member for member in get_args(hint) if member is not NoneType]
    return hint


@contextmanager
def changing(model: str, out: str | None) -> Iterator[Path]:
    """Yield a model folder to write into: that of the model, or a copy, which becomes `out`.

    Raises ConfigError for a model that ships with capsrl, which all programs use, unless there is
    an `out`; and for an `out` that exists.
    """
    folder = find_model(model)
    if out is None:
        if model in shipped_models():
            raise ConfigError(f"{model}: ships with capsrl; name a folder for a copy with --out")
        yield folder
        return
    if Path(out).exists():
        raise ConfigError(f"--out {out}: exists; name another folder")
    with replacing_folder(out) as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        yield copy
