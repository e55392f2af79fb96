"""A model folder as bytes, for pipelines that are saved as bytes."""

from pathlib import Path

from capsrl.errors import ModelError


def read_files(folder: Path) -> dict[str, bytes]:
    """The contents of all files in a folder, by their relative paths."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write such files; raises ModelError for a path that leads out of the folder."""
    for name, content in files.items():
        file = folder / name
        if not file.resolve().is_relative_to(folder.resolve()):
            raise ModelError(f"pipeline bytes: expected files of a model folder, got {name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
