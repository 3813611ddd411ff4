"""The memory of columns on their way to the disk."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""As in `malloc.h`."""

_KEPT_BYTES = 128 << 20
"""More than the columns that are held at a time."""


def keep_memory() -> None:
    """Have the allocator keep the memory of columns that were written for the next ones.

    Else the system takes it back and gives it out again, filled with zeros, for each part: that
    takes longer than making the columns. Only the C library of GNU can be asked; see its `mallopt`.
    """
    if sys.platform == "linux" and (ask := getattr(ctypes.CDLL(None), "mallopt", None)):
        ask(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        ask(_M_MMAP_THRESHOLD, _KEPT_BYTES // 4)
