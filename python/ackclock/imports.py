"""What the program does not load, although its libraries would: it needs none of it.

Programs of users that it runs, such as controllers, get what they import by name.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
import warnings
from types import FrameType, ModuleType
from typing import Any

_HIDDEN = {
    "pandas": ("ackclock", "pyarrow"),  # half a second, wherever it is installed
    "mpl_toolkits.mplot3d": ("matplotlib",),  # for drawings in space
}
"""Modules, and the packages whose code would load them on the way to something else."""

_AT_FIRST = {"pyarrow._s3fs": "object storage loads it when it is used (`ackclock.sweep.remote`)"}

_MANUALS = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
"""Modules that only write manuals for classes and functions of others: a twentieth of a small run.
What they describe does without, as under `python -OO`."""

_GARBAGE_AFTER = 50_000
"""Objects after which Python looks for garbage; with its 700 that is a twentieth of a small run."""


def spare() -> None:
    """Leave out of this process what takes long to load and is not used."""
    sys.meta_path.insert(0, _Spared())
    for name in _MANUALS:
        sys.modules.setdefault(name, ModuleType(name))
    sys.modules.setdefault(_TypesLater.NAME, _TypesLater(_TypesLater.NAME))
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
        if name in _HIDDEN and _asking() in _HIDDEN[name]:
            raise ModuleNotFoundError("not needed here", name=name)
        if (later := self._at_first.pop(name, None)) is not None:
            raise ModuleNotFoundError(f"not needed yet: {later}", name=name)
        if name == "matplotlib.figure":
            _spare_manual()


class _TypesLater(ModuleType):
    """Types that NumPy declares, a twentieth of a small run, until somebody asks for one of them.

    NumPy itself asks only for `NDArray`, to annotate what functions of linear algebra return.
    """

    NAME = "numpy._typing"
    NDArray: type = list

    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # Python looks here before it asks
            return [os.path.join(place, "_typing") for place in sys.modules["numpy"].__path__]  # noqa: PTH118
        if sys.modules.get(self.NAME) is self:
            del sys.modules[self.NAME]
        types = importlib.import_module(self.NAME)
        self.NDArray = types.NDArray
        return getattr(types, name)


def _asking() -> str:
    """Return the package whose code is importing something; compiled code counts to its caller."""
    frame: FrameType | None = sys._getframe(2)
    while frame and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    name = frame.f_globals.get("__name__", "") if frame else ""
    return str(name).partition(".")[0]


def _spare_manual() -> None:
    """Keep matplotlib from writing a manual for each of its classes while it loads them.

    That takes a fifth of the time of a small run with plots.
    """
    from matplotlib import artist

    artist.kwdoc = lambda artist: ""
    # Where matplotlib has no such method, nobody looks at it.
    base: Any = artist.Artist
    base._update_set_signature_and_docstring = classmethod(lambda cls: None)
