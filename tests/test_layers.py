"""Who may import whom, and that every module has its test file.

errors, sentence, config <- text, files, formats, frames, options, device <- predict <- labeler
<- serve, bulk, spacy, cli; network <- train; score, show and tables need no model.
corpora and teachers stand beside the package.
"""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GROUND = {"errors", "facts", "proposition", "sentence"}
SETTINGS = GROUND | {"config", "settings"}
READING = SETTINGS | {"text", "files", "formats", "frames"}
PREDICT = READING | {"options", "device", "predict"}
NETWORK = PREDICT | {"network"}
TRAIN = NETWORK | {"labeler", "models", "recipe", "score", "capsrl"}
# What each layer may import besides itself; `capsrl` is the package's own __init__.
MAY_IMPORT = {
    "errors": set(),
    "models": {"errors"},
    "facts": {"errors"},
    "proposition": {"facts", "capsrl"},
    "sentence": {"errors", "facts", "proposition", "capsrl"},
    "triples": {"errors", "sentence"},
    "settings": set(),
    "config": {"settings"},
    "options": GROUND | {"text"},
    "device": GROUND,
    "text": GROUND,
    "files": GROUND,
    "formats": GROUND | {"text", "files", "frames"},
    "frames": GROUND | {"text", "files"},
    "tables": GROUND | {"files", "formats", "text"},
    "search": GROUND | {"files", "formats", "frames", "tables", "text"},
    "score": GROUND,
    "show": GROUND | {"text", "files", "frames", "score"},
    "predict": PREDICT,
    "labeled": set(),
    "labeler": PREDICT | {"labeled", "models"},
    "network": NETWORK,
    "export": PREDICT,
    "recipe": PREDICT | {"models"},
    "bulk": PREDICT | {"labeler", "models", "tables", "capsrl"},
    "train": TRAIN,
    "serve": PREDICT | {"labeler", "show", "capsrl", "tables"},
    "cli": TRAIN | {"export", "train", "show", "serve", "tables", "bulk", "search"},
    "allennlp": PREDICT | {"labeler", "models", "capsrl"},
    "spacy": PREDICT | {"labeler", "models", "score", "show", "capsrl"},
    "capsrl": GROUND | {"models", "options", "triples"},
    "__main__": {"cli"},
    # Beside the package, which imports neither.
    "corpora": READING,
    "teachers": NETWORK | {"train"},
}
PACKAGES = ("capsrl", "corpora", "teachers")
# Layers above the one that offers them, and what only some calls need, imported when called.
LAZY = {
    "capsrl.sentence.Sentence.__str__": "capsrl.show",
    "capsrl.sentence.Sentence._repr_html_": "capsrl.show",
    "capsrl.sentence.Sentence.to_dict": "capsrl.formats.jsonl",
    "capsrl.sentence.Sentence.to_json": "capsrl.formats.jsonl",
    "capsrl.sentence.Sentence.to_rows": "capsrl.tables.cells",
    "capsrl.labeler.Labeler.label_many": "capsrl.show.progress_bar",
    "capsrl.labeled.Labeled._repr_html_": "capsrl.show",
    "capsrl._labeler_class": "capsrl.labeler",
    "capsrl.look_up": "capsrl.frames",
    "capsrl.to_frame": "capsrl.tables",
    "capsrl.labeler.Labeler.save": "capsrl.network.save",
    "capsrl.labeler._as_backend": "capsrl.network.backend",
    "capsrl.network.encoder.find_kernel": "capsrl.network.recurrence",  # imports triton
    "capsrl.labeler._open_onnx": "capsrl.predict.onnx",
    "capsrl.labeler._load_network": "capsrl.network.save",
    "capsrl.predict.predictor._map": "concurrent.futures",
    "capsrl.formats.cas._cassis": "cassis",  # of the package dkpro-cassis
    "capsrl.cli.bulk.bulk_command": "capsrl.bulk.run",
    "capsrl.cli.export.export_command": "capsrl.export.folder",
    "capsrl.cli.train.train_command": "capsrl.train.loop",
}
MAY_HAVE_TORCH = {"network", "train", "teachers"}
# Modules without a test file of their name, and why.
WITHOUT_TESTS = {
    "capsrl.predict.backend": "an interface, tested by its implementations",
}


def layer_of(module: str) -> str:
    package, *parts = module.split(".")
    return parts[0] if parts and package == "capsrl" else package


def imports_of(tree: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    """(the function an import stands in, or "", and what it imports), but not for types alone."""

    def walk(node: ast.AST, names: list[str], inside: bool) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            place = ".".join([module, *names]) if inside else ""
            if isinstance(child, ast.Import):
                yield from ((place, alias.name) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0 and child.module, f"{module}: relative import"
                yield place, child.module
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from walk(child, [*names, child.name], True)
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, [*names, child.name], inside)
            else:
                yield from walk(child, names, inside)

    yield from walk(tree, [], False)


def violations(source: str, module: str, extras: set[str]) -> list[str]:
    """What a module imports against the rules."""
    layer = layer_of(module)
    found: list[str] = []
    for place, imported in imports_of(ast.parse(source), module):
        top = imported.split(".")[0]
        if top == "torch" and layer not in MAY_HAVE_TORCH:
            found.append(f"{place or module} imports torch")
        if not place:
            if top in PACKAGES and layer_of(imported) not in MAY_IMPORT[layer] | {layer}:
                found.append(f"{module} imports {imported}")
        elif LAZY.get(place) != imported and top not in extras:
            found.append(f"{place} imports {imported} when it is called")
    return found


@pytest.fixture(scope="module")
def extras() -> set[str]:
    """The packages capsrl asks pip for: what may be imported late."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
    return {line.split(">")[0].split("[")[0].strip() for line in wanted} - {"capsrl"}


def modules() -> list[tuple[str, Path]]:
    files = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return [(name.removesuffix(".__init__"), file) for name, file in zip(names, files, strict=True)]


def test_every_module_belongs_to_a_layer():
    assert {layer_of(module) for module, _ in modules()} <= MAY_IMPORT.keys()


def test_every_module_has_a_test_file_of_its_name():
    """That of capsrl/x/y.py is tests/x/test_y.py; `__init__` is tested by those of its folder."""
    wanted = {
        module: ROOT / "tests" / place.with_name(f"test_{file.name}")
        for module, file in modules()
        if not file.stem.startswith("__")
        for place in [file.relative_to(ROOT / "capsrl" if module[:7] == "capsrl." else ROOT)]
    }
    missing = {module for module, test in wanted.items() if not test.is_file()}
    assert missing == WITHOUT_TESTS.keys()


def test_imports_go_one_way(extras):
    assert len(modules()) > 50
    found = [
        violation
        for module, file in modules()
        if layer_of(module) in MAY_IMPORT
        for violation in violations(file.read_text(encoding="utf-8"), module, extras)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("module", "source", "found"),
    [
        (
            "capsrl.formats.x",
            "from capsrl.network import y",
            "capsrl.formats.x imports capsrl.network",
        ),
        (
            "capsrl.score.x",
            "import capsrl.files.opening",
            "capsrl.score.x imports capsrl.files.opening",
        ),
        ("capsrl.show.x", "import torch.nn", "capsrl.show.x imports torch"),
        ("capsrl.predict.x", "def f():\n    import torch", "capsrl.predict.x.f imports torch"),
        (
            "capsrl.network.x",
            "def f():\n    from capsrl.formats import y",
            "capsrl.network.x.f imports capsrl.formats when it is called",
        ),
        (
            "capsrl.sentence",
            "class Sentence:\n    def to_dict():\n        import capsrl.network",
            "capsrl.sentence.Sentence.to_dict imports capsrl.network when it is called",
        ),
        (
            "capsrl.train.x",
            "from teachers.shards import y",
            "capsrl.train.x imports teachers.shards",
        ),
        (
            "capsrl.formats.x",
            "try:\n    import capsrl.cli\nexcept ImportError:\n    pass",
            "capsrl.formats.x imports capsrl.cli",
        ),
    ],
)
def test_wrong_ways_are_found(extras, module, source, found):
    assert violations(source, module, extras) == [found]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "capsrl.network.x",
            "import torch\nfrom capsrl.formats import y\nfrom capsrl.network import z",
        ),
        ("capsrl.formats.x", "def f():\n    import h5py"),
        ("capsrl.formats.x", "if TYPE_CHECKING:\n    from capsrl.labeler import Labeler"),
        (
            "capsrl.sentence",
            "class Sentence:\n    def to_dict():\n        from capsrl.formats.jsonl import x",
        ),
    ],
)
def test_right_ways_are_not(extras, module, source):
    assert violations(source, module, extras) == []


def test_light_parts_stay_light():
    code = (
        "import sys, capsrl, capsrl.show, capsrl.score, capsrl.formats.formats, capsrl.labeler\n"
        "heavy = {'torch', 'transformers', 'safetensors', 'onnx', 'onnxruntime', 'matplotlib',\n"
        "         'spacy', 'pydantic', 'fastapi'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
