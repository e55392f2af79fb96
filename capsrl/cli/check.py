"""`capsrl check MODEL|FOLDER`: look for damage."""

import sys
from collections.abc import Sequence
from pathlib import Path

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

    Prints every model, file and output that is whole, and exits with 2 if any is damaged or none is
    found. In FOLDER, all folders are searched.
    """
    root, whole = find_model(folder), []
    damages: list[CapsrlError] = []
    models = sorted(file.parent for file in root.rglob(MANIFEST))
    files = sorted(root.rglob("*.safetensors"))
    outputs = sorted(file.parent for file in root.rglob(PLAN))
    for path in (*models, *files, *outputs):
        try:
            found = _damages_of(path, models)
        except CapsrlError as error:
            found = [error]
        if found:
            damages += found
        elif found is not None:
            whole.append(path)
    sys.stdout.writelines(f"{path}: whole\n" for path in whole)
    if not damages and not whole:
        raise ModelError(
            f"{folder}: nothing to check: no {MANIFEST}, checkpoint, soft labels or output of bulk"
        )
    if damages:
        raise ModelError("\n".join(map(str, damages)))


def _damages_of(path: Path, models: Sequence[Path]) -> Sequence[CapsrlError] | None:
    """The damages of a model, a file or an output of bulk; None if nothing says how it was."""
    if path in models:
        return list(find_damage(path, thorough=True))
    if path.suffix == ".safetensors":
        is_sealed = not any(model in path.parents for model in models) and check_seal(path)
        return [] if is_sealed else None
    plan = read_plan(Folder(str(path))) if (path / "data").is_dir() else None
    if plan is None:
        return None
    told = "missing, or not as the log says; run the same capsrl bulk command again"
    names = find_damaged(plan, Folder(str(path)))
    return [DataError(f"{path}/{name}: {told}") for name in names]
