"""Read foreign JSON files strictly, and say where in them something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.convert.base import Complaints
from ackclock.errors import InputError, Problem, ScenarioError

_Position = Callable[[list[str | int]], tuple[int | None, int | None]]


def text(path: Path) -> str:
    """Read a text file.

    Raises :class:`ackclock.errors.InputError` when the file can not be read, and
    :class:`ackclock.errors.ScenarioError` when it is not text.
    """
    try:
        return path.read_text(encoding="utf-8")
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


def error(path: Path, complaints: Complaints) -> ScenarioError:
    """Make the error that shows all complaints about a file, each with its line."""
    position = _positions(path)
    problems = []
    for found in complaints.found:
        line, column = position(found["path"])
        problems.append(
            Problem(
                found["message"],
                path=".".join(str(step) for step in found["path"]),
                value=_plain(found["value"]),
                allowed=found["allowed"],
                hint=found["hint"],
                file=str(path),
                line=line,
                column=column,
            )
        )
    return ScenarioError(problems)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise ValueError(f"duplicate key '{key}'")
        mapping[key] = value
    return mapping


def _positions(path: Path) -> _Position:
    """Make a lookup from a path inside the file to line and column."""
    try:
        root, _ = _core.read_text(path.read_text(encoding="utf-8"), "json")
    except OSError:
        root = None

    def position(where: list[str | int]) -> tuple[int | None, int | None]:
        return (None, None) if root is None else root.locate(tuple(where), key=True)

    return position


def _plain(value: Any) -> Any:
    """Return the value without decimals, as JSON can show it."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value
