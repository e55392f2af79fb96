"""The README's code and console blocks are run and must print what it shows."""

import ast
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import capsrl
from tests.helpers.pages import BLOCK, ROOT, read, run_python_blocks, without_ends

EXTRA_OF = {"capsrl.spacy": "spacy", "capsrl.train.loop": "torch", "capsrl.serve.app": "fastapi"}
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """(command, what it prints) for each line of a console block that begins with `$ `."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def same_on_every_machine(text: str) -> str:
    """Numbers as 0 and blanks as one: for times, and scores of models trained on the spot."""
    return re.sub(r"\s+", " ", re.sub(r"(?<![A-Za-z])\d+(\.\d+)?", "0", text))


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    """A folder with the recipes, where commands may leave files."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "recipes").symlink_to(ROOT / "recipes")
    return folder


def shell(command: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": "80", "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_blocks_print_what_follows_them():
    assert run_python_blocks("README.md") > 0


def test_console_blocks_print_what_they_show(workplace):
    n_run = 0
    for remark, language, block in BLOCK.findall(read("README.md")):
        for command, shown in commands(block) if language == "console" else ():
            printed = shell(command, workplace)
            if remark == "numbers vary":
                shown, printed = same_on_every_machine(shown), same_on_every_machine(printed)
            assert without_ends(printed) == without_ends(shown), command
            n_run += 1
    assert n_run > 4


def test_the_picture_is_what_the_command_draws(workplace):
    [text] = set(re.findall(r'capsrl label "(Mira .*)"', read("README.md")))
    drawn = shell(f'capsrl label "{text}" --to svg', workplace)
    assert drawn == read("docs/example.svg")


def test_the_tree_names_folders_that_exist():
    [tree] = [block for _, _, block in BLOCK.findall(read("README.md")) if "cli/ " in block]
    for line in tree.splitlines():
        name = line.split()[0]
        assert (ROOT / ("capsrl" if line.startswith(" ") else "") / name).is_dir(), name
    inside = {line.split()[0].rstrip("/") for line in tree.splitlines() if line.startswith(" ")}
    assert inside == {path.parent.name for path in (ROOT / "capsrl").glob("*/__init__.py")} | {
        "models"
    }


def test_names_that_stay_exist():
    """The table of docs/api.md: its names are there, and the code of other pages has no others."""
    table = re.findall(r"^\| `(capsrl[\w.]*)` \| (.*) \|$", read("docs/api.md"), re.M)
    public = {module: set(re.findall(r"`(\w+)`", names)) for module, names in table}
    assert public["capsrl"] == set(capsrl.__all__)
    for module, names in public.items():
        pytest.importorskip(EXTRA_OF.get(module, "capsrl"))
        imported = importlib.import_module(module)
        assert [name for name in names if not hasattr(imported, name)] == [], module
    for page in PAGES:
        for _, language, code in BLOCK.findall(read(page)):
            for node in ast.walk(ast.parse(code)) if language == "python" else ():
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("capsrl"):
                    assert {name.name for name in node.names} <= public[node.module], page


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, by the rules of GitHub."""
    found: Counter[str] = Counter()
    for heading in re.findall(r"^#{1,6} +(.+)", BLOCK.sub("", text), re.M):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        found[slug] += 1
    again = {f"{slug}-{number}" for slug, count in found.items() for number in range(1, count)}
    return found.keys() | again


def is_broken(page: str, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    if not target.exists():
        return True
    return bool(anchor) and anchor not in anchors(target.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)]+)", BLOCK.sub("", read(page)))
    assert [link for link in links if is_broken(page, link)] == []


def test_anchors_are_those_of_github():
    text = (
        "# `capsrl x`: how?\n```\n# no heading\n```\n## A_b, [c d](e.md) - F\n" + "## Again\n" * 3
    )
    assert anchors(text) == {"capsrl-x-how", "a_b-c-d---f", "again", "again-1", "again-2"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("F1 87.50  in 11.0 s", "F1 0 in 0 s"), ("a   b\n12", "a b 0"), ("dev 1", "dev 0")],
)
def test_numbers_that_vary_do_not_count(text, wanted):
    assert same_on_every_machine(text) == wanted


def test_commands_are_told_from_what_they_print():
    block = "$ capsrl a\nx\n  $ y\n$ capsrl b\n"
    assert list(commands(block)) == [("capsrl a", "x\n  $ y\n"), ("capsrl b", "")]
