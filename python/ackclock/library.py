"""The scenarios that come with the package, found by name."""

from __future__ import annotations

from pathlib import Path

from ackclock.errors import InputError, unknown

_ROOT = Path(__file__).parent / "scenarios"
_STUDY = ".sweep.yaml"


def names() -> list[str]:
    """Return the names of all scenarios of the package, such as `caltech/test-case-2-fast`."""
    return sorted(
        path.relative_to(_ROOT).with_suffix("").as_posix()
        for path in _ROOT.rglob("*.yaml")
        if not path.name.endswith(_STUDY)
    )


def study(name: str) -> Path | None:
    """Return the file of a study of the package, such as `ns3/lab-grid`; None if there is none."""
    known = {path.relative_to(_ROOT).as_posix(): path for path in _ROOT.rglob(f"*{_STUDY}")}
    return known.get(f"{name}{_STUDY}")


def find(name: str) -> Path:
    """Return the file of a scenario of the package.

    Raises:
        InputError: there is none of this name; names the nearest.
    """
    known = names()
    if name in known:
        return _ROOT / f"{name}.yaml"
    raise InputError(unknown("scenario", name, known))
