"""`capsrl check MODEL|FOLDER`: look for damage."""

import sys
from collections.abc import Iterator
from pathlib import Path

from capsrl.cli.options import argument, command
from capsrl.errors import CapsrlError, ModelError
from capsrl.files.sealing import check_seal
from capsrl.models import find_model
from capsrl.predict.folder import MANIFEST
from capsrl.predict.manifest import find_damage


@command({"Arguments": [argument("folder", "MODEL|FOLDER", "Name of a model, or a folder.")]})
def check_command(folder: str) -> None:
    """Compare models, checkpoints and soft labels with the SHA-256 that were saved with them.

    Prints every model and file that was compared, and exits with 2 if anything is damaged. In
    FOLDER, all folders are searched.
    """
    damages: list[CapsrlError] = []
    n_checked = 0
    for path, found in _check_all(find_model(folder)):
        damages += found
        n_checked += 1
        if not found:
            sys.stdout.write(f"{path}: whole\n")
    if damages:
        raise ModelError("\n".join(map(str, damages)))
    if not n_checked:
        raise ModelError(f"{folder}: nothing to check: no {MANIFEST}, checkpoint or soft labels")


def _check_all(folder: Path) -> Iterator[tuple[Path, list[CapsrlError]]]:
    """Yield the models and sealed files in a folder, with what is damaged in each."""
    manifests = sorted(folder.rglob(MANIFEST))
    for file in manifests:
        try:
            yield file.parent, list(find_damage(file.parent, thorough=True))
        except ModelError as error:  # the manifest itself
            yield file.parent, [error]
    models = {file.parent for file in manifests}
    for file in sorted(folder.rglob("*.safetensors")):
        if not models.intersection(file.parents):
            try:
                if check_seal(file):
                    yield file, []
            except CapsrlError as error:
                yield file, [error]
