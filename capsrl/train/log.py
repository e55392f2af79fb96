"""Write the records of a run as JSON lines, and to TensorBoard where it is installed.

{"kind": "step", "epoch": 3, "step": 150, "loss": 0.41, "loss_roles": 0.3, "rate": 0.0005, ...}
{"kind": "epoch", "epoch": 3, "step": 196, "dev_f1": 81.2, "dev_em": 55.1, "best": true, ...}
{"kind": "warning", "step": 900, "message": "epoch 9: dev F1 is 42.10, after 85.02 in epoch 6; ..."}
{"kind": "end", "best_epoch": 17, "dev_f1": 86.0, "test_en_ewt_f1": 86.2, ...}
"""

import json
import os
from pathlib import Path
from typing import Any

from capsrl.errors import DataError

Record = dict[str, Any]


class Log:
    """The log file of a run.

    size   bytes of an existing log to keep: lines written after the last checkpoint are cut off,
           as the resumed run writes them again
    """

    def __init__(self, path: Path, *, size: int, tensorboard: Path | None = None) -> None:
        self._file = open(path, "ab")  # noqa: SIM115 - closed by close()
        # Never longer than the file: truncate() would pad a log that someone has emptied.
        self._file.truncate(min(size, self._file.seek(0, os.SEEK_END)))
        self._file.seek(0, os.SEEK_END)
        self._board = _make_board(tensorboard) if tensorboard is not None else None

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._file.tell()

    def write(self, record: Record) -> None:
        """Append a record and flush the file."""
        self._file.write(json.dumps(record).encode() + b"\n")
        self._file.flush()
        if self._board is not None and "step" in record:
            for key, value in record.items():
                if isinstance(value, int | float) and key not in ("step", "epoch"):
                    self._board.add_scalar(f"{record['kind']}/{key}", value, record["step"])

    def close(self) -> None:
        """Close the file and TensorBoard."""
        self._file.close()
        if self._board is not None:
            self._board.close()


def read_log(path: Path) -> list[Record]:
    """Read the records of a log, in order; raises DataError naming a line that is not JSON."""
    records: list[Record] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            records.append(json.loads(line))
        except ValueError:
            raise DataError(f"{path}:{number}: expected a JSON object, got {line[:40]!r}") from None
    return records


def _make_board(folder: Path) -> Any:  # noqa: ANN401 - optional package
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder))
