"""A progress bar for texts that are labeled."""

from collections.abc import Iterable, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import track

T = TypeVar("T")


def track_texts(texts: Iterable[T]) -> Iterable[T]:
    """The same texts, with a progress bar on standard error that moves as they are read."""
    total = len(texts) if isinstance(texts, Sized) else None
    return track(texts, description="texts", total=total, console=Console(stderr=True))
