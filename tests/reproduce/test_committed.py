"""docs/RESULTS.md and its CSV files are those that the report makes from docs/results."""

from pathlib import Path

import pytest

from reproduce.results import read_results

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from reproduce.report import make_report

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def test_the_committed_report():
    results = read_results(DOCS / "results")
    assert len(results) == 282
    assert len({result.training for result in results}) == 273
    notes, discussion = (
        path.read_text(encoding="utf-8").strip() if path.exists() else ""
        for path in (DOCS / "results" / "notes.md", DOCS / "results" / "discussion.md")
    )
    text, files = make_report(results, notes, discussion, folder="RESULTS.files")
    assert text == (DOCS / "RESULTS.md").read_text(encoding="utf-8")
    for path, content in files.items():
        if path.endswith(".csv"):
            assert content == (DOCS / path).read_text(encoding="utf-8")
    drawn = {path for path in files if path.endswith(".svg")}  # other versions draw other bytes
    committed = (DOCS / "RESULTS.files").glob("*.svg")
    assert drawn == {f"RESULTS.files/{path.name}" for path in committed}
