"""Run the command line in this process, as a user does."""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from capsrl.cli import main
from tests.helpers.score_files import GOLD, PRED


@dataclass
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def capsrl(monkeypatch, capsys, tmp_path) -> Callable[..., Done]:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "argv", ["capsrl", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            main()
        return Done(stopped.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def files(tmp_path):
    """gold, pred and other in the current folder, so that messages hold bare names."""
    (tmp_path / "gold.conll09").write_text(GOLD)
    (tmp_path / "pred.conll09").write_text(PRED)
    (tmp_path / "other.conll09").write_text(GOLD.replace("sell.01", "sell.02"))
    return tmp_path
