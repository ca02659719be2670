"""Arrays by what they hold: the one place that names them, for all that computes."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]  # of any shape
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Complexes: TypeAlias = NDArray[np.complex128]
Integers: TypeAlias = NDArray[np.int64]
Counts: TypeAlias = NDArray[np.int64]  # integers >= 0
Flags: TypeAlias = NDArray[np.bool_]
