"""Series of a run as plain arrays: the one place that knows the columns of the record tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from ackclock.arrays import Array, Flags, Floats, Integers, NDArray
from ackclock.errors import must_have, names_of, one_of, refuse
from ackclock.metrics.condense import LONG
from ackclock.metrics.words import are
from ackclock.record_tables import descriptions


class HasTables(Protocol):
    """Anything with record tables, such as `ackclock.results.Results`."""

    def table(self, name: str) -> pa.Table:
        """Record table of this name; names of hosts, links, flows ... as dictionary arrays."""
        ...


def pieces(results: HasTables, table: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Some columns of a table, piece by piece where the run can give them so."""
    if isinstance(results, HasPieces):
        yield from results.pieces(table, columns)
    else:
        yield results.table(table).select(list(columns))


def is_long(results: HasTables, table: str) -> bool:
    """Whether a table has more rows than are held in memory as they are."""
    return isinstance(results, HasPieces) and results.rows(table) > LONG


@runtime_checkable
class HasPieces(HasTables, Protocol):
    """Anything that gives tables of any length bit by bit, such as `ackclock.results.Results`."""

    def rows(self, name: str) -> int:
        """Number of rows of a table."""
        ...

    def pieces(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The table piece by piece."""
        ...

    def columns(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Some columns of a table."""
        ...

    def condensed(
        self, name: str, column: str, span: tuple[float, float] | None = None
    ) -> dict[tuple[str, ...], tuple[Floats, Floats]]:
        """A column of a long table, condensed."""
        ...


def select(
    results: HasTables, table: str, columns: tuple[str, ...], **where: str | bool
) -> tuple[Array, ...]:
    """Columns of a record table, of the rows whose other columns have the given values.

    Args:
        results: The run.
        table: Name of the table.
        columns: Names of numeric columns.
        **where: Wanted values, for example ``flow="F1", kind="data", retransmission=False``.

    Returns:
        One array per column, in row order.

    Raises:
        InputError: the run has no such flow or link, a word is none that the column can have, or
            the table was not recorded.

    Example:
        >>> import ackclock
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> columns = ("time_s", "seq")
        >>> times, seq = ackclock.metrics.select(results, "drops", columns, flow="probe")
        >>> len(times)
        3
    """
    columns = tuple(names_of("columns", columns, "time_s"))
    _require_known(results, table, where)
    names = list(dict.fromkeys((*columns, *where)))
    if isinstance(results, HasPieces):
        pieces = [_selected(piece, columns, where) for piece in results.pieces(table, names)]
        if len(pieces) > 1:
            return tuple(np.concatenate(parts) for parts in zip(*pieces, strict=True))
        if pieces:
            return pieces[0]
    return _selected(results.table(table), columns, where)


def _selected(
    rows: pa.Table, columns: tuple[str, ...], where: Mapping[str, str | bool]
) -> tuple[Array, ...]:
    keep = np.ones(rows.num_rows, dtype=np.bool_)
    for column, wanted in where.items():
        keep &= _equals(rows[column], wanted)
    places = np.flatnonzero(keep)
    return tuple(rows[column].to_numpy()[places] for column in columns)


def _require_known(results: HasTables, table: str, where: Mapping[str, str | bool]) -> None:
    """Check that these are results, that their run has the flow or link, and all other words."""
    must_have(results, "table")
    summary: Mapping[str, Any] = getattr(results, "summary", {})
    for kind in where.keys() & {"flow", "link"}:
        if f"{kind}s" in summary:
            one_of(kind, where[kind], summary[f"{kind}s"])
    for kind in where.keys() & {"host", "router"}:
        model: Mapping[str, Any] = getattr(results, "model", {})
        if f"{kind}s" in model:
            one_of(kind, where[kind], model[f"{kind}s"])
    for column in descriptions().get(table, {}).get("columns", ()):
        if column.get("words") and column["name"] in where:
            one_of(column["name"], where[column["name"]], column["words"])
    if "direction" in where and (link := where.get("link")) in summary.get("links", {}):
        one_of(f"direction of {link}", where["direction"], summary["links"][link])
    for column, wanted in where.items():
        if not isinstance(wanted, str | bool):
            refuse(column, wanted, "a word, or True or False")


def _values(results: HasTables, table: str, column: str, **where: str) -> tuple[Floats, Array]:
    """Times and values of a flow or link, condensed where the table is long."""
    if isinstance(results, HasPieces) and is_long(results, table):
        _require_known(results, table, where)
        nothing = (np.empty(0), np.empty(0))
        return results.condensed(table, column).get(tuple(where.values()), nothing)
    time_s, value = select(results, table, ("time_s", column), **where)
    return time_s, value


def _equals(column: pa.ChunkedArray, wanted: str | bool) -> Flags:
    if isinstance(wanted, bool):
        return column.to_numpy().astype(np.bool_) == wanted
    return are(column, wanted)


def queue_series(
    results: HasTables, link: str, direction: str = "both", counting: str = "queue_data_packets"
) -> tuple[Floats, Integers]:
    """Queue length after each change, the packet in service not included.

    Args:
        results: The run.
        link: Name of the link.
        direction: `both` for a half-duplex link, else `forward` or `backward`.
        counting: `queue_data_packets`, `queue_packets` (ACKs as well) or `queue_bytes`.

    Returns:
        Times in seconds and values; a queue is empty before its first change.
    """
    return _values(results, "queue", counting, link=link, direction=direction)


def cwnd_series(results: HasTables, flow: str) -> tuple[Floats, Floats]:
    """Congestion window after each change.

    Args:
        results: The run, with records of `cwnd`.
        flow: Name of the flow.

    Returns:
        Times in seconds and windows in bytes, both of shape (n,).

    Raises:
        InputError: there is no such flow, or its window was not recorded.

    Example:
        >>> import ackclock
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> times, windows = ackclock.metrics.cwnd_series(results, "probe")
        >>> int(windows[0]) // 1448
        10
    """
    return _values(results, "cwnd", "cwnd_bytes", flow=flow)


def rtt_series(results: HasTables, flow: str) -> tuple[Floats, Floats]:
    """Round-trip times as the sender measures them.

    Args:
        results: The run, with records of `rtt`.
        flow: Name of the flow.

    Returns:
        Times of the samples in seconds and samples in seconds, both of shape (n,).

    Raises:
        InputError: there is no such flow, or its round-trip times were not recorded.

    Example:
        >>> import ackclock
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> times, samples = ackclock.metrics.rtt_series(results, "probe")
        >>> float(samples.min().round(2))
        0.05
    """
    return _values(results, "rtt", "rtt_s", flow=flow)


def packet_series(
    results: HasTables, event: str, **where: str | bool
) -> tuple[Floats, NDArray[np.int32]]:
    """Packets that hosts `sent` or `received`: times in seconds, bytes on the wire.

    Args:
        results: The run.
        event: `sent` or `received`.
        **where: More conditions: ``flow=``, ``host=``, ``kind=`` (`data`, `ack`),
            ``retransmission=``.
    """
    time_s, size = select(results, "packets", ("time_s", "bytes"), event=event, **where)
    return time_s, size


def transmission_series(
    results: HasTables, link: str, **where: str | bool
) -> tuple[Floats, NDArray[np.int32]]:
    """Transmissions of a link.

    Args:
        results: The run, with records of `transmissions`.
        link: Name of the link.
        **where: More conditions, by columns of the table: ``direction=``, ``flow=``, ``kind=``.

    Returns:
        Times of the first bits in seconds and sizes in bytes on the wire, both of shape (n,).

    Raises:
        InputError: there is no such link or column, or transmissions were not recorded.
    """
    time_s, size = select(results, "transmissions", ("time_s", "bytes"), link=link, **where)
    return time_s, size


def drop_times(results: HasTables, **where: str | bool) -> Floats:
    """Give the times of drops.

    Args:
        results: The run, with records of `drops`.
        **where: Conditions, by columns of the table: ``link=``, ``flow=``, ``kind=``, ``reason=``.

    Returns:
        Times in seconds, of shape (n,).

    Raises:
        InputError: there is no such column, flow or link, or drops were not recorded.

    Example:
        >>> import ackclock
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> len(ackclock.metrics.drop_times(results, flow="probe"))
        3
    """
    (time_s,) = select(results, "drops", ("time_s",), **where)
    return time_s
