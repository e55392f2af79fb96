"""capsrl: who did what to whom, as propositions with senses, roles and confidences."""

from capsrl.errors import CapsrlError, ConfigError, DataError, ModelError
from capsrl.sentence import Argument, Proposition, Sentence

__version__ = "0.1.0"

__all__ = [
    "Argument",
    "CapsrlError",
    "ConfigError",
    "DataError",
    "ModelError",
    "Proposition",
    "Sentence",
]
