"""The checks of a wheel and an sdist find what is wrong with them."""

import io
import subprocess
import tarfile
import zipfile

import pytest

from release import contents
from release.contents import LICENSE, LICENSE_FILES, SDIST, check_sdist, check_wheel

PACKAGE = {
    "capsrl/__init__.py": b'"""Labels."""\n\n__version__ = "1.2.3"\n',
    "capsrl/models/en/vocab.json": b"{}",
}
METADATA = "\n".join(
    [
        "Metadata-Version: 2.4",
        "Name: capsrl",
        "Version: 1.2.3",
        f"License-Expression: {LICENSE}",
        *(f"License-File: {name}" for name in sorted(LICENSE_FILES)),
        "Description-Content-Type: text/markdown",
        "",
        "# capsrl",
        "See [the paper](https://example.org/paper) for *naïve* [limits](#limits).",
    ]
).encode()
INFO = "capsrl-1.2.3.dist-info"
WHEEL = PACKAGE | {
    f"{INFO}/METADATA": METADATA,
    f"{INFO}/WHEEL": b"",
    f"{INFO}/RECORD": b"",
    f"{INFO}/entry_points.txt": b"",
    **{f"{INFO}/licenses/{name}": b"" for name in LICENSE_FILES},
}
SOURCES = PACKAGE | dict.fromkeys(SDIST, b"") | {"PKG-INFO": METADATA}


def write_wheel(folder, files):
    path = folder / "capsrl-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def write_sdist(folder, files):
    path = folder / "capsrl-1.2.3.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"capsrl-1.2.3/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_nothing_is_wrong_with_what_is_complete(tmp_path):
    assert check_wheel(write_wheel(tmp_path, WHEEL), PACKAGE) == []
    assert check_sdist(write_sdist(tmp_path, SOURCES), PACKAGE) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capsrl/models/en/vocab.json": None}, "expected capsrl/models/en/vocab.json, got no"),
        ({"capsrl/models/en/vocab.json": b"[]"}, "vocab.json as it is in the clone, got other"),
        ({"tests/test_x.py": b""}, "expected no tests/test_x.py; git does not have it"),
        ({"capsrl/__pycache__/a.pyc": b""}, "expected no capsrl/__pycache__/a.pyc; git does not"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_files_that_are_missing_changed_or_too_many_are_named(kind, change, message, tmp_path):
    write, check, complete = {
        "wheel": (write_wheel, check_wheel, WHEEL),
        "sdist": (write_sdist, check_sdist, SOURCES),
    }[kind]
    files = {name: data for name, data in (complete | change).items() if data is not None}
    [found] = check(write(tmp_path, files), PACKAGE)
    assert found.startswith(f"{tmp_path}/capsrl-1.2.3")
    assert message in found


def test_a_license_that_is_missing_is_named(tmp_path):
    name = f"{INFO}/licenses/capsrl/models/en/LICENSE"
    files = {key: data for key, data in WHEEL.items() if key != name}
    [found] = check_wheel(write_wheel(tmp_path, files), PACKAGE)
    assert f"expected {name}, got no such file" in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Version: 1.2.3", "Version: 1.2.4", "expected Version 1.2.3, got 1.2.4"),
        (f"n: {LICENSE}", "n: MIT", f"expected License-Expression {LICENSE}, got MIT"),
        ("License-File: NOTICE\n", "", "'NOTICE', 'capsrl/models/en/LICENSE', "),
        ("https://example.org/paper", "docs/x.md", "that work elsewhere [], got ['docs/x.md']"),
    ],
)
def test_metadata_that_is_wrong_is_shown(old, new, message, tmp_path):
    metadata = METADATA.decode().replace(old, new)
    assert metadata != METADATA.decode()
    files = WHEEL | {f"{INFO}/METADATA": metadata.encode()}
    [found] = check_wheel(write_wheel(tmp_path, files), PACKAGE)
    assert message in found


def test_what_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "MAX_BYTES", 100)
    wheel = write_wheel(tmp_path, WHEEL)
    [found] = check_wheel(wheel, PACKAGE)
    assert found == f"{wheel}: expected at most 100 bytes, got {wheel.stat().st_size:,}"


def test_a_package_is_what_git_has_or_would_add(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in ("a.py", "b.py", "gone.py", "data.bin", "x.pyc"):
        (tmp_path / "capsrl").mkdir(exist_ok=True)
        (tmp_path / "capsrl" / name).write_text(name)
    (tmp_path / "other.py").touch()
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    subprocess.run(["git", "add", "capsrl/a.py", "capsrl/gone.py"], cwd=tmp_path, check=True)
    (tmp_path / "capsrl/gone.py").unlink()
    assert contents.package_files(tmp_path) == {
        "capsrl/a.py": b"a.py",
        "capsrl/b.py": b"b.py",
        "capsrl/data.bin": b"data.bin",
    }


def test_a_folder_without_archives_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["contents", str(tmp_path)])
    with pytest.raises(SystemExit, match="expected one wheel and one sdist, got 0 and 0; run make"):
        contents.main()
