"""The whole report: every section and figure, as Markdown and as HTML."""

import csv
import random
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from capsrl.errors import ConfigError, DataError
from reproduce.__main__ import main
from reproduce.results import Change, Measured, append_result
from tests.helpers.synthetic_runs import full_plan, run

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from reproduce.corpora import group_runs
from reproduce.figures import frequent_roles, sum_changes
from reproduce.report import make_report, write_report

FIGURES = ["en_web-groups", "en_web-iterations", "en_web-duplicates", "en_web-changes", "languages"]
FIGURES += ["example", "architecture"]
DATA = ["groups", "iterations", "runs"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with the results of a whole plan."""
    folder = tmp_path_factory.mktemp("runs")
    for one in full_plan():
        append_result(folder / "plan.jsonl", one)
    (folder / "discussion.md").write_text("Why **less**.\n", encoding="utf-8")
    (folder / "notes.md").write_text("Written **by hand**, <i>2 > 1</i>.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def written(runs, tmp_path_factory):
    return write_report(runs, tmp_path_factory.mktemp("report") / "R.html")


def test_files(written):
    folder = written[0].parent
    assert {path.relative_to(folder).as_posix() for path in written} == {
        "R.html",
        "R.md",
        *(f"R.files/{name}.svg" for name in FIGURES),
        *(f"R.files/{name}.csv" for name in DATA),
    }
    for path in written:
        if path.suffix == ".svg":
            ET.parse(path)


def test_csv(written):
    """As many cells in every row as in the head, and one row per run."""
    for path in written:
        if path.suffix == ".csv":
            with open(path, encoding="utf-8", newline="") as file:
                head, *rows = csv.reader(file)
            assert {len(row) for row in rows} == {len(head)}
            assert path.stem != "runs" or len(rows) == len(full_plan())


def test_markdown(written):
    text = written[1].read_text(encoding="utf-8")
    assert re.findall(r"\]\(R\.files/(.*)\.svg\)", text) == FIGURES
    assert "## Notes\n\nWritten **by hand**" in text
    assert text.index("1. **Refinement against") < text.index("## Discussion\n\nWhy **less**.")
    assert "Spanish, Catalan are missing" in text
    assert "Not measured.\n" not in text
    assert "\n\n\n" not in text and "{" not in text


class Counter(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.sources = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]


def test_html_has_the_same_tables_and_needs_no_other_file(written):
    page, text = (path.read_text(encoding="utf-8") for path in written[:2])
    parser = Counter()
    parser.feed(page)
    assert parser.tags.count("table") == len(re.findall(r"^\| -", text, re.M))
    assert parser.tags.count("tr") == len(re.findall(r"^\| (?!-)", text, re.M))
    assert parser.tags.count("img") == len(FIGURES)
    assert "i" not in parser.tags  # HTML in notes is text
    assert [s for s in parser.sources if not s.startswith("data:")] == [
        "paper.md",
        *(f"R.files/{name}.csv" for name in DATA),
    ]


def test_the_order_of_results_does_not_matter(written):
    runs = full_plan()
    random.Random(2).shuffle(runs)
    text, files = make_report(
        runs, "Written **by hand**, <i>2 > 1</i>.", "Why **less**.", folder="R.files"
    )
    assert text == written[1].read_text(encoding="utf-8")
    assert list(files.values()) == [path.read_text(encoding="utf-8") for path in written[2:]]


def test_a_report_of_one_run():
    text, files = make_report([run(measured=Measured({}))])
    assert list(files) == ["files/example.svg", "files/architecture.svg", "files/runs.csv"]
    assert text.count("Not measured.\n") == 7


def test_shared_trainings_are_counted_once():
    names = {"one": "one_baseline_1a", "two": "two_baseline_1a"}
    text, _ = make_report([run(corpus, name=name, seconds=3600) for corpus, name in names.items()])
    introduction = " ".join(text.partition("- **F1**")[0].split())
    assert "2 runs on 2 pairs" in introduction and "2.0 hours" in introduction
    assert "there are 1 runs and 1.0 hours" in introduction


def test_role_changes_are_summed_over_seeds():
    runs = [
        run(
            variant="capsule",
            seed=seed,
            measured=Measured(
                {},
                transitions={1: (Change("A0", "_", 3, seed, 9), *more)},
                gold_roles={"A1": 51, "A0": 900, "AM-X": 50, "A2": 51},
            ),
        )
        for seed, more in ((1, ()), (2, (Change("_", "A1", 0, 4, 0),)))
    ]
    [corpus] = group_runs(runs)
    right, wrong = sum_changes(corpus, "capsule", 1)
    assert right == {("A0", "_"): 6, ("_", "A1"): 0}
    assert wrong == {("A0", "_"): 3, ("_", "A1"): 4}
    assert frequent_roles(corpus) == ["_", "A0", "A1", "A2"]


def test_reports_in_one_folder_share_no_file(runs, tmp_path):
    first = write_report(runs, tmp_path / "A.html")
    second = write_report(runs, tmp_path / "B.html", only="fig3")
    assert set(first).isdisjoint(second)
    assert all(path.exists() for path in first + second)


def test_mistakes(runs, tmp_path):
    with pytest.raises(ConfigError, match=r"R\.pdf: expected a name that ends in .html, got \.pdf"):
        write_report(runs, tmp_path / "R.pdf")
    with pytest.raises(ConfigError, match=r"R\.html: expected an existing folder, got .*missing"):
        write_report(runs, tmp_path / "missing" / "R.html")
    with pytest.raises(DataError, match="expected a folder with results"):
        write_report(tmp_path, tmp_path / "R.html")


def test_the_command(runs, tmp_path, capsys):
    out = tmp_path / "R.html"
    assert main(["report", str(tmp_path), str(out)]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert main(["report", str(runs), str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {out}\n")
