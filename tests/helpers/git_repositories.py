"""Git repositories with a few files, as checkouts of public ones."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

_AUTHOR = ("-c", "user.name=Mira", "-c", "user.email=mira@example.org", "-c", "core.autocrlf=false")


def commit_files(folder: Path, files: Mapping[str, str]) -> str:
    """Commit files in a repository, which is made if necessary; return the commit."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    run_git(folder, "init", "--quiet")
    run_git(folder, "add", "--all")
    run_git(folder, *_AUTHOR, "commit", "--quiet", "--allow-empty", "--message", "files")
    return run_git(folder, "rev-parse", "HEAD")


def run_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return what it prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
