"""The plan for CoNLL-2009, on stand-ins with the official names, columns and folders."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from capsrl.config import ROUTED
from capsrl.errors import ConfigError
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
# All that the runs below change of the plan and its recipes: how much is learned, how long.
SMALL = [
    "model.encoder.width=8",
    "model.capsules.rank=8",
    "model.capsules.size=4",
    "train.epochs=2",
    "train.learning_rate=0.01",
]
# What each report must have: the start of a row of its table, or the end of the name of its figure.
MADE = {
    "table2": "| Baseline + decoder | `baseline+decoder` | ",
    "table3": "| dev | `capsule+global+decoder` | 1 | ",
    "table4": "| words | 0-9 | ",
    "fig1": "/example.svg",
    "fig2": "/architecture.svg",
    "fig3": "/conll09-en-groups.svg",
    "fig4": "/conll09-en-iterations.svg",
    "fig5": "/conll09-en-duplicates.svg",
    "fig6": "/conll09-en-changes.svg",
}


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


@pytest.fixture(scope="module")
def make(checkout):
    """Make one table or figure by its own command; the runs are shared. -> the report"""

    def command(what):
        changes = [argument for change in SMALL for argument in ("--set", change)]
        options = ["--seeds", "1", "--device", "cpu", "--jobs", "2", *changes]
        reproduce(checkout, "run", PLAN, "--only", what, *options)
        report = (checkout / "runs" / "conll2009" / f"{what}.md").read_text(encoding="utf-8")
        assert "Not measured" not in report
        return report

    return command


def reproduce(folder: Path, *arguments: str) -> str:
    """The output of a command that succeeds."""
    process = start(*arguments, folder=folder)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def check(runs: list[RunResult]) -> None:
    """Every run measured on all files of its corpus, with the encoder of the plan."""
    for run in runs:
        files = {"dev", "test"} | ({"ood"} if run.paper in WITH_OOD else set())
        assert set(run.measured.sets) == set(run.measured.decoded) == files
        assert run.measured.sets["test"].gold_predicates > 0
        assert bool(run.measured.sweep) == (run.variant in ROUTED)
        sources = {run.settings[f"model.embeddings.{name}"] for name in ("elmo", "fasttext")}
        assert sources == {None, "elmo" if run.paper == "en" else f"cc.{run.paper}.300.bin"}
        assert run.settings["model.encoder.layers"] == (3 if run.paper in ("en", "cs") else 2)
        assert run.settings["data.language"] == run.paper


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


@pytest.mark.parametrize("what", MADE)
def test_every_table_and_figure_of_english_by_its_own_command(make, checkout, what):
    assert MADE[what] in make(what)
    if what not in ("fig1", "fig2"):  # which need no runs
        runs = read_results(checkout / "runs" / "conll2009")
        english = {run.variant for run in runs if run.paper == "en" and run.uniqueness == 0}
        assert english == {"baseline", "word", "capsule", "capsule+global"}
        check(runs)


def test_the_plan_with_the_settings_of_the_authors(checkout):
    plan = "plans/conll2009-authors.toml"
    assert len(reproduce(checkout, "run", plan, "--dry-run").splitlines()) == 4 * 3
    for run in read_plan(checkout / plan):
        recipe = run.recipe
        assert recipe.model.encoder.highway and recipe.loss.gumbel
        assert (recipe.model.embeddings.tags, recipe.model.capsules.rank) == (64, 100)
        assert (recipe.train.learning_rate, recipe.loss.l2_on) == (4e-4, "mix")
    changes = [argument for change in SMALL for argument in ("--set", change)]
    options = ["--only", "table3", "--seeds", "1", "--device", "cpu", "--jobs", "2", *changes]
    reproduce(checkout, "run", plan, *options)
    results = checkout / "runs" / "conll2009-authors"
    assert MADE["table3"] in (results / "table3.md").read_text(encoding="utf-8")
    check(read_results(results))


@pytest.mark.slow
def test_table_1(make):
    rows = [line.split(" | ")[:2] for line in make("table1").splitlines() if line[:1] == "|"]
    assert rows[2:] == [[f"| {eta}", str(n)] for eta in ("1", "0.1", "0") for n in (1, 2, 3)]


@pytest.mark.slow
def test_table_5(make, checkout):
    report = make("table5")
    runs = read_results(checkout / "runs" / "conll2009")
    assert {run.paper for run in runs} == CODES
    check(runs)
    assert [run.language for run in runs if f"| {run.language} | conll09-" not in report] == []
    assert "average of 7 languages" in report


def test_a_language_that_is_missing_is_named(checkout, tmp_path):
    for name in ("plans", "recipes"):
        shutil.copytree(checkout / name, tmp_path / name)
    (tmp_path / "conll2009").mkdir()
    english = "conll2009/CoNLL2009-ST-English"
    (tmp_path / english).symlink_to(checkout / english)
    message = r"conll2009/CoNLL2009-ST-Japanese/CoNLL2009-ST-.*\.conll09: no such file"
    with pytest.raises(ConfigError, match=message):
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
