"""capsrl: who did what to whom, as propositions with senses, roles and confidences.

>>> import capsrl
>>> labeler = capsrl.load()
>>> [sentence] = labeler.label("Hiti signed the contract.")
>>> sentence.propositions[0].sense
'sign.01'
"""

from pathlib import Path
from typing import TYPE_CHECKING

from capsrl.errors import CapsrlError, ConfigError, DataError, ModelError
from capsrl.sentence import Argument, Proposition, Sentence, Trace

if TYPE_CHECKING:  # torch takes a second to import, and reading or scoring files needs none
    from capsrl.labeler import Labeler

__version__ = "0.1.0"
_MODELS = Path(__file__).parent / "models"

__all__ = [
    "Argument",
    "CapsrlError",
    "ConfigError",
    "DataError",
    "ModelError",
    "Proposition",
    "Sentence",
    "Trace",
    "load",
]


def load(model: str | Path = "en", *, device: str = "cpu") -> "Labeler":
    """The labeler of a model: the name of one that ships with capsrl, or a model folder.

    Raises ModelError for what is neither, ConfigError when torch is not installed.
    """
    try:
        from capsrl.labeler import Labeler
    except ModuleNotFoundError as error:
        raise ConfigError(f"labelling needs {error.name}: pip install 'capsrl[model]'") from None
    shipped = {file.parent.name: file.parent for file in _MODELS.glob("*/config.json")}
    folder = shipped.get(str(model), Path(model))
    if not folder.is_dir():
        raise ModelError(
            f"{model}: expected a model folder, or the name of a model that ships with capsrl "
            f"({', '.join(sorted(shipped))}), got neither"
        )
    return Labeler.load(folder, device=device)
