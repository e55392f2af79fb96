"""Commands that take the fields of a dataclass as options."""

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from capsrl.cli.options import option, option_errors, split_names, with_fields
from capsrl.errors import ConfigError
from capsrl.options import TEXT_LAYOUT, Options


@dataclass(frozen=True, kw_only=True)
class Taste:
    spice: Literal["mild", "hot"] = field(default="mild", metadata={"help": "How hot."})
    herbs: Collection[Literal["dill", "mint"]] | None = field(
        default=None, metadata={"help": "Which herbs."}
    )
    cooking_time: int | None = field(default=None, metadata={"help": "Minutes."})
    salt: float = field(default=0.5, metadata={"help": "How much."})
    raw: bool = field(default=False, metadata={"help": "Do not cook."})
    sauce: Annotated[list[str] | None, option("NAME", "Which sauces.", "--with")] = None


@pytest.fixture
def cook():
    app = typer.Typer()
    made = []

    @app.command()
    @with_fields("taste", Taste)
    def command(dish: str, *, plates: int = 1, taste: Taste) -> None:
        """Cook."""
        made.append((dish, plates, taste))

    def run(*arguments):
        result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        return made.pop() if result.exit_code == 0 and made else result.output

    return run


def test_defaults(cook):
    assert cook("soup") == ("soup", 1, Taste())


def test_every_kind_of_field(cook):
    options = "--spice hot --herbs mint,dill --cooking-time 5 --salt 0.1 --raw --with a --with b"
    expected = Taste(
        spice="hot", herbs=["mint", "dill"], cooking_time=5, salt=0.1, raw=True, sauce=["a", "b"]
    )
    assert cook("soup", "--plates", "2", *options.split()) == ("soup", 2, expected)


def test_blanks_between_the_members_of_a_list(cook):
    assert cook("soup", "--herbs", "mint, dill")[2].herbs == ["mint", "dill"]


def test_the_help(cook):
    shown = cook("--help")
    for part in ("--spice", "mild|hot", "How hot.", "dill,mint", "--cooking-time", "Minutes."):
        assert part in shown
    assert "--no-raw" not in shown


def test_a_number_that_is_none(cook):
    assert "--cooking-time" in cook("soup", "--cooking-time", "long")


@pytest.mark.parametrize("command", ["label", "evaluate"])
def test_all_labeling_options_are_options(capsrl, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    shown = capsrl(command, "--help").out
    for each in fields(Options):
        # Gold files have words, and scores need no trace.
        is_there = command == "label" or each.name not in (*TEXT_LAYOUT, "trace")
        assert (f"--{each.name.replace('_', '-')}" in shown) == is_there
        assert (each.metadata["help"] in shown) == is_there


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


def test_names_with_commas():
    assert split_names(None) is None
    assert split_names("") == []
    assert split_names(" b,a , ,c d") == ["b", "a", "c d"]


@pytest.mark.parametrize(
    ("command", "argument"),
    [("bulk", "IN"), ("label", "INPUT"), ("stats", "FILE")],
)
def test_arguments_that_may_be_repeated(capsrl, command, argument):
    assert f"{argument}..." in capsrl(command, "--help").out.split("Arguments")[0]
