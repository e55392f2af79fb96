"""From sentences to propositions, without torch: a model folder, numbers, scores, decoding."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


def to_ids(values: Sequence[int]) -> Ids:
    """An array of integers."""
    return np.array(values, dtype=np.int64)
