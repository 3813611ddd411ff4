"""A prediction next to a run."""

from typing import Any, NamedTuple

from ackclock.errors import InputError, listed, must_have
from ackclock.record_tables import sampled
from ackclock.results import Results
from ackclock.theory.averaged import ComparedAverages, averaged
from ackclock.theory.measured import (
    Measures,
    Span,
    measured_periods,
    route_change_times,
    settled_spans,
)
from ackclock.theory.prediction import (
    RATE_TOLERANCE,
    Period,
    Prediction,
    Range,
    queue_label,
)

QUEUE_TOLERANCE = 0.05
"""Largest relative error of the queues summed along a path."""

QUEUE_GRAIN_PACKETS = 1.0
"""Errors of queues below this do not count: the theory knows no packets, only a liquid."""

FINISH_TOLERANCE_S = 0.7
"""Largest error of a completion time, seconds."""

FINISH_TOLERANCE = 0.01
"""The same, in relation to the duration of the flow: the larger one counts."""


class Figure(NamedTuple):
    """One predicted and measured figure.

    Attributes:
        quantity: `rate`, `path-queue`, `rtt`, `window`, `link-queue` or `finish`.
        subject: Name of the flow or link.
        unit: Unit of both values.
        predicted: Predicted value; of a range its middle.
        measured: Measured value; none if the run did not record it.
        tolerance: Tolerated error; none if the figure is for information.
        relative: Whether error and tolerance are relative to the measured value.
        grain: Errors up to this (in `unit`) are tolerated as well.
        range: The range, where theory allows for one.
    """

    quantity: str
    subject: str
    unit: str
    predicted: float
    measured: float | None
    tolerance: float | None = None
    relative: bool = True
    grain: float = 0.0
    range: Range | None = None

    @property
    def ends(self) -> Range:
        """The range, or the predicted value twice."""
        return self.range or (self.predicted, self.predicted)

    @property
    def error(self) -> float | None:
        """Predicted less measured, relative to the measured value or in `unit`.

        Of a range the nearest value counts.
        """
        if self.measured is None:
            return None
        low, high = self.ends
        difference = min(max(self.measured, low), high) - self.measured
        if not self.relative:
            return difference
        return difference / self.measured if self.measured else None

    @property
    def agrees(self) -> bool | None:
        """Whether the error is tolerated; none if it was not measured or nothing is asked."""
        if self.tolerance is None or self.measured is None:
            return None
        low, high = self.ends
        if low - self.grain <= self.measured <= high + self.grain:
            return True
        return self.error is not None and bool(abs(self.error) <= self.tolerance)

    def to_json(self) -> dict[str, Any]:
        """The figure as a document."""
        shown = ("quantity", "subject", "unit", "predicted", "measured")
        judged = ("error", "relative", "tolerance", "agrees")
        known = {name: getattr(self, name) for name in (*shown, *judged)}
        return known | ({"range": list(self.range)} if self.range else {})


class ComparedPeriod(NamedTuple):
    """A period of the run next to the predicted one with the same flows.

    Attributes:
        start_s: Start in the run, seconds.
        end_s: End in the run, seconds.
        spans: Settled parts over which means were taken; empty if the period is too short.
        predicted: The predicted period.
        figures: Figures; empty without settled parts.
    """

    start_s: float
    end_s: float
    spans: list[Span]
    predicted: Period
    figures: list[Figure]


class Comparison(NamedTuple):
    """A prediction next to a run.

    Attributes:
        prediction: The prediction.
        periods: Periods that were both predicted and measured.
        finishes: Completion times (last ACK at the sender).
        averages: Averages of flows without an equilibrium.
        notes: What could not be compared, and why.
    """

    prediction: Prediction
    periods: list[ComparedPeriod]
    finishes: list[Figure]
    averages: list[ComparedAverages]
    notes: list[str]

    @property
    def figures(self) -> list[Figure]:
        """All figures."""
        return [figure for period in self.periods for figure in period.figures] + self.finishes

    @property
    def verdicts(self) -> list[bool]:
        """Whether each figure that is judged agrees."""
        averages = [figure for known in self.averages for figure in known.figures]
        return [f.agrees for f in (*self.figures, *averages) if f.agrees is not None]

    @property
    def agrees(self) -> bool | None:
        """Whether all figures with a tolerance agree; none if there is no such figure."""
        verdicts = self.verdicts
        return all(verdicts) if verdicts else None

    def to_json(self) -> dict[str, Any]:
        """A document for `json.dumps`."""
        return {
            "assumptions": self.prediction.assumptions,
            "agrees": self.agrees,
            "periods": [
                {
                    "start_s": period.start_s,
                    "end_s": period.end_s,
                    "settled_spans_s": [list(span) for span in period.spans],
                    "predicted_start_s": period.predicted.start_s,
                    "predicted_end_s": period.predicted.end_s,
                    "figures": [figure.to_json() for figure in period.figures],
                }
                for period in self.periods
            ],
            "finishes": [figure.to_json() for figure in self.finishes],
            "averages": [known.to_json() for known in self.averages],
            "notes": self.notes,
        }


def compare(prediction: Prediction, results: Results) -> Comparison:
    """Set a prediction next to a run.

    Periods of the run are bounded by the starts and finishes that happened in it. A period is
    compared with the predicted one in which the same flows are active, over its settled parts (see
    `settled_spans`; the rule follows from the laws, the data are not looked at). Rates are new data
    at the receiver. The queue of a path counts data packets that wait in all queues that the flow's
    data can visit; on a half-duplex link that is the one queue of both directions.

    Args:
        prediction: The prediction.
        results: The run, with the tables `packets`, `queue`, `cwnd`, `rtt` recorded (figures whose
            table is missing are not measured).

    Returns:
        Figures with verdicts: 3 % for rates, 5 % for queues along a path (or one packet), 0.7 s (or
        1 % of the duration) for completion times; window, RTT and single queues are for
        information. Averages of flows without an equilibrium have the accuracy of their model.
        Where a law is at rest in a whole range, the range is tolerated as well.

    Raises:
        InputError: the run has other flows than the prediction.

    Example:
        >>> import ackclock
        >>> from ackclock.theory import compare, predict
        >>> scenario = ackclock.Scenario.load("caltech/test-case-0-fast")
        >>> compare(predict(scenario), ackclock.run(scenario)).agrees
        True
    """
    must_have(prediction, "periods", name="prediction", wanted="what `predict` returns")
    must_have(results, "summary", "tables")
    if prediction.flows.keys() != results.summary["flows"].keys():
        raise InputError(
            f"the prediction is of '{prediction.scenario}', the run of "
            f"'{results.summary['scenario']}', which has other flows"
        )
    notes = list(prediction.notes)
    measures = Measures(results, prediction)
    predicted = list(prediction.periods)
    compared = []
    named = {name for period in predicted for name in period.flows}
    route_changes = route_change_times(results) if named else []
    for found in measured_periods(results, named):
        match = next((p for p in predicted if p.flows.keys() == found.flows), None)
        span = f"{found.start_s:.4g} s to {found.end_s:.4g} s"
        if match is None:
            names = listed(sorted(found.flows))
            notes.append(f"{span}: not predicted that {names} are active together.")
            continue
        del predicted[: predicted.index(match) + 1]
        spans = settled_spans(found, match, prediction, route_changes)
        if not spans:
            notes.append(f"{span}: too short to settle and to be averaged, not compared.")
        figures = _figures(prediction, match, measures, spans) if spans else []
        compared.append(ComparedPeriod(found.start_s, found.end_s, spans, match, figures))
    missing = [t for t in ("packets", "queue", "cwnd", "rtt") if t not in results.tables]
    if missing and (compared or prediction.averages):
        notes.append(f"Not recorded in this run, so not compared: {', '.join(missing)}.")
    if (compared or prediction.averages) and (some := sampled(results.canonical)):
        rows = ", ".join(f"{table} {kept}" for table, kept in some.items())
        notes.append(f"Means are of the rows that were recorded, which are not all: {rows}.")
    averages = [averaged(known, results, measures) for known in prediction.averages]
    return Comparison(
        prediction,
        compared,
        _finishes(prediction, results),
        [known for known in averages if known is not None],
        notes,
    )


def _figures(
    prediction: Prediction, period: Period, measures: Measures, spans: list[Span]
) -> list[Figure]:
    figures = []
    judged = not prediction.uncertain & period.flows.keys()
    of_rate, of_queue = (RATE_TOLERANCE, QUEUE_TOLERANCE) if judged else (None, None)
    for name, state in period.flows.items():
        waiting = measures.queue_packets(prediction.flows[name].path_queues, spans)
        measured, path = measures.rate_bps(name, spans), state.path_queue_packets
        grain = QUEUE_GRAIN_PACKETS
        figures += [
            Figure("rate", name, "bit/s", state.rate_bps, measured, of_rate),
            Figure("path-queue", name, "packets", path, waiting, of_queue, grain=grain),
        ]
        if state.window_packets is not None:
            rtt = measures.rtt_s(name, spans)
            window = measures.window_packets(name, spans)
            figures += [
                Figure("rtt", name, "s", state.rtt_s, rtt),
                Figure("window", name, "packets", state.window_packets, window),
            ]
    visited = {queue for name in period.flows for queue in prediction.flows[name].path_queues}
    for queue, state in period.queues.items():
        if queue in visited:
            measured = measures.queue_packets([queue], spans)
            label = queue_label(queue)
            figures.append(Figure("link-queue", label, "packets", state.data_packets, measured))
    return [f._replace(range=period.ranges.get((f.quantity, f.subject))) for f in figures]


def _finishes(prediction: Prediction, results: Results) -> list[Figure]:
    finishes = []
    certain = not prediction.uncertain and not any(p.ranges for p in prediction.periods)
    tolerance = FINISH_TOLERANCE_S if certain else None
    for name, facts in prediction.flows.items():
        if (predicted := facts.finish_ack_s) is not None:
            measured = results.summary["flows"][name].get("finish_ack_s")
            grain = 0.0 if measured is None else FINISH_TOLERANCE * (measured - facts.start_s)
            figure = Figure("finish", name, "s", predicted, measured, tolerance, False, grain)
            finishes.append(figure)
    return finishes
