"""Libraries that only parts of the package need, and what installs them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from ackclock.errors import InputError

EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "plots": ("plots as PNG, SVG and PDF", ("matplotlib",)),
    "theory": ("theory, intervals over replications, and Sobol sequences", ("scipy",)),
    "notebook": ("data frames and sliders in notebooks", ("pandas", "ipywidgets")),
    "import": ("captures beside a run", ("dpkt",)),
    "cluster": ("sweeps on other machines", ("distributed",)),
}
"""Extras of the package (`pip install 'ackclock[NAME]'`): what for, and the modules they bring."""


class MissingExtraError(InputError):
    """A library is not installed that this part of the package needs."""

    def __init__(self, module: str) -> None:
        extra = next(name for name, (_, modules) in EXTRAS.items() if module in modules)
        install = f"pip install 'ackclock[{extra}]'"
        super().__init__(
            f"{EXTRAS[extra][0]} need {module}, which is not installed here\n  hint: {install}"
        )
        self.short = f"{module} is not installed here ({install})"


def load(name: str) -> ModuleType:
    """Import a module that an extra brings, such as `scipy.optimize`.

    Raises:
        MissingExtraError: it is not installed; says what to install.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != name.partition(".")[0]:
            raise
        raise MissingExtraError(name.partition(".")[0]) from None


def require(module: str) -> None:
    """Check that a module of an extra is there, without loading it.

    Raises:
        MissingExtraError: it is not installed; says what to install.
    """
    if not has(module):
        raise MissingExtraError(module)


def has(module: str) -> bool:
    """Whether a module of an extra is installed."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
