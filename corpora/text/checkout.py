"""Read the files of one commit from git repositories on disk.

Files come from the commit itself: branches, later commits and changed files do not matter, and a
bare repository will do. Nothing is downloaded.
"""

import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from capsrl.errors import DataError

_LIST = "`python -m corpora text --list` prints the git commands"


def fetch_commands(repository: str, commit: str, folder: Path) -> list[str]:
    """Return the shell commands that fetch one commit of a repository from GitHub."""
    target = shlex.quote(str(folder / repository.replace("/", "+")))
    # A branch of its own keeps the commit from being pruned.
    wanted = f"https://github.com/{repository} {commit}:refs/heads/pinned"
    return [
        f"git init --quiet --bare {target}",
        f"git -C {target} fetch --quiet --depth 1 {wanted}",
    ]


def check_checkouts(folder: Path, commits: Mapping[str, str]) -> None:
    """Raise DataError that names every repository that is missing or lacks its commit."""
    missing: list[str] = []
    outdated: list[str] = []
    for repository, commit in sorted(commits.items()):
        if (git_folder := _git_folder(folder, repository)) is None:
            missing.append(repository)
        elif _git(git_folder, "cat-file", "-e", f"{commit}^{{commit}}") is None:
            head = (_git(git_folder, "rev-parse", "--short=12", "HEAD") or b"nothing").decode()
            outdated.append(f"{repository} (expected {commit[:12]}, got {head.strip()})")
    problems = [
        f"{problem} {', '.join(names)}"
        for problem, names in (("no checkout of", missing), ("another commit of", outdated))
        if names
    ]
    if problems:
        raise DataError(f"{folder}: {'; '.join(problems)}; {_LIST}")


def read_files(
    folder: Path, repository: str, commit: str, paths: str
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the files of a commit whose whole path matches a pattern, with the match, by path.

    Raises DataError if no file matches or a file is absent, as in a copy without large files.
    """
    git_folder = _git_folder(folder, repository)
    listing = None if git_folder is None else _git(git_folder, "ls-tree", "-r", "-z", commit)
    if git_folder is None or listing is None:
        raise DataError(f"{folder}: no checkout of {repository} at {commit[:12]}; {_LIST}")
    entries = [entry.split("\t", 1) for entry in listing.decode().split("\0") if entry]
    found = [
        (match, info.split()[2]) for info, path in entries if (match := re.fullmatch(paths, path))
    ]
    if not found:
        raise DataError(f"{repository} at {commit[:12]}: no file matches {paths}")
    for (match, _), data in zip(
        found, _contents(git_folder, [blob for _, blob in found]), strict=True
    ):
        if data is None:
            raise DataError(f"{repository} at {commit[:12]}: {match[0]} is absent; {_LIST}")
        yield match, data.decode("utf-8", "replace").removeprefix("\ufeff")


def _git_folder(folder: Path, repository: str) -> Path | None:
    """Find a repository as owner+name or owner/name, with a work tree or bare."""
    for name in (repository.replace("/", "+"), repository):
        for git_folder in (folder / name / ".git", folder / name):
            # A path without this check would lead git to a repository around the folder.
            if git_folder.is_file() or (git_folder / "HEAD").is_file():
                return git_folder
    return None


def _git(git_folder: Path, *arguments: str) -> bytes | None:
    """Return what a git command prints, None if it fails."""
    command = ["git", "--git-dir", str(git_folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise DataError("git: no such program; checkouts are read with it") from None
    return None if done.returncode else done.stdout


def _contents(git_folder: Path, blobs: Iterable[str]) -> Iterator[bytes | None]:
    """Yield the content of each blob, None for an absent one; one is in memory at a time."""
    command = ["git", "--git-dir", str(git_folder), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        assert git.stdin and git.stdout
        for blob in blobs:
            git.stdin.write(f"{blob}\n".encode())
            git.stdin.flush()
            header = git.stdout.readline().split()  # id, type and size, or id and "missing"
            yield git.stdout.read(int(header[2]) + 1)[:-1] if len(header) == 3 else None
