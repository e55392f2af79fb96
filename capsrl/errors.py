"""The errors that capsrl raises for mistakes in a user's input.

CapsrlError            caught once, in the command line, where it becomes exit code 2
├── DataError          a corpus or text that cannot be read: names file and line
├── ConfigError        a recipe or option that is unknown or out of range: names every bad key
└── ModelError         a model folder that is incomplete or damaged: names the file

A message reads ``where: what is wrong; how to fix``, on one line; "expected X, got Y" is for values
that are compared.
"""


class CapsrlError(Exception):
    """A mistake in the user's input; the message says where it is and how to fix it."""


class DataError(CapsrlError, ValueError):
    """A file or text does not have the contents that its format requires."""


class ConfigError(CapsrlError, ValueError):
    """A recipe or a command-line option is unknown, missing or out of range."""


class ModelError(CapsrlError):
    """A model folder is incomplete, damaged or newer than this version."""


def install_hint(extra: str) -> str:
    """How to install an extra of capsrl, for messages about a package that is missing."""
    return f"pip install 'capsrl[{extra}]' (from a clone: pip install '.[{extra}]')"
