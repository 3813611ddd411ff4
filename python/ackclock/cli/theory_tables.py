"""Predictions and comparisons as `ackclock theory` and `ackclock run` print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from ackclock.cli.figures import NONE, number, seconds
from ackclock.cli.terminal import table
from ackclock.theory.prediction import queue_label

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ackclock.theory.averaged import MeasuredAverage
    from ackclock.theory.comparison import ComparedPeriod, Comparison, Figure
    from ackclock.theory.estimate import Averages, Estimate
    from ackclock.theory.prediction import Period, Prediction, QueueState

SHOWN = 0.5
"""Mean queues below this number of packets are not listed."""

WIDE = 104
"""Width of a terminal, characters, from which a comparison shows windows and RTTs as well."""

WIDE_RANGES = 130
"""The same where figures have two ends."""


def print_prediction(console: Console, prediction: Prediction) -> None:
    """Print a prediction."""
    unit, bps = prediction.rate_unit
    console.print(
        f"\n[bold]{escape(prediction.scenario)}[/bold]  theory, assumptions: "
        f"{prediction.assumptions}"
    )
    flows = table("Flow", "cc", "Path", ">Path RTT", ">Start", ">Finish\n(last ACK)")
    for name, facts in prediction.flows.items():
        flows.add_row(
            escape(name),
            facts.cc,
            escape(" ".join(facts.links)),
            seconds(facts.empty_rtt_s),
            f"{facts.start_s:g} s",
            NONE if facts.finish_ack_s is None else f"{facts.finish_ack_s:.2f} s",
        )
    console.print(flows)
    if prediction.periods:
        shown = table(
            "Period, s",
            "Flow",
            f">Rate\n{unit}",
            ">Window\npackets",
            ">RTT\nms",
            ">Base RTT\nms",
            ">Queue on path\npackets",
            "Queues\npackets",
        )
        for period in prediction.periods:
            _add_period(shown, period, bps)
        console.print(shown)
        console.print(
            "[dim]Queues are data packets that wait, of all flows, without the one in service."
            "[/dim]"
        )
    if prediction.averages:
        shown = table("Average of", ">Theory", "Model", title="Averages over a long run")
        for known in prediction.averages:
            for estimate in known.estimates:
                what, size, _ = _average(estimate, prediction)
                shown.add_row(what, _span_of(estimate.low, estimate.high, size), known.model.name)
        console.print()
        console.print(shown)
        _print_sources(console, prediction.averages)
    _print_notes(console, prediction.notes)


def _add_period(shown: Table, period: Period, bps: float) -> None:
    time = _span(period.start_s, period.end_s)
    queues = _queues(period)
    for name, state in period.flows.items():
        window = state.window_packets
        shown.add_row(
            time,
            escape(name),
            _value(period, ("rate", name), state.rate_bps, bps),
            NONE if window is None else _value(period, ("window", name), window),
            _value(period, ("rtt", name), state.rtt_s, 1e-3),
            f"{state.base_rtt_s * 1e3:.4g}",
            _value(period, ("path-queue", name), state.path_queue_packets),
            queues,
        )
        time = queues = ""
    shown.add_section()


def _value(period: Period, figure: tuple[str, str], value: float, size: float = 1.0) -> str:
    """A predicted value, or its range."""
    return _span_of(*period.ranges.get(figure, (value, value)), size)


def _span_of(low: float, high: float, size: float) -> str:
    ends = number(low / size), number(high / size)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _queues(period: Period) -> str:
    def label(key: tuple[str, str], queue: QueueState) -> str:
        name = queue_label(key)
        return f"{escape(name)} {_value(period, ('link-queue', name), queue.data_packets)}"

    shown = {key: queue for key, queue in period.queues.items() if queue.data_packets >= SHOWN}
    return ", ".join(label(*item) for item in shown.items()) or f"all < {SHOWN:g}"


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print a comparison."""
    unit, bps = comparison.prediction.rate_unit
    ranges = any(period.predicted.ranges for period in comparison.periods)
    wide = console.width >= (WIDE_RANGES if ranges else WIDE)
    if any(period.figures for period in comparison.periods):
        shown = table(
            "Steady part, s",
            "Flow",
            f">Rate, {unit}\ntheory  run",
            ">error",
            ">Queue on path\ntheory  run",
            ">error",
            *((">RTT, ms\ntheory  run", ">Window\ntheory  run") if wide else ()),
            title="Theory and run",
        )
        for period in comparison.periods:
            _add_compared(shown, period, bps, wide)
        console.print()
        console.print(shown)
    if comparison.finishes:
        shown = table("Flow", ">Finish, s\ntheory  run", ">error, s")
        for figure in comparison.finishes:
            shown.add_row(escape(figure.subject), _pair(figure, 1.0, ".2f"), _error(figure))
        console.print(shown)
    if comparison.averages:
        _print_averages(console, comparison)
    if comparison.agrees is not None:
        console.print(_verdict(comparison))
    _print_notes(console, comparison.notes)


def _add_compared(shown: Table, period: ComparedPeriod, bps: float, wide: bool) -> None:
    if not period.figures:
        return
    by_name = {(f.quantity, f.subject): f for f in period.figures}
    time = _span(period.spans[0][0], period.spans[-1][1])
    for name in period.predicted.flows:
        rate, queue = by_name["rate", name], by_name["path-queue", name]
        more = (by_name.get(("rtt", name)), 1e-3), (by_name.get(("window", name)), 1.0)
        shown.add_row(
            time,
            escape(name),
            _pair(rate, bps, ".3f"),
            _error(rate),
            _pair(queue, 1.0, ".1f"),
            _error(queue),
            *(
                NONE if figure is None else _pair(figure, unit, ".1f")
                for figure, unit in (more if wide else ())
            ),
        )
        time = ""
    shown.add_section()


def _print_averages(console: Console, comparison: Comparison) -> None:
    shown = table(
        "Average of", ">Theory", ">Run", ">Error", "Over, s", title="Theory and run: averages"
    )
    for known in comparison.averages:
        span = _span(*known.span)
        for figure in known.figures:
            what, size, form = _average(figure.estimate, comparison.prediction)
            run = NONE if figure.measured is None else f"{figure.measured / size:{form}}"
            shown.add_row(
                what,
                _span_of(figure.estimate.low, figure.estimate.high, size),
                run,
                _outside(figure),
                span,
            )
            span = ""
        shown.add_section()
    console.print()
    console.print(shown)
    _print_sources(console, [known.averages for known in comparison.averages])
    for known in comparison.averages:
        if reason := known.unjudged:
            console.print(
                f"[dim]Note:[/dim] {escape(known.averages.model.name)}: not judged: {reason}."
            )


def _average(estimate: Estimate, prediction: Prediction) -> tuple[str, float, str]:
    """What an average is of, the size of its unit, and the form of its values."""
    unit, bps = prediction.rate_unit
    names = (
        ("rate", unit, bps, ".3f") if estimate.quantity == "rate" else ("", "packets", 1.0, ".1f")
    )
    word = names[0] or estimate.quantity
    return (
        f"{escape(estimate.named(len(prediction.flows)))}: {word}, {names[1]}",
        names[2],
        names[3],
    )


def _outside(figure: MeasuredAverage) -> str:
    """How far a run is outside the range."""
    if figure.error is None:
        return NONE
    text = f"{figure.error * 100:+.1f} %" if figure.error else "in range"
    if figure.agrees is None:
        return f"[dim]({text})[/dim]"
    return f"[green]{text}[/green]" if figure.agrees else f"[red]{text}[/red]"


def _print_sources(console: Console, averages: Sequence[Averages]) -> None:
    """Say which models these are; each once."""
    for model in {known.model.name: known.model for known in averages}.values():
        console.print(
            f"[dim]Model:[/dim] {escape(model.name)}. {escape(model.says)} For "
            f"{escape(model.holds_for)} ({escape(model.source)})."
        )


def _pair(figure: Figure, unit: float, form: str) -> str:
    run = NONE if figure.measured is None else f"{figure.measured / unit:{form}}"
    ends = list(dict.fromkeys(f"{end / unit:{form}}" for end in figure.ends))
    return f"{' to '.join(ends)}  {run}"


def _error(figure: Figure) -> str:
    if figure.error is None or figure.measured is None:
        return NONE
    if figure.relative and figure.agrees and figure.measured < figure.grain:
        return f"[green]< {figure.grain:g}[/green]"
    if figure.range and not figure.error:
        return "in range" if figure.agrees is None else "[green]in range[/green]"
    text = f"{figure.error * 100:+.1f} %" if figure.relative else f"{figure.error:+.2f}"
    if figure.agrees is None:
        return text
    return f"[green]{text}[/green]" if figure.agrees else f"[red]{text}[/red]"


def _verdict(comparison: Comparison) -> str:
    verdicts = comparison.verdicts
    asked = [
        *(("rates 3 %, queues on a path 5 % or 1 packet",) if comparison.periods else ()),
        *(("finish 0.7 s or 1 %",) if comparison.finishes else ()),
        *(("averages as their models claim",) if comparison.averages else ()),
    ]
    count = len(verdicts)
    shown = f"{count} figures ({', '.join(asked)})"
    if wrong := verdicts.count(False):
        return f"[red]Theory and run differ[/red] in {wrong} of {shown}."
    return f"[green]Theory and run agree[/green] in {count} of {shown}."


def _span(start_s: float, end_s: float | None) -> str:
    end = "end" if end_s is None else f"{end_s:.2f}"
    return f"{start_s:.2f} to {end}"


def _print_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes:
        console.print(f"[dim]Note:[/dim] {escape(note)}")
