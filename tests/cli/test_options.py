"""Declarations of commands: their options, help and errors."""

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Literal

import pytest
from click.testing import CliRunner

from capsrl.cli import _COMMANDS
from capsrl.cli.options import (
    argument,
    check_standard_input,
    command,
    field_options,
    option,
    option_errors,
)
from capsrl.errors import ConfigError
from capsrl.options import TEXT_LAYOUT, Options

# The most lines of a help text at 80 columns, where it is more than 35.
LINES = {"label": 69, "bulk": 59, "evaluate": 57, "serve": 37}


@dataclass(frozen=True, kw_only=True)
class Taste:
    spice: Literal["mild", "hot"] = field(default="mild", metadata={"help": "How hot."})
    herbs: Collection[Literal["dill", "mint"]] | None = field(
        default=None, metadata={"help": "Which herbs."}
    )
    cooking_time: int | None = field(default=None, metadata={"help": "Minutes."})
    salt: float = field(default=0.5, metadata={"help": "How much."})
    raw: bool = field(default=False, metadata={"help": "Do not cook."})
    bread: bool = field(default=True, metadata={"help": "Serve bread."})

    def __post_init__(self) -> None:
        if self.cooking_time == 0:
            raise ConfigError("cooking_time: expected 1 or more, got 0")


@pytest.fixture
def cook():
    made = []

    @command(
        {
            "Dish": [
                argument("dish", "DISH", "What to cook."),
                option("-p, --plates N", "How many plates.", low=1, high=9, default=1),
                option("--with NAME", "Which sauces.", name="sauces", multiple=True),
                option("--guests NAMES", "Who comes.", kind=list),
            ],
            "Taste": field_options(Taste, without=("bread",)),
            "Bread": field_options(Taste, ["bread"]),
        },
        taste=Taste,
    )
    def cook_command(dish, *, plates, sauces, guests, taste):
        """Cook.

        A dish for guests
        and friends.

        dish    time
        soup    long
        """
        made.append(((dish, plates, sauces, guests), taste))

    def run(*arguments):
        result = CliRunner().invoke(cook_command, list(arguments), catch_exceptions=False)
        return made.pop() if result.exit_code == 0 and made else result.output

    return run


def test_defaults(cook):
    assert cook("soup") == (("soup", 1, (), None), Taste())


def test_every_kind_of_field(cook):
    options = "--spice hot --herbs mint,dill --cooking-time 5 --salt 0.1 --raw --no-bread"
    expected = Taste(
        spice="hot", herbs=["mint", "dill"], cooking_time=5, salt=0.1, raw=True, bread=False
    )
    assert cook("soup", *options.split()) == (("soup", 1, (), None), expected)


def test_every_kind_of_option(cook):
    options = ("-p", "2", "--with", "a", "--with", "b", "--guests", " b,a , ,c d")
    assert cook("soup", *options)[0] == ("soup", 2, ("a", "b"), ["b", "a", "c d"])
    assert cook("soup", "--guests", "")[0][-1] == []


def test_the_help(cook):
    assert (
        cook("--help")
        == """\
Usage: cook [OPTIONS] DISH

  Cook.

  A dish for guests and friends.

  dish    time
  soup    long

Dish:
  DISH                  What to cook.
  -p, --plates N        How many plates (default: 1).
  --with NAME           Which sauces.
  --guests NAMES        Who comes.

Taste:
  --spice mild|hot      How hot (default: mild).
  --herbs dill,mint     Which herbs.
  --cooking-time N      Minutes.
  --salt X              How much (default: 0.5).
  --raw                 Do not cook.

Bread:
  --bread / --no-bread  Serve bread.
"""
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cooking-time", "long"], "--cooking-time: expected an integer, got long"),
        (["--cooking-time", "0"], "--cooking-time: expected 1 or more, got 0"),
        (["--salt", "much"], "--salt: expected a number, got much"),
        (["-p", "10"], "--plates: expected an integer from 1 to 9, got 10"),
        (["-p", "1.5"], "--plates: expected an integer from 1 to 9, got 1.5"),
    ],
)
def test_bad_values_name_the_option(cook, options, message):
    with pytest.raises(ConfigError) as caught:
        cook("soup", *options)
    assert str(caught.value) == message


@pytest.mark.parametrize("command", ["label", "evaluate"])
def test_all_labeling_options_are_options(capsrl, command):
    shown = " ".join(capsrl(command, "--help").out.split())
    for each in fields(Options):
        # Gold files have words, and scores need no trace.
        is_there = command == "label" or each.name not in (*TEXT_LAYOUT, "trace")
        assert (f"--{each.name.replace('_', '-')}" in shown) == is_there
        # `evaluate --phrases` scores phrases; there labeling has --no-phrases alone.
        is_told = is_there and (command, each.name) != ("evaluate", "phrases")
        assert (each.metadata["help"].removesuffix(".") in shown) == is_told


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("cooking_time: expected 1, got: 2", "--cooking-time: expected 1, got: 2"),
        ("salt: too much", "--salt: too much"),
        ("kitchen: closed", "kitchen: closed"),
        ("salt", "salt"),
    ],
)
def test_errors_name_options_as_they_are_typed(message, shown):
    with pytest.raises(ConfigError) as caught, option_errors(["salt", "cooking_time"]):
        raise ConfigError(message)
    assert str(caught.value) == shown


def test_standard_input_for_one_file():
    check_standard_input(["-", None, "a", None])
    with pytest.raises(ConfigError, match="^-: standard input can be read for one file only$"):
        check_standard_input(["-", "a", "-"])


@pytest.mark.parametrize("name", _COMMANDS)
def test_the_help_fits_on_a_screen(capsrl, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    lines = capsrl(name, "--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= LINES.get(name, 35)


@pytest.mark.parametrize(
    ("command", "argument"), [("bulk", "IN..."), ("label", "[INPUT]..."), ("stats", "FILE...")]
)
def test_arguments_that_may_be_repeated(capsrl, command, argument):
    assert argument in capsrl(command, "--help").out.splitlines()[0]
