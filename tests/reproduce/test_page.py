import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from capsrl.errors import ConfigError, DataError
from reproduce.blocks import Heading, Picture, Table
from reproduce.page import write_report
from reproduce.report import make_blocks
from reproduce.results import Measured, write_result
from tests.helpers.synthetic_runs import full_plan, run, scored

pytest.importorskip("matplotlib")

SECTIONS = [
    "What was run",
    "Claims",
    "Uniqueness loss and iterations of training",
    "Test, out of domain, ablation",
    "Sentence length and number of arguments",
    "Number of iterations",
    "Duplicate arguments",
    "Role changes between iterations",
    "Languages",
    "Every run",
]
XHTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The report of a whole plan."""
    folder = tmp_path_factory.mktemp("report")
    return write_report(full_plan(), folder / "R.html")


def bytes_of(paths):
    return {path.name: path.read_bytes() for path in paths}


def test_a_page_its_twin_and_the_figures(written):
    names = [str(path.relative_to(written[0].parent)) for path in written]
    assert names[:2] == ["R.html", "R.md"]
    kinds = ("groups", "iterations", "duplicates", "changes")
    figures = [f"figures/en_web-{kind}.svg" for kind in kinds]
    assert names[2:] == [*figures, "figures/languages.svg"]


def test_the_same_runs_in_any_order_give_the_same_bytes(written, tmp_path):
    runs = full_plan()
    random.Random(2).shuffle(runs)
    assert bytes_of(write_report(runs, tmp_path / "R.html")) == bytes_of(written)


def test_another_process_gives_the_same_bytes(written, tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    for i, one in enumerate(full_plan()):
        write_result(runs / f"{i}.json", one)
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from reproduce.page import write_report\n"
        "from reproduce.results import read_results\n"
        "write_report(read_results(Path(sys.argv[1])), Path(sys.argv[2]))\n"
        "print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, runs, tmp_path / "R.html"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    again = [tmp_path / path.relative_to(written[0].parent) for path in written]
    assert bytes_of(again) == bytes_of(written)


def test_the_page_is_well_formed_and_asks_nobody(written):
    text = written[0].read_text(encoding="utf-8")
    tree = ET.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    assert [heading.text for heading in tree.iter(f"{XHTML}h2")] == SECTIONS
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}svg"))) == 5
    assert not list(tree.iter(f"{XHTML}script"))
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    links = re.findall(r'(?:href|src)="([^"]*)"', text) + re.findall(r"url\(([^)]*)\)", text)
    assert links and all(link.startswith("#") for link in links)


def test_the_twin_says_the_same(written):
    page = written[0].read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n")
    cells = ["".join(cell.itertext()) for cell in ET.fromstring(page).iter(f"{XHTML}td")]
    markdown = written[1].read_text(encoding="utf-8")
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    rules = [i for i, row in enumerate(rows) if row.startswith("| ---")]
    body = [row for i, row in enumerate(rows) if i not in rules and i + 1 not in rules]
    found = [cell.strip() for row in body for cell in row.strip("|").split("|")]
    assert [re.sub(r"[*`]", "", cell) for cell in found] == cells
    pictures = re.findall(r"\]\((.*\.svg)\)", markdown)
    assert [written[0].parent / picture for picture in pictures] == written[2:]


def test_figures_beside_the_page_are_those_in_it(written):
    page = written[0].read_text(encoding="utf-8")
    for path in written[2:]:
        drawing = path.read_text(encoding="utf-8").split("<defs>", 1)[1].strip()
        assert drawing in page


def headings(blocks, level):
    return [block.text for block in blocks if isinstance(block, Heading) and block.level == level]


@pytest.mark.parametrize(
    "runs",
    [
        [run()],
        [run(measured=Measured({}))],
        [run(variant="capsule+global", measured=Measured({}))],
        [
            run(variant=variant, measured=Measured({}, transitions={1: ()}))
            for variant in ("baseline", "capsule", "capsule+global")
        ],
        [scored(variant, 1, 1500) for variant in ("baseline", "word", "capsule")],
        [run(variant=variant) for variant in ("baseline", "word", "capsule+global")],
    ],
)
def test_every_section_is_there_with_data_missing(runs, tmp_path):
    blocks = make_blocks(runs)
    assert headings(blocks, 2) == SECTIONS
    markdown = write_report(runs, tmp_path / "R.html")[1].read_text(encoding="utf-8")
    assert "Not measured." in markdown
    assert "nan" not in markdown and "None" not in markdown.replace("None is no argument", "")


def test_without_a_test_set_there_is_no_table_of_it():
    variants = ("baseline", "capsule", "capsule+global")
    blocks = make_blocks([scored(name, 1, 1500, sets=("dev",)) for name in variants])
    tables = [block for block in blocks if isinstance(block, Table)]
    assert not [table for table in tables if table.rows[0][0] == "Baseline"]
    assert [table.rows[0][:2] for table in tables if table.head[0] == "set"] == [
        ["dev", "`capsule+global`"]
    ]


def test_single_seeds_show_no_spread(tmp_path):
    runs = [run(variant=variant) for variant in ("baseline", "capsule", "capsule+global")]
    for block in make_blocks(runs):
        if isinstance(block, Table):
            assert not [cell for row in block.rows for cell in row if "±" in cell or "[" in cell]


def test_words_that_the_plan_leaves_out_leave_no_gap():
    variants = ("baseline", "capsule", "capsule+global")
    runs = [run("bare", name, language="", encoder="", annotation="") for name in variants]
    runs += [run("named", name, language="A", encoder="") for name in variants]
    titles = headings(make_blocks(runs), 3)
    assert {"bare", "named (A)"} <= set(titles)


def test_whose_data_they_are(written):
    """Runs may be on the paper's own data: nothing says that they are not."""
    markdown = written[1].read_text(encoding="utf-8")
    assert "The paper's numbers are of **CoNLL-2009**" in markdown
    assert "| claim | paper (CoNLL-2009) | here | verdict |" in markdown
    assert "open data" not in markdown


def test_several_corpora_with_all_variants_have_sections_of_their_own():
    runs = [
        run(corpus, variant, language=language, paper=paper)
        for corpus, language, paper in (("aa", "A", ""), ("en one|two", "English", "en"))
        for variant in ("baseline", "capsule", "capsule+global")
    ]
    blocks = make_blocks(runs)
    titles = headings(blocks, 3)
    english, other = "en one|two (English, gte-small, fine-tuned)", "aa (A, gte-small, fine-tuned)"
    assert titles[:2] == [f"Claims on {english}", f"Claims on {other}"]
    assert titles[3:5] == [english, other]
    names = [block.name for block in blocks if isinstance(block, Picture)]
    assert names[:2] == ["en-one-two-groups", "aa-groups"]
    assert len(names) == len(set(names)) == 9


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("R.htm", r"R\.htm: expected a name that ends in \.html, got \.htm"),
        ("R", r"R: expected a name that ends in \.html, got none"),
        ("no/R.html", r"no/R\.html: expected an existing folder, got .*no; make it with mkdir"),
    ],
)
def test_names_that_cannot_be(name, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        write_report([run()], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_figures_should_go(tmp_path):
    (tmp_path / "figures").write_text("")
    with pytest.raises(DataError, match=r"figures: cannot be made: File exists"):
        write_report([run()], tmp_path / "R.html")
    assert not (tmp_path / "R.html").exists()
