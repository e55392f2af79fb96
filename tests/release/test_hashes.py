"""The listed hashes are those of all that labeling needs, in the tested versions."""

import re
from pathlib import Path

import pytest

from release.hashes import dependencies, format_requirements, read_report

ROOT = Path(__file__).resolve().parents[2]
LISTED = (ROOT / "release" / "requirements.txt").read_text(encoding="utf-8")
HASH = r" \\\n    --hash=sha256:[0-9a-f]{64}"
LINE = re.compile(rf'^([a-z0-9-]+)==(\S+)(?: ; sys_platform == "win32")?((?:{HASH})+)$', re.M)


def test_every_line_has_hashes():
    lines = [line for line in LISTED.splitlines() if not line.startswith("#")]
    assert "\n".join(found[0] for found in LINE.finditer(LISTED)) == "\n".join(lines)


def test_versions_are_the_tested_ones():
    """Run `make hashes` after constraints.txt has changed."""
    listed = {found[1]: found[2] for found in LINE.finditer(LISTED)}
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    tested = dict(re.findall(r"^([\w.-]+)==(\S+)$", constraints, re.M))
    tested = {name.lower().replace("_", "-"): version for name, version in tested.items()}
    assert {name: tested.get(name, version) for name, version in listed.items()} == listed
    assert {re.match(r"[\w-]+", each)[0] for each in dependencies()} <= listed.keys()


def test_every_platform_has_its_wheels():
    """One for each kind of machine at least, and for each Python where it matters."""
    n_hashes = {found[1]: found[3].count("--hash") for found in LINE.finditer(LISTED)}
    assert n_hashes["numpy"] >= 12 and n_hashes["onnxruntime"] >= 12
    assert n_hashes["protobuf"] >= 3 and n_hashes["click"] >= 1


def test_a_report_of_pip():
    info = {"archive_info": {"hashes": {"sha256": "ab"}}}
    installed = {"metadata": {"name": "A_b", "version": "1"}, "download_info": info}
    assert read_report({"install": [installed]}) == [("a-b", "1", "ab")]


def test_the_text_of_the_file():
    text = format_requirements({("b", "2"): {"dd", "cc"}, ("colorama", "1"): {"ee"}})
    _, found = text.split("make hashes\n")
    assert found == (
        "b==2 \\\n    --hash=sha256:cc \\\n    --hash=sha256:dd\n"
        'colorama==1 ; sys_platform == "win32" \\\n    --hash=sha256:ee\n'
    )
    with pytest.raises(ValueError, match=r"one version of each package, got several of \['b'\]"):
        format_requirements({("b", "1"): {"aa"}, ("b", "2"): {"bb"}})
