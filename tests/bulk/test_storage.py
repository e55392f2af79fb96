"""The output folder, on a disk and in an object store."""

import os
import threading

import fsspec
import pytest

from capsrl.bulk.storage import Folder
from capsrl.errors import ConfigError, DataError


@pytest.fixture(params=["path", "file", "memory"])
def folder(request, tmp_path):
    if request.param == "memory":
        yield Folder(f"memory://{tmp_path.name}/out/")
        fsspec.filesystem("memory").rm("/", recursive=True)
    else:
        yield Folder(f"{'file://' if request.param == 'file' else ''}{tmp_path}/out")


def read(folder, name):
    with folder.open(name) as file:
        return file.read()


def test_what_is_written_is_there(folder):
    assert not folder.has("data/a")
    assert names(folder) == []
    folder.write("data/a", b"1")
    folder.write("data/b", b"2")
    folder.write("data/a", b"3")
    assert folder.has("data/a")
    assert sorted(names(folder)) == ["a", "b"]
    assert read(folder, "data/a") == b"3"
    folder.remove("data/a")
    folder.remove("data/a")
    assert names(folder) == ["b"]
    with pytest.raises(FileNotFoundError):
        read(folder, "data/a")


def names(folder):
    return [name for name, _ in folder.sizes("data")]


def test_many_files_are_listed(folder):
    for number in range(40):
        folder.write(f"data/{number:02}", str(number).encode())
    assert {*folder.sizes("data", ["0", "1"])} >= {
        (f"{number:02}", len(str(number))) for number in range(20)
    }


def test_lines_that_are_appended(folder):
    assert list(folder.read_lines("log")) == []
    for number in range(40):
        folder.append("log", b"%d\n%d\n" % (number, number), part=f"{number:02}")
    assert [int(line) for line in folder.read_lines("log")] == [n for n in range(40) for _ in "ab"]
    assert folder.is_local == folder.has("log.jsonl")


def test_no_name_is_a_pattern(memory_files):
    memory_files.pipe("/run1/log/a.jsonl", b"another run")
    folder = Folder("memory://run[1]")
    assert list(folder.read_lines("log")) == []
    folder.remove("log/a.jsonl")
    folder.append("log", b"this run", part="a")
    assert [name for name, _ in folder.sizes("log", ["a"])] == ["a.jsonl"]
    assert list(folder.read_lines("log")) == [b"this run"]
    folder.remove("log/a.jsonl")
    assert not folder.has("log/a.jsonl")
    assert memory_files.cat_file("/run1/log/a.jsonl") == b"another run"


def test_a_file_appears_only_when_it_is_complete(folder):
    with folder.writing("data/a") as path:
        path.write_bytes(b"half")
        assert not folder.has("data/a")
        path.write_bytes(b"whole")
    assert read(folder, "data/a") == b"whole"


def test_an_error_leaves_nothing_behind(folder):
    with pytest.raises(ZeroDivisionError), folder.writing("data/a") as path:
        path.write_bytes(b"half")
        raise ZeroDivisionError
    assert not folder.has("data/a")
    assert not path.exists()


def test_two_writers_do_not_disturb_each_other(folder):
    with folder.writing("data/a") as one, folder.writing("data/a") as two:
        assert one != two
        one.write_bytes(b"same")
        two.write_bytes(b"same")
    assert read(folder, "data/a") == b"same"


def test_what_a_killed_worker_left_is_removed(tmp_path):
    folder = Folder(str(tmp_path / "out"))
    writing = folder.writing("data/a")
    path = writing.__enter__()
    path.write_bytes(b"half")
    folder.remove_temporary()
    assert not path.exists()
    with pytest.raises(DataError, match="out/data/a: cannot be written: No such file"):
        writing.__exit__(None, None, None)  # the worker, had it lived
    folder.remove_if_empty("data")
    assert os.listdir(folder.url) == []


def test_a_second_run_is_refused(tmp_path):
    folder = Folder(str(tmp_path / "out"))
    with folder.locked():
        with pytest.raises(ConfigError, match=r"out: another `capsrl bulk` is writing"):
            with Folder(folder.url).locked():
                pass
    with Folder(folder.url).locked():
        pass


def test_what_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    folder = Folder(str(tmp_path / "file"))
    with pytest.raises(DataError, match="file/a: cannot be written: Not a directory"):
        folder.write("a", b"")


def test_an_unknown_protocol(tmp_path):
    with pytest.raises(ConfigError, match="nosuch://bucket/x: expected a URL that fsspec can open"):
        Folder("nosuch://bucket/x")


class Renaming(type(fsspec.filesystem("memory"))):
    """A file system on which an upload can be seen before it is complete, such as SFTP."""

    protocol = "renaming"
    store = {}
    pseudo_dirs = [""]
    seen = []

    def put_file(self, lpath, rpath, **others):
        Renaming.seen.append(rpath)
        super().put_file(lpath, rpath, **others)


def test_elsewhere_an_upload_is_renamed():
    fsspec.register_implementation("renaming", Renaming, clobber=True)
    folder = Folder("renaming://out")
    folder.write("data/a", b"1")
    assert read(folder, "data/a") == b"1"
    assert names(folder) == ["a"]
    [upload] = Renaming.seen
    assert "/tmp/" in upload


def test_many_writers_at_once(folder):
    threads = [
        threading.Thread(target=folder.write, args=(f"data/{number % 5}", b"same"))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names(folder)) == list("01234")
