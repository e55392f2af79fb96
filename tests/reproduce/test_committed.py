"""The results in docs are what `capsrl report` makes of the runs beside them, byte for byte."""

import re
from pathlib import Path

import pytest

from reproduce.page import write_report
from reproduce.results import read_notes, read_results

matplotlib = pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
PINNED = "matplotlib=="


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    runs = DOCS / "results"
    out = tmp_path_factory.mktemp("docs") / "RESULTS.html"
    return write_report(read_results(runs), out, read_notes(runs))


def test_the_page_is_rebuilt(rebuilt):
    wanted = (DOCS / "RESULTS.md").read_text(encoding="utf-8")
    assert rebuilt[1].read_text(encoding="utf-8") == wanted


def test_the_figures_are_rebuilt(rebuilt):
    figures = rebuilt[2:]
    assert {path.name for path in figures} == {path.name for path in DOCS.glob("figures/*.svg")}
    [version] = re.findall(f"^{PINNED}(.*)", (ROOT / "constraints.txt").read_text(), re.M)
    if matplotlib.__version__ != version:  # another one may place a letter otherwise
        pytest.skip(f"figures are drawn with matplotlib {version}, not {matplotlib.__version__}")
    for path in figures:
        assert path.read_bytes() == (DOCS / "figures" / path.name).read_bytes(), path.name
