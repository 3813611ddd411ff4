"""Read foreign JSON files strictly, and say where in them something is wrong."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.convert.base import Complaints
from ackclock.errors import InputError, Problem, ScenarioError


def text(path: Path) -> str:
    """Read a text file.

    Raises :class:`ackclock.errors.InputError` when the file can not be read, and
    :class:`ackclock.errors.ScenarioError` when it is not text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ScenarioError([Problem("not a text file in UTF-8", file=str(path))]) from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def load(path: Path) -> Any:
    """Parse a JSON file; numbers with a point become exact decimals.

    Raises :class:`ackclock.errors.InputError` when the file can not be read, and
    :class:`ackclock.errors.ScenarioError` when it is not JSON, has a key twice, or holds a number
    that JSON does not know (NaN, Infinity).
    """
    try:
        return json.loads(
            text(path),
            parse_float=Decimal,
            parse_constant=_refuse,
            object_pairs_hook=_without_duplicates,
        )
    except json.JSONDecodeError as error:
        problem = Problem(
            f"not valid JSON: {error.msg}", file=str(path), line=error.lineno, column=error.colno
        )
    except RecursionError:
        problem = Problem("not usable: nested too deeply", file=str(path))
    except ValueError as error:
        problem = Problem(str(error), file=str(path))
    raise ScenarioError([problem])


def complaints(path: Path) -> Complaints:
    """Return an empty list of what is wrong with a file, which knows the lines of its values."""
    try:
        root, _ = _core.read_text(path.read_text(encoding="utf-8-sig"), "json")
    except OSError:
        root = None
    if root is None:
        return Complaints(str(path))
    return Complaints(str(path), lambda where: root.locate(tuple(where), key=True))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise ValueError(f"duplicate key '{key}'")
        mapping[key] = value
    return mapping
