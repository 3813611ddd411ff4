"""The scenarios that come with the package, found by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ackclock.errors import InputError, unknown

_ROOT = Path(__file__).parent / "scenarios"
_STUDY = ".sweep"


def names() -> list[str]:
    """Return the names of all scenarios of the package, such as `caltech/test-case-2-fast`."""
    return [name for name in _files() if not name.endswith(_STUDY)]


def study(name: str) -> Path | None:
    """Return the file of a study of the package, such as `ns3/lab-grid`; None if there is none."""
    return _files().get(f"{name}{_STUDY}")


def find(name: str) -> Path:
    """Return the file of a scenario of the package.

    Raises:
        InputError: there is none of this name; names the nearest.
    """
    if name in (known := names()):
        return _files()[name]
    raise InputError(unknown("scenario", name, known))


@cache
def _files() -> dict[str, Path]:
    """Return the files of scenarios and studies by their names, in the order of these."""
    files = _ROOT.rglob("*.yaml")
    named = ((path.relative_to(_ROOT).with_suffix("").as_posix(), path) for path in files)
    return dict(sorted(named))
