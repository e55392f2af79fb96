"""`capsrl check MODEL|FOLDER`: look for damage."""

import sys

from capsrl.cli.options import argument, command
from capsrl.errors import CapsrlError, ModelError
from capsrl.files.sealing import check_seal
from capsrl.models import find_model
from capsrl.predict.folder import MANIFEST
from capsrl.predict.manifest import find_damage


@command({"Arguments": [argument("folder", "MODEL|FOLDER", "Name of a model, or a folder.")]})
def check_command(folder: str) -> None:
    """Compare models, checkpoints and soft labels with the SHA-256 that were saved with them.

    Prints every model and file that is whole, and exits with 2 if any is damaged or none is found.
    In FOLDER, all folders are searched.
    """
    root, whole = find_model(folder), []
    damages: list[CapsrlError] = []
    manifests = sorted(root.rglob(MANIFEST))
    for file in (*manifests, *sorted(root.rglob("*.safetensors"))):
        try:
            if file in manifests:
                found = list(find_damage(file.parent, thorough=True))
                damages += found
                whole += [] if found else [file.parent]
            elif not any(each.parent in file.parents for each in manifests) and check_seal(file):
                whole.append(file)
        except CapsrlError as error:
            damages.append(error)
    sys.stdout.writelines(f"{path}: whole\n" for path in whole)
    if not damages and not whole:
        raise ModelError(f"{folder}: nothing to check: no {MANIFEST}, checkpoint or soft labels")
    if damages:
        raise ModelError("\n".join(map(str, damages)))
