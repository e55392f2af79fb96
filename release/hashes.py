"""Write the versions and hashes of all that labeling needs: `python -m release.hashes FILE`.

pip finds the wheels of the versions in constraints.txt for each platform and Python below, and
their SHA-256. With `pip install --require-hashes -r release/requirements.txt` nothing else is
installed than those. Needs pip and an index of packages.
"""

import itertools
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
# For each kind of machine the tags of wheels, newest first.
PLATFORMS = (
    ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64"),
    ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64"),
    ("macosx_14_0_arm64",),
    ("win_amd64",),
)
# pip asks the machine it runs on which packages Windows needs besides.
WINDOWS_ONLY = ("colorama",)
_HEADER = """\
# All that `pip install capsrl` brings in, for Python {pythons} on Linux (x86-64, ARM),
# macOS (ARM) and Windows: pip install --require-hashes -r release/requirements.txt
# To renew: make hashes
"""

Hashes = dict[tuple[str, str], set[str]]  # name and version -> SHA-256 of wheels


def main() -> None:
    """Ask pip for every platform and Python, and write the file."""
    target = Path(sys.argv[1])
    found: Hashes = {}
    for platform, python in itertools.product(PLATFORMS, PYTHONS):
        print(f"{platform[0]}, Python {python}", file=sys.stderr)
        for name, version, digest in read_report(report(platform, python)):
            found.setdefault((name, version), set()).add(digest)
    target.write_text(format_requirements(found), encoding="utf-8")


def dependencies() -> list[str]:
    """What the wheel requires, without extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def report(platform: Iterable[str], python: str) -> dict[str, Any]:
    """What pip would install on a platform."""
    wanted = [*dependencies(), *(WINDOWS_ONLY if "win_amd64" in platform else ())]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report"]
        command += [f"{folder}/report.json", "--target", folder, "--only-binary=:all:"]
        command += ["--python-version", python, "-c", str(ROOT / "constraints.txt")]
        command += [option for tag in platform for option in ("--platform", tag)]
        subprocess.run([*command, *wanted], check=True, stdout=subprocess.DEVNULL)
        return dict(json.loads(Path(folder, "report.json").read_text(encoding="utf-8")))


def read_report(found: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Name, version and SHA-256 of every wheel in a report of pip."""
    return [
        (
            each["metadata"]["name"].lower().replace("_", "-"),
            each["metadata"]["version"],
            each["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for each in found["install"]
    ]


def format_requirements(found: Hashes) -> str:
    """The text of the file; raises ValueError if two versions of a package were found."""
    names = [name for name, _ in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"expected one version of each package, got several of {twice}")
    parts = [_HEADER.format(pythons=f"{PYTHONS[0]} to {PYTHONS[-1]}")]
    for (name, version), digests in sorted(found.items()):
        marker = ' ; sys_platform == "win32"' if name in WINDOWS_ONLY else ""
        hashes = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(digests))
        parts.append(f"{name}=={version}{marker}{hashes}\n")
    return "".join(parts)


if __name__ == "__main__":
    main()
