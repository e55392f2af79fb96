"""The errors that capsrl raises for mistakes in a user's input.

CapsrlError            caught once, in the command line, where it becomes exit code 2
├── DataError          a corpus or text that cannot be read: names file and line
├── ConfigError        a recipe or option that is unknown or out of range: names every bad key
└── ModelError         a model folder that is incomplete or damaged: names the file

A message reads ``where: what is wrong; how to fix``, on one line; "expected X, got Y" is for values
that are compared.
"""

import errno
import os
import re

# The user and password of any URL, and the query of web pages, in which signatures are.
_SECRETS = re.compile(
    r"(\b[\w+.-]{1,30}://)[^\s/'\"]*@"
    r"|(\bhttps?://[^\s?'\"]{0,2000})\?[^\s'\"]*?(?=[:;,.]*(?:[\s'\"]|$))"
)


class CapsrlError(Exception):
    """A mistake in the user's input; the message says where it is and how to fix it.

    Passwords and signatures of URLs are not in it.
    """

    def __str__(self) -> str:
        return without_secrets(super().__str__())


class DataError(CapsrlError, ValueError):
    """A file or text does not have the contents that its format requires."""


class ConfigError(CapsrlError, ValueError):
    """A recipe or a command-line option is unknown, missing or out of range."""


class ModelError(CapsrlError):
    """A model folder is incomplete, damaged or newer than this version."""


def without_secrets(text: str) -> str:
    """The text with its URLs as they may be shown and stored: without password and query."""
    if "://" not in text:
        return text
    # Twice: a URL may have both.
    return _SECRETS.sub(r"\1\2", _SECRETS.sub(r"\1\2", text))


def unreadable(path: object, error: OSError) -> str:
    """The message for a file that cannot be opened or read."""
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError) and reason == os.strerror(errno.ENOENT):
        return f"{path}: no such file"
    return f"{path}: cannot be read: {reason}"


def install_hint(extra: str) -> str:
    """How to install an extra of capsrl, for messages about a package that is missing."""
    return f"pip install 'capsrl[{extra}]' (from a clone: pip install '.[{extra}]')"
