"""A run at a glance, for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

from ackclock.metrics.series import cwnd_series, is_long
from ackclock.tables.cards import curves
from ackclock.tables.formats import to_html
from ackclock.tables.of_run import of_summaries
from ackclock.tables.table import ResultTable

_MOST_ROWS = 20
_LINKS = ("link", "direction", "utilization", "drops", "queue_packets_mean", "queue_packets_max",
          "queueing_delay_s_mean", "queueing_delay_s_max")  # fmt: skip


def html(results: Any) -> str:
    """Return the key figures, the flows and the busiest links of a run as a piece of a web page."""
    summary = results.summary
    title = results.canonical.get("title") or ""
    runs = of_summaries({"": summary}, "runs").usual()
    flows = of_summaries({"": summary}, "flows").usual()
    links = of_summaries({"": summary}, "links").sort(["-utilization", "-drops"]).select(_LINKS)
    parts = [
        f"<p><b>{escape(summary['scenario'])}</b> {escape(title)}<br>"
        f"seed {summary['seed']}, ended: {escape(summary['stop_reason'])}, "
        f"digest {escape(summary['digest'])}</p>",
        to_html(runs),
        _windows(results),
        *_first(flows, "flows"),
        *_first(links, "directions of links, the busiest first"),
        '<p>A picture: <code>ackclock.plots.figure(results, "overview")</code></p>',
    ]
    return f"<div>{''.join(parts)}</div>"


def _windows(results: Any) -> str:
    """Return the congestion windows as a small picture; none if there is no record of them."""
    if "cwnd" not in results.tables or is_long(results, "cwnd"):
        return ""
    series = {}
    for name, flow in results.summary["flows"].items():
        if segment := flow.get("segment_bytes"):
            times, values = cwnd_series(results, name)
            series[name] = (times, values / segment)
    return curves(series, results.summary["end_s"], "Congestion window, packets")


def _first(table: ResultTable, what: str) -> list[str]:
    shown = table.take(range(min(len(table), _MOST_ROWS)))
    more = len(table) - len(shown)
    said = f"<p>{len(table):,} {what}; the first {len(shown)} are shown.</p>"
    return [to_html(shown), said] if more else [to_html(shown)]
