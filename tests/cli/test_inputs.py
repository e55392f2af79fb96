"""What `capsrl label` makes of tables, folders, patterns and standard input."""

import bz2
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsrl.cli.inputs import check_text
from capsrl.errors import DataError
from tests.helpers.terminal import run_on_a_terminal

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


@pytest.fixture
def label(capsrl):
    return lambda *arguments, **others: capsrl("label", *arguments, **others)


def objects(done):
    return [json.loads(line) for line in done.out.splitlines()]


CSV = 'id,stars,text\nr1,5,"Mira left. ""Go,""\nhe said."\nr2,1,\nr3,2,Dogs bark.\n'


@pytest.mark.parametrize(
    ("name", "pack", "arguments"),
    [
        ("a.csv", bytes, ()),
        ("a.CSV.gz", gzip.compress, ()),
        ("a.dat", bz2.compress, ("--from", "csv")),
        ("-", bytes, ("--from", "csv")),
        ("-", gzip.compress, ("--from", "csv")),
    ],
)
def test_a_csv(label, labeler, tmp_path, name, pack, arguments):
    content = pack(CSV.encode())
    (tmp_path / name).write_bytes(content)
    done = label(name, *arguments, stdin=content)
    assert (done.code, done.err) == (0, "")
    found = objects(done)
    assert [(each["document"], each.get("id"), each["fields"]["stars"]) for each in found] == [
        ("r1", "r1-1", "5"),
        ("r1", "r1-2", "5"),
        ("r2", None, "1"),
        ("r3", "r3-1", "2"),
    ]
    assert found[2] == {"document": "r2", "fields": {"stars": "1"}, "words": []}
    [bark] = labeler.label("Dogs bark.")
    assert found[3]["propositions"] == bark.standalone().to_dict()["propositions"]
    assert [each["start"] for each in found[:2]] == [0, 11]


def test_json_lines_with_own_keys(label, tmp_path):
    lines = [{"key": 1, "body": "Dogs bark.", "meta": {"a": [1]}}, {"key": 2, "body": None}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = label("a.jsonl", "--text-column", "body", "--id-column", "key")
    first, second = objects(done)
    assert (first["document"], first["fields"]) == ("1", {"meta": {"a": [1]}})
    assert second == {
        "document": "2",
        "error": "expected text in 'body', got null",
        "words": [],
    }
    assert done.code == 3
    assert done.err == "error: 1 document could not be labeled; see the column `error`\n"


def test_json_lines_are_documents_if_they_have_no_words(label, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "Dogs bark."}\n')
    (tmp_path / "b.jsonl").write_text('{"words": ["Dogs", "bark"]}\n')
    first, second = objects(label("a.jsonl", "b.jsonl"))
    assert (first["document"], first["words"]) == ("a.jsonl:1", ["Dogs", "bark", "."])
    assert ("document" in second, second["words"]) == (False, ["Dogs", "bark"])
    done = label("--from", "jsonl", stdin=b'{"text": "Dogs bark."}\n')
    assert done.err.startswith("error: <stdin>:1: expected sentences with the key 'words', got ")
    done = label("--from", "jsonl", "--text-column", "text", stdin=b'{"text": "Dogs bark."}\n')
    assert objects(done)[0]["document"] == "stdin:1"


def test_parquet(label, tmp_path):
    pq.write_table(pa.table({"text": ["Dogs bark.", None], "n": [1, 2]}), tmp_path / "a.parquet")
    first, second = objects(label("a.parquet"))
    assert (first["document"], first["fields"]) == ("a.parquet:1", {"n": 1})
    assert second["error"] == "expected text in 'text', got null"


@pytest.mark.parametrize(("name", "content"), [("a.csv", CSV), ("a.jsonl", '{"text": "We left."}')])
def test_tables_in_utf16(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-16")
    command = [sys.executable, "-m", "capsrl", "label", name, "--encoding", "utf-16", "--to", "csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "left" in done.stdout


def with_shell(command):
    line = f'echo We left. | {{ "{sys.executable}" -m capsrl {command}; }}'
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("closed", "code", "message"),
    [
        ("<&-", 2, "error: standard input is closed\n"),
        (">&-", 2, "error: standard output is closed; name a file: -o FILE\n"),
        ("2>&-", 0, ""),
    ],
)
def test_closed_streams(closed, code, message):
    done = with_shell(f"label - --to spans {closed}")
    assert (done.returncode, done.stderr) == (code, message)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("convert --from text --to jsonl - - <&-", "standard input is closed"),
        ("convert --from text --to jsonl - - >&-", "standard output is closed; "
         "name a file"),
        ("stats --from conll09 - <&-", "standard input is closed"),
        ("serve --port 0 >&-", "standard output is closed; send it elsewhere: > /dev/null"),
    ],
)  # fmt: skip
def test_closed_streams_of_other_commands(command, message):
    done = with_shell(command)
    assert (done.returncode, done.stderr) == (2, f"error: {message}\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "command", [f"stats {TINY}", f"stats --json {TINY}", "serve --port 0", "--version"]
)
def test_a_full_disk_under_standard_output(command):
    done = with_shell(f"{command} > /dev/full")
    message = "error: <stdout>: cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_a_document_per_line(label, tmp_path):
    (tmp_path / "a.txt").write_text("Dogs bark. Cats sleep.\n\nGo\non!\n")
    found = objects(label("a.txt", "--from", "lines"))
    assert [(each["id"], each["text"]) for each in found] == [
        ("a.txt:1-1", "Dogs bark."),
        ("a.txt:1-2", "Cats sleep."),
        ("a.txt:3-1", "Go"),
        ("a.txt:4-1", "on!"),
    ]


def test_bad_rows_keep_their_place(label, tmp_path):
    rows = [b"1,Dogs bark.", b"2,caf\xe9", b'3,"open', b"4", b"5,too long for this", b"6,Go!"]
    (tmp_path / "a.csv").write_bytes(b"id,text\n" + b"\n".join(rows))
    done = label("a.csv", "--max-characters", 12)
    found = objects(done)
    assert [each["document"] for each in found] == ["1", "2", "a.csv:3", "4", "5", "6"]
    assert ["error" in each for each in found] == [False, True, True, True, True, False]
    assert (done.code, done.err) == (
        3,
        "error: 4 documents could not be labeled; see the column `error`\n",
    )


def test_two_columns_of_one_name(label, tmp_path):
    """They are refused where both would be in the output, and do not matter where none is."""
    (tmp_path / "a.csv").write_text("text,by,by,stars\nWe left.,x,y,5\n")
    message = "error: a.csv: expected one column 'by', got columns 2 and 3; rename one of them"
    for to in ("csv", "jsonl"):
        done = label("a.csv", "--to", to)
        assert (done.code, done.out, done.err.startswith(message)) == (2, "", True)
    done = label("a.csv", "--to", "csv", "--columns", "stars")
    assert done.code == 0 and done.out.splitlines()[0].endswith("error,stars")
    assert label("a.csv", "--to", "csv", "--columns", "by").err.startswith(message)
    assert objects(label("a.csv", "--columns", "stars"))[0]["fields"] == {"stars": "5"}
    done = label("a.csv", "--columns", "by.1")
    assert done.code == 2 and done.err.endswith("text and id ('by', 'stars'), got 'by.1'\n")
    done = label("a.csv", "--text-column", "by.1")
    assert "'by.1' with the texts, got 'text', 'by', 'by', 'stars'; " in done.err
    assert label("a.csv", "--to", "brackets").code == 0


def test_columns_of_json(label, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "Go!", "x": [1], "stars": 5, "y": null}\n{"text": ""}'
    )
    for columns, expected in [
        ((), {"x": [1], "stars": 5, "y": None}),
        (("--columns", "y,x"), {"y": None, "x": [1]}),
        (("--columns", ""), None),
    ]:
        first, second = objects(label("a.jsonl", "--to", "jsonl", *columns))
        assert (first.get("fields"), "fields" in second) == (expected, False)
        assert json.loads(label("a.jsonl", "--to", "json", *columns).out) == [first, second]


def test_bad_rows_where_the_output_has_no_place_for_them(label, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,text\n" + b"1\n" * 12 + b"2,Dogs bark.\n")
    done = label("a.csv", "--to", "brackets")
    assert (done.code, done.out) == (3, "[A0 Dogs] [V bark] .\n")
    lines = done.err.splitlines()
    assert len(lines) == 11
    assert lines[0] == "error: a.csv, row 1: expected 2 cells as in the header, got 1"
    assert lines[-1] == "error: 12 documents could not be labeled"


def test_one_bad_file_does_not_stop_the_others(label, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.txt").write_bytes(b"Dogs bark.\n\n\xff")
    (tmp_path / "d" / "b.txt").write_text("Cats sleep.")
    (tmp_path / "d" / "c.txt.gz").write_bytes(gzip.compress(b"Go on. " * 999)[:-20])
    done = label("d")
    found = objects(done)
    assert done.code == 3
    assert [each["words"][0] for each in found if each["words"]][:2] == ["Dogs", "Cats"]
    errors = {each["document"]: each["error"] for each in found if "error" in each}
    assert errors["d/a.txt"].startswith("d/a.txt:3: expected UTF-8 text, got byte 0xff")
    assert "damaged or cut short" in errors["d/c.txt.gz"]
    done = label("d", "--to", "brackets")
    assert done.err.startswith("error: d/a.txt:3: expected UTF-8 text")
    done = label("d/a.txt", "--to", "brackets")  # alone it is a mistake
    assert (done.code, done.err.count("\n")) == (2, 1)


# Root may read everything, unless it gives up this right.
AS_USER = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


def is_root_with_all_rights():
    if os.geteuid():
        return False
    if shutil.which("setpriv") is None:
        return True
    return subprocess.run([*AS_USER, "true"], capture_output=True).returncode != 0


@pytest.mark.skipif(is_root_with_all_rights(), reason="runs as root")
@pytest.mark.parametrize(
    ("given", "rights", "place"),
    [
        ("d", 0, "d/locked"),
        ("d/locked", 0, "d/locked"),
        ("d/locked/a.txt", 0, "d/locked/a.txt"),
        ("d", 0o444, "d/locked/a.txt"),
    ],
)
def test_folders_that_cannot_be_read(tmp_path, given, rights, place):
    """Their files are neither left out nor called missing."""
    (tmp_path / "d" / "locked").mkdir(parents=True)
    for name in ("d/a.txt", "d/locked/a.txt"):
        (tmp_path / name).write_text("We left.")
    (tmp_path / "d" / "locked").chmod(rights)
    command = [sys.executable, "-m", "capsrl", "label", given]
    before = AS_USER if os.geteuid() == 0 else []
    done = subprocess.run([*before, *command], cwd=tmp_path, capture_output=True, text=True)
    (tmp_path / "d" / "locked").chmod(0o700)
    error = f"error: {place}: cannot be read: Permission denied\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", error)


def test_folders_and_patterns_with_tables(label, tmp_path):
    for name in ("d/a/x.csv", "d/b/x.csv", "d/b/y.jsonl", "d/x.conll09", "d/x.spans.tsv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text\nDogs bark.\n" if name.endswith("csv") else "")
    done = label("d", "--to", "jsonl")
    assert [each["document"] for each in objects(done)] == ["d/a/x.csv:1", "d/b/x.csv:1"]
    assert done.err == "note: d: skipped 1 file (.tsv)\n"
    assert [each["document"] for each in objects(label("d/**/*.csv"))] == [
        "d/a/x.csv:1",
        "d/b/x.csv:1",
    ]
    assert [each["document"] for each in objects(label(f"file://{tmp_path}/d/b/x.csv"))] == [
        f"file://{tmp_path}/d/b/x.csv:1"
    ]


@pytest.mark.parametrize(("name", "content"), [("b.csv", "x\n1\n"), ("b.jsonl", '{"x": 1}\n')])
def test_a_folder_with_a_table_without_texts(label, tmp_path, name, content):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.csv").write_text("text\nDogs bark.\n")
    (tmp_path / "d" / name).write_text(content)
    done = label("d", "-o", "o.csv")
    assert (done.code, (tmp_path / "o.csv").exists()) == (2, False)
    assert done.err.startswith(f"error: d/{name}: expected a column 'text' with the texts, got 'x'")
    assert label("d/a*", "-o", "o.csv").code == 0


@pytest.mark.parametrize("line", ["id,text", "a;b;c", '"id","text"', "TEXT\tstars", "id;a;text;b"])
def test_tables_are_not_taken_for_text(label, line):
    done = label(stdin=f"{line}\n1,2\n".encode())
    assert done.code == 2
    assert done.err.startswith("error: <stdin>:1: this looks like a table, not like text: ")
    assert "; name its format with --from: text, csv, tsv, parquet, lines, conll09, " in done.err
    assert label("--from", "text", stdin=f"{line}\n".encode()).code == 0


@pytest.mark.parametrize("line", ["Yes, no, maybe", "Yes,no", "", "text", "a, b, c", "Go (on),you"])
def test_text_is_not_taken_for_a_table(line):
    assert list(check_text([line, "id,text"], "x")) == [line, "id,text"]


def test_parquet_is_not_taken_for_text(label):
    done = label(stdin=b"PAR1\x15\x04\x15\xc8\n")
    assert done.err == "error: <stdin>: expected text, got Parquet data\n"
    with pytest.raises(
        DataError, match="^x:1: this looks like a table, not like text: 'id,text'; name"
    ):
        list(check_text(["id,text"], "x"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.csv", "--text-column", "body"), "a.csv: expected a column 'body' with the texts, got "
         "'id', 'text'; name the right one with --text-column (in Python text_column)\n"),
        (("a.csv", "--id-column", "key"), "a.csv: expected a column 'key' with the ids, got 'id'"),
        (("a.txt", "--text-column", "x"), "--text-column: needs a table (csv, tsv, jsonl, "),
        (("a.txt", "--id-column", "x"), "--id-column: needs a table (csv, tsv, jsonl, parquet), "
         "got text (a.txt)\n"),
        (("We ate.", "--text-column", "x"), "--text-column: needs a table (csv, tsv, jsonl, "
         "parquet), got text ('We ate.')\n"),
        (("a.csv", "--columns", "x"), "--columns: expected some of the columns besides text and id "
         "(none), got 'x'\n"),
        (("a.csv", "--columns", "x", "--to", "brackets"), "--columns: expected a format that has "
         "them (json, jsonl, allennlp, csv, tsv, parquet), got brackets\n"),
        (("a.txt", "--columns", "x", "--to", "csv"), "--columns: needs a table as input\n"),
        (("a.csv", "--predicates", "marked"), "--predicates marked: raw text (a.csv) marks no "),
        (("--from", "parquet"), "-: Parquet is not read from standard input; write it to a file"),
        (("b.csv",), "b.csv: expected a column 'text' with the texts, got 'Text'; name the right "
         "one with --text-column Text (in Python text_column)\n"),
        (("b.jsonl",), "b.jsonl: expected one JSON object per line, got '[{\"text\": \"Go on.\"}]"
         "'; convert it: jq -c '.[]'\n"),
        (("c.jsonl",), "c.jsonl: expected one JSON object per line, got '{'; convert it: jq -c ."),
        (("b.json",), "b.json: JSON arrays (.json) are not read; save one object per line as "
         ".jsonl: jq -c '.[]' FILE\n"),
        (("x/*.csv",), "x/*.csv: no file matches\n"),
        (("file:///none.csv",), "file:///none.csv: no such file"),
        (("nosuch://a.csv",), "nosuch://a.csv: expected a URL that fsspec can open, got: "),
    ],
)  # fmt: skip
def test_mistakes(label, tmp_path, arguments, message):
    (tmp_path / "a.csv").write_text("id,text\n1,Go on.\n")
    (tmp_path / "a.txt").write_text("Go on.")
    (tmp_path / "b.csv").write_text("Text\nGo on.\n")
    (tmp_path / "b.json").write_text("[]")
    (tmp_path / "b.jsonl").write_text('[{"text": "Go on."}]')
    (tmp_path / "c.jsonl").write_text('{\n  "text": "Go on."\n}\n')
    done = label(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1


def test_a_bar_counts_documents(tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "Dogs bark.\n" * 50)
    done, shown = run_on_a_terminal(
        ["label", "a.csv"], tmp_path, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 50
    assert "a.csv" in shown and " documents" in shown


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "capsrl", "label", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_rows_on_standard_input_are_labeled_as_they_come():
    process = start("--from", "csv", "--to", "csv")
    process.stdin.write(b"id,text\n1,Dogs bark.\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"document,")
    assert b"Dogs" in process.stdout.readline()  # while the input is still open
    process.stdin.write(b"2,Cats sleep.\n")
    out, err = process.communicate(timeout=600)
    assert b"Cats" in out
    assert process.returncode == 0
    assert err.startswith(b"note: -: the other columns of standard input are left out, ")


def test_a_command_that_waits_for_input_can_be_stopped():
    process = start("--from", "lines", "--to", "jsonl")
    process.stdin.write(b"Dogs bark.\n")
    process.stdin.flush()
    assert b"Dogs" in process.stdout.readline()
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (130, b"interrupted\n")


def test_an_error_while_reading_standard_input_ahead():
    process = start("--from", "csv")
    out, err = process.communicate(b"id,body\n1,x\n", timeout=600)
    assert (process.returncode, out) == (2, b"")
    assert err.startswith(b"error: <stdin>: expected a column 'text' with the texts, got 'id', ")


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        (("a.csv", "--text-column", "review"), "a.csv"),
        (("a.txt", "b.txt"), "./b.txt"),
        (("b.txt",), "link.txt"),
        (("file://{folder}/b.txt",), "b.txt"),
    ],
)
def test_an_input_is_not_replaced(label, tmp_path, inputs, output):
    (tmp_path / "a.csv").write_text("review\nDogs bark.\n")
    (tmp_path / "a.txt").write_text("Go on.")
    (tmp_path / "b.txt").write_text("Dogs bark.")
    (tmp_path / "link.txt").symlink_to("b.txt")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    done = label(*(each.format(folder=tmp_path) for each in inputs), "-o", output)
    assert (done.code, done.out) == (2, "")
    assert done.err == (f"error: -o: the output would overwrite the input {output}\n")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_standard_input_to_standard_output_is_no_replacement(label, tmp_path):
    (tmp_path / "-").write_text("Dogs bark.")
    assert label("-", "-o", "-", "--from", "text", stdin=b"Dogs bark.").code == 0
