"""What replications gave: one row for each replication and flow, in memory or in a Parquet file."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ackclock.arrays import Array, Flags, Floats
from ackclock.columns import ENDS, FLOWS, RUNS, Column, pick
from ackclock.errors import InputError, one_of, path_of, refuse
from ackclock.extras import require
from ackclock.files import arrow_file, write_bytes
from ackclock.metrics.statistics import LEVEL, SHARES, Statistics, summarize
from ackclock.results import ResultsError

if TYPE_CHECKING:
    from os import PathLike

    from ackclock.scenario import Scenario
    from ackclock.sweep import SweepResults

_FORMAT = "ackclock replications 3"


OF_RUN = {column.name: column for column in pick(RUNS, "seed", "end_s", "stop_reason", "digest")}
"""Quantities of a replication as a whole."""

OF_FLOW = {column.name: column for column in FLOWS if column.sweep and column.kind != "word"}
"""Quantities that each flow has: the numbers that a sweep keeps of it."""

MEASURED = (*OF_FLOW, "end_s")
"""Those that can be summed up."""

_WHOLE = "all flows"


def describe(name: str) -> Column:
    """Return the description of a quantity.

    Raises:
        InputError: there is no such quantity.
    """
    known = OF_RUN | OF_FLOW
    return known[one_of("field", name, known)]


def parquet_file(path: str | PathLike[str]) -> Path:
    """Return where replications may be saved.

    Raises:
        InputError: the name ends as that of another format.
    """
    place = path_of("path", path)
    if place.suffix not in ("", ".parquet"):
        raise InputError(
            f"'{place}': replications are saved as Parquet; choose a name that ends in .parquet"
        )
    return place


def _unfinished(field: str) -> Literal["above", "below", "left-out"]:
    """What quantiles make of replications in which a flow was not finished.

    A time is above all others, a rate below; counts are left out.
    """
    return "above" if field in ENDS else "below" if field.startswith("goodput") else "left-out"


class Replications:
    """The figures of many runs of one scenario with different seeds.

    Attributes:
        scenario: Name of the scenario.
        scenario_digest: Fingerprint of the resolved scenario, apart from its seed, records and
            texts: 16 hexadecimal digits. Replications of equal digests may be put together.
        flows: Names of the flows, in the order of the scenario.
        endless: Those without an end (`send: unlimited`), which cannot be unfinished.
        arrays: By name of `OF_RUN` and `OF_FLOW`: shape (n,), or (n, flows) for what each flow has.
            Times that never came are NaN.
        asked: How many replications were asked for.
        failures: Why replications failed, by their seeds; they have no figures.
        wall_s: What they took, seconds.

    Example:
        >>> import ackclock
        >>> lossy = ackclock.Scenario.load("bene/reliability-text-fixed")
        >>> runs = ackclock.replicate(lossy, 50, workers=1)
        >>> runs.flows, len(runs.arrays["seed"])
        (['F1'], 50)
    """

    def __init__(self, table: pa.Table) -> None:
        """Take a table as `table` describes it."""
        metadata = table.schema.metadata if isinstance(table, pa.Table) else None
        about = {k.decode(): v.decode() for k, v in (metadata or {}).items()}
        if about.get("format") != _FORMAT:
            refuse("table", table, "the `table` of replications")
        self._table = table
        self.scenario = about["scenario"]
        self.scenario_digest = about["scenario_digest"]
        self.flows: list[str] = json.loads(about["flows"])
        self.endless: list[str] = json.loads(about["endless"])
        self.asked = int(about["asked"])
        self.failures: dict[int, str] = dict(json.loads(about["failures"]))
        self.wall_s = float(about["wall_s"])
        shape = (table.num_rows // max(1, len(self.flows)), len(self.flows))
        self.arrays: dict[str, Array] = {}
        for name in OF_RUN | OF_FLOW:
            values = table[name].to_numpy().reshape(shape)
            self.arrays[name] = values if name in OF_FLOW else values[:, 0]

    @classmethod
    def of_sweep(cls, scenario: Scenario, results: SweepResults, wall_s: float) -> Replications:
        """Return the runs of a sweep without axes.

        Of an interrupted one, only those before the first gap: what was done beyond it was quick,
        and would make a sample of quick runs.
        """
        from ackclock import _core
        from ackclock.nested import elements

        runs = results.with_list("flows")
        gaps = runs["replication"].to_numpy() != np.arange(len(results))
        whole = runs.slice(0, int(np.argmax(np.append(gaps, True))))
        flows = scenario.model["flows"]
        failed = np.flatnonzero(whole["status"].to_numpy() == "failed")
        failures = whole.select(["seed", "error"]).take(pa.array(failed)).to_pylist()
        identity = _core.identify([json.dumps(scenario.document)], 1)[0][0] or ""
        about = {
            "description": "Figures of each flow in runs of one scenario with different seeds",
            "format": _FORMAT,
            "producer": f"ackclock {_core.version()}",
            "scenario": scenario.name,
            "scenario_digest": hashlib.sha256(identity.encode()).hexdigest()[:16],
            "flows": json.dumps([flow["id"] for flow in flows]),
            "endless": json.dumps([flow["id"] for flow in flows if flow["send_bytes"] is None]),
            "asked": str(results.runs),
            "partial": str(whole.num_rows < results.runs).lower(),
            "failures": json.dumps([list(row.values()) for row in failures]),
            "wall_s": repr(wall_s),
        }
        rows = elements(whole, "flows")
        arrays, fields = [], []
        for name, column in {**OF_RUN, "flow": FLOWS[0], **OF_FLOW}.items():
            values = rows[name]
            # What UDP has none of it has zero times.
            arrays.append(pc.fill_null(values, 0) if column.kind == "count" else values)
            metadata = {"description": column.meaning, "unit": column.unit}
            fields.append(pa.field(name, values.type, metadata=metadata))
        return cls(pa.Table.from_arrays(arrays, schema=pa.schema(fields, about)))

    def __len__(self) -> int:
        return len(self.arrays["seed"])

    @property
    def partial(self) -> bool:
        """Whether some of the replications asked for are missing."""
        return len(self) < self.asked

    @property
    def stalled(self) -> Flags:
        """In which replications nothing was left to happen while flows were unfinished."""
        return self.arrays["stop_reason"] == "stalled"

    def values(self, field: str, flow: str | None = None) -> Array:
        """Return one value a replication; shape (n,).

        Args:
            field: A name of `OF_RUN` or `OF_FLOW`.
            flow: Whose; none for a quantity of the replication as a whole.

        Raises:
            InputError: there is no such field or flow, or it needs a flow, or has none.
        """
        describe(field)
        if field in OF_RUN:
            if flow is not None:
                raise InputError(f"'{field}' is of the replication as a whole, not of a flow")
            return self.arrays[field]
        if flow is None:
            raise InputError(f"'{field}' is different for each flow; name one")
        return self.arrays[field][:, self.flows.index(one_of("flow", flow, self.flows))]

    def unfinished(self, flow: str) -> Flags:
        """In which replications the data of a flow did not arrive; never for an endless flow."""
        if flow in self.endless:
            return np.zeros(len(self), np.bool_)
        return np.isnan(self.values("finish_s", flow))

    def sample(self, field: str, flow: str | None = None) -> Floats:
        """Values as `summary` takes them: NaN where the flow was not finished."""
        values = np.array(self.values(field, flow), np.float64)
        if flow is not None and field not in ENDS:
            values[self.unfinished(flow)] = np.nan
        return values

    def cut_off(self, field: str, flow: str | None = None) -> Floats:
        """Ends of the replications in which a time would have come later, had they not been ended.

        In a stalled replication it would never have come. Empty for what is not a time of a flow.
        """
        describe(field)
        if flow is None or field not in ENDS:
            return np.zeros(0)
        late = np.isnan(self.values(field, flow)) & ~self.stalled
        ends = self.arrays["end_s"][late]
        return ends - self.values("start_s", flow)[late] if field == "completion_s" else ends

    def summary(
        self, field: str, *, shares: Sequence[float] = SHARES, level: float = LEVEL
    ) -> dict[str, Statistics]:
        """Return the statistics of a quantity for each flow.

        Replications in which a flow was not finished are counted apart. They enter no average; in
        quantiles a time that never came is infinite and the goodput is 0, while counts are those of
        the finished ones only.

        Args:
            field: A name of `MEASURED`. `end_s` has one entry, `all flows`.
            shares: Which quantiles.
            level: Confidence level of all intervals.

        Raises:
            InputError: there is no such quantity; a share or level that is not between 0 and 1.
        """
        one_of("field", field, MEASURED)
        found = {}
        for flow in self.flows if field in OF_FLOW else [None]:
            found[flow or _WHOLE] = summarize(
                self.sample(field, flow),
                missing=_unfinished(field),
                cut_off=self.cut_off(field, flow),
                shares=shares,
                level=level,
            )
        return found

    def table(self) -> pa.Table:
        """Return all figures, one row for each replication and flow.

        Times that never came are null. Each field carries its unit and meaning as metadata.
        """
        return self._table

    def frame(self) -> Any:
        """Return all figures as a data frame of pandas, one row for each replication and flow.

        Raises:
            InputError: pandas is not installed.
        """
        require("pandas")
        return self._table.to_pandas()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a Parquet file and return its path; a file of this name is replaced.

        It is written under another name and renamed, so that it is complete or absent.

        Raises:
            InputError: the name ends as that of another format, or there is no such folder.
            OSError: the disk is full, the folder cannot be written to.
        """
        place = parquet_file(path)
        table = self.table()
        reals = [field.name for field in table.schema if pa.types.is_floating(field.type)]
        buffer = io.BytesIO()
        pq.write_table(
            table,
            buffer,
            compression="zstd",
            use_dictionary=["flow", "stop_reason"],
            column_encoding=dict.fromkeys(reals, "BYTE_STREAM_SPLIT"),
            write_page_checksum=True,
        )
        write_bytes(place, buffer.getvalue())
        return place

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Replications:
        """Read a file that `save` wrote.

        Raises:
            InputError: there is no such file, or it holds something else.
            ResultsError: it is damaged.
        """
        place = path_of("path", path)
        if not place.is_file():
            raise InputError(f"no such file: '{place}'")
        try:
            table = pq.ParquetFile(arrow_file(place), page_checksum_verification=True).read()
        except (pa.ArrowException, OSError) as error:
            raise ResultsError(f"'{place}' is damaged: {str(error).splitlines()[0]}") from None
        about = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
        if about.get("format") != _FORMAT:
            raise InputError(f"'{place}' holds no replications; run 'ackclock replicate' first")
        return cls(table)

    def _repr_html_(self) -> str:
        """What a notebook shows: the first figures, and how many replications there are."""
        from ackclock.tables.cards import replications

        return replications(self)

    def __repr__(self) -> str:
        state = f" of {self.asked}" if self.partial else ""
        return f"Replications({self.scenario!r}, {len(self)}{state})"
