"""What every converter shares: the format entry, the result, and the list of complaints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from ackclock.errors import Problem

Position = Callable[[Sequence[str | int]], tuple[int | None, int | None]]


@dataclass(frozen=True)
class Conversion:
    """A scenario made from a foreign file.

    ``document`` is a scenario in the grammar of scenario files, keys in reading order.
    ``notes`` are sentences for the reader about what the conversion decided; they become comments.
    """

    document: dict[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """One foreign format that can be converted.

    ``recognizes`` gets the parsed top level of a JSON file, or the text of a file where
    ``is_text`` is set, and says whether it is of this format; ``convert`` gets the path of a file
    of this format.
    """

    name: str
    summary: str
    source: str
    recognizes: Callable[[Any], bool]
    convert: Callable[[Path], Conversion]
    is_text: bool = False


class Complaints:
    """Collects everything that is wrong with a file as `found`, each with its place and its value.

    Args:
        file: Name of the file.
        position: Gives line and column of a place in it; none where they are not known.
    """

    def __init__(self, file: str = "", position: Position | None = None) -> None:
        self.found: list[Problem] = []
        self._file = file
        self._position = position or (lambda _: (None, None))

    def add(
        self,
        where: Sequence[str | int],
        value: Any,
        message: str,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Note one fault at ``where`` (keys and list positions from the top of the file)."""
        path = ".".join(map(str, where))
        place = self._position(where)
        value = _plain(value)
        self.found.append(Problem(message, path, value, allowed, hint, self._file, *place))


def _plain(value: Any) -> Any:
    """Return the value without decimals, as JSON can show it."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
