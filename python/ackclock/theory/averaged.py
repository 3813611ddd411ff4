"""Averages over a long run, predicted and measured."""

import math
from typing import Any, NamedTuple

from ackclock.results import Results
from ackclock.theory.estimate import Averages, Estimate, rounded
from ackclock.theory.measured import Measures, Span

_LEAST_SWINGS = 3
"""Whole swings of a window that make an average."""

_REPEATED = 0.1
"""Share of the losses after which packets may be lost again before the window has recovered."""

_LEFT_OUT = 0.5
"""Share of the time at its start that no average has: flows begin there, and come to terms."""


class MeasuredAverage(NamedTuple):
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


class ComparedAverages(NamedTuple):
    """Averages of flows that share queues, next to a run.

    Attributes:
        averages: What a model says of them.
        span: Over which time the run was averaged, seconds.
        figures: The averages.
        unjudged: In words, why the run is not judged; none if it is.
    """

    averages: Averages
    span: Span
    figures: tuple[MeasuredAverage, ...]
    unjudged: str | None

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

    Of windows that swing only whole swings count, from one loss to another: a part of one at the
    end would not be an average.

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
    losses = measures.reductions_s(averages.flows[0], span) if averages.repeat_s else None
    if losses is None:
        lasted = span[1] - span[0]
        unjudged = None if lasted >= averages.least_s else _too_short(averages.least_s, lasted)
    else:
        span, unjudged = _whole_swings(losses, averages.repeat_s or 0.0, span)
    figures = []
    for estimate in averages.estimates:
        measured = _measured(estimate, measures, span)
        judged = measured is not None and unjudged is None
        agrees = estimate.holds(measured) if judged and measured is not None else None
        figures.append(MeasuredAverage(estimate, measured, agrees))
    return ComparedAverages(averages, span, tuple(figures), unjudged)


def _too_short(least_s: float, lasted_s: float) -> str:
    return f"its averages need {rounded(least_s)} s, and the run has {rounded(lasted_s)} s of them"


def _whole_swings(losses_s: list[float], repeat_s: float, span: Span) -> tuple[Span, str | None]:
    """The part of a span that is whole swings of a window, and in words why it is no average."""
    first = [
        t for t, last in zip(losses_s, [-math.inf, *losses_s], strict=False) if t - last > repeat_s
    ]
    swings = max(0, len(first) - 1)
    whole = (first[0], first[-1]) if swings else span
    if swings < _LEAST_SWINGS:
        return whole, (
            f"its averages need {_LEAST_SWINGS} whole swings of the window, from one loss to the "
            f"next, and the second half of the run has {swings}"
        )
    repeated = len(losses_s) - len(first)
    if repeated > _REPEATED * len(first):
        return whole, (
            f"after {repeated} of {len(first)} losses packets were lost again before the window "
            "had recovered, and it fell twice; the model has one fall each time"
        )
    return whole, None


def _measured(estimate: Estimate, measures: Measures, span: Span) -> float | None:
    if estimate.quantity == "queue":
        return measures.queue_packets([estimate.link], [span])
    if estimate.quantity == "window":
        return measures.window_packets(estimate.flows[0], [span])
    rates = [measures.rate_bps(name, [span]) for name in estimate.flows]
    return None if any(rate is None for rate in rates) else sum(filter(None, rates))
