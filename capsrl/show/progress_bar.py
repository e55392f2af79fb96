"""A progress bar for texts that are labeled."""

from collections.abc import Iterable, Sized
from importlib.util import find_spec
from typing import TypeVar

from rich.console import Console
from rich.progress import track

T = TypeVar("T")


def track_texts(texts: Iterable[T]) -> Iterable[T]:
    """The same texts, with a progress bar on standard error that moves as they are read."""
    total = len(texts) if isinstance(texts, Sized) else None
    console = Console(stderr=True)
    if console.is_jupyter and find_spec("ipywidgets") is None:
        # rich would warn and draw nothing; notebooks understand the bar of a terminal.
        console = Console(stderr=True, force_jupyter=False, force_terminal=True)
    return track(texts, description="texts", total=total, console=console)
