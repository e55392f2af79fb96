"""The examples of docs/scoring.md print what the page says."""

import json
import re
from pathlib import Path

import pytest

from capsrl.score import compare_sentences
from tests.helpers.score_sentences import sentence

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scoring.md").read_text()
PANDAS, *EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_examples_print_what_the_page_says(capsys):
    names: dict[str, object] = {}
    for example in EXAMPLES:
        exec(example, names)
    first, second, interval, third = capsys.readouterr().out.splitlines()
    promised = re.findall(r"^# (.*)$", "".join(EXAMPLES), re.MULTILINE)
    assert [first, second, third] == promised
    assert interval.startswith("Interval(")


def test_mistakes_in_pandas(capsys, monkeypatch, tmp_path):
    pytest.importorskip("pandas")
    gold = sentence("She sold cars", (1, "sell.01", "A0:0 A1:2"))
    pred = sentence("She sold cars", (1, "sell.01", "A1:0 A2:2"))
    records = [r for each in compare_sentences([gold], [pred]) for r in each.records()]
    (tmp_path / "errors.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    monkeypatch.chdir(tmp_path)
    exec(PANDAS, {})
    assert re.search(r"wrong role +A0 +1", capsys.readouterr().out)
