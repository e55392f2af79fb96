import pytest
from typer.testing import CliRunner

from capsrl.cli import app
from capsrl.errors import ConfigError, DataError
from reproduce.results import write_result
from tests.helpers.synthetic_runs import full_plan, run

pytest.importorskip("matplotlib")


def report(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)], catch_exceptions=False)


def raised(error, *arguments):
    """The message of a mistake, as `main` would print it."""
    with pytest.raises(error) as caught:
        report(*arguments)
    return str(caught.value)


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for number, one in enumerate(full_plan()):
        write_result(folder / f"{number}.json", one)
    return folder


def test_says_what_was_written(runs, tmp_path):
    out = tmp_path / "RESULTS.html"
    done = report(runs, out)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"wrote {out}",
        f"wrote {tmp_path / 'RESULTS.md'}",
        f"wrote 5 figures to {tmp_path / 'figures'}",
    ]
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8").startswith("# Results")
    assert len(list((tmp_path / "figures").glob("*.svg"))) == 5


def test_no_runs(tmp_path):
    out = tmp_path / "R.html"
    missing = tmp_path / "none"
    assert raised(DataError, missing, out) == (
        f"{missing}: expected a folder of runs, got no such folder"
    )
    assert raised(DataError, tmp_path, out).startswith(
        f"{tmp_path}: expected finished runs (*.json), got none"
    )


def test_a_name_that_cannot_be_is_refused_before_runs_are_read(tmp_path):
    message = raised(ConfigError, tmp_path / "none", tmp_path / "R.pdf")
    assert message == f"{tmp_path / 'R.pdf'}: expected a name that ends in .html, got .pdf"
    message = raised(ConfigError, tmp_path / "none", tmp_path / "no" / "R.html")
    assert message.endswith(f"got {tmp_path / 'no'}; make it with mkdir")


def test_a_file_that_is_no_run(tmp_path):
    write_result(tmp_path / "a.json", run())
    (tmp_path / "b.json").write_text("{}")
    message = raised(DataError, tmp_path, tmp_path / "R.html")
    assert message.startswith(f"{tmp_path / 'b.json'}: expected a run of format 1, got none; move")
    assert not (tmp_path / "R.html").exists()


def test_notes_stand_before_the_claims(runs, tmp_path):
    (runs / "notes.md").write_text("Done on **one** machine,\nin a hurry.\n\nSee `LOG.md`.\n")
    report(runs, tmp_path / "R.html")
    page = (tmp_path / "R.md").read_text(encoding="utf-8")
    notes = "## Notes\n\nDone on **one** machine, in a hurry.\n\nSee `LOG.md`.\n\n## Claims"
    assert notes in page
    assert "<p>See <code>LOG.md</code>.</p>" in (tmp_path / "R.html").read_text()
