"""The output folder of a bulk run, on a disk or in an object store (any URL that fsspec knows).

A file appears under its name in one move, complete: on a disk it is renamed, in an object store it
is uploaded, and an object is visible only when its upload is complete.
"""

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from capsrl.errors import ConfigError
from capsrl.files.opening import file_digest
from capsrl.files.remote import file_system_of, is_url
from capsrl.files.replacing import DISK_FULL, replacing, writing_errors

try:
    import fcntl
except ImportError:  # Windows, see check_platform
    fcntl = None  # type: ignore[assignment]

# An upload to these replaces an object as a whole. Elsewhere a file is uploaded, then renamed.
_OBJECT_STORES = {"abfs", "abfss", "az", "gcs", "gs", "memory", "oss", "s3", "s3a"}
_TEMPORARY = "tmp"  # files that are being written, on a disk


class Folder:
    """A folder of files, which has folders of one level.

    url  a path, or a URL such as s3://bucket/folder
    """

    def __init__(self, url: str) -> None:
        self.url = url.removeprefix("file://").rstrip("/") or "/"
        self.is_local = not is_url(self.url)
        self._fs: Any = None
        self._root = self.url
        if not self.is_local:
            self._fs, self._root = file_system_of(self.url)

    @property
    def place(self) -> str:
        """Where it is: its real path, or its URL as `find_inputs` writes those of its files."""
        if self.is_local:
            return os.path.realpath(self.url)
        return str(self._fs.unstrip_protocol(self._root))

    def sizes(self, folder: str, prefixes: Iterable[str] = ()) -> Iterator[tuple[str, int]]:
        """Yield the names and sizes of the files of one of its folders, none if it is missing.

        They are in any order, without files that begin with a dot: temporary ones of others.

        prefixes  of the names that matter; an object store is asked for each of them, so that not
                  all names need be in memory. A name may be yielded twice.
        """
        try:
            if self.is_local:
                with os.scandir(self._path(folder)) as entries:
                    found = (entry for entry in entries if entry.name[0] != ".")
                    yield from ((entry.name, entry.stat().st_size) for entry in found)
            else:
                self._fs.invalidate_cache()
                for info in self._list_remote(self._path(folder), prefixes):
                    yield info["name"].rstrip("/").rpartition("/")[2], info["size"] or 0
        except FileNotFoundError:
            return

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        if self.is_local:
            return os.path.exists(self._path(name))
        self._fs.invalidate_cache()
        return bool(self._fs.exists(self._path(name)))

    def open(self, name: str) -> Any:  # noqa: ANN401 - a binary file
        """Open a file for reading bytes; raises FileNotFoundError if there is none."""
        if self.is_local:
            return open(self._path(name), "rb")
        return self._fs.open(self._path(name))

    def digest(self, name: str) -> str | None:
        """The SHA-256 of a file on a disk; not of a store, which would have to send the file."""
        return file_digest(self._path(name), digits=64) if self.is_local else None

    def read_lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines that were appended; none if there is no such file."""
        if self.is_local:
            with contextlib.suppress(FileNotFoundError), self.open(f"{name}.jsonl") as file:
                yield from file
            return
        paths = (self._path(f"{name}/{each}") for each, _ in sorted(self.sizes(name)))
        for _, content in self._fs.read_all(paths):
            yield from content.splitlines()

    def write(self, name: str, data: bytes) -> None:
        """Write a small file in one move."""
        with self.writing(name) as path:
            path.write_bytes(data)

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """Give a local path to write; when the block succeeds the file appears under its name.

        No two writers have the same path. Raises DataError if the folder cannot be written.
        """
        target = f"{self.url}/{name}"
        if self.is_local:
            with writing_errors(target):
                for each in (self._path(_TEMPORARY), os.path.dirname(target)):
                    os.makedirs(each, exist_ok=True)
            with replacing(target, temporary_folder=self._path(_TEMPORARY)) as path:
                yield path
            return
        with tempfile.TemporaryDirectory(prefix="capsrl-bulk-") as folder:
            path = Path(folder) / Path(name).name
            with writing_errors(target, only=DISK_FULL):
                yield path
            with writing_errors(target):
                self._upload(path, self._path(name))

    def append(self, name: str, lines: bytes, *, part: str) -> None:
        """Append to NAME.jsonl on a disk; an object store, which cannot, gets NAME/PART.jsonl."""
        if not self.is_local:
            self.write(f"{name}/{part}.jsonl", lines)
            return
        with writing_errors(f"{self.url}/{name}.jsonl"):
            os.makedirs(self.url, exist_ok=True)
            with open(self._path(f"{name}.jsonl"), "ab") as file:
                file.write(lines)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(name)) if self.is_local else self._fs.rm_file(self._path(name))

    def remove_temporary(self) -> None:
        """Remove what killed workers left behind; call it only when no worker is running."""
        if self.is_local:
            shutil.rmtree(self._path(_TEMPORARY), ignore_errors=True)

    def remove_if_empty(self, folder: str) -> None:
        """Remove one of its folders unless there is something in it."""
        if self.is_local:
            with contextlib.suppress(OSError):
                os.rmdir(self._path(folder))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second run out of a folder on a disk; a killed run releases the lock.

        Raises ConfigError if another run holds it.
        """
        if not self.is_local:
            yield
            return
        with writing_errors(self.url):
            os.makedirs(self.url, exist_ok=True)
            file = open(self._path("lock"), "wb")  # noqa: SIM115 - closed below
        with file:
            if not try_lock(file):
                raise ConfigError(
                    f"{self.url}: another `capsrl bulk` is writing this folder; wait for it or "
                    "stop it"
                )
            yield

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @property
    def is_object_store(self) -> bool:
        """Whether it is in a store whose objects are replaced as a whole."""
        protocols = self._fs.protocol
        return not _OBJECT_STORES.isdisjoint(
            [protocols] if isinstance(protocols, str) else protocols
        )

    def _list_remote(self, folder: str, prefixes: Iterable[str]) -> Iterator[dict[str, Any]]:
        prefixes = [*prefixes]
        if not (prefixes and self.is_object_store):
            yield from self._fs.ls(folder, detail=True)
            return
        yield from self._fs.find_all(folder, prefixes)

    def _upload(self, path: Path, target: str) -> None:
        if self.is_object_store:
            self._fs.put_file(str(path), target)
            return
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        temporary = f"{self._root}/{_TEMPORARY}/{secrets.token_hex(8)}-{path.name}"
        self._fs.makedirs(temporary.rpartition("/")[0], exist_ok=True)
        self._fs.put_file(str(path), temporary)
        self._fs.mv(temporary, target)


def check_platform() -> None:
    """Raise ConfigError where files cannot be locked."""
    if fcntl is None:
        raise ConfigError("capsrl bulk runs on Linux and macOS; on Windows use WSL")


def try_lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed or its process ends; False if another process has done so."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
