"""capsrl: who did what to whom, as propositions with senses, roles and confidences.

>>> import capsrl
>>> labeler = capsrl.load()
>>> [sentence] = labeler.label("Hiti signed the contract.")
>>> sentence.propositions[0].sense
'sign.02'
"""

from pathlib import Path
from typing import TYPE_CHECKING

from capsrl.errors import CapsrlError, ConfigError, DataError, ModelError
from capsrl.sentence import Argument, Proposition, Sentence, Trace

if TYPE_CHECKING:  # torch takes a second to import, and reading or scoring files needs none
    from capsrl.labeler import Labeler

__version__ = "0.1.0"

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
    """The labeler of a model: the name of one that ships with capsrl, or a model folder."""
    try:
        from capsrl.labeler import Labeler
    except ModuleNotFoundError as error:
        raise ConfigError(f"labelling needs {error.name}: pip install 'capsrl[model]'") from None
    shipped = Path(__file__).parent / "models" / str(model)
    return Labeler.load(shipped if shipped.is_dir() else model, device=device)
