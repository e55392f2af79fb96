"""Check what a wheel and an sdist contain: `python -m release.contents dist`.

Both must have exactly the files of capsrl/ that git has or would add, byte for byte, their metadata
and their licenses. Nothing else: no tests, caches or corpora.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 45_000_000
LICENSE = "Apache-2.0 AND CC-BY-SA-4.0 AND MIT"
LICENSE_FILES = {
    "LICENSE",
    "NOTICE",
    "capsrl/models/en/LICENSE",
    "capsrl/text/english_forms.LICENSE",
}
DIST_INFO = {"METADATA", "RECORD", "WHEEL", "entry_points.txt"}
SDIST = {
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "NOTICE",
    "PKG-INFO",
    "README.md",
    "pyproject.toml",
}
RELATIVE_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]*)\)")

Files = dict[str, bytes]  # path in the archive -> contents


def main() -> None:
    """Print the sizes of the archives in a folder, and what is wrong with them."""
    folder = Path(sys.argv[1])
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if (len(wheels), len(sdists)) != (1, 1):
        sys.exit(
            f"error: {folder}: expected one wheel and one sdist, got {len(wheels)} and "
            f"{len(sdists)}; run make wheel"
        )
    package = package_files(ROOT)
    found = check_wheel(wheels[0], package) + check_sdist(sdists[0], package)
    for archive in (*wheels, *sdists):
        print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB, {len(package)} files of capsrl")
    if found:
        sys.exit("\n".join(f"error: {each}" for each in found))


def package_files(root: Path) -> Files:
    """The files of the package in a clone: those that git has, and new ones it does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "capsrl"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    paths = (root / name for name in listed.split("\0") if name)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths if path.exists()}


def check_wheel(wheel: Path, package: Files) -> list[str]:
    """What is wrong with a wheel, given the files of the package; empty if nothing is."""
    files = read_archive(wheel)
    info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    around = {f"{info}/{name}" for name in DIST_INFO}
    around |= {f"{info}/licenses/{name}" for name in LICENSE_FILES}
    found = _compare(wheel, files, package, around)
    if f"{info}/METADATA" in files:
        found += _check_metadata(wheel, files[f"{info}/METADATA"], package)
    return found


def check_sdist(sdist: Path, package: Files) -> list[str]:
    """What is wrong with an sdist, given the files of the package; empty if nothing is."""
    top = sdist.name.removesuffix(".tar.gz")
    files = {name.removeprefix(f"{top}/"): data for name, data in read_archive(sdist).items()}
    found = _compare(sdist, files, package, SDIST)
    if "PKG-INFO" in files:
        found += _check_metadata(sdist, files["PKG-INFO"], package)
    return found


def read_archive(path: Path) -> Files:
    """The files in a zip or tar archive."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(path) as sdist:
        members = [(each.name, sdist.extractfile(each)) for each in sdist if not each.isdir()]
        return {name: file.read() if file else b"" for name, file in members}


def _compare(archive: Path, files: Files, package: Files, around: set[str]) -> list[str]:
    wanted = package.keys() | around
    found = [f"{archive}: expected {name}, got no such file" for name in wanted - files.keys()]
    found += [
        f"{archive}: expected no {name}; git does not have it" for name in files.keys() - wanted
    ]
    found += [
        f"{archive}: expected {name} as it is in the clone, got other bytes; build it again"
        for name in package.keys() & files.keys()
        if package[name] != files[name]
    ]
    size = archive.stat().st_size
    if size > MAX_BYTES:
        found.append(f"{archive}: expected at most {MAX_BYTES:,} bytes, got {size:,}")
    return sorted(found)


def _check_metadata(archive: Path, text: bytes, package: Files) -> list[str]:
    metadata = BytesParser().parsebytes(text)
    fields = {
        "Version": (version_of(package), metadata["Version"]),
        "License-Expression": (LICENSE, metadata["License-Expression"]),
        "License-File": (sorted(LICENSE_FILES), sorted(metadata.get_all("License-File", []))),
        "links that work elsewhere": ([], RELATIVE_LINK.findall(_description(metadata))),
    }
    return [
        f"{archive}: expected {name} {wanted}, got {got}"
        for name, (wanted, got) in fields.items()
        if wanted != got
    ]


def version_of(package: Files) -> str:
    """The version that the package states."""
    [found] = re.findall(rb'^__version__ = "(.+)"$', package["capsrl/__init__.py"], re.M)
    return str(found.decode())


def _description(metadata: Message) -> str:
    payload = metadata.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode()


if __name__ == "__main__":
    main()
