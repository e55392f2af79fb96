"""`capsrl bulk`: the command, its messages and exit codes; tests/bulk has the rest."""

from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out"], "give files to label, then an output folder: capsrl bulk IN... OUT"),
        ([], "give files to label, then an output folder: capsrl bulk IN... OUT"),
        (["--status"], "--status: give one output folder and no inputs"),
        (["--status", "a", "b"], "--status: give one output folder and no inputs"),
        (["--status", "none"], "none: not a folder that capsrl bulk writes: it has no status.json"),
        (["a.csv", "b.csv"], "b.csv: the output must be a folder, not a file; name it last"),
        (["a.csv", "out", "--to", "xml"], "--to: expected jsonl, parquet, csv, tsv, got xml"),
        (["a.csv", "out", "--rows", "word"], "--rows: expected argument or sentence, got word"),
        (["a.csv", "out", "--device", "tpu"], "--device: expected auto, cpu, cuda, got tpu"),
        (["a.csv", "out"], "a.csv: expected a column 'text' with the texts, got 'x'"),
        (["a.csv", "out", "--shard-size", "9"], "a.csv: expected a column 'text' with the texts"),
        (["none.csv", "out"], "none.csv: no such file"),
    ],
)
def test_mistakes(capsrl, arguments, message):
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("x\n1\n")
    done = capsrl("bulk", *arguments)
    assert done.code == 2
    assert f"error: {message}" in done.err
    assert not Path("out").exists()


def test_files_of_other_kinds_are_named(capsrl):
    Path("in/out").mkdir(parents=True)
    for name in ("in/a.csv", "in/b.md", "in/c.md", "in/out/lock"):
        Path(name).write_text("x\n1\n")
    done = capsrl("bulk", "in", "in/out")
    note, error = done.err.splitlines()
    assert note == "note: in: skipped 2 files (.md)"
    assert error.startswith("error: in/a.csv: expected a column 'text'")


def test_no_cluster(capsrl):
    Path("a.csv").write_text("text\nDogs bark.\n")
    done = capsrl("bulk", "a.csv", "out", "--address", "127.0.0.1:1")
    assert done.code == 2
    refused = "error: --address: there is no Ray cluster at 127.0.0.1:1: [Errno 111] Connection"
    assert refused in done.err


@pytest.mark.slow
def test_from_table_to_table(capsrl):
    Path("a.csv").write_text(
        "id,text,stars\n1,Mira sold her bicycle.,5\n2,No stars.\n3,Dogs bark.,2\n"
    )
    done = capsrl("bulk", "a.csv", "out", "--to", "csv", "--shard-size", "2", "--workers", "1")
    assert done.code == 3  # one row has no third cell
    assert "out/data: 3 documents, 2 sentences" in done.err
    assert "1 document not labeled: bad row" in done.err
    parts = sorted(Path("out/data").iterdir())
    assert [part.name for part in parts] == ["part-0000000.csv", "part-0000001.csv"]
    single = capsrl("label", "a.csv", "--to", "csv")
    header, *rows = single.out.splitlines()
    found = [part.read_text().splitlines() for part in parts]
    assert [each[0] for each in found] == [header, header]
    assert [row for each in found for row in each[1:]] == rows
    assert capsrl("bulk", "--status", "out").out.startswith("state: finished ")
