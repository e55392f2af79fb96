"""The scripts of examples/ run as they are and find what their sentences say."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from capsrl.formats.formats import read_sentences
from tests.helpers.pages import ROOT

pytestmark = pytest.mark.slow


def run(folder, name, *arguments) -> list[str]:
    """The lines that an example prints, run in this folder."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def cells(lines: list[str]) -> dict[str, list[str]]:
    """The numbers of a printed table by the names of its rows."""
    found = {}
    for line in lines:
        words = line.split()
        numbers = [word for word in words if word.isdigit()]
        found[" ".join(words[: len(words) - len(numbers)])] = numbers
    return found


def test_reviews_to_a_chart(tmp_path):
    pytest.importorskip("matplotlib")
    counts = cells(run(tmp_path, "reviews_to_chart", "chart.svg"))
    assert counts["damage"] == ["2", "0"]  # one active, one passive sentence
    assert counts["not answer"] == counts["not replace"] == ["0", "1"]
    drawn = ET.parse(tmp_path / "chart.svg").getroot()
    assert drawn.tag.endswith("svg")


def test_narratives_over_time(tmp_path):
    counts = cells(run(tmp_path, "narratives_over_time"))
    assert counts["taxes hurt shops"] == ["2", "1", "0"]
    assert counts["government not help farmers"] == ["0", "0", "2"]


def test_who_acquires_whom(tmp_path):
    pytest.importorskip("spacy")
    found = run(tmp_path, "who_acquires_whom")
    assert "Brasco | acquired | Halden Foods" in found
    assert "Norvik | acquisition | Halden Foods" in found
    assert len(found) == 4  # neither Anna nor what was denied


def test_searching_a_corpus(tmp_path):
    pytest.importorskip("duckdb")
    found = run(tmp_path, "search_corpus")
    assert [line[0] for line in found] == ["0", "1", "2"]  # nobody sold bread
    assert found[2].endswith("We | a net | the fisherman")
    [gave] = run(tmp_path, "search_corpus", "give")[:1]
    assert "[gave]" in gave


def test_preannotation(tmp_path):
    doubts = [float(line.split()[0]) for line in run(tmp_path, "preannotate", "out")]
    assert doubts == sorted(doubts, reverse=True) and len(doubts) == 3
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text("utf-8"))
    assert tasks[0]["data"]["text"].startswith("The cats")
    ET.parse(tmp_path / "out" / "labeling.xml")
    from_tasks = list(read_sentences(tmp_path / "out" / "tasks.json", "labelstudio"))
    from_brat = list(read_sentences(tmp_path / "out" / "texts.ann", "brat"))
    assert [each.predicates for each in from_tasks] == [each.predicates for each in from_brat]
    assert all(each.predicates for each in from_brat)
