"""Scenarios and studies at a glance, for notebooks: pieces of a web page without own colours.

Text has the colour of the notebook, so that they can be read on light and on dark ground; curves
have colours that stand out from both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ackclock.arrays import Floats
from ackclock.columns import Column
from ackclock.tables.formats import to_html
from ackclock.tables.table import ResultTable

_MOST_ROWS = 12
_WIDTH, _HEIGHT = 560, 90
_LEFT, _BOTTOM = 40, 14
_COLORS = ("#2F8FE0", "#E0692A", "#1FA37A", "#CC79A7", "#B8860B", "#7A869A")
_RATES = ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def scenario(checked: Any) -> str:
    """A scenario: what it asks, its links and its flows."""
    model: Mapping[str, Any] = checked.model
    parts = [_head(model["name"] or "scenario", model.get("title"))]
    if question := model.get("question"):
        parts.append(f"<p><i>{escape(' '.join(question.split()))}</i></p>")
    links = [_link(link) for link in model["links"]]
    flows = [_flow(flow) for flow in model["flows"]]
    parts.append(_table(("Flow", "From", "To", "TCP", "Starts", "Sends"), flows, "flows"))
    parts.append(_table(("Link", "Between", "Rate", "Delay", "Queue", "Loss"), links, "links"))
    end = model["stop"].get("at_latest_ns")
    until = f", ends at {end * 1e-9:g} s at the latest" if end is not None else ""
    parts.append(f"<p>seed {checked.seed}{until}. Run it: <code>ackclock.run(scenario)</code></p>")
    return f"<div>{''.join(parts)}</div>"


def study(design: Any) -> str:
    """A study: what is varied, and how many runs that makes."""
    rows = [
        (
            axis.name,
            ", ".join(dict.fromkeys(s.path for choice in axis.choices for s in choice.settings)),
            str(len(axis.choices)),
            _some([choice.label for choice in axis.choices]),
        )
        for dimension in design.dimensions
        for axis in dimension.axes
    ]
    runs = f"{design.points} combinations × {design.replications} replications = {len(design)} runs"
    parts = [
        _head(design.name, design.title),
        _table(("Axis", "Sets", "Values", "These are"), rows, "axes"),
        f"<p>{runs}. Run them: <code>study.run()</code></p>",
    ]
    return f"<div>{''.join(parts)}</div>"


def sweep(results: Any) -> str:
    """The results of a sweep: the axes of the first runs, with rate, drops and fairness."""
    figures = ("goodput_bps", "segments_dropped", "fairness_jain")
    wanted = [*results.axes, "seed", "status", *figures]
    names = [name for name in wanted if name in results.column_names]
    failed = f", {results.failed} failed" if results.failed else ""
    parts = [
        _head(results.study, None),
        f"<p>{len(results):,} of {results.runs:,} runs{failed}</p>",
        _first(results.select(names), names, len(results), "runs"),
        "<p>A data frame: <code>results.frame()</code></p>",
    ]
    return f"<div>{''.join(parts)}</div>"


def replications(found: Any) -> str:
    """Replications: how many there are, and figures of the first ones."""
    names = ("seed", "flow", "completion_s", "goodput_bps", "retransmissions", "timeouts")
    table = found.table().select(names)
    failed = f", {len(found.failures)} failed" if found.failures else ""
    parts = [
        _head(found.scenario, None),
        f"<p>{len(found):,} of {found.asked:,} replications{failed}</p>",
        _first(table, names, table.num_rows, "rows"),
        "<p>A data frame: <code>replications.frame()</code></p>",
    ]
    return f"<div>{''.join(parts)}</div>"


def _first(table: Any, names: Sequence[str], count: int, what: str) -> str:
    """The first of so many rows of an Arrow table, and how many there are more."""
    first = table.slice(0, _MOST_ROWS).to_pylist()
    rows = [tuple(_cell(row[name]) for name in names) for row in first]
    return _table(names, rows + [()] * max(0, count - len(rows)), what)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def curves(series: Mapping[str, tuple[Floats, Floats]], end_s: float, title: str) -> str:
    """Step functions over time as a small picture (SVG); empty without any value.

    Args:
        series: Times in seconds and values after them, by name; the first six are drawn.
        end_s: End of the time axis.
        title: What is drawn, with its unit.
    """
    shown = {name: pair for name, pair in list(series.items())[: len(_COLORS)] if len(pair[0])}
    top = max((float(values.max()) for _, values in shown.values()), default=0.0)
    if not top > 0 or not end_s > 0:
        return ""
    lines = [
        f'<path d="{_path(times, values, end_s, top)}" fill="none" stroke="{color}" '
        'stroke-width="1.2"/>'
        for (times, values), color in zip(shown.values(), _COLORS, strict=False)
    ]
    names = " ".join(
        f'<span style="color:{color}">&#9632;</span> {escape(name)}'
        for name, color in zip(shown, _COLORS, strict=False)
    )
    right, base = _LEFT + _WIDTH, _HEIGHT + 2
    words = [
        (_LEFT - 4, 10, "end", f"{top:.4g}"),
        (_LEFT - 4, base, "end", "0"),
        (_LEFT, base + _BOTTOM, "start", "0"),
        (right, base + _BOTTOM, "end", f"{end_s:.4g} s"),
    ]
    text = "".join(
        f'<text x="{x}" y="{y}" text-anchor="{side}" fill="currentColor" opacity="0.75">{word}'
        "</text>"
        for x, y, side, word in words
    )
    axes = f'<path d="M{_LEFT} 2V{base}H{right}" fill="none" stroke="currentColor" opacity="0.4"/>'
    height = base + _BOTTOM + 4
    return (
        f"<p>{escape(title)}: {names}</p>"
        f'<svg viewBox="0 0 {right + 2} {height}" width="{right + 2}" height="{height}" '
        'style="max-width:100%;font:11px sans-serif" role="img" '
        f'aria-label="{escape(title)}">{axes}{"".join(lines)}{text}</svg>'
    )


def _path(times: Floats, values: Floats, end_s: float, top: float) -> str:
    """A step function as a path: of each pixel the first, least, greatest and last value."""
    at = np.clip((times / end_s * _WIDTH).astype(int), 0, _WIDTH)
    parts: list[str] = []
    for column in np.unique(at):
        inside = values[at == column]
        x = _LEFT + int(column)
        for value in dict.fromkeys((inside[0], inside.min(), inside.max(), inside[-1])):
            y = f"{2 + _HEIGHT * (1 - float(value) / top):.1f}"
            parts.append(f"M{x} {y}" if not parts else f"H{x}V{y}")
    return "".join(parts) + f"H{_LEFT + _WIDTH}"


def _head(name: str, title: str | None) -> str:
    return f"<p><b>{escape(name)}</b> {escape(title or '')}</p>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], what: str) -> str:
    if not rows:
        return f"<p>No {what}.</p>"
    cells = zip(*rows[:_MOST_ROWS], strict=True)
    columns = {Column(head, head, "word"): texts for head, texts in zip(heads, cells, strict=True)}
    more = len(rows) - _MOST_ROWS
    said = f"<p>and {more:,} more {what}</p>" if more > 0 else ""
    return to_html(ResultTable.of(columns)) + said


def _flow(flow: Mapping[str, Any]) -> tuple[str, ...]:
    amount = flow["send_bytes"]
    return (
        flow["id"],
        flow["from"],
        flow["to"],
        flow["label"] if flow["tcp"] else f"UDP, {flow['udp']['source']['kind']}",
        f"{flow['start_ns'] * 1e-9:g} s",
        "as long as it runs" if amount is None else _unit(amount, _SIZES, "B"),
    )


def _link(link: Mapping[str, Any]) -> tuple[str, ...]:
    way = link["forward"]
    queue, loss = way["queue"], way["loss"]["kind"]
    says = {
        "limit_packets": "{} packets".format,
        "limit_bytes": lambda size: _unit(size, _SIZES, "B"),
        "limit_ns": lambda time: f"{time * 1e-6:g} ms",
        "limit_products": lambda share: f"{share / 1000:g} BDP",
    }
    limits = [say(queue[key]) for key, say in says.items() if queue.get(key) is not None]
    size = " or ".join(limits) or "unlimited"
    joint = " ↔ " if link["duplex"] == "full" else " – "
    return (
        link["id"],
        joint.join(link["ends"]) + ("" if link["duplex"] == "full" else " (half duplex)"),
        _unit(way["rate_bps"], _RATES, "bps"),
        f"{way['delay_ns'] * 1e-6:g} ms",
        f"{queue['kind']}, {size}",
        loss if loss != "none" else "",
    )


def _unit(value: float, units: Sequence[tuple[float, str]], least: str) -> str:
    for factor, unit in units:
        if value >= factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value:g} {least}"


def _some(labels: Sequence[Any], most: int = 8) -> str:
    words = [str(label) for label in labels[:most]]
    return ", ".join(words) + (", ..." if len(labels) > most else "")
