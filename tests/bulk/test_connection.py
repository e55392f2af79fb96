"""Ray on this machine: who can reach it, what it sends, what it leaves; stopping it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
import ray

from capsrl.bulk import connection
from capsrl.bulk.connection import connected
from capsrl.bulk.storage import try_lock
from tests.helpers.bulk_runs import write_texts

OFFLINE = ("unshare", "--map-root-user", "--net", "sh", "-c", "ip link set lo up")
LISTENS = "0A"  # the state of a socket in /proc/net/tcp
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    with connected(None, n_cpus=2):
        yield


def test_folders_of_killed_runs_are_removed(tmp_path, monkeypatch):
    """Those whose lock nobody holds, whatever the number of their process is."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(connection, "_LONGEST", 1000)
    dead, alive, begun = (tmp_path / f"capsrl-ray-{n}" for n in ("dead", "alive", "begun"))
    for folder in (dead, alive, begun):
        folder.mkdir()
    (dead / "capsrl.lock").touch()
    with open(alive / "capsrl.lock", "wb") as lock:
        assert try_lock(lock)
        with connection._temporary_folder() as first, connection._temporary_folder() as second:
            assert sorted(map(str, tmp_path.iterdir())) == sorted(
                [first, second, str(alive), str(begun)]
            )
    assert sorted(tmp_path.iterdir()) == [alive, begun]


def test_folders_of_others_harm_nobody(tmp_path, monkeypatch):
    """Anybody may make such names in a shared folder: pipes, links, folders of other users."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(connection, "_LONGEST", 1000)
    precious = tmp_path / "precious"
    for folder in (precious, *(tmp_path / f"capsrl-ray-{n}" for n in ("pipe", "99" * 40))):
        folder.mkdir()
    os.mkfifo(tmp_path / "capsrl-ray-pipe" / "capsrl.lock")
    (precious / "capsrl.lock").touch()
    (tmp_path / "capsrl-ray-link").symlink_to(precious)
    (tmp_path / "capsrl-ray-file").touch()
    before = sorted(tmp_path.iterdir())
    if os.getuid() == 0:
        theirs = tmp_path / "capsrl-ray-theirs"
        theirs.mkdir()
        (theirs / "capsrl.lock").touch()
        os.chown(theirs, 65534, 65534)
        before = sorted([*before, theirs])
    with connection._temporary_folder() as own:
        assert sorted(tmp_path.iterdir()) == sorted([*before, Path(own)])
        assert Path(own).stat().st_mode & 0o77 == 0
    assert sorted(tmp_path.iterdir()) == before


def descendants():
    """The processes that this one has started, and those that they have: pid -> command."""
    found, parents = {}, {str(os.getpid())}
    numbers = sorted(int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal())
    for _ in range(4):
        for pid in map(str, numbers):
            try:
                fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
                if fields[1] in parents:
                    found[pid] = Path("/proc", pid, "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
        parents |= found.keys()
    return found


def addresses_of(pids):
    """Where processes listen: the local addresses of their sockets, in hexadecimal."""
    sockets = set()
    for pid in pids:
        for entry in Path("/proc", pid, "fd").iterdir():
            try:
                sockets.add(os.readlink(entry))
            except OSError:
                continue
    rows = [
        line.split()
        for file in ("tcp", "tcp6")
        for line in Path("/proc/net", file).read_text().splitlines()[1:]
    ]
    return [row[1] for row in rows if row[3] == LISTENS and f"socket:[{row[9]}]" in sockets]


def test_ray_listens_on_the_loopback_interface_only():
    ray.get(ray.remote(lambda: None).remote())  # a worker is there
    processes = descendants()
    found = addresses_of([str(os.getpid()), *processes])
    assert len(found) >= 4  # gcs_server, raylet, worker, driver
    assert {address.partition(":")[0] for address in found} <= LOOPBACK
    # What asks the network in which cloud it is.
    assert not any("dashboard.py" in command for command in processes.values())


@pytest.mark.slow  # Ray tries for half a minute
@pytest.mark.parametrize(
    "environment", [{}, {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64}]
)
def test_nobody_joins_without_the_token(environment):
    """Another user of this machine, who knows the address."""
    address = ray.get_runtime_context().gcs_address
    code = f"import ray; ray.init('{address}'); print('in')"
    hidden = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    with tempfile.TemporaryDirectory() as home:
        tried = subprocess.run(
            [sys.executable, "-c", code],
            env={**hidden, "HOME": home, **environment},
            capture_output=True,
            text=True,
        )
    assert tried.returncode != 0
    assert "in" not in tried.stdout.split()
    assert "Unauthenticated" in tried.stderr or "AuthenticationError" in tried.stderr


def can_leave_the_network():
    """Whether this system lets us make a namespace without a network."""
    try:
        return not subprocess.run(OFFLINE, capture_output=True).returncode
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not can_leave_the_network(), reason="needs unshare --net and ip")
def test_a_run_without_a_network(tmp_path):
    write_texts(tmp_path / "in.jsonl", 20)
    bulk = f"{sys.executable} -m capsrl bulk {tmp_path}/in.jsonl {tmp_path}/out"
    ran = subprocess.run(
        [*OFFLINE[:-1], f"{OFFLINE[-1]} && {bulk}"], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert "20 documents" in ran.stdout + ran.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_nothing_is_sent(tmp_path):
    """No process of a run connects to anything but this machine, nor asks for names."""
    bulk = [sys.executable, "-m", "capsrl", "bulk", write_texts(tmp_path / "in.jsonl", 20)]
    trace = ["strace", "-f", "-qq", "-e", "trace=connect,sendto", "-o", tmp_path / "trace"]
    subprocess.run([*trace, *bulk, tmp_path / "out"], check=True, timeout=120)
    calls = [call for call in (tmp_path / "trace").read_text().splitlines() if "sin" in call]
    assert calls  # of the processes of Ray to each other
    assert [call for call in calls if "127.0.0.1" not in call and "::1" not in call] == []


class Stopped(BaseException):
    """What the handler of a signal raises."""


def test_names_of_sockets_are_short(tmp_path, monkeypatch):
    """Ray cannot start below a TMPDIR with a long name, as it is on macOS."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 20)))
    with connection._temporary_folder() as own:
        assert Path(own).parent == Path("/tmp")


def test_a_ray_that_does_not_start(tmp_path):
    """Ray has exceptions of many kinds for that; here names of sockets are too long for it."""
    write_texts(tmp_path / "in.jsonl", 1)
    (tmp_path / ("x" * 90)).mkdir()
    code = """
import sys, capsrl.bulk.connection, capsrl.cli
capsrl.bulk.connection._LONGEST = 1000
sys.argv = ["capsrl", "bulk", "in.jsonl", "out"]
capsrl.cli.main()
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path / ("x" * 90))}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.startswith("error: Ray did not start on this machine: ")
    assert "Traceback" not in ran.stderr
    assert [*(tmp_path / ("x" * 90)).iterdir()] == []


@pytest.mark.parametrize("call", [lambda ref: ray.wait([ref], timeout=20), ray.get])
def test_sigterm_while_ray_waits(call):
    """Its handler is called, whatever it raises; Ray alone would make that a SystemError."""

    def stop(number, frame):
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    ref = ray.remote(lambda: time.sleep(20)).remote()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
    try:
        timer.start()
        with pytest.raises(Stopped), connection._terminating_as_ctrl_c():
            call(ref)
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        timer.cancel()
        signal.signal(signal.SIGTERM, before)
        ray.cancel(ref, force=True)
