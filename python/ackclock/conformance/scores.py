"""The scorecard: one figure for each quality, beside those of known algorithms (RFC 5166)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ackclock.conformance.networks import RATE_BPS
from ackclock.conformance.trials import Figures
from ackclock.metrics import jain


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


Measure = Callable[[Figures], float | None]

_SCORES: tuple[tuple[str, str, str, str | float, str, Measure], ...] = (
    (
        "Utilisation",
        "%",
        "Share of the link that new data take, alone, from 10 s on",
        "high",
        "alone",
        _used,
    ),
    ("Queueing delay", "ms", "Mean wait at the bottleneck, alone", "low", "alone", _wait_ms),
    ("Loss", "%", "Packets dropped, alone", "low", "alone", _lost),
    (
        "Delay with ECN",
        "ms",
        "Mean wait, alone, in a queue that marks from 40 packets on",
        "low",
        "marks",
        _wait_ms,
    ),
    ("Fairness", "", "Jain's index of four flows of it, from 10 s on", 1.0, "itself", _jain),
    ("Share against CUBIC", "%", "Its share of a link with one CUBIC flow", 50.0, "cubic", _share),
    ("Share against BBR", "%", "Its share of a link with one BBR flow", 50.0, "bbr", _share),
    ("RTT bias", "", "Rate at 40 ms over rate at 120 ms, two flows of it", 1.0, "rtt", _ratio),
    (
        "Loss tolerance",
        "%",
        "Share of the link used with 1 % of packets lost at random",
        "high",
        "random-loss",
        _used,
    ),
    (
        "Convergence",
        "s",
        "From the start of a second flow to even shares (Jain's index of 0.9 over 2 s)",
        "low",
        "joins",
        _even_after,
    ),
)
"""Name, unit, meaning, what is best, network, figure."""


def scorecard(columns: Mapping[str, Mapping[str, Figures]]) -> list[Score]:
    """Return the scores of algorithms, by what was measured of each on each network."""
    made = []
    for name, unit, meaning, best, network, measure in _SCORES:
        values = {
            who: None if "goodput_bps" not in figures[network] else measure(figures[network])
            for who, figures in columns.items()
        }
        made.append(Score(name, unit, meaning, best, values))
    return made
