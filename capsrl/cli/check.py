"""`capsrl check MODEL|FOLDER`: look for damage."""

import sys

from capsrl.bulk.monitor import find_damaged
from capsrl.bulk.plan import PLAN, read_plan
from capsrl.bulk.storage import Folder
from capsrl.cli.options import argument, command
from capsrl.errors import CapsrlError, DataError, ModelError
from capsrl.files.sealing import check_seal
from capsrl.models import find_model
from capsrl.predict.folder import MANIFEST
from capsrl.predict.manifest import find_damage


@command({"Arguments": [argument("folder", "MODEL|FOLDER", "Name of a model, or a folder.")]})
def check_command(folder: str) -> None:
    """Compare models, checkpoints, soft labels and outputs of bulk with their SHA-256.

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
    for folder_of_bulk in sorted(file.parent for file in root.rglob(PLAN)):
        try:
            damaged = _damaged_outputs(Folder(str(folder_of_bulk)))
            damages += damaged
            whole += [] if damaged else [folder_of_bulk]
        except CapsrlError as error:
            damages.append(error)
    sys.stdout.writelines(f"{path}: whole\n" for path in whole)
    if not damages and not whole:
        raise ModelError(
            f"{folder}: nothing to check: no {MANIFEST}, checkpoint, soft labels or output of bulk"
        )
    if damages:
        raise ModelError("\n".join(map(str, damages)))


def _damaged_outputs(folder: Folder) -> list[DataError]:
    plan = read_plan(folder)
    advice = "run the same capsrl bulk command again"
    return [
        DataError(f"{folder.url}/{name}: missing, or not as the log says: {advice}")
        for name in (find_damaged(plan, folder) if plan else ())
    ]
