"""What can go wrong with what a user gives us, and nothing else.

CapsrlError            caught once, in the command line, where it becomes exit code 2
├── DataError          a corpus or text that cannot be read: names file and line
├── ConfigError        a recipe or option that means nothing: names every bad key
└── ModelError         a model folder that cannot be trusted: names what is missing or wrong

A message reads ``where: expected what, got what; how to fix``, on one line.
"""


class CapsrlError(Exception):
    """A mistake in the user's input; the message says where and how to mend it."""


class DataError(CapsrlError):
    """A file or text does not hold what its format promises."""


class ConfigError(CapsrlError):
    """A recipe or a command-line option is unknown, missing or out of range."""


class ModelError(CapsrlError):
    """A model folder is incomplete, damaged or newer than this version."""
