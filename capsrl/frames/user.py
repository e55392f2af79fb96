"""Find the frames that explain propositions: given by the user, made once, or of the model."""

import os
import sys
from pathlib import Path

from capsrl.frames.index import FrameIndex
from capsrl.frames.xml import read_frames


def user_index() -> Path:
    """The index that `capsrl frames` writes once, in the user's data folder for all models."""
    home = Path(os.path.expanduser("~"))
    folder = Path(os.environ.get("XDG_DATA_HOME", ""))
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif not folder.is_absolute():  # the XDG Base Directory Specification says to ignore it
        folder = home / ".local" / "share"
    return folder / "capsrl" / "frames.tsv"


def load_frames(source: str | Path) -> FrameIndex:
    """Read a folder of PropBank frame files, or an index that `capsrl frames` made from one.

    Raises DataError naming the file that is wrong or missing.
    """
    return FrameIndex.load(source) if Path(source).is_file() else read_frames(source)


def choose_frames(given: str | Path | None, own: FrameIndex) -> FrameIndex:
    """The frames to explain propositions with.

    given  a folder of frame files or an index; default: the index in the user's data folder, except
           for a model that has descriptions of its own
    own    those of the model, for senses that the others do not have
    """
    if given is None and not user_index().is_file():
        return own
    chosen = load_frames(user_index() if given is None else given)
    return own.over(chosen) if given is None and own.has_prose else chosen.over(own)
