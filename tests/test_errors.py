"""The advice in error messages."""

import ast
import tomllib
from pathlib import Path

import pytest

from capsrl.errors import DataError, install_hint, without_secrets

ROOT = Path(__file__).resolve().parent.parent


def extras_in_messages():
    for file in sorted((ROOT / "capsrl").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "install_hint":
                if isinstance(node.args[0], ast.Constant):
                    yield node.args[0].value


def test_extras_in_messages_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(extras_in_messages())
    assert {"model", "tables", "plots"} <= named <= project["optional-dependencies"].keys()
    assert install_hint("tables") == (
        "pip install 'capsrl[tables]' (from a clone: pip install '.[tables]')"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://mira:S3CRET@host:80/a.csv", "http://host:80/a.csv"),
        ("https://host/a.csv?sig=S3CRET&n=1: no such file", "https://host/a.csv: no such file"),
        ("'http://m:S3C@RET@host/a?k=S3CRET' is missing", "'http://host/a' is missing"),
        ("s3://KEY:S3CRET@box/a.csv, row 3", "s3://box/a.csv, row 3"),
        ("no file matches s3://box/a?.csv?", "no file matches s3://box/a?.csv?"),
        ("http://host/@mira/a.csv and mira@host", "http://host/@mira/a.csv and mira@host"),
        ("is 1 > 2? no", "is 1 > 2? no"),
        ("ftp://a:S3CRET@x http://b:S3CRET@y?S3CRET", "ftp://x http://y"),
    ],
)
def test_secrets_of_urls(text, shown):
    assert without_secrets(text) == str(DataError(text)) == shown
