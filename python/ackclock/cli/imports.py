"""What the program does not load, although its libraries would: it needs none of it."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import warnings
from typing import Any

_HIDDEN = {
    "pandas": "pyarrow takes half a second to load it wherever it is installed",
    "mpl_toolkits.mplot3d": "matplotlib loads it for drawings in space",
}

_AT_FIRST = {"pyarrow._s3fs": "object storage loads it when it is used (`ackclock.sweep.remote`)"}

_GARBAGE_AFTER = 50_000
"""Objects after which Python looks for garbage; with its 700 that is a twentieth of a small run."""


def spare() -> None:
    """Leave out of this process what takes long to load and is not used."""
    sys.meta_path.insert(0, _Spared())
    # What matplotlib says of the drawings in space.
    warnings.filterwarnings("ignore", "Unable to import Axes3D", UserWarning)
    # No matrix here is large; NumPy would start a thread for each core, at the cost of its import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_GARBAGE_AFTER)
    # At its end Python would look through all that was loaded once more: a twentieth again.
    atexit.register(gc.freeze)


class _Spared:
    """Stands before all other finders of modules, and finds nothing itself."""

    def __init__(self) -> None:
        self._at_first = dict(_AT_FIRST)

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Refuse what is hidden, and leave all else to the others."""
        if name in _HIDDEN:
            raise ModuleNotFoundError(f"not needed: {_HIDDEN[name]}", name=name)
        if (later := self._at_first.pop(name, None)) is not None:
            raise ModuleNotFoundError(f"not needed yet: {later}", name=name)
        if name == "matplotlib.figure":
            _spare_manual()


def _spare_manual() -> None:
    """Keep matplotlib from writing a manual for each of its classes while it loads them.

    That takes a fifth of the time of a small run with plots.
    """
    from matplotlib import artist

    artist.kwdoc = lambda artist: ""
    # Where matplotlib has no such method, nobody looks at it.
    base: Any = artist.Artist
    base._update_set_signature_and_docstring = classmethod(lambda cls: None)
