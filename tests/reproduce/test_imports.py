"""`reproduce` uses only public modules and names of capsrl."""

import ast
from pathlib import Path

import reproduce

PUBLIC = {
    "capsrl",
    "capsrl.config",
    "capsrl.files.opening",
    "capsrl.formats.formats",
    "capsrl.device",
    "capsrl.errors",
    "capsrl.labeler",
    "capsrl.network.backend",
    "capsrl.recipe",
    "capsrl.score",
    "capsrl.sentence",
    "capsrl.train.checkpoint",
    "capsrl.train.loop",
}


def test_imports_of_capsrl():
    for path in Path(reproduce.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", []) if "capsrl" in alias.name]
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("capsrl"):
                assert node.module in PUBLIC, path
                assert not any(alias.name.startswith("_") for alias in node.names), path
            elif isinstance(node, ast.Import):
                assert set(names) <= PUBLIC, path
