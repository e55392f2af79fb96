"""Start Ray on this machine, where nobody else can reach it, or connect to a cluster."""

import contextlib
import logging
import os
import secrets
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Iterator
from typing import Any

import ray
import ray._private.services as services
from ray._private import ray_constants

from capsrl.bulk.storage import try_lock
from capsrl.device import available_cores
from capsrl.errors import ConfigError
from capsrl.files.replacing import writing_errors

OBJECT_STORE = 80 << 20  # bytes; no large object passes through it
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
_FOLDER_PREFIX = "capsrl-ray-"  # of temporary folders
_LOCK = "capsrl.lock"  # a file in them
_LONGEST = 19  # bytes of the name of the folder they are in: names of sockets have at most 103
_ON_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # when 0; read once by each process of Ray


@contextlib.contextmanager
def connected(address: str | None, *, n_cpus: int | None = None) -> Iterator[int]:
    """Start Ray on this machine, or connect to a cluster; yields the number of its GPUs.

    address  of a cluster; None to start Ray here
    n_cpus   that a Ray started here may use; default: the cores of this process
    """
    if ray.is_initialized():  # by the caller, who will shut it down
        yield int(cluster_resources().get("GPU", 0))
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    with contextlib.ExitStack() as stack:
        temporary = None if address else stack.enter_context(_temporary_folder())
        stack.callback(ray.shutdown)
        if address is None:
            stack.enter_context(_private())
            try:
                ray.init(
                    address="local",
                    num_cpus=n_cpus or available_cores(),
                    include_dashboard=False,
                    object_store_memory=OBJECT_STORE,
                    _temp_dir=temporary,
                    **_QUIET,
                )
            except Exception as error:  # after 30 s without an answer Ray raises just that
                raise ConfigError(
                    f"Ray did not start on this machine: {first_line(error)}; "
                    "if the machine was busy, run the same command again"
                ) from error
        else:
            _connect(address)
        for number, handler in handlers.items():  # Ray has its own, which lose temporary files
            signal.signal(number, handler)
        with _terminating_as_ctrl_c():
            yield int(cluster_resources().get("GPU", 0))


@contextlib.contextmanager
def _private() -> Iterator[None]:
    """Let Ray listen on the loopback interface only, and only to those who have its token.

    Without its API server, which asks the network in which cloud it is even if it has no dashboard.
    Ray has public settings for none of these but the token; the tests look at what it does.
    """
    # One token for each process, since Ray reads it once. Others would be in the home directory.
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    if os.environ.setdefault("RAY_AUTH_MODE", "token") == "token":
        ray._raylet.Config.initialize("")  # type: ignore[attr-defined]  # reads the variables again
    before = ray_constants.ENABLE_RAY_CLUSTER, services.start_api_server
    os.environ[_ON_LOOPBACK] = "0"
    ray_constants.ENABLE_RAY_CLUSTER = False
    services.start_api_server = lambda *_, **__: (None, None)
    try:
        yield
    finally:
        os.environ.pop(_ON_LOOPBACK)
        ray_constants.ENABLE_RAY_CLUSTER, services.start_api_server = before


@contextlib.contextmanager
def _terminating_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM end calls of Ray by KeyboardInterrupt: other exceptions break them."""
    received: list[int] = []

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    handler = signal.getsignal(signal.SIGTERM)
    if callable(handler):  # otherwise the process is to end at once
        signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        if received:
            signal.raise_signal(signal.SIGTERM)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[str]:
    """A folder for Ray, whose name is short, since Ray has sockets in it.

    Those of runs that were killed are removed: nobody holds the lock on a file in them. The number
    of a process would not tell, since containers that share the folder have numbers of their own.
    """
    parent = tempfile.gettempdir()
    if len(os.fsencode(parent)) > _LONGEST:
        parent = "/tmp"
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(_FOLDER_PREFIX) and _is_abandoned(entry.path):
                shutil.rmtree(entry.path, ignore_errors=True)
    with writing_errors(parent):
        folder = tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=parent)
    try:
        with open(os.path.join(folder, "new"), "wb") as lock:
            try_lock(lock)
            os.rename(lock.name, os.path.join(folder, _LOCK))  # it has this name only when locked
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: str) -> bool:
    """Whether a folder is one of ours, and nobody uses it; others may have put anything there."""
    try:
        found, lock = os.lstat(folder), os.lstat(os.path.join(folder, _LOCK))
        if not (stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()):
            return False
        if not stat.S_ISREG(lock.st_mode):  # a pipe would block
            return False
        with open(os.path.join(folder, _LOCK), "rb") as file:
            return try_lock(file)
    except OSError:  # not there yet, or no longer
        return False


def cluster_resources() -> dict[str, float]:
    """The resources of all nodes together: CPU, GPU, memory."""
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return resources


def _connect(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        if port.isdecimal() and "/" not in host:  # Ray itself would try for minutes
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        ray.init(address=address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        reason = first_line(error)
        raise ConfigError(f"--address: there is no Ray cluster at {address}: {reason}") from None


def first_line(error: Exception) -> str:
    """The first line of a message of Ray, which may have very many."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
