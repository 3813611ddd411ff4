"""The scenarios that come with the package, found by name."""

from __future__ import annotations

from pathlib import Path

from ackclock.errors import InputError, unknown

_ROOT = Path(__file__).parent / "scenarios"


def names() -> list[str]:
    """Return the names of all scenarios of the package, such as `caltech/test-case-2-fast`."""
    return sorted(
        path.relative_to(_ROOT).with_suffix("").as_posix() for path in _ROOT.rglob("*.yaml")
    )


def find(name: str) -> Path:
    """Return the file of a scenario of the package.

    Raises:
        InputError: there is none of this name; names the nearest.
    """
    known = names()
    if name in known:
        return _ROOT / f"{name}.yaml"
    raise InputError(f"{unknown('scenario', name, known)} ('ackclock list scenario' shows all)")
