"""The kinds of arrays that annotations speak of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Indices = NDArray[np.integer]  # integers of any width
