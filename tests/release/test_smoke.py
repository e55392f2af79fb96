"""The smoke test of an installed wheel can fail; `make test-wheel` runs it where it must not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from release import smoke

ROOT = Path(__file__).resolve().parents[2]


def test_an_environment_with_extras_is_refused():
    pytest.importorskip("torch")
    command = [sys.executable, "-I", str(ROOT / "release/smoke.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "error: expected none of the extras to be installed, got ['torch', " in done.stderr
    assert done.returncode == 1


def test_the_network_is_refused_in_python():
    code = smoke.CODE.replace("import capsrl", "import socket; socket.getaddrinfo('localhost', 1)")
    done = subprocess.run([sys.executable, "-c", code, "x"], capture_output=True, text=True)
    assert "OSError: labeling uses the network: socket.getaddrinfo ('localhost', 1" in done.stderr


def test_other_propositions_are_refused():
    phrases = [("A0", "Mira"), ("A1", "her bicycle")]
    arguments = [{"role": role, "phrase": {"text": text}} for role, text in phrases]
    line = json.dumps({"propositions": [{"sense": "sell.01", "arguments": arguments}]})
    with pytest.raises(SystemExit, match=r"got \[\('sell.01', \[\('A0', 'Mira'\), \('A1', 'her"):
        smoke.check_propositions(line)


def test_sizes_are_those_of_files_and_have_a_limit(tmp_path, monkeypatch, capsys):
    info = tmp_path / "pip-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: pip\nVersion: 1\n")
    (info / "RECORD").write_text("pip.py,,\n")
    (tmp_path / "pip.py").write_bytes(bytes(3_000_000))
    (tmp_path / "other.bin").write_bytes(bytes(2_000_000))
    monkeypatch.setattr(smoke, "MAX_BYTES", 5_100_000)
    smoke.check_size(tmp_path)
    assert "5 MB in 1 packages, 2 without pip" in capsys.readouterr().out
    monkeypatch.setattr(smoke, "MAX_BYTES", 4_000_000)
    with pytest.raises(SystemExit, match="expected at most 4 MB, got 5"):
        smoke.check_size(tmp_path)
