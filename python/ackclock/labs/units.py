"""Answers with units: `400 ms`, `9.4 Mbps`, `85 %`, `7.1`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

_WRITTEN = re.compile(r"\s*(?P<number>[-+]?[\d.,_]+(?:[eE][-+]?\d+)?)\s*(?P<unit>\D.*?)?\s*")

_BASE = {"time": 1e-9, "rate": 1.0, "size": 1.0, "packets": 1.0}
"""The engine's amounts in seconds, bit/s, bytes and packets."""

_SUCH_AS = {"time": "12.5 ms", "rate": "9.4 Mbps", "size": "64 KiB", "packets": "20 packets"}


class UnitError(ValueError):
    """What is wrong with an answer, and how to write it."""


@dataclass(frozen=True)
class Unit:
    """The unit in which an answer is asked for.

    Attributes:
        name: As it is written: `ms`, `Mbps`, `packets`, `%`, or nothing for a plain number.
        kind: What it measures: `time`, `rate`, `size`, `packets`, `share` or `number`.
        scale: One of it in seconds, bit/s, bytes, packets or 1.
    """

    name: str
    kind: str
    scale: float

    @classmethod
    def of(cls, name: str) -> Unit:
        """Return a unit by its name.

        Raises:
            UnitError: there is none of this name.
        """
        if name == "":
            return cls("", "number", 1.0)
        if name == "%":
            return cls("%", "share", 0.01)
        from ackclock import _core

        # Eight, since a single bit is no whole byte.
        known = _core.quantity(f"8 {name}")
        if known is None:
            raise UnitError(f"'{name}' is not a unit")
        kind, amount = known
        return cls(name, kind, amount / 8 * _BASE[kind])

    def show(self, value: float) -> str:
        """Return a value in this unit, with five significant digits."""
        shown = f"{value / self.scale:.5g}"
        if "e" in shown:
            shown = f"{value / self.scale:.0f}"
        return f"{shown} {self.name}".rstrip()

    def read(self, written: Any) -> float:
        """Return an answer in seconds, bit/s, bytes, packets or 1.

        Raises:
            UnitError: it is not a number with a unit of this kind.
        """
        if isinstance(written, bool) or not isinstance(written, int | float | str):
            raise UnitError(f"write {self._such_as()}")
        if isinstance(written, int | float):
            return self._finite(float(written), "")
        match = _WRITTEN.fullmatch(written)
        if match is None:
            raise UnitError(f"'{written}' is not a number; write {self._such_as()}")
        number = match["number"]
        if "," in number:
            hint = number.replace(",", ".")
            raise UnitError(f"'{number}' has a comma; write a point, as in {hint}")
        try:
            return self._finite(float(number), match["unit"] or "")
        except ValueError as error:
            if isinstance(error, UnitError):
                raise
            raise UnitError(f"'{number}' is not a number; write {self._such_as()}") from None

    def _finite(self, number: float, unit: str) -> float:
        if not math.isfinite(number):
            raise UnitError("not a finite number")
        if self.kind in ("share", "number"):
            if unit not in ("", "%"):
                raise UnitError(f"expected {self._such_as()}, without '{unit}'")
            return number * (0.01 if unit == "%" else 1.0)
        if unit == "" and self.kind == "packets":
            return number  # A count can mean nothing else.
        if unit == "":
            raise UnitError(f"the unit is missing; write {self._such_as()}")
        try:
            given = Unit.of(unit)
        except UnitError as error:
            from ackclock import _core

            meant = _core.quantity_hint(f"{number:.10g} {unit}", self.kind)
            raise UnitError(f"{error}; {meant or f'write {self._such_as()}'}") from None
        if given.kind != self.kind:
            raise UnitError(
                f"'{unit}' is a unit of {_words(given.kind)}; expected {self._such_as()}"
            )
        return number * given.scale

    def _such_as(self) -> str:
        if self.kind in ("share", "number"):
            return "a number, such as 0.85 or 85 %" if self.kind == "share" else "a plain number"
        return f"a number with its unit, such as {_SUCH_AS[self.kind]}"


def _words(kind: str) -> str:
    return {"packets": "a number of packets", "size": "a size"}.get(kind, f"a {kind}")
