"""What every converter shares: the format entry, the result, and the list of complaints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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


@dataclass
class Complaints:
    """Collects everything that is wrong with a file, each with its place and its value."""

    found: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        where: Sequence[str | int],
        value: Any,
        message: str,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Note one fault at ``where`` (keys and list positions from the top of the file)."""
        self.found.append(
            {
                "path": list(where),
                "value": value,
                "message": message,
                "allowed": allowed,
                "hint": hint,
            }
        )
