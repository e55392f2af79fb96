"""What reads bytes from outside: the readers of all formats, model files and requests.

A target has seeds, which are valid inputs, and a function that reads an input and raises Wrong if
what it finds is not right: parts of a file must have the rows of the whole file, words the text at
their offsets, damaged models no answer other than before.
"""

from collections.abc import Callable, Iterable

from torture.corpora import corpora
from torture.models import models, tiny_models
from torture.tables import bulk_files, tables
from torture.target import Target
from torture.texts import texts
from torture.training import frames, training

GROUPS: dict[str, Callable[[], Iterable[Target]]] = {
    "corpora": corpora,
    "tables": tables,
    "bulk": bulk_files,
    "texts": texts,
    "models": models,
    "tiny models": tiny_models,
    "frames": frames,
    "training": training,
}


def make_targets(*groups: str) -> dict[str, Target]:
    """The targets of some groups, or of all, by name; some need packages of extras."""
    makers = [GROUPS[name] for name in groups or GROUPS]
    return {target.name: target for make in makers for target in make()}
