"""Windows of flows over time as one table: what a sender knew after each change.

A row for each moment at which a flow's window changed, a round-trip time was measured, or its timer
started or expired. Windows, thresholds, states and timeouts hold until the next row; a round-trip
time stands only in the row of its sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ackclock.export.columns import Columns, Ints
from ackclock.export.options import Options
from ackclock.export.tables import text

if TYPE_CHECKING:
    from ackclock.results import Results

STATES = ("slow-start", "congestion-avoidance", "recovery")


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The table as CSV, piece by piece. Needs `cwnd`; takes `rtt` and `rto` where recorded."""
    yield from text(table(results, options.flows))


def table(results: Results, flows: list[str] | None = None) -> pa.Table:
    """The table, in order of time, then of flows as in the scenario.

    Columns: `time_s`, `flow`, `cwnd_bytes`, `cwnd_segments`, `ssthresh_bytes` (none: unlimited),
    `state`, `rtt_s`, `rto_s` (none: selective repeat, or nothing known yet).
    """
    model = [flow for flow in results.model["flows"] if flow["tcp"] is not None]
    ids = [flow["id"] for flow in results.model["flows"]]
    sources = {name: _rows(results, name, ids) for name in ("cwnd", "rtt", "rto")}
    parts = [
        _of_flow(flow, sources, ids.index(flow["id"]))
        for flow in model
        if flows is None or flow["id"] in flows
    ]
    joined = pa.concat_tables(parts) if parts else _of_nothing()
    order = np.lexsort((joined["number"].to_numpy(), joined["time_s"].to_numpy()))
    return joined.take(pa.array(order)).drop_columns(["number"])


def _rows(results: Results, name: str, flows: list[str]) -> tuple[Columns, Ints] | None:
    if name not in results.tables:
        return None
    columns = Columns(results, name)
    return columns, columns.codes("flow", flows)


def _of_nothing() -> pa.Table:
    return pa.table({"number": pa.array([], pa.int64()), "time_s": pa.array([], pa.float64())})


def _of_flow(flow: dict[str, Any], sources: dict[str, Any], number: int) -> pa.Table:
    rows: dict[str, tuple[Columns, Ints]] = {}
    for name, source in sources.items():
        if source is not None:
            columns, codes = source
            rows[name] = columns, np.flatnonzero(codes == number)
    time_ns = np.unique(np.concatenate([c.ns("time_s")[mine] for c, mine in rows.values()]))
    columns, mine = rows["cwnd"]
    at = _last(columns.ns("time_s")[mine], time_ns)
    cwnd = _held(columns.reals("cwnd_bytes")[mine], at)
    limit = _held(columns.reals("ssthresh_bytes")[mine], at)
    state = _held(columns.codes("state", STATES)[mine], at)
    rtt, rto = (np.full(len(time_ns), np.nan) for _ in range(2))
    if "rtt" in rows:
        columns, mine = rows["rtt"]
        rtt[np.searchsorted(time_ns, columns.ns("time_s")[mine])] = columns.reals("rtt_s")[mine]
    if "rto" in rows:
        columns, mine = rows["rto"]
        rto = _held(columns.reals("rto_s")[mine], _last(columns.ns("time_s")[mine], time_ns))
    words = pa.array(STATES)
    return pa.table(
        {
            "number": pa.array(np.full(len(time_ns), number)),
            "time_s": pa.array(time_ns / 1e9),
            "flow": pa.array([flow["id"]] * len(time_ns), pa.string()),
            "cwnd_bytes": _known(cwnd),
            "cwnd_segments": _known(cwnd / flow["tcp"]["segment_bytes"]),
            "ssthresh_bytes": _known(limit),
            "state": words.take(
                pa.array(state, mask=np.isnan(state), type=pa.int64(), from_pandas=True)
            ),
            "rtt_s": _known(rtt),
            "rto_s": _known(rto),
        }
    )


def _last(times: Ints, wanted: Ints) -> Ints:
    """Place of the last of `times` at or before each wanted one; -1 before the first."""
    return np.searchsorted(times, wanted, "right") - 1


def _held(values: np.ndarray, at: Ints) -> np.ndarray:
    """Values at places; NaN at -1."""
    return np.concatenate([values, [np.nan]])[at]


def _known(values: np.ndarray) -> pa.Array:
    """Real numbers, with nothing in place of what is infinite or unknown."""
    return pa.array(values, mask=~np.isfinite(values))
