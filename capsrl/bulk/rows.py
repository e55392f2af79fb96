"""Read the rows of shards."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from capsrl.bulk.plan import Piece
from capsrl.bulk.scan import stat
from capsrl.errors import DataError
from capsrl.tables.documents import Document, Input, Part

_ALL = 1 << 62  # more rows than there are


@dataclass
class _Open:
    """An input that is being read.

    next_row  the number of the row at which the next piece must begin
    ahead     a document that was read but belongs to the next piece, with the number of its row
    """

    path: str
    documents: Iterator[tuple[int, Document]]
    next_row: int
    ahead: tuple[int, Document] | None = None


class RowReader:
    """Reads pieces of inputs; one that follows the one before goes on in the open file.

    So a worker that gets one shard after the other decompresses a file only once.

    make_input  how to read the input of a path
    """

    def __init__(self, make_input: Callable[[str], Input]) -> None:
        self._make_input = make_input
        self._open: _Open | None = None

    def read(self, pieces: Iterable[Piece]) -> Iterator[Document]:
        """Yield the documents of the pieces; raises DataError if an input has changed."""
        for piece in pieces:
            reading = self._find(piece)
            self._open = None  # after an error in between, nothing can go on from here
            yield from _until(reading, piece.stop)
            self._open = reading

    def _find(self, piece: Piece) -> _Open:
        found = self._open
        if found is not None and (found.path, found.next_row) == (piece.path, piece.first):
            return found
        size, _ = stat(piece.path)
        if size != piece.size:
            raise DataError(
                f"{piece.path}: expected {piece.size:,} bytes as in the plan, got {size:,}; the "
                "file has changed since the run began"
            )
        part = Part(piece.first, _ALL, piece.offset)
        documents = self._make_input(piece.path).numbered(part)
        return _Open(piece.path, documents, piece.first)


def _until(reading: _Open, stop: int) -> Iterator[Document]:
    """The documents of the rows before `stop`."""
    while True:
        found = reading.ahead or next(reading.documents, None)
        reading.ahead = None
        if found is None or found[0] >= stop:
            reading.ahead, reading.next_row = found, stop
            return
        yield found[1]
