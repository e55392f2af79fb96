import os
import subprocess

import pytest

from capsrl.errors import DataError
from corpora.text.checkout import check_checkouts, fetch_commands, read_files
from tests.helpers.git_repositories import commit_files, run_git

FILES = {
    "posts/b.md": "Second.\n",
    "posts/a.md": "\ufeffFirst.\n",
    "posts/c.txt": "Other.\n",
    "notes/ü.md": "Für Ann.\n",
}


def read(folder, commit, paths, repository="ann/blog"):
    return [(match[0], text) for match, text in read_files(folder, repository, commit, paths)]


@pytest.mark.parametrize("name", ["ann+blog", "ann/blog"])
def test_files_of_a_commit(tmp_path, name):
    commit = commit_files(tmp_path / name, FILES)
    # Neither changed files nor later commits matter.
    commit_files(tmp_path / name, {"posts/a.md": "Changed.\n", "posts/d.md": "New.\n"})
    (tmp_path / name / "posts" / "b.md").unlink()
    assert read(tmp_path, commit, r"posts/.*\.md") == [
        ("posts/a.md", "First.\n"),
        ("posts/b.md", "Second.\n"),
    ]
    assert read(tmp_path, commit, r"notes/.*") == [("notes/ü.md", "Für Ann.\n")]


def test_the_groups_of_a_pattern(tmp_path):
    commit = commit_files(tmp_path / "ann+blog", FILES)
    found = read_files(tmp_path, "ann/blog", commit, r"(?P<kind>\w+)/[ac]\..*")
    assert [match["kind"] for match, _ in found] == ["posts", "posts"]


def test_no_file_matches(tmp_path):
    commit = commit_files(tmp_path / "ann+blog", FILES)
    with pytest.raises(DataError, match=rf"ann/blog at {commit[:12]}: no file matches \.\*\\\.rst"):
        read(tmp_path, commit, r".*\.rst")


def test_a_file_that_a_copy_lacks(tmp_path):
    commit = commit_files(tmp_path / "ann+blog", FILES)
    blob = run_git(tmp_path / "ann+blog", "rev-parse", f"{commit}:posts/b.md")
    (tmp_path / "ann+blog" / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(DataError, match=rf"ann/blog at {commit[:12]}: posts/b.md is absent"):
        read(tmp_path, commit, r"posts/.*\.md")


def test_all_that_is_missing_is_named_at_once(tmp_path):
    commit = commit_files(tmp_path / "ann+blog", FILES)
    head = commit_files(tmp_path / "bob/wiki", FILES | {"new.md": "New.\n"})
    check_checkouts(tmp_path, {"ann/blog": commit})
    (tmp_path / "cai+empty").mkdir()
    wanted = {"ann/blog": commit, "bob/wiki": "1" * 40, "cai/empty": commit, "dee/none": commit}
    with pytest.raises(DataError) as raised:
        check_checkouts(tmp_path, wanted)
    assert str(raised.value) == (
        f"{tmp_path}: no checkout of cai/empty, dee/none; another commit of bob/wiki (expected "
        f"111111111111, got {head[:12]}); `python -m corpora text --list` prints the git commands"
    )


def test_reading_a_repository_that_is_missing(tmp_path):
    with pytest.raises(DataError, match="no checkout of ann/blog at 222222222222"):
        read(tmp_path, "2" * 40, ".*")


def test_the_commands_fetch_the_commit(tmp_path):
    """With GitHub replaced by a folder."""
    commit = commit_files(tmp_path / "hub" / "ann" / "blog", FILES)
    commit_files(tmp_path / "hub" / "ann" / "blog", {"posts/a.md": "Changed.\n"})
    run_git(tmp_path / "hub" / "ann" / "blog", "config", "uploadpack.allowAnySHA1InWant", "true")
    folder = tmp_path / "the checkouts"
    settings = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{tmp_path.as_uri()}/hub/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
    }
    for command in fetch_commands("ann/blog", commit, folder) * 2:  # again, nothing to do
        subprocess.run(command, shell=True, check=True, env=os.environ | settings)
    check_checkouts(folder, {"ann/blog": commit})
    assert read(folder, commit, r"posts/a\.md") == [("posts/a.md", "First.\n")]
