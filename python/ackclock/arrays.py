"""Types of arrays of numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
else:
    # To make NumPy's own takes a twentieth of a small run, and nothing looks at them then.
    ArrayLike = Any

    class NDArray:
        """An array with numbers of a type."""

        def __class_getitem__(cls, number: type) -> type:
            return np.ndarray


Array = NDArray[Any]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

__all__ = ["Array", "ArrayLike", "Flags", "Floats", "Integers", "NDArray"]
