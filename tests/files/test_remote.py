"""File systems of fsspec, and their errors."""

import asyncio
import copy
import errno
import pickle
import signal
import threading

import fsspec
import pytest
from fsspec.asyn import AsyncFileSystem

from capsrl.errors import DataError
from capsrl.files import remote
from capsrl.files.remote import RemoteFiles


class Refused(Exception):
    """An error that is no OSError, as those of botocore are."""


class Failing(AsyncFileSystem):
    """A store that raises an error, or never answers if there is none."""

    def __init__(self, error=None):
        super().__init__(skip_instance_cache=True)
        self.error = error

    async def _fail(self):
        if self.error is None:
            await asyncio.sleep(60)
        raise self.error

    async def _info(self, path, **others):
        await self._fail()

    async def _put_file(self, lpath, rpath, **others):
        await self._fail()

    async def _cat_file(self, path, **others):
        if path == "b":
            await self._fail()
        return path.encode()

    def _open(self, path, mode, **others):
        return BrokenFile()


class BrokenFile:
    """A file whose connection breaks off."""

    def read(self, size):
        raise Refused("the connection broke off")

    def close(self):
        pass


def failing(error=None):
    return RemoteFiles(Failing(error), "s3://bucket/x")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Refused("no credentials"), "no credentials"),
        (Refused(), "Refused"),
        (Refused("bad\n  gateway\n"), "bad gateway"),
        (PermissionError(errno.EACCES, "Access Denied"), "Access Denied"),
        (TimeoutError(), "no answer"),
    ],
)
def test_errors_of_all_kinds_name_the_url(error, reason):
    with pytest.raises(DataError, match=f"^s3://bucket/x: cannot be accessed: {reason}$"):
        failing(error).info("bucket/x")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError("bucket/x"), "No such file or directory"),
        (FileNotFoundError("The bucket does not exist"), "The bucket does not exist"),
        (FileNotFoundError(errno.ENOENT, "No such key"), "No such key"),
    ],
)
def test_a_missing_file_stays_one(error, reason):
    with pytest.raises(FileNotFoundError) as found:
        failing(error).info("bucket/x")
    assert (found.value.strerror, found.value.filename) == (reason, "s3://bucket/x")


def test_a_connection_that_breaks_off():
    with failing().open("bucket/x") as file:
        with pytest.raises(DataError, match="^s3://bucket/x: cannot be accessed: the connection b"):
            file.read()


def test_a_store_that_never_answers(monkeypatch):
    monkeypatch.setattr(remote, "LIMIT", 0.1)
    with pytest.raises(DataError, match="^s3://bucket/x: cannot be accessed: no answer"):
        failing().put_file("here", "there")
    with pytest.raises(DataError, match="^s3://bucket/x: cannot be accessed: no answer"):
        list(failing().read_all(["a", "b"]))


def test_many_files_are_read_at_once():
    found = failing(FileNotFoundError("b")).read_all(["a", "b", "c"])
    assert list(found) == [("a", b"a"), ("c", b"c")]
    with pytest.raises(DataError, match="cannot be accessed: no credentials"):
        list(failing(Refused("no credentials")).read_all(["a", "b", "c"]))


def test_many_files_are_read_at_the_same_time():
    """Each call waits for fifteen others."""
    barrier = threading.Barrier(16, timeout=60)

    class Waiting(Failing):
        def cat_file(self, path, **others):
            barrier.wait()
            return path.encode()

    paths = [f"a[{number}]" for number in range(32)]
    found = RemoteFiles(Waiting(), "s3://bucket/x").read_all(paths)
    assert [path for path, _ in found] == paths


def test_ctrl_c_does_not_wait_for_a_store_that_hangs():
    end, ended = threading.Event(), []

    class Hanging(Failing):
        def find(self, path, *, prefix, detail):
            if prefix == "b":
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            end.wait(timeout=60)
            ended.append(prefix)

    with pytest.raises(KeyboardInterrupt):
        list(RemoteFiles(Hanging(), "s3://bucket/x").find_all("bucket", ["a", "b"]))
    assert not ended
    end.set()


def test_a_copy():
    files = RemoteFiles(fsspec.filesystem("memory"), "memory://remote")
    for each in (copy.copy(files), pickle.loads(pickle.dumps(files))):
        assert each.protocol == "memory"
    with pytest.raises(AttributeError, match="_nothing"):
        files._nothing  # noqa: B018


def test_a_file_is_read_as_on_a_disk():
    system = fsspec.filesystem("memory")
    system.pipe("/remote/a", b"one\ntwo\nthree\n")
    try:
        with RemoteFiles(system, "memory://remote/a").open("/remote/a") as file:
            assert file.seekable() and file.peek(3)[:3] == b"one"
            assert list(file) == [b"one\n", b"two\n", b"three\n"]
            assert (file.seek(4), file.readline(), file.tell()) == (4, b"two\n", 8)
        assert file.closed
    finally:
        system.rm("/remote", recursive=True)
