import os
import stat
import subprocess
import sys
import textwrap

import pytest

from capsrl.errors import DataError
from capsrl.files import replacing as module
from capsrl.files.replacing import replacing, replacing_folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=[True, False], ids=["exchange", "rename"])
def exchange(request, monkeypatch):
    """Both ways to replace a folder: Linux can exchange two names, other systems cannot."""
    if not request.param:
        monkeypatch.setattr(module.ctypes, "CDLL", lambda name: object())


def test_a_file_appears_when_the_block_ends(tmp_path):
    path = tmp_path / "out"
    with replacing(path) as temporary:
        assert temporary.read_bytes() == b""
        temporary.write_bytes(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["out"]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), replacing(path) as temporary:
        temporary.write_bytes(b"new")
        raise KeyError
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("mode", [0o640, 0o444, 0o600, 0o200])
def test_an_existing_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "out"
    path.touch()
    path.chmod(mode)
    with replacing(path) as temporary:
        assert temporary.stat().st_mode & 0o077 == mode & 0o077  # never readable by more people
        temporary.write_bytes(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_those_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        with replacing(tmp_path / "out"):
            pass
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_temporary_file_in_another_folder(tmp_path):
    (tmp_path / "tmp").mkdir()
    with replacing(tmp_path / "out", temporary_folder=tmp_path / "tmp") as temporary:
        assert temporary.parent == tmp_path / "tmp"
    assert names(tmp_path) == ["out", "tmp"] and names(tmp_path / "tmp") == []


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(DataError, match="no/out: cannot be written: No such file"):
        with replacing(tmp_path / "no" / "out"):
            pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="folder: cannot be written: Is a directory"):
        with replacing(tmp_path / "folder"):
            pass
    assert names(tmp_path) == ["folder"]


def test_two_writers_of_one_file(tmp_path):
    path = tmp_path / "out"
    with replacing(path) as one, replacing(path) as other:
        with replacing(path):
            assert one.exists() and other.exists()
        one.write_bytes(b"one")
        other.write_bytes(b"other")
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == ["out"]


def test_files_and_folders_go_to_the_disk_before_they_are_renamed(tmp_path, monkeypatch):
    calls = []
    sync, replace = os.fsync, os.replace

    def fsync(descriptor):
        calls.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("renamed"), replace(*paths)))
    with replacing(tmp_path / "out") as temporary:
        pass
    assert calls == [temporary.name, "renamed", tmp_path.name]
    calls.clear()
    with replacing_folder(tmp_path / "model") as temporary:
        (temporary / "inner").mkdir()
        (temporary / "inner" / "file").touch()
    assert calls == [temporary.name, "file", "inner", tmp_path.name]


@pytest.mark.usefixtures("exchange")
def test_a_folder_is_replaced_as_a_whole(tmp_path):
    folder = tmp_path / "model"
    for content in ("one", "two"):
        with replacing_folder(folder) as new:
            assert names(new) == []
            (new / content).write_text(content)
            (new / "inner").mkdir()
    assert names(folder) == ["inner", "two"]
    assert names(tmp_path) == ["model"]


@pytest.mark.usefixtures("exchange")
def test_an_error_leaves_the_old_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old").touch()
    with pytest.raises(KeyError), replacing_folder(folder) as new:
        (new / "new").touch()
        raise KeyError
    assert names(folder) == ["old"]
    assert names(tmp_path) == ["model"]


def test_an_interrupt_between_two_renames_restores_the_old_folder(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old").touch()
    rename = os.rename

    def interrupted(source, target):
        if str(source).endswith(".new"):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(module.ctypes, "CDLL", lambda name: object())
    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing_folder(folder):
        pass
    assert names(folder) == ["old"]
    assert names(tmp_path) == ["model"]


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "old")
    with replacing_folder(tmp_path / "link") as new:
        (new / "file").touch()
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "old") == ["file"]


@pytest.mark.parametrize("writer", ["replacing", "replacing_folder"])
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path, writer):
    code = f"""
        import time
        from capsrl.files.replacing import {writer}
        with {writer}("out") as new:
            print("written", flush=True)
            time.sleep(600)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "written\n"
    [left] = tmp_path.iterdir()
    with getattr(module, writer)(tmp_path / "out"):
        assert left.exists()  # it is being written
    process.kill()
    process.communicate()
    assert names(tmp_path) == [left.name, "out"]
    with getattr(module, writer)(tmp_path / "out"):
        assert not left.exists()
    assert names(tmp_path) == ["out"]


def test_a_folder_that_a_killed_writer_had_moved_away_comes_back(tmp_path):
    moved = tmp_path / ".model.0123abcd.old"
    moved.mkdir()
    (moved / "file").touch()
    with pytest.raises(KeyError), replacing_folder(tmp_path / "model"):
        raise KeyError
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == ["file"]


def test_other_hidden_files_are_left_alone(tmp_path):
    for name in (".out.swp", ".out.0123abcd.new.bak", ".other.0123abcd.new"):
        (tmp_path / name).touch()
    with replacing(tmp_path / "out"):
        pass
    assert len(names(tmp_path)) == 4


def test_many_writers_at_the_same_time(tmp_path):
    """None takes the file of another for one that was left behind."""
    code = """
        import sys
        from capsrl.files.replacing import replacing
        for _ in range(200):
            with replacing("out") as new:
                new.write_text(sys.argv[1])
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    writers = [subprocess.Popen([*command, str(n)], cwd=tmp_path) for n in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert (tmp_path / "out").read_text() in {"0", "1", "2", "3"}
    assert names(tmp_path) == ["out"]
