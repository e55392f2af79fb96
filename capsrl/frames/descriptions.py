"""Encoded descriptions of senses and roles: what PropBank says of them in words, as numbers.

A file of them is made beside the package (`python -m teachers.descriptions`). It is a safetensors
file with the distinct vectors; its metadata has a JSON object, roleset -> role -> row, in which the
row of the definition has the name "".
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsrl.errors import DataError
from capsrl.files.replacing import replacing

DEFINITION = ""  # the name of the row of a definition
_ROWS, _VECTORS = "rolesets", "vectors"


@dataclass(frozen=True)
class Descriptions:
    """Vectors of descriptions.

    vectors  n W
    rows     sense -> role, or DEFINITION -> row of `vectors`
    """

    vectors: NDArray[np.float32]
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """The width of a vector."""
        return int(self.vectors.shape[1])

    def row(self, sense: str, role: str) -> int | None:
        """The row of a role of a sense, None if it is not described."""
        return self.rows.get(sense, {}).get(role)

    def save(self, file: str | Path) -> None:
        """Write the file, with 16 bits per number."""
        from safetensors.numpy import save_file  # labeling and exporting do without it

        metadata = {_ROWS: json.dumps(self.rows, separators=(",", ":"))}
        with replacing(file) as temporary:
            save_file({_VECTORS: self.vectors.astype(np.float16)}, temporary, metadata)
            temporary.chmod(0o644)  # save_file makes it readable by its owner only

    @classmethod
    def load(cls, file: str | Path) -> "Descriptions":
        """Read a file that `save` wrote; raises DataError if it is another file."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(file, "numpy") as stored:
                vectors = stored.get_tensor(_VECTORS).astype(np.float32)
                rows = json.loads((stored.metadata() or {})[_ROWS])
        except (SafetensorError, OSError, KeyError, ValueError) as error:
            raise DataError(
                f"{file}: not a file of encoded descriptions ({error}); "
                "make one with `python -m teachers.descriptions`"
            ) from None
        return cls(vectors, rows)


NO_DESCRIPTIONS = Descriptions(np.zeros((0, 0), np.float32))
