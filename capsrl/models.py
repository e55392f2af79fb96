"""The models that ship with capsrl, in the folder `models` beside this module."""

from pathlib import Path

from capsrl.errors import ModelError

_PACKAGE = Path(__file__).parent


def find_model(model: str | Path) -> Path:
    """The folder of a model that ships with capsrl, or the folder given; raises ModelError."""
    folder = shipped_models().get(str(model), Path(model))
    if folder.is_dir():
        return folder
    if not _PACKAGE.is_dir():
        raise ModelError(
            f"{model}: capsrl runs from the archive {_archive()}, and models must be folders; "
            "unpack the archive, or give the path of a model folder"
        )
    raise ModelError(
        f"{model}: not a model folder, nor the name of a model that ships with capsrl "
        f"({', '.join(sorted(shipped_models()))})"
    )


def shipped_models() -> dict[str, Path]:
    """The models that ship with capsrl: name -> folder; none if capsrl runs from a zip file."""
    return {file.parent.name: file.parent for file in _PACKAGE.glob("models/*/config.json")}


def _archive() -> Path:
    """The zip file, or whatever else it is, that has the package."""
    return next(parent for parent in _PACKAGE.parents if parent.exists())
