"""Averages over a long run, predicted and measured."""

from dataclasses import dataclass
from typing import Any

from ackclock.results import Results
from ackclock.theory.estimate import Averages, Estimate
from ackclock.theory.measured import Measures, Span

_LEFT_OUT = 0.5
"""Share of the time at its start that no average has: flows begin there, and come to terms."""


@dataclass(frozen=True)
class MeasuredAverage:
    """A predicted average next to the measured one.

    Attributes:
        estimate: What the model says.
        measured: The average of the run; none if the run did not record it.
        agrees: Whether it is in the range; none if it was not measured, the model claims no
            accuracy here, or the run is too short.
    """

    estimate: Estimate
    measured: float | None
    agrees: bool | None

    @property
    def error(self) -> float | None:
        """Nearest value of the range less the measured one, as a share of that."""
        return None if self.measured is None else self.estimate.error(self.measured)


@dataclass(frozen=True)
class ComparedAverages:
    """Averages of flows that share queues, next to a run.

    Attributes:
        averages: What a model says of them.
        span: Over which time the run was averaged, seconds.
        figures: The averages.
    """

    averages: Averages
    span: Span
    figures: tuple[MeasuredAverage, ...]

    @property
    def too_short(self) -> bool:
        """Whether the run does not last long enough to be judged."""
        return self.span[1] - self.span[0] < self.averages.least_s

    def to_json(self) -> dict[str, Any]:
        """The comparison as a document."""
        figures = [
            {
                **figure.estimate.to_json(),
                "measured": figure.measured,
                "error": figure.error,
                "agrees": figure.agrees,
            }
            for figure in self.figures
        ]
        return {**self.averages.to_json(), "span_s": list(self.span), "estimates": figures}


def averaged(averages: Averages, results: Results, measures: Measures) -> ComparedAverages | None:
    """Set averages next to a run, over the second half of the time in which all flows are active.

    Returns:
        None where the flows are never active together.
    """
    lives = [results.summary["flows"][name] for name in averages.flows]
    end_s = float(results.summary["end_s"])
    start = max(float(life["start_s"]) for life in lives)
    end = min(end_s if life["finish_s"] is None else float(life["finish_s"]) for life in lives)
    if start >= end:
        return None
    span = (start + _LEFT_OUT * (end - start), end)
    long_enough = span[1] - span[0] >= averages.least_s
    figures = []
    for estimate in averages.estimates:
        measured = _measured(estimate, measures, span)
        judged = measured is not None and long_enough
        agrees = estimate.holds(measured) if judged and measured is not None else None
        figures.append(MeasuredAverage(estimate, measured, agrees))
    return ComparedAverages(averages, span, tuple(figures))


def _measured(estimate: Estimate, measures: Measures, span: Span) -> float | None:
    if estimate.quantity == "queue":
        return measures.queue_packets([estimate.link], [span])
    if estimate.quantity == "window":
        return measures.window_packets(estimate.flows[0], [span])
    rates = [measures.rate_bps(name, [span]) for name in estimate.flows]
    return None if any(rate is None for rate in rates) else sum(filter(None, rates))
