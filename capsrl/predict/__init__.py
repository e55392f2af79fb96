"""From sentences to propositions, without torch: a model folder, numbers, scores, decoding."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
