"""Commands use no network and write nothing but their output, as the system calls show."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.bulk_runs import write_texts
from tests.helpers.faults import has_strace
from tests.helpers.tiny_runs import SETTINGS, TINY

ROOT = Path(__file__).resolve().parent.parent
OFFLINE = ["unshare", "--map-root-user", "--net"]
# A network of its own has not even the loopback interface, which Ray needs, before it is raised.
RAISE = """
import fcntl, os, socket, struct, sys
with socket.socket() as any:
    fcntl.ioctl(any, 0x8914, struct.pack("16sh", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
os.execvp(sys.argv[1], sys.argv[1:])
"""
CALLS = "openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat"
CALLS += ",unlink,unlinkat,rmdir,truncate,chmod,fchmodat,mknod,mknodat,connect,sendto,sendmsg"
LINE = re.compile(r"^(\w+)\((.*)\) += (?!-1 )")
ADDRESS = re.compile(r'inet_addr\("([\d.]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
DEVICES = ("/dev/null", "/dev/tty", "/dev/pts/", "/proc/")


@cache
def can_isolate() -> bool:
    """Whether this machine lets users make networks of their own, and watch programs."""
    if shutil.which("unshare") is None or not has_strace():
        return False
    command = [*OFFLINE, sys.executable, "-c", RAISE, "strace", "-f", "-o/dev/null", "true"]
    return subprocess.run(command, capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_isolate(), reason="needs strace and user namespaces"),
]


@pytest.fixture
def temporary():
    """A folder for temporary files with a short name: Ray puts sockets there."""
    with tempfile.TemporaryDirectory(prefix="iso-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def run(folder, temporary, *arguments):
    """Run a command in a folder, without a network; gives the lines of strace."""
    (folder / "home").mkdir()
    log = folder.parent / f"{folder.name}.strace"
    # A log for each process: calls of two at a time would be cut in two lines.
    watch = ["strace", "-ff", "--seccomp-bpf", "-y", "-s4096", "-o", log, "-e", f"trace={CALLS}"]
    command = [sys.executable, "-m", "capsrl", *map(str, arguments)]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    variables = {"HOME": folder / "home", "TMPDIR": temporary, "PYTHONPATH": paths}
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [*OFFLINE, sys.executable, "-c", RAISE, *watch, *command],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    logs = log.parent.glob(f"{log.name}.*")
    return [line for each in logs for line in each.read_text("utf-8", "replace").splitlines()]


def changed(lines, folder):
    """The paths that were opened for writing, made, renamed or removed."""
    for line in lines:
        found = LINE.match(line)
        if not found or found[1] in ("connect", "sendto", "sendmsg"):
            continue
        call, arguments = found.groups()
        if call in ("open", "openat") and not re.search("O_WRONLY|O_RDWR|O_CREAT", arguments):
            continue
        for place, path in re.findall(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"', arguments):
            yield os.path.normpath(Path(place or folder, path))


def others(lines, folder, *allowed):
    """Those that are neither the output nor its temporary names beside it."""
    places = (f"{folder}/out", f"{folder}/.out", *DEVICES, *map(str, allowed))
    return {path for path in changed(lines, folder) if not path.startswith(places)}


def addresses(lines):
    """The addresses that were connected or sent to."""
    found = (pair for line in lines for pair in ADDRESS.findall(line))
    return {first or second for first, second in found}


def test_label(folder, temporary):
    (folder / "in.txt").write_text("Mira sold her bicycle.\n")
    lines = run(folder, temporary, "label", "in.txt", "-o", "out.jsonl", "--device", "cpu")
    assert f"{folder}/out.jsonl" in changed(lines, folder)
    assert others(lines, folder) == set()
    assert addresses(lines) == set()


def test_train(folder, temporary):
    sets = [part for each in (*SETTINGS, "train.epochs=1") for part in ("--set", each)]
    lines = run(folder, temporary, "train", TINY, "--out", "out", "--device", "cpu", *sets)
    assert f"{folder}/out/model" in changed(lines, folder)
    # matplotlib, which draws the training curves, keeps a list of fonts.
    caches = [folder / "home" / name for name in (".config", ".cache")]
    assert others(lines, folder, temporary, *caches) == set()
    assert {path.name for each in caches for path in each.iterdir()} == {"matplotlib"}
    assert addresses(lines) == set()


def test_bulk(folder, temporary):
    """Ray's processes talk on the loopback interface, and Ray keeps objects in /dev/shm."""
    write_texts(folder / "in.jsonl", 20)
    lines = run(folder, temporary, "bulk", "in.jsonl", "out", "--workers", "1")
    assert any(path.startswith(f"{folder}/out/data/part") for path in changed(lines, folder))
    assert others(lines, folder, temporary, "/dev/shm/") == set()
    assert addresses(lines) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"}
