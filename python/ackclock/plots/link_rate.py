"""Panel: rate of links, with the paths that flows take behind it."""

from __future__ import annotations

from . import draw, palette, quantities
from .sheet import Panel
from .view import View

_MOST_MOVING_FLOWS = 4


def fill(view: View, panel: Panel) -> None:
    """Rate of each link in windows of time, all packets together, and its capacity.

    Where a flow's path changes during the run, spans behind the lines show which one it takes.
    """
    lanes = [(lane, *view.link_rate(lane)) for lane in view.lanes]
    highest = max((float(rates.max()) for *_, rates in lanes if len(rates)), default=0.0)
    capacities = sorted({lane.rate_bps for lane, *_ in lanes})
    for capacity in capacities:
        if capacity <= 1.3 * highest:
            highest = max(highest, capacity)
    unit = quantities.rate_unit(highest, binary=view.binary_rates)
    panel.title = "Rate of links"
    panel.unit = f"{unit.name}, all packets, in {quantities.window(view.window_s)}"
    for lane, edges, rates in lanes:
        draw.windows(
            panel,
            view,
            edges,
            rates / unit.size,
            color=lane.color,
            dashed=lane.dashed,
            among=len(lanes),
        )
        panel.entry(lane.label, lane.color, dashed=lane.dashed)
    for capacity in capacities:
        if capacity <= highest:
            panel.axes.axhline(
                capacity / unit.size, color=palette.FAINT_INK, lw=0.7, ls=(0, (1, 1.5)), zorder=1
            )
    if any(capacity <= highest for capacity in capacities):
        panel.entry("capacity", palette.FAINT_INK, dashed=True, width=0.8)
    panel.y_from_zero(highest / unit.size)
    _paths(view, panel)
    if view.binary_rates:
        note_binary(panel, unit.name)


def note_binary(panel: Panel, unit: str) -> None:
    """Explain a binary unit of rate below the figure."""
    power = {"Kibps": "¹⁰", "Mibps": "²⁰", "Gibps": "³⁰"}.get(unit)
    if power:
        panel.note(f"1 {unit} = 2{power} bit/s, as in the scenario.")


def _paths(view: View, panel: Panel) -> None:
    """Shade the times at which a flow takes another path than the one it takes for longest."""
    moving = [name for name, spans in view.flow_paths.items() if len({s.links for s in spans}) > 1]
    moving = [
        name
        for name in moving
        if len({s.links for s in view.flow_paths[name] if s.stop_s > view.active(name).start_s}) > 1
    ]
    if not 0 < len(moving) <= _MOST_MOVING_FLOWS:
        return
    unit = view.time_unit.size
    for row, name in enumerate(moving):
        spans = [span for span in view.flow_paths[name] if span.links]
        common = set.intersection(*(set(span.links) for span in spans))
        active = view.active(name)
        for span in spans:
            own = [link for link in span.links if link not in common]
            start = max(span.start_s, active.start_s)
            stop = min(span.stop_s, active.stop_s)
            if stop <= start or not own:
                continue
            low, high = 1 - (row + 1) / len(moving), 1 - row / len(moving)
            panel.axes.axvspan(
                start / unit,
                stop / unit,
                low,
                high,
                color=view.link_color[own[0]],
                alpha=0.10,
                lw=0,
                zorder=0.5,
            )
            words = f"{name} via {', '.join(own)}"
            if (stop - start) / view.end_s * panel.width_mm > 1.25 * len(words):
                panel.axes.text(
                    (start + stop) / 2 / unit,
                    high - 0.90 / len(moving),
                    words,
                    transform=panel.axes.get_xaxis_transform(),
                    ha="center",
                    va="bottom",
                    size=5.8,
                    color=palette.FAINT_INK,
                )
