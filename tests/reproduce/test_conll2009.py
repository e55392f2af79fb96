"""The plan for CoNLL-2009, on stand-ins with the official names, columns and folders."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from capsrl.config import ROUTED
from capsrl.errors import DataError
from capsrl.formats.formats import read_sentences
from reproduce.plan import read_plan
from reproduce.results import RunResult, read_results
from tests.helpers.conll2009_standins import LANGUAGES, write_elmo, write_fasttext, write_release
from tests.helpers.tiny_plans import start

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

ROOT = Path(__file__).resolve().parent.parent.parent
PLAN = "plans/conll2009.toml"
CODES = {"en", *(language.code for language in LANGUAGES.values())}
WITH_OOD = {"en", "cs", "de"}
OTHERS = '"conll09-ja", "conll09-es", "conll09-ca", "conll09-de", "conll09-cs", "conll09-zh"'
FIGURES = ["groups", "iterations", "duplicates", "changes"]
# All that the runs below change of the plan and its recipes: how much is learned, how long.
SMALL = """\
model.encoder.width = 8
model.capsules.rank = 8
model.capsules.size = 4
train.epochs = 2
train.learning_rate = 0.01
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A folder with the plan and the recipes, and the data where docs/paper.md puts it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("plans", "recipes"):
        shutil.copytree(ROOT / name, folder / name)
    write_release(folder / "all", ROOT / "recipes" / "tiny")
    for corpus in sorted((folder / "all").iterdir()):
        part = 2 if corpus.name.endswith(("English", "Chinese")) else 1
        release = folder / "data" / f"2009_conll_p{part}" / "data"
        release.mkdir(parents=True, exist_ok=True)
        corpus.rename(release / corpus.name)
    write_elmo(folder / "data" / "elmo")
    write_fasttext(folder / "data" / "fasttext")
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    commands = re.search("```\n(mkdir -p .*?)```", page, re.S)[1]
    commands = re.sub(r"(?<= )/data/", f"{folder}/data/", commands)
    subprocess.run(["bash", "-euc", commands], cwd=folder, check=True)
    return folder


def reproduce(folder: Path, *arguments: str) -> str:
    """The output of a command that succeeds."""
    process = start(*arguments, folder=folder)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def reduced(checkout: Path, name: str, changes: dict[str, str]) -> str:
    """The plan with small models, one seed and other changes, under another name beside it."""
    text = (checkout / PLAN).read_text(encoding="utf-8")
    always = {".set]\n": f".set]\n{SMALL}", "seeds = [1, 2, 3]": "seeds = [1]"}
    for old, new in (always | changes).items():
        assert old in text, f"the plan no longer has {old!r}"
        text = text.replace(old, new)
    (checkout / "plans" / f"{name}.toml").write_text(text, encoding="utf-8")
    return f"plans/{name}.toml"


def run_and_report(checkout: Path, plan: str) -> tuple[list[RunResult], str]:
    """All runs of a plan by the command line, and the report as Markdown."""
    name = Path(plan).stem
    reproduce(checkout, "run", plan, "--device", "cpu", "--jobs", "2")
    reproduce(checkout, "report", f"runs/{name}", f"runs/{name}.html")
    report = (checkout / f"runs/{name}.md").read_text(encoding="utf-8")
    return read_results(checkout / "runs" / name), report


def section(report: str, title: str) -> str:
    return re.split(r"^## ", report, flags=re.M)[1:][titles(report).index(title)]


def titles(report: str) -> list[str]:
    return re.findall(r"^## (.*)$", report, flags=re.M)


def check(runs: list[RunResult], report: str) -> None:
    """Every run measured on all files of its corpus, and every section of the report filled."""
    for run in runs:
        assert set(run.measured.sets) == {"dev", "test"} | (
            {"ood"} if run.paper in WITH_OOD else set()
        )
        assert run.measured.sets["test"].gold_predicates > 0
        assert bool(run.measured.sweep) == (run.variant in ROUTED)
        recipe = run.settings
        english = run.paper == "en"
        assert (recipe["model.embeddings.elmo"], recipe["model.embeddings.fasttext"]) == (
            ("elmo", None) if english else (None, f"cc.{run.paper}.300.bin")
        )
        assert recipe["model.encoder.layers"] == (3 if run.paper in ("en", "cs") else 2)
        assert recipe["model.capsules.predicate"] == "state"
        assert (recipe["loss.l2"], recipe["data.language"]) == (4e-4, run.paper)
    assert len(titles(report)) == 10
    # Claims need more seeds and settings; every other section has its numbers.
    for title in titles(report):
        assert title == "Claims" or "Not measured" not in section(report, title), title
    figures = re.findall(r"\]\(figures/(.*)\.svg\)", report)
    assert figures == [*(f"conll09-en-{figure}" for figure in FIGURES), "languages"]


def test_every_file_of_the_plan_is_where_the_page_puts_it(checkout):
    runs = reproduce(checkout, "run", PLAN, "--dry-run").splitlines()
    assert len(runs) == len(set(runs)) == 4 * 3 + 8 + 6 * 2 * 3
    assert {line.split()[1].removeprefix("conll09-") for line in runs} == CODES
    for run in read_plan(checkout / PLAN):
        embeddings = run.recipe.model.embeddings
        assert Path(embeddings.elmo or embeddings.fasttext).exists()
        assert ("ood" in run.recipe.data.test) == (run.corpus.paper in WITH_OOD)


def test_the_settings_are_those_of_the_paper(checkout):
    for run in read_plan(checkout / PLAN):
        recipe = run.recipe
        assert (recipe.model.encoder.width, recipe.model.capsules.size) == (500, 16)
        assert (recipe.train.learning_rate, recipe.loss.l2) == (1e-4, 4e-4)
        assert (recipe.loss.sense_per, recipe.loss.uniqueness_per) == ("word", "proposition")
        assert recipe.model.embeddings.tags == 0  # no syntax


def test_english_and_czech_end_to_end(checkout):
    changes = {
        '"capsule", "word"]': '"capsule"]',
        "iterations = [1, 2, 3]": "iterations = [2]",
        "uniqueness = [1.0, 0.1, 0.0]": "uniqueness = [1.0]",
        OTHERS: '"conll09-cs"',
    }
    plan = reduced(checkout, "small", changes)
    runs, report = run_and_report(checkout, plan)
    assert [(run.paper, run.variant, run.uniqueness) for run in runs] == [
        ("cs", "baseline", 0.0),
        ("cs", "capsule+global", 0.0),
        ("en", "baseline", 0.0),
        ("en", "capsule+global", 0.0),
        ("en", "capsule", 0.0),
        ("en", "capsule", 1.0),
    ]
    check(runs, report)


@pytest.mark.slow
def test_every_language_end_to_end(checkout):
    changes = {
        "iterations = [1, 2, 3]": "iterations = [1, 2]",
        "uniqueness = [1.0, 0.1, 0.0]": "uniqueness = [1.0, 0.0]",
    }
    runs, report = run_and_report(checkout, reduced(checkout, "whole", changes))
    assert len(runs) == 4 + 3 + 6 * 2
    assert {run.paper for run in runs} == CODES
    check(runs, report)
    languages = section(report, "Languages")
    assert [run.language for run in runs if f"| {run.language} | conll09-" not in languages] == []
    assert "average of 7 languages" in languages


def test_a_language_that_is_missing_is_named(checkout, tmp_path):
    for name in ("plans", "recipes"):
        shutil.copytree(checkout / name, tmp_path / name)
    (tmp_path / "conll2009").mkdir()
    english = "conll2009/CoNLL2009-ST-English"
    (tmp_path / english).symlink_to(checkout / english)
    message = r"conll2009/CoNLL2009-ST-Japanese/CoNLL2009-ST-.*\.conll09: no such file"
    with pytest.raises(DataError, match=message):
        read_plan(tmp_path / PLAN)


def test_a_blind_evaluation_file_and_its_answers_are_pasted_together(checkout, tmp_path):
    whole = checkout / "conll2009/CoNLL2009-ST-Czech/CoNLL2009-ST-evaluation-Czech.conll09"
    rows = [line.split("\t") for line in whole.read_text(encoding="utf-8").splitlines()]
    hidden = [8, 10]  # HEAD and DEPREL
    blind = [["_" if i in hidden else cell for i, cell in enumerate(row[:13])] for row in rows]
    parts = {"blind.txt": blind, "answers.txt": [row[13:] for row in rows]}
    for name, part in parts.items():
        text = "".join("\t".join(row) + "\n" for row in part)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with open(tmp_path / "pasted.conll09", "w") as file:
        subprocess.run(["paste", *parts], cwd=tmp_path, stdout=file, check=True)
    pasted, expected = (list(read_sentences(path)) for path in (tmp_path / "pasted.conll09", whole))
    assert [one.propositions for one in pasted] == [one.propositions for one in expected]
    assert [one.words for one in pasted] == [one.words for one in expected]
