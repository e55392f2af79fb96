"""Semantic role labeling: who did what to whom, with senses, roles and probabilities.

>>> import capsrl
>>> labeler = capsrl.load()
>>> [sentence] = labeler.label("Mira sold her bicycle.")
>>> sentence.propositions[0].sense
'sell.01'
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capsrl.errors import CapsrlError, ConfigError, DataError, ModelError, install_hint
from capsrl.models import find_model
from capsrl.options import Options
from capsrl.sentence import Argument, Phrase, Proposition, Sentence, Trace
from capsrl.triples import Triple, triples

if TYPE_CHECKING:  # at run time `__getattr__` imports it, when it is needed
    from capsrl.frames.index import Roleset
    from capsrl.labeler import Labeler

__version__ = "0.1.0"

__all__ = [
    "Argument",
    "CapsrlError",
    "ConfigError",
    "DataError",
    "Labeler",
    "ModelError",
    "Options",
    "Phrase",
    "Proposition",
    "Sentence",
    "Trace",
    "Triple",
    "load",
    "look_up",
    "to_frame",
    "triples",
]


def load(
    model: str | Path = "en",
    *,
    device: str | None = None,
    threads: int | None = None,
    frames: str | Path | None = None,
    runtime: str | None = None,
) -> "Labeler":
    """Load a model: the name of one that ships with capsrl, or a model folder.

    device   cpu, cuda, cuda:1; default: the GPU if there is one
    threads  maximum number of CPU threads; default: the process's cores, or one if they are busy
    frames   a folder of PropBank frame files, or an index that `capsrl frames` made, to say what
             roles mean; default: the index in the user's data folder, then that of the model
    runtime  onnx or torch; default: onnx on the CPU for models that were exported, else torch

    Raises ModelError for a model that does not exist, ConfigError when what runs it is not
    installed.
    """
    folder = find_model(model)
    try:
        return _labeler_class().load(
            folder, device=device, threads=threads, frames=frames, runtime=runtime
        )
    except ModuleNotFoundError as error:  # a model that was not exported needs torch
        raise ConfigError(f"{model}: needs {error.name}: {_install(error.name)}") from None


def look_up(
    word: str, *, model: str | Path = "en", frames: str | Path | None = None
) -> "list[Roleset]":
    """The senses and roles that PropBank's frames have for a word, in any form, or for a sense.

    word    sell, sold, "gave up"; or sell.01
    model   the model whose frames count
    frames  as in `load`

    Raises DataError for a word or sense that the frames do not have.
    """
    from capsrl.frames import lookup

    return lookup.look_up(word, lookup.frames_of(find_model(model), frames))


def to_frame(
    sentences: Iterable[Any],
    *,
    documents: Iterable[Any] | None = None,
    library: str | None = None,
    rows: str = "argument",
) -> Any:  # noqa: ANN401
    """Make a DataFrame of labeled sentences, with one row per argument or proposition.

    sentences  what `labeler.label` or `labeler.label_many` returned for one text or several
    documents  what the column "document" has for each of several texts; default: their positions
    library    pandas or polars; default: the first of them that is installed
    rows       what a row is: argument or proposition

    Raises ConfigError if the library is not installed.
    """
    from capsrl.tables import frame

    return frame.to_frame(sentences, documents=documents, library=library, rows=rows)


def __getattr__(name: str) -> object:
    if name == "Labeler":
        return _labeler_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _labeler_class() -> "type[Labeler]":
    try:
        from capsrl.labeler import Labeler
    except ModuleNotFoundError as error:
        raise ConfigError(f"labeling needs {error.name}: {_install(error.name)}") from None
    return Labeler


def _install(package: str | None) -> str:
    of_model = package in ("torch", "safetensors", "tokenizers")
    return install_hint("model") if of_model else "pip install capsrl"
