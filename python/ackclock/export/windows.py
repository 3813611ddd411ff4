"""Windows of flows over time as one table: what a sender knew after each change.

A row for each moment at which a flow's window changed, a round-trip time was measured, or its timer
started or expired. Windows, thresholds, states and timeouts hold until the next row; a round-trip
time stands only in the row of its sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ackclock.arrays import Integers
from ackclock.export.columns import Records, records
from ackclock.export.options import Options
from ackclock.export.tables import text
from ackclock.results import Results

STATES = ("slow-start", "congestion-avoidance", "recovery")


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The table as CSV, piece by piece. Needs `cwnd`; takes `rtt` and `rto` where recorded."""
    yield from text(table(results, options))


def table(results: Results, options: Options | None = None) -> pa.Table:
    """The table, in order of time, then of flows as in the scenario.

    Columns: `time_s`, `flow`, `cwnd_bytes`, `cwnd_segments`, `ssthresh_bytes` (none: unlimited),
    `state`, `rtt_s`, `rto_s` (none: selective repeat, or nothing known yet).
    """
    ids = [flow["id"] for flow in results.model["flows"]]
    tables = {n: records(results, n) for n in ("cwnd", "rtt", "rto") if n in results.tables}
    codes = {name: table.places("flow", ids) for name, table in tables.items()}
    parts = []
    for flow in (options or Options()).with_tcp(results.model):
        number = ids.index(flow["id"])
        rows = {name: np.flatnonzero(code == number) for name, code in codes.items()}
        parts.append(_of_flow(flow, tables, rows, number))
    joined = pa.concat_tables(parts) if parts else _of_nothing()
    order = np.lexsort((joined["number"].to_numpy(), joined["time_s"].to_numpy()))
    return joined.take(pa.array(order)).drop_columns(["number"])


def _of_nothing() -> pa.Table:
    return pa.table({"number": pa.array([], pa.int64()), "time_s": pa.array([], pa.float64())})


def _of_flow(
    flow: dict[str, Any], tables: dict[str, Records], rows: dict[str, Integers], number: int
) -> pa.Table:
    times = {name: table.ns("time_s")[rows[name]] for name, table in tables.items()}
    time_ns = np.unique(np.concatenate(list(times.values())))

    def held(name: str, values: np.ndarray) -> np.ndarray:
        """The last value at or before each time; NaN before the first."""
        at = np.searchsorted(times[name], time_ns, "right") - 1
        return np.concatenate([values[rows[name]], [np.nan]])[at]

    cwnd, limit = (held("cwnd", tables["cwnd"].plain(f"{c}_bytes")) for c in ("cwnd", "ssthresh"))
    state = held("cwnd", tables["cwnd"].places("state", STATES))
    rtt, rto = (np.full(len(time_ns), np.nan) for _ in range(2))
    if "rtt" in tables:
        rtt[np.searchsorted(time_ns, times["rtt"])] = tables["rtt"].plain("rtt_s")[rows["rtt"]]
    if "rto" in tables:
        rto = held("rto", tables["rto"].plain("rto_s"))
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


def _known(values: np.ndarray) -> pa.Array:
    """Real numbers, with nothing in place of what is infinite or unknown."""
    return pa.array(values, mask=~np.isfinite(values))
