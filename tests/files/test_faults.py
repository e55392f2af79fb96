"""Whatever fails while a file or folder is replaced, the old or the new one is there, whole."""

from pathlib import Path

import pytest

from capsrl.files.replacing import replacing, replacing_folder
from tests.helpers.faults import CHANGES, faults, has_strace

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not has_strace(), reason="needs strace")]

FILE = """
from capsrl.files.opening import open_writer
with open_writer("out") as file:
    file.write("new")
"""
FOLDER = """
from capsrl.files.replacing import replacing_folder
with replacing_folder("out") as new:
    (new / "one").write_text("new")
    (new / "inner").mkdir()
    (new / "inner" / "two").write_text("new")
"""
# As on a system that cannot exchange two names.
WITHOUT_EXCHANGE = f"""
import capsrl.files.replacing
capsrl.files.replacing.ctypes.CDLL = lambda name: object()
{FOLDER}
"""
FILES = ("one", "inner/two")


def put_back(folder: Path) -> None:
    """Make the next run: it leaves nothing but what it writes."""
    with replacing_folder(folder / "out") as new:
        (new / "inner").mkdir()
        for name in FILES:
            (new / name).write_text("old")


@pytest.mark.parametrize("kind", ["error=EIO", "signal=INT", "signal=KILL"])
@pytest.mark.parametrize("code", [FOLDER, WITHOUT_EXCHANGE], ids=["exchange", "rename"])
def test_folder(tmp_path, kind, code):
    put_back(tmp_path)
    n_faults = n_old = 0
    for fault in faults(code, tmp_path, kind=kind, calls=() if "error" in kind else CHANGES):
        is_killed = kind == "signal=KILL" and code == WITHOUT_EXCHANGE
        if is_killed and not (tmp_path / "out").exists():  # between two renames
            # The next run moves it back.
            with pytest.raises(KeyError), replacing_folder(tmp_path / "out"):
                raise KeyError
        found = {(tmp_path / "out" / name).read_text() for name in FILES}
        assert found in ({"old"}, {"new"}), fault
        put_back(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["out"], fault
        n_faults, n_old = n_faults + 1, n_old + (found == {"old"})
    assert n_faults > 20 and 5 < n_old < n_faults


@pytest.mark.parametrize("kind", ["error=EIO", "error=ENOSPC", "signal=INT", "signal=KILL"])
def test_file(tmp_path, kind):
    path = tmp_path / "out"
    path.write_text("old")
    n_faults = n_old = 0
    for fault in faults(FILE, tmp_path, kind=kind, calls=() if "error" in kind else CHANGES):
        content = path.read_text()
        assert content in ("old", "new"), fault
        with replacing(path) as temporary:
            temporary.write_text("old")
        assert [path.name for path in tmp_path.iterdir()] == ["out"], fault
        n_faults, n_old = n_faults + 1, n_old + (content == "old")
    assert n_faults > 5 and 2 < n_old < n_faults
