"""Read Parquet files by row groups; needs pyarrow."""

from collections.abc import Iterator
from types import ModuleType
from typing import IO, Any

from capsrl.errors import ConfigError, DataError, install_hint
from capsrl.tables.records import Row

_BATCH = 256  # rows that are decoded at a time


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
        return package.parquet.ParquetFile(file)
    except (package.ArrowException, OSError) as error:
        raise DataError(f"{name}: expected a Parquet file, got: {_short(error)}") from None


def parquet_rows(
    parquet: Any,  # noqa: ANN401
    name: str,
    *,
    first: int = 0,
) -> Iterator[Row]:
    """The rows from the one with the number `first`; row groups before it are not read."""
    groups, number = _groups_from(parquet.metadata, first)
    try:
        for batch in parquet.iter_batches(_BATCH, row_groups=groups):
            if number + batch.num_rows > first:
                for values in batch.slice(max(0, first - number)).to_pylist():
                    yield Row(max(number, first), None, values)
                    number = max(number, first) + 1
            else:
                number += batch.num_rows
    except (pyarrow(name).ArrowException, OSError) as error:
        raise DataError(
            f"{name}, row {number + 1}: expected Parquet data, got: {_short(error)}; "
            "the file is damaged"
        ) from None


def _groups_from(metadata: Any, first: int) -> tuple[list[int], int]:  # noqa: ANN401
    """The row groups that have rows from `first` on, and the number of their first row."""
    number = 0
    for group in range(metadata.num_row_groups):
        n = metadata.row_group(group).num_rows
        if number + n > first:
            return list(range(group, metadata.num_row_groups)), number
        number += n
    return [], number


def _short(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]
