"""Points of a study that are drawn: at random, as a Latin hypercube, or as a Sobol sequence.

Points of the unit cube come first; a range or a list of choices turns each coordinate into a value.
A Latin hypercube is that of McKay, Beckman, Conover (Technometrics 21(2), 1979). Sobol sequences
are SciPy's, which takes a second to load, so that nothing else here uses it. Values have six
digits: they can be read, and the last bit of a logarithm, which differs between machines, does not
matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from ackclock.extras import load

METHODS = ("latin-hypercube", "random", "sobol")
"""Ways to draw points; the first is the default."""

SCALES = ("linear", "log")

_DIGITS = 6
_BASE = {"rate": "bps", "size": "B", "time": "s"}


def draw(method: str, points: int, axes: int, seed: int) -> np.ndarray:
    """Return points of the unit cube, shape (points, axes), each coordinate from 0 to below 1.

    More points at random or of a Sobol sequence begin with the same ones.

    Raises:
        MissingExtraError: SciPy is not installed, and this is a Sobol sequence.
    """
    random = np.random.default_rng(seed)
    if method == "sobol":
        found = load("scipy.stats.qmc").Sobol(axes, seed=random).random(points)
    else:
        found = random.random((points, axes))
        if method == "latin-hypercube":
            parts = np.tile(np.arange(points)[:, None], axes)
            found = (random.permuted(parts, axis=0) + found) / points
    # A share just below 1 may have been rounded up.
    return np.minimum(found, np.nextafter(1.0, 0.0))


@dataclass(frozen=True)
class Range:
    """Values between two ends, which count among them.

    Attributes:
        low: The lower end; of quantities in the smallest parts of their unit, such as bit/s.
        high: The upper end.
        unit: What the values are written with; empty for plain numbers.
        parts: How many of the smallest parts a unit has.
        whole: Whether values are whole numbers, each as likely as any other.
        log: Whether equal ratios are equally likely, instead of equal differences.
    """

    low: float
    high: float
    unit: str
    parts: int
    whole: bool
    log: bool

    def at(self, share: float) -> Any:
        """Return the value at a share of the range, from 0 to below 1."""
        high = self.high + 1 if self.whole else self.high
        if self.log:
            found = self.low * math.exp(share * math.log(high / self.low))
        else:
            found = self.low + share * (high - self.low)
        found = math.floor(found) if self.whole else float(f"{found:.{_DIGITS}g}")
        found = min(max(found, self.low), self.high)
        if not self.unit:
            return found
        return f"{(Decimal(round(found)) / self.parts).normalize():f} {self.unit}"


def range_of(low: Any, high: Any, scale: str) -> Range | str:
    """Return the range between two ends as a document has them, or what is wrong with it."""
    if low is None or high is None:
        return "a range needs both 'from' and 'to'"
    log = scale == "log"
    if isinstance(low, str) and isinstance(high, str):
        found = _quantities(low, high, log=log)
        if found is None:
            return "two quantities of one kind are needed"
    elif any(isinstance(end, bool) or not isinstance(end, int | float) for end in (low, high)):
        return "two numbers, or two quantities with units, are needed"
    else:
        ends: tuple[Any, Any] = (low, high)
        found = Range(*ends, "", 1, all(isinstance(end, int) for end in ends), log)
    if not -math.inf < found.low < found.high < math.inf:
        return "a range goes from a smaller to a larger value"
    if log and not found.low > 0:
        return "a logarithmic range begins above 0"
    return found


def _quantities(low: str, high: str, *, log: bool) -> Range | None:
    """Return the range between two quantities, with the unit of the upper one; None for others."""
    from ackclock import _core

    (kind, first), (other, last) = (_core.quantity(end) or ("", 0) for end in (low, high))
    if not kind or kind != other:
        return None
    unit = high.strip().lstrip("+-.0123456789eE_").strip()
    parts = _parts(unit)
    if not math.log10(parts).is_integer():
        # In powers of two a value would have a tail of digits.
        unit = _BASE[kind]
        parts = _parts(unit)
    return Range(first, last, unit, parts, kind == "packets", log)


def _parts(unit: str) -> int:
    from ackclock import _core

    found = _core.quantity(f"1 {unit}")
    assert found is not None, "a quantity ends with its unit"
    return found[1]
