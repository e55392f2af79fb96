"""Read Parquet files by row groups; needs pyarrow."""

from collections.abc import Iterator
from itertools import chain
from types import ModuleType
from typing import IO, Any

from capsrl.errors import ConfigError, DataError, install_hint
from capsrl.tables.records import ENCODING, Fault, InputRecord

_BATCH = 256  # rows that are decoded at a time


class DamagedError(DataError):
    """Some rows of a file cannot be read, because its content is damaged there."""


def pyarrow(where: str) -> ModuleType:
    """The package pyarrow; raises ConfigError for `where` if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ConfigError(f"{where}: Parquet needs pyarrow: {install_hint('tables')}") from None
    package: ModuleType = pyarrow
    return package


def open_parquet(file: IO[bytes], name: str) -> Any:  # noqa: ANN401
    """A `pyarrow.parquet.ParquetFile`; raises DataError for a file that is not one."""
    package = pyarrow(name)
    try:
        parquet = package.parquet.ParquetFile(file)
        n_rows, _ = parquet.metadata.num_rows, parquet.schema_arrow.names
        groups = map(parquet.metadata.row_group, range(parquet.metadata.num_row_groups))
        if n_rows != (found := sum(group.num_rows for group in groups)):
            raise package.ArrowInvalid(f"{n_rows:,} rows, but {found:,} in its row groups")
        return parquet
    except (package.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: expected a Parquet file, got: {_message(error)}") from None


def parquet_records(
    parquet: Any,  # noqa: ANN401
    name: str,
    *,
    first: int = 0,
) -> Iterator[InputRecord]:
    """The records from number `first` on; row groups before it are not read.

    Raises DamagedError for the first record that cannot be read; all before it are yielded.
    """
    number, damages = first, (pyarrow(name).ArrowException, OSError)
    for batch_size in (_BATCH, 1):  # one at a time where a batch is damaged: to find the record
        try:
            for values, fault in _decoded_rows(parquet, number, batch_size):
                yield InputRecord(number, None, values, fault)
                number += 1
            if number >= parquet.metadata.num_rows:
                return
            reason = "the end of the data"
        except damages as error:
            reason = _message(error)
    raise DamagedError(
        f"{name}, row {number + 1}: expected Parquet data, got: {reason}; the file is damaged"
    )


def _decoded_rows(
    parquet: Any,  # noqa: ANN401
    first: int,
    batch_size: int,
) -> Iterator[tuple[dict[str, object], Fault | None]]:
    groups, number = _groups_from(parquet.metadata, first)
    for batch in parquet.iter_batches(batch_size, row_groups=groups):
        if number + batch.num_rows > first:
            yield from _rows(batch.slice(max(0, first - number)))
        number += batch.num_rows


def _rows(batch: Any) -> Iterator[tuple[dict[str, object], Fault | None]]:  # noqa: ANN401
    try:
        yield from ((values, None) for values in batch.to_pylist())
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            yield {}, Fault(ENCODING, f"expected UTF-8 text, got: {error}")
        else:
            yield from chain.from_iterable(_rows(batch.slice(n, 1)) for n in range(batch.num_rows))


def _groups_from(metadata: Any, first: int) -> tuple[list[int], int]:  # noqa: ANN401
    """The row groups that have rows from `first` on, and the number of their first row."""
    number = 0
    for group in range(metadata.num_row_groups):
        n = metadata.row_group(group).num_rows
        if number + n > first:
            return list(range(group, metadata.num_row_groups)), number
        number += n
    return [], number


def _message(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200]
