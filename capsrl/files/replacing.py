"""Replace a file or a folder in one move: a reader finds the old one or the new one, complete.

The new one is written under a temporary name beside the old one, brought to the disk, and then
renamed. After an error or a crash the old one is still there. A temporary file or folder is locked
while it is written, so that the next writer recognizes and removes what a killed one has left.
"""

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from capsrl.errors import DataError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_RENAME_EXCHANGE = 2  # of linux/fs.h
_AT_FDCWD = -100


@contextlib.contextmanager
def replacing(path: str | Path, *, temporary_folder: str | Path | None = None) -> Iterator[Path]:
    """Yield an empty temporary file to write; when the block succeeds it becomes the file `path`.

    A link stays a link, and an existing file keeps its permissions.

    temporary_folder  on the same file system; the folder of the file by default
    Raises DataError if the file cannot be created or the disk is full.
    """
    target = Path(os.path.realpath(path))
    beside = target if temporary_folder is None else Path(temporary_folder) / target.name
    mode = _mode(target)
    with contextlib.ExitStack() as stack:
        with writing_errors(path):
            temporary = stack.enter_context(_reserved(beside, is_folder=False))
            if mode is not None:
                os.chmod(temporary, mode | stat.S_IRUSR | stat.S_IWUSR)
        # The caller's block may fail for other reasons: only a full disk is surely about this file.
        with writing_errors(path, only=DISK_FULL):
            yield temporary
        with writing_errors(path):
            sync(temporary)
            if mode is not None:
                os.chmod(temporary, mode)
            os.replace(temporary, target)
            sync(target.parent)


@contextlib.contextmanager
def replacing_folder(path: str | Path) -> Iterator[Path]:
    """Yield an empty temporary folder to fill; when the block succeeds it becomes `path`.

    A link stays a link. Everything in the old folder is removed. Raises DataError for a full disk.
    """
    target = Path(os.path.realpath(path))
    with _reserved(target, is_folder=True) as temporary:
        with writing_errors(path, only=DISK_FULL):
            yield temporary
        for folder, _, files in os.walk(temporary):
            for name in files:
                sync(Path(folder, name))
            sync(Path(folder))
        _exchange(temporary, target)  # the temporary name is now that of the old folder
        sync(target.parent)


@contextlib.contextmanager
def writing_errors(path: str | Path, *, only: Collection[int] | None = None) -> Iterator[None]:
    """Turn errors of the system, or those with one of these numbers, into a DataError."""
    try:
        yield
    except Exception as error:
        # safetensors, which may not be installed, has an error of its own: "... (os error 28)".
        found = re.search(r"\(os error (\d+)\)$", str(error))
        number = int(found[1]) if found else getattr(error, "errno", None)
        if not (found or isinstance(error, OSError)) or (only is not None and number not in only):
            raise
        reason = os.strerror(number) if number else error
        raise DataError(f"{path}: cannot be written: {reason}") from None


@contextlib.contextmanager
def _reserved(target: Path, *, is_folder: bool) -> Iterator[Path]:
    """Yield a new file or folder beside the target; what has its name at the end is removed."""
    with contextlib.suppress(OSError):  # making the new one will tell what is wrong, if anything is
        remove_abandoned(target)
    # The name is chosen before the file exists, so that a signal at any moment removes the file.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        with _made_and_locked(temporary, is_folder=is_folder):
            yield temporary
    finally:
        _remove_path(temporary)


@contextlib.contextmanager
def _made_and_locked(path: Path, *, is_folder: bool) -> Iterator[None]:
    is_made = False
    while not is_made:
        path.mkdir() if is_folder else path.touch(exist_ok=False)
        with _locked(path):
            is_made = path.exists()  # no other process took it for abandoned before it was locked
            if is_made:
                yield


def remove_abandoned(target: Path) -> None:
    """Remove what killed writers of a file or folder have left beside it.

    A folder that one of them had moved away, and not yet replaced, comes back.
    """
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.(new|old)")
    with os.scandir(target.parent) as entries:
        found = [Path(entry.path) for entry in entries if pattern.fullmatch(entry.name)]
    for path in found:
        with _locked(path, wait=False) as is_locked:
            if not is_locked:  # it is being written
                continue
            if path.suffix == ".old" and not target.exists():
                os.rename(path, target)
            else:
                _remove_path(path)


@contextlib.contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Lock a file or folder; yields whether that succeeded."""
    with contextlib.ExitStack() as stack:
        is_locked = False
        # It may be gone, locked by another process, or on a system without such locks.
        with contextlib.suppress(OSError):
            if fcntl is not None:
                descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
                stack.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                is_locked = True
        yield is_locked


def _exchange(new: Path, target: Path) -> None:
    """Give two folders each the name of the other; the second one may be missing."""
    if not target.exists():
        os.rename(new, target)
    elif not _exchange_at_once(new, target):
        old = new.with_suffix(".old")
        try:
            os.rename(target, old)
            os.rename(new, target)
        except BaseException:  # also an interrupt just after one of the two
            if not target.exists():
                os.rename(old, target)
            raise
        os.rename(old, new)


def _exchange_at_once(one: Path, other: Path) -> bool:
    """Exchange two names as Linux can; False where the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def _remove_path(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    elif path.exists():
        path.unlink()


def sync(path: Path) -> None:
    """Bring a file or folder to the disk: a power cut must not leave an empty one."""
    with contextlib.ExitStack() as stack:
        if path.is_dir():
            stack.enter_context(contextlib.suppress(OSError))  # not all file systems can
        descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        stack.callback(os.close, descriptor)
        os.fsync(descriptor)


def _mode(path: Path) -> int | None:
    """The permissions of a file; None if there is none, or creating it will tell what is wrong."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None
