"""The advice in error messages."""

import ast
import tomllib
from pathlib import Path

from capsrl.errors import install_hint

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
