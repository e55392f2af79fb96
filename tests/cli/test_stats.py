import json
from pathlib import Path

import pytest

from capsrl.cli.stats import _short_names

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


@pytest.fixture
def stats(capsrl):
    return lambda *arguments, **others: capsrl("stats", *arguments, **others)


def cells(output):
    """The table as name -> values."""
    rows = [line.strip("│┃").replace("┃", "│").split("│") for line in output.splitlines()]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows if len(row) > 1}


def test_table(stats, tmp_path):
    copy = tmp_path / "one.conll09"
    copy.write_text(TINY.read_text(encoding="utf-8").partition("\n\n")[0], encoding="utf-8")
    table = cells(stats(TINY, copy, "--top", 2).out)
    assert table[""] == ["tiny", "one"]
    assert table["sentences"] == ["14", "1"]
    assert table["predicates"] == ["28", "0"]
    assert table["arguments"][1] == "0"
    assert table["per predicate"][1] == "-"
    assert table["propositions with a role twice"] == ["1", "0"]
    assert table["0-9 words"] == ["10", "1"]
    assert table["50-59 words"] == ["1", "0"]
    assert table["1 predicate"][1] == "0"
    assert "A0" in table and "A1" in table and "A2" not in table


def test_names_of_rows_are_whole_on_a_narrow_terminal(stats, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes what it writes to for a terminal
    monkeypatch.setenv("NO_COLOR", "1")
    long = tmp_path / f"{'long' * 15}.conll09"
    long.write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")
    lines = stats(long, long).out.splitlines()
    assert len(lines[0]) == 70  # the frame, which has no bold parts
    assert any(line.startswith("│ propositions with a role twice │") for line in lines)


def test_json(stats):
    found = json.loads(stats(TINY, "--json").out)
    assert [corpus["file"] for corpus in found] == [str(TINY)]
    assert found[0]["sentences"] == 14
    assert found[0]["roles"]["AM-DIR"] == 3


def test_standard_input(stats):
    result = stats("-", "--from", "conll09", "--json", stdin=TINY.read_bytes())
    assert json.loads(result.out)[0]["file"] == "<stdin>"
    assert json.loads(result.out)[0]["sentences"] == 14


def test_roles_that_look_like_markup(stats, tmp_path):
    path = tmp_path / "[red]odd.conll09"
    path.write_text("1\tgo" + "\t_" * 10 + "\tY\tgo.01\t[/bold]\n", encoding="utf-8")
    table = cells(stats(path).out)
    assert table["[/bold]"] == ["1"]
    assert table[""] == ["[red]odd"]


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["data/train.conll09.xz", "data/dev.conll09.xz"], ["train", "dev"]),
        (["en/train.conll09", "de/train.conll09"], ["en/train", "de/train"]),
        (["a/x.jsonl", "a/x.conllup"], ["x.jsonl", "x.conllup"]),
        (["a/x.jsonl", "a/x.jsonl"], ["x", "x"]),
        (["x.jsonl", "a/x.jsonl"], ["x", "a/x"]),
        (["/data/en.v2/x.jsonl"], ["x"]),
        (["<stdin>"], ["<stdin>"]),
    ],
)
def test_short_names(names, short):
    assert _short_names(names) == short


def test_two_corpora_fit_into_80_columns(stats, tmp_path):
    folder = tmp_path / ("long" * 10)
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        (folder / name / f"{'train' * 8}.conll09").write_bytes(TINY.read_bytes())
    lines = stats(*sorted(folder.glob("*/*"))).out.splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bad.conll09",), "bad.conll09:1: expected 14 columns, got 2"),
        (("a.txt",), "a.txt: expected a suffix of .conll09 .conll .conllu .conllup .jsonl .ndjson"),
        (("-", "-"), "-: standard input can be read for one file only"),
        (("-",), "-: expected a format for standard input and output; name the format with --from"),
    ],
)
def test_mistakes_exit_with_one_line(stats, tmp_path, arguments, message):
    (tmp_path / "bad.conll09").write_text("1\tgo\n", encoding="utf-8")
    done = stats(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: {message}")
