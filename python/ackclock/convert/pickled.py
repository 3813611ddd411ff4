"""Read objects as the Python package jsonpickle writes them, against a closed description.

Such a file is a dump of live objects: class names under ``py/object``, and every attribute, also
those that only hold state of a running program. A :class:`Shape` says for one class which
attributes carry meaning and which are state together with their values before a run. Anything
else is a complaint: a key nobody described could change the meaning of the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ackclock.convert.base import Complaints

Where = tuple[str | int, ...]
MOST = 10**18
"""No number of these files is larger; a larger one would only cost time and memory."""

Reader = Callable[[Any, Where, Complaints], Any]
"""Takes a value, its place and the complaints; gives the checked value, None after a complaint."""

CLASS_KEY = "py/object"
EMPTY_SET: Mapping[str, Any] = {"py/set": []}


@dataclass(frozen=True)
class Shape:
    """The attributes of one class.

    ``data`` maps an attribute that carries meaning to the reader of its value; each is required.
    ``state`` maps an attribute of a running program to its values before a run; it may be absent.
    ``ignored`` are attributes whose value the original overwrites on loading.
    """

    data: Mapping[str, Reader]
    state: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()


def class_of(value: Any) -> str | None:
    """Return the full class name of a pickled object, None if the value is not such an object."""
    name = value.get(CLASS_KEY) if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def read_object(
    value: Any, where: Where, complaints: Complaints, shapes: Mapping[str, Shape]
) -> dict[str, Any] | None:
    """Read one object that must be of one of the classes in ``shapes``.

    Returns its meaningful attributes by name, with the class name under ``py/object``; attributes
    that could not be read are missing. None if it is not an object of these classes.
    """
    name = class_of(value)
    if name is None:
        known = ", ".join(shapes)
        complaints.add(where, value, "not an object with a class name", allowed=known)
        return None
    if name not in shapes:
        complaints.add((*where, CLASS_KEY), name, "unknown class", allowed=", ".join(shapes))
        return None
    shape = shapes[name]
    _check_keys(value, where, complaints, shape, name)
    read: dict[str, Any] = {CLASS_KEY: name}
    for key, reader in shape.data.items():
        if key in value:
            result = reader(value[key], (*where, key), complaints)
            if result is not None:
                read[key] = result
    return read


def _check_keys(
    value: Mapping[str, Any], where: Where, complaints: Complaints, shape: Shape, name: str
) -> None:
    known = [CLASS_KEY, *shape.data, *shape.state, *shape.ignored]
    for key, content in value.items():
        if key not in known:
            hint = "what this key means is not known, so it can not be left out either"
            allowed, message = ", ".join(sorted(known)), f"unknown key of {name}"
            complaints.add((*where, key), content, message, allowed=allowed, hint=hint)
        elif key in shape.state and not any(_same(content, v) for v in shape.state[key]):
            message = "state of a running simulation, which a scenario can not take over"
            allowed = " or ".join(json.dumps(v) for v in shape.state[key])
            complaints.add((*where, key), content, message, allowed=allowed)
    for key in shape.data:
        if key not in value:
            complaints.add(where, None, f"{name} lacks the key '{key}'")


def _same(a: Any, b: Any) -> bool:
    """Equality that keeps false apart from 0."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def text(value: Any, where: Where, complaints: Complaints) -> str | None:
    """Read a name: text that is not empty."""
    if isinstance(value, str) and value:
        return value
    complaints.add(where, value, "not a name", allowed="text that is not empty")
    return None


def number(*, above: int | None = None, least: int | None = None, whole: bool = False) -> Reader:
    """Make a reader of numbers that are greater than ``above``, at least ``least``, or whole."""
    wanted = ["a whole number" if whole else "a number"]
    if above is not None:
        wanted.append(f"greater than {above}")
    if least is not None:
        wanted.append(f"at least {least}")
    allowed = " ".join(wanted)

    def read(value: Any, where: Where, complaints: Complaints) -> Decimal | None:
        fits = not isinstance(value, bool) and isinstance(value, int | Decimal)
        if fits:
            fits = (
                (above is None or value > above)
                and (least is None or value >= least)
                and value <= MOST
                and (not whole or value == int(value))
            )
        if not fits:
            what = "text" if isinstance(value, str) else "not a fitting value"
            complaints.add(where, value, f"{what} where a number belongs", allowed=allowed)
            return None
        return Decimal(value)

    return read


def list_of(shapes: Mapping[str, Shape], *, may_be_null: bool = False) -> Reader:
    """Make a reader of lists of objects of the given classes."""

    def read(value: Any, where: Where, complaints: Complaints) -> list[dict[str, Any]] | None:
        if value is None and may_be_null:
            return []
        if not isinstance(value, Sequence) or isinstance(value, str):
            complaints.add(where, value, "not a list", allowed="a list of objects")
            return None
        objects = (
            read_object(item, (*where, i), complaints, shapes) for i, item in enumerate(value)
        )
        return [item for item in objects if item is not None]

    return read
