"""What the columns of results mean and how a summary gives them: defined here and nowhere else.

A column is a line of `columns.csv`, whose cells are the attributes of `Column`. Headers of tables,
`--json`, metadata of Parquet files, the rows of sweeps and the reference page are made from here.
Importing this loads no Arrow, so that a process that only simulates starts quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock.packaged import rows

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["word", "count", "real", "flag"]
Summary = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: Its word, with the unit at its end where it has one.
        title: Its heading for people.
        kind: `word`, `count` (a whole number, always shown in full), `real`, or `flag`.
        unit: Unit of the values: `bit/s`, `B`, `B/s`, `s`, `packets`, or none.
        meaning: What it is, in a sentence.
        formula: How it is computed, where that is not plain.
        source: Who defined it so.
        shown: Unit for people where it is another one: `ms` for short times, `%` for shares. Rates
            in bit/s choose their own.
        digits: Significant digits of the largest value of a column for people.
        path: Where it stands in an entry (a summary, a flow or a link of it), where that is not its
            name; the engine finds it there, too, for many runs at once.
        usual: Whether it is shown unasked.
        sweep: Its place among the figures that a sweep keeps; 0 for none.
    """

    name: str
    title: str
    kind: Kind = "real"
    unit: str = ""
    meaning: str = ""
    formula: str = ""
    source: str = ""
    shown: str = ""
    digits: int = 4
    path: str = ""
    usual: bool = True
    sweep: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the definition as a document of plain values."""
        fields = ("name", "title", "kind", "unit", "meaning", "formula", "source")
        return {field: getattr(self, field) for field in fields}

    @cached_property
    def keys(self) -> list[str]:
        """The keys that lead to the value in an entry."""
        return (self.path or self.name).split(".")

    def of(self, entry: Mapping[str, Any]) -> Any:
        """Return the value in a summary, or in an entry of `flow_entries` or `link_entries`.

        None where there is none.
        """
        first, *inner = self.keys
        value = entry.get(first)
        for key in inner:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def arrow_type(self) -> pa.DataType:
        """Return the type of the values in an Arrow table."""
        import pyarrow as pa

        types = {"word": pa.string, "count": pa.int64, "real": pa.float64, "flag": pa.bool_}
        return types[self.kind]()


def flow_entries(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the entry of each flow, with its name as `id`."""
    for name, flow in summary["flows"].items():
        yield {"id": name, **flow}


def link_entries(summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the entry of each direction of each link, with the name as `id`, and `direction`."""
    for name, ways in summary["links"].items():
        for direction, way in ways.items():
            yield {
                "id": name,
                "direction": direction,
                **way,
                "queueing_delay_s": queueing_delays(way),
            }


def queueing_delays(way: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the queueing delays of a direction of a link; none if no packet was there."""
    idle = not way["packets_carried"] and not way["queue_packets"]["max"]
    return {} if idle else way["queueing_delay_s"]


def pick(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    """Return the columns of these names, in the order of the names."""
    known = {column.name: column for column in columns}
    return tuple(known[name] for name in names)


PERCENTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
"""Percentiles, which need the records of a run: the share of values that does not exceed each."""


def _read() -> dict[str, tuple[Column, ...]]:
    """Return the columns of each table; an empty cell is the default."""
    tables: dict[str, tuple[Column, ...]] = {}
    for row in rows(Path(__file__).with_suffix(".csv")):
        table = row.pop("table")
        numbers = {"digits": int(row["digits"] or 4), "sweep": int(row["sweep"] or 0)}
        fields: dict[str, Any] = {**row, **numbers, "usual": row["usual"] != "no"}
        tables[table] = (*tables.get(table, ()), Column(**fields))
    return tables


TABLES = _read()
"""The columns of all tables, by the word for `--what`."""

SWEEP = TABLES.pop("sweep")
"""What a run of a sweep has besides."""

OF_RECORDS = {name: TABLES.pop(name) for name in ("steady", "sharing", "delays", "harm")}
"""Tables that are made from the records of a span, or from more runs."""

FLOWS, LINKS, DROPS, RUNS = TABLES["flows"], TABLES["links"], TABLES["drops"], TABLES["runs"]
"""A row is a flow of a run; a direction of a link; a flow, a queue and a reason for which packets
of the one were lost at the other; a run."""

ENDS = ("finish_s", "finish_ack_s", "completion_s")
"""Times of an end, which unfinished flows do not have: in quantiles these are later than all."""
