import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs" / "scoring.md"


def test_the_example_prints_what_the_page_says(capsys):
    code = re.search(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)[1]
    exec(code, {})
    promised = re.findall(r"^# (.*)$", code, re.MULTILINE)
    assert len(promised) == 2
    assert capsys.readouterr().out.splitlines()[:2] == promised
