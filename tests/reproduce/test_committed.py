"""The numbers of docs/RESULTS.md are those that the report computes from docs/results."""

import re
from pathlib import Path

import pytest

from reproduce.results import read_results

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from reproduce.report import make_report

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def numbers(text):
    """(section, numbers of each cell) of every row of every table, and numbers elsewhere."""
    section, rows, others = "", [], []
    for line in text.splitlines():
        if line.startswith("#"):
            section = line
        cells = line.split(" | ") if line.startswith("|") else []
        rows += (
            [(section, [re.findall(r"[+−]?[\d,.]*\d", cell) for cell in cells])] if cells else []
        )
        others += [] if cells else re.findall(r"[+−]?[\d,.]*\d", line)
    return rows, others


def test_every_number():
    results = read_results(DOCS / "results")
    assert len(results) == 141
    assert len({result.training for result in results}) == 132
    text, figures = make_report(
        results, (DOCS / "results" / "notes.md").read_text(encoding="utf-8")
    )
    found, wanted = numbers(text), numbers((DOCS / "RESULTS.md").read_text(encoding="utf-8"))
    assert len(wanted[0]) > 400
    assert found == wanted
    assert set(figures) == {path.stem for path in (DOCS / "figures").glob("*.svg")}
