import json

import pytest

from capsrl.files.opening import read_lines
from capsrl.sentence import Sentence
from corpora.held_out import HeldOut
from corpora.text import readers
from corpora.text.making import make_source, write_readme
from corpora.text.sources import Part, Source
from tests.helpers.git_repositories import commit_files

LETTERS = "Mira sold the boat. She is glad.\nHer friend has it now.\n"
SOURCE = Source(
    "harbor",
    "letters and logs",
    "CC0",
    "the sailors of the lake",
    (
        Part("ann/letters", r"(?P<kind>\w+)/.*\.txt", readers.lines),
        Part("bob/log", r".*\.txt", readers.lines, "log", most=2, most_alike=3),
    ),
)


@pytest.fixture
def commits(tmp_path):
    log = "".join(f"It is the day number {n}.\n" for n in range(5)) + "She is glad.\n"
    files = {"old/a.txt": LETTERS, "new/b.txt": "It is not so.\n", "c.txt": "It was not read.\n"}
    return {
        "ann/letters": commit_files(tmp_path / "checkouts" / "ann+letters", files),
        "bob/log": commit_files(tmp_path / "checkouts" / "bob+log", {"log.txt": log}),
    }


def make(tmp_path, commits, out, held_out=()):
    (tmp_path / out).mkdir()
    held = HeldOut(Sentence(tuple(text.split())) for text in held_out)
    folders = {"out": tmp_path / out, "checkouts": tmp_path / "checkouts"}
    return make_source(SOURCE, **folders, commits=commits, held_out=held)


def test_file(tmp_path, commits):
    made = make(tmp_path, commits, "text", held_out=["Mira sold the boat"])
    assert made.path == tmp_path / "text" / "harbor.jsonl.xz"
    rows = [json.loads(line) for line in read_lines(made.path)]
    assert [(row["source"], " ".join(row["words"])) for row in rows[:3]] == [
        ("harbor-new", "It is not so ."),
        ("harbor-old", "She is glad ."),
        ("harbor-old", "Her friend has it now ."),
    ]
    assert [row["source"] for row in rows[3:]] == ["harbor-log"] * 2
    assert made.sentences == {
        ("ann/letters", "new"): 1,
        ("ann/letters", "old"): 2,
        ("bob/log", "log"): 2,
    }
    assert made.left_out == {
        "sentences that overlap held-out sentences": 1,
        "sentences that repeat another": 1,
        "sentences beyond a limit": 3,
    }


def test_the_same_bytes_again(tmp_path, commits):
    first, second = (make(tmp_path, commits, name) for name in ("one", "two"))
    assert first.path.read_bytes() == second.path.read_bytes()


def test_readme(tmp_path, commits):
    made = make(tmp_path, commits, "text")
    write_readme(tmp_path / "text", [made], commits=commits, without=["dev.conll09.xz"])
    lines = (tmp_path / "text" / "README.md").read_text(encoding="utf-8").splitlines()
    assert "Sentences that overlap dev.conll09.xz were left out." in lines
    assert "## harbor.jsonl.xz: 6 sentences" in lines
    assert "- License: CC0" in lines
    assert f"| ann/letters | {commits['ann/letters'][:12]} | old | 3 |" in lines
    assert "- Left out: 3 sentences beyond a limit" in lines
