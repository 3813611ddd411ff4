"""The scorecard: one figure for each quality, beside those of known algorithms (RFC 5166)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.conformance.networks import RATE_BPS
from ackclock.conformance.trials import Figures
from ackclock.metrics import jain
from ackclock.packaged import rows


@dataclass(frozen=True)
class Score:
    """One figure for each algorithm.

    Attributes:
        name: A few words.
        unit: `%`, `ms`, `s` or empty.
        meaning: On which network, and what is measured.
        best: What is best: `high`, `low`, or a figure such as the even share.
        values: The figure by algorithm; None where a run failed or there is none.
    """

    name: str
    unit: str
    meaning: str
    best: str | float
    values: dict[str, float | None]


def _used(figures: Figures) -> float:
    return 100 * figures["used_bps"] / RATE_BPS


def _wait_ms(figures: Figures) -> float:
    return 1e3 * figures["wait_s"]


def _lost(figures: Figures) -> float:
    return 100 * figures["lost"]


def _jain(figures: Figures) -> float | None:
    return jain(figures["goodput_bps"])


def _share(figures: Figures) -> float | None:
    total = sum(figures["goodput_bps"])
    return 100 * figures["goodput_bps"][0] / total if total else None


def _ratio(figures: Figures) -> float | None:
    near, far = figures["goodput_bps"]
    return near / far if far else None


def _even_after(figures: Figures) -> float | None:
    return figures["even_after_s"]


_MEASURES: dict[str, Callable[[Figures], float | None]] = {
    "used": _used,
    "wait-ms": _wait_ms,
    "lost": _lost,
    "jain": _jain,
    "share": _share,
    "ratio": _ratio,
    "even-after": _even_after,
}


def scorecard(columns: Mapping[str, Mapping[str, Figures]]) -> list[Score]:
    """Return the scores of algorithms, by what was measured of each on each network."""
    made = []
    for row in rows(Path(__file__).with_suffix(".csv")):
        tried = {who: figures[row["network"]] for who, figures in columns.items()}
        measure, best = _MEASURES[row["measure"]], row["best"]
        values = {who: measure(f) if "goodput_bps" in f else None for who, f in tried.items()}
        best = best if best in ("high", "low") else float(best)
        made.append(Score(row["name"], row["unit"], row["meaning"], best, values))
    return made
