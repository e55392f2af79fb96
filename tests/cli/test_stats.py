import json
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from capsrl.cli import app

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


def run(*arguments, input=None):
    return CliRunner().invoke(
        app, ["stats", *map(str, arguments)], input=input, catch_exceptions=False
    )


def cells(output):
    """The table as name -> values."""
    rows = [line.strip("│┃").replace("┃", "│").split("│") for line in output.splitlines()]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows if len(row) > 1}


def test_table(tmp_path):
    copy = tmp_path / "one.conll09"
    copy.write_text(TINY.read_text(encoding="utf-8").partition("\n\n")[0], encoding="utf-8")
    table = cells(run(TINY, copy, "--top", 2).stdout)
    assert table[""] == [str(TINY), str(copy)]
    assert table["sentences"] == ["14", "1"]
    assert table["predicates"] == ["28", "0"]
    assert table["arguments"][1] == "0"
    assert table["per predicate"][1] == "-"
    assert table["propositions with a role twice"] == ["1", "0"]
    assert table["0-9 words"] == ["10", "1"]
    assert table["50-59 words"] == ["1", "0"]
    assert table["1 predicate"][1] == "0"
    assert "A0" in table and "A1" in table and "A2" not in table


def test_names_of_rows_are_whole_on_a_narrow_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes what it writes to for a terminal
    monkeypatch.setenv("NO_COLOR", "1")
    long = tmp_path / f"{'long' * 15}.conll09"
    long.write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")
    lines = run(long, long).stdout.splitlines()
    assert len(lines[0]) == 70  # the frame, which has no bold parts
    assert any(line.startswith("│ propositions with a role twice │") for line in lines)


def test_json():
    found = json.loads(run(TINY, "--json").stdout)
    assert [corpus["file"] for corpus in found] == [str(TINY)]
    assert found[0]["sentences"] == 14
    assert found[0]["roles"]["AM-DIR"] == 3


def test_standard_input():
    result = run("-", "--format", "conll09", "--json", input=TINY.read_bytes())
    assert json.loads(result.stdout)[0]["file"] == "<stdin>"
    assert json.loads(result.stdout)[0]["sentences"] == 14


def test_roles_that_look_like_markup(tmp_path):
    path = tmp_path / "[red]odd.conll09"
    path.write_text("1\tgo" + "\t_" * 10 + "\tY\tgo.01\t[/bold]\n", encoding="utf-8")
    table = cells(run(path).stdout)
    assert table["[/bold]"] == ["1"]
    assert table[""] == [str(path)]


def test_one_line_and_exit_code_2_for_a_bad_file(tmp_path):
    path = tmp_path / "bad.conll09"
    path.write_text("1\tgo\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "capsrl", "stats", path], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"error: {path}:1: expected 14 columns, got 2\n"
