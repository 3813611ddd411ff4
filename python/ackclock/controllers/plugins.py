"""Programs of installed packages: plug-ins by entry points.

A package offers a class under the group `ackclock.cc` or `ackclock.queue` of its entry points:

    [project.entry-points."ackclock.cc"]
    mine = "my_package.mine:Mine"

Its file is found and read, as a program beside a scenario is, and stored with each run; the package
is not imported.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from ackclock.controllers.loading import ProgramError
from ackclock.errors import nearest

GROUPS = {"cc": "ackclock.cc", "queue": "ackclock.queue"}
"""Groups of entry points, by the key of a scenario for which they are."""


@dataclass(frozen=True)
class Plugin:
    """A class that a package offers.

    Attributes:
        name: Its word in scenarios.
        key: `cc` or `queue`.
        package: Name and version of the package.
        target: Where the class is, as `module:class`.
    """

    name: str
    key: str
    package: str
    target: str


def installed() -> list[Plugin]:
    """Return all plug-ins, by key and name."""
    found = [_plugin(key, point) for key, group in GROUPS.items() for point in _points(group)]
    return sorted(found, key=lambda one: (one.key, one.name))


def program(key: str, name: object) -> tuple[Path, str]:
    """Return the file of a plug-in, and the name of its class.

    Raises:
        ProgramError: there is none of this name, or several, or its file is not there.
    """
    points = [point for point in _points(GROUPS[key]) if point.name == name]
    if not points:
        names = sorted({point.name for point in _points(GROUPS[key])})
        close = nearest(str(name), names, 1)
        hint = f"did you mean {close[0]}?" if close else "'ackclock list plugin' shows them"
        raise ProgramError("no installed package offers this", "plugin", hint)
    if len({point.value for point in points}) > 1:
        packages = ", ".join(_package(point) for point in points)
        raise ProgramError(f"several packages offer this: {packages}", "plugin")
    file, attribute = _file(points[0].module), points[0].attr
    if file is None or not attribute:
        message = f"{points[0].value} of {_package(points[0])} is not a class in a Python file"
        raise ProgramError(message, "plugin")
    return file, attribute


def _file(module: str) -> Path | None:
    """Return the file of a module; to find one in a package would import the package."""
    top, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not inner:
        origin = Path(spec.origin or "")
        return origin if origin.suffix == ".py" else None
    places = [Path(folder, *inner) for folder in spec.submodule_search_locations or ()]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return next((file for file in files if file.is_file()), None)


def _points(group: str) -> list[EntryPoint]:
    # Twice on the path is once installed.
    return list(dict.fromkeys(entry_points(group=group)))


def _plugin(key: str, point: EntryPoint) -> Plugin:
    return Plugin(point.name, key, _package(point), point.value)


def _package(point: EntryPoint) -> str:
    dist = point.dist
    return f"{dist.name} {dist.version}" if dist is not None else "a package"
