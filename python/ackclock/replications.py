"""What replications gave: one row for each replication and flow, in memory or in a Parquet file."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ackclock.errors import InputError, unknown
from ackclock.files import write_bytes
from ackclock.metrics.statistics import LEVEL, SHARES, Statistics, summarize
from ackclock.results import ResultsError

if TYPE_CHECKING:
    from os import PathLike

    from ackclock.scenario import Scenario

_FORMAT = "ackclock replications 1"


@dataclass(frozen=True)
class Field:
    """A quantity of each replication.

    Attributes:
        name: Its word.
        unit: Its unit; empty for counts.
        summary: What it is.
        per_flow: Whether each flow has one, or the replication as a whole.
        unfinished: What quantiles make of replications in which the flow was not finished: a time
            is `above` all others, a rate `below`, a count is `left-out`.
        measured: Whether it can be summed up; seeds and digests cannot.
    """

    name: str
    unit: str
    summary: str
    per_flow: bool = True
    unfinished: Literal["above", "below", "left-out"] = "left-out"
    measured: bool = True


FIELDS = (
    Field("seed", "", "Seed of the replication", per_flow=False, measured=False),
    Field("end_s", "s", "End of the run", per_flow=False),
    Field(
        "stalled",
        "",
        "Whether nothing was left to happen while flows were unfinished",
        per_flow=False,
        measured=False,
    ),
    Field("digest", "", "Fingerprint of the run", per_flow=False, measured=False),
    Field("finish_s", "s", "When the last byte was at the receiver", unfinished="above"),
    Field("finish_ack_s", "s", "When the sender had its ACK", unfinished="above"),
    Field("goodput_bps", "bit/s", "New bytes at the receiver per second", unfinished="below"),
    Field("timeouts", "", "Timeouts of the retransmission timer"),
    Field("retransmissions", "", "Segments sent again"),
    Field("spurious_retransmissions", "", "Segments that arrived for nothing"),
    Field("segments_sent", "", "Segments sent, retransmissions included"),
)
"""All quantities, in the order of a file."""

_BY_NAME = {field.name: field for field in FIELDS}
_TIMES = ("finish_s", "finish_ack_s")
_WHOLE = "all flows"
_OF_NO_ACCOUNT = ("name", "title", "question", "expectation", "source", "seed", "record")


def describe(name: str) -> Field:
    """Return the description of a quantity.

    Raises:
        InputError: there is no such quantity.
    """
    if name not in _BY_NAME:
        raise InputError(unknown("field", name, _BY_NAME))
    return _BY_NAME[name]


def measured() -> list[str]:
    """Names of the quantities that can be summed up."""
    return [field.name for field in FIELDS if field.measured]


class Replications:
    """The figures of many runs of one scenario with different seeds.

    Attributes:
        scenario: Name of the scenario.
        scenario_digest: Fingerprint of the resolved scenario, apart from its seed, records and
            texts: 16 hexadecimal digits. Replications of equal digests may be put together.
        flows: Names of the flows, in the order of the scenario.
        endless: Those without an end (`send: unlimited`), which cannot be unfinished.
        arrays: By name of `FIELDS`: shape (n,), or (n, flows) for what each flow has. Times that
            never came are NaN.
        asked: How many replications were asked for.
        wall_s: What they took, seconds.
    """

    def __init__(
        self,
        scenario: str,
        scenario_digest: str,
        flows: Sequence[str],
        endless: Sequence[str],
        arrays: Mapping[str, NDArray[Any]],
        asked: int,
        wall_s: float,
    ) -> None:
        self.scenario = scenario
        self.scenario_digest = scenario_digest
        self.flows = list(flows)
        self.endless = list(endless)
        self.arrays = dict(arrays)
        self.asked = asked
        self.wall_s = wall_s

    @classmethod
    def of_runs(
        cls,
        scenario: Scenario,
        parts: Sequence[Mapping[str, NDArray[Any]]],
        asked: int,
        wall_s: float,
    ) -> Replications:
        """Put together what the simulator returned, bit by bit."""
        flows = scenario.model["flows"]
        return cls(
            scenario.name,
            scenario_digest(scenario),
            [flow["id"] for flow in flows],
            [flow["id"] for flow in flows if flow["send_bytes"] is None],
            {field.name: _joined(parts, field, len(flows)) for field in FIELDS},
            asked,
            wall_s,
        )

    def __len__(self) -> int:
        return len(self.arrays["seed"])

    @property
    def partial(self) -> bool:
        """Whether some of the replications asked for are missing."""
        return len(self) < self.asked

    def values(self, field: str, flow: str | None = None) -> NDArray[Any]:
        """Return one value a replication; shape (n,).

        Args:
            field: A name of `FIELDS`.
            flow: Whose; none for a quantity of the replication as a whole.

        Raises:
            InputError: there is no such field or flow, or it needs a flow, or has none.
        """
        if not describe(field).per_flow:
            if flow is not None:
                raise InputError(f"'{field}' is of the replication as a whole, not of a flow")
            return self.arrays[field]
        if flow is None:
            raise InputError(f"'{field}' is different for each flow; name one")
        if flow not in self.flows:
            raise InputError(unknown("flow", flow, self.flows))
        return self.arrays[field][:, self.flows.index(flow)]

    def unfinished(self, flow: str) -> NDArray[np.bool_]:
        """In which replications the data of a flow did not arrive; never for an endless flow."""
        if flow in self.endless:
            return np.zeros(len(self), np.bool_)
        return np.isnan(self.values("finish_s", flow))

    def sample(self, field: str, flow: str | None = None) -> NDArray[np.float64]:
        """Values as `summary` takes them: NaN where the flow was not finished."""
        values = np.array(self.values(field, flow), np.float64)
        if flow is not None and field not in _TIMES:
            values[self.unfinished(flow)] = np.nan
        return values

    def cut_off(self, field: str, flow: str | None = None) -> NDArray[np.float64]:
        """Ends of the replications in which a time would have come later, had they not been ended.

        In a stalled replication it would never have come. Empty for what is no time of a flow.
        """
        if flow is None or field not in _TIMES:
            return np.zeros(0)
        late = np.isnan(self.values(field, flow)) & ~self.arrays["stalled"].astype(np.bool_)
        return self.arrays["end_s"][late]

    def summary(
        self, field: str, *, shares: Sequence[float] = SHARES, level: float = LEVEL
    ) -> dict[str, Statistics]:
        """Return the statistics of a quantity for each flow.

        Replications in which a flow was not finished are counted apart. They enter no average; in
        quantiles a time that never came is infinite and the goodput is 0, while counts are those of
        the finished ones only.

        Args:
            field: A name of `FIELDS` that is measured. `end_s` has one entry, `all flows`.
            shares: Which quantiles.
            level: Confidence level of all intervals.

        Raises:
            InputError: there is no such quantity.
            ValueError: a share or level that is not between 0 and 1.
        """
        if field not in measured():
            raise InputError(unknown("field", field, measured()))
        described = describe(field)
        found = {}
        for flow in self.flows if described.per_flow else [None]:
            found[flow or _WHOLE] = summarize(
                self.sample(field, flow),
                missing=described.unfinished,
                cut_off=self.cut_off(field, flow),
                shares=shares,
                level=level,
            )
        return found

    def table(self) -> pa.Table:
        """Return all figures, one row for each replication and flow.

        Times that never came are null. Each field carries its unit and meaning as metadata.
        """
        count, flows = len(self), len(self.flows)
        names = pa.DictionaryArray.from_arrays(
            pa.array(np.tile(np.arange(flows, dtype=np.int32), count)),
            pa.array(self.flows, pa.string()),
        )
        arrays, fields = [], []
        for field in FIELDS:
            values = self.arrays[field.name]
            column = values.ravel() if field.per_flow else np.repeat(values, flows)
            arrays.append(pa.array(column, from_pandas=True))
            fields.append(_arrow_field(field.name, arrays[-1].type, field.unit, field.summary))
        arrays.insert(1, names)
        fields.insert(1, _arrow_field("flow", names.type, "", "Name of the flow"))
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields, self._metadata()))

    def _metadata(self) -> dict[str, str]:
        from ackclock import _core

        return {
            "description": "Figures of each flow in runs of one scenario with different seeds",
            "format": _FORMAT,
            "producer": f"ackclock {_core.version()}",
            "scenario": self.scenario,
            "scenario_digest": self.scenario_digest,
            "flows": json.dumps(self.flows, ensure_ascii=False),
            "endless": json.dumps(self.endless, ensure_ascii=False),
            "asked": str(self.asked),
            "partial": str(self.partial).lower(),
            "wall_s": repr(self.wall_s),
        }

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a Parquet file and return its path; a file of this name is replaced.

        It is written under another name and renamed, so that it is complete or absent.

        Raises:
            OSError: the disk is full, the folder cannot be written to.
        """
        table = self.table()
        reals = [field.name for field in table.schema if pa.types.is_floating(field.type)]
        buffer = io.BytesIO()
        pq.write_table(
            table,
            buffer,
            compression="zstd",
            use_dictionary=["flow"],  # pyright: ignore[reportArgumentType]  # names are allowed
            column_encoding=dict.fromkeys(reals, "BYTE_STREAM_SPLIT"),
            write_page_checksum=True,
        )
        place = Path(path)
        write_bytes(place, buffer.getvalue())
        return place

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Replications:
        """Read a file that `save` wrote.

        Raises:
            InputError: there is no such file, or it holds something else.
            ResultsError: it is damaged.
        """
        place = Path(path)
        if not place.is_file():
            raise InputError(f"no such file: '{place}'")
        try:
            table = pq.read_table(place, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as error:
            raise ResultsError(f"'{place}' is damaged: {str(error).splitlines()[0]}") from None
        told = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
        if told.get("format") != _FORMAT:
            raise InputError(f"'{place}' holds no replications; 'ackclock replicate' writes some")
        flows = json.loads(told["flows"])
        shape = (table.num_rows // max(1, len(flows)), len(flows))
        arrays = {}
        for field in FIELDS:
            column = table[field.name].to_numpy().reshape(shape)
            arrays[field.name] = column if field.per_flow else column[:, 0]
        return cls(
            told["scenario"],
            told["scenario_digest"],
            flows,
            json.loads(told["endless"]),
            arrays,
            int(told["asked"]),
            float(told["wall_s"]),
        )

    def __repr__(self) -> str:
        state = f" of {self.asked}" if self.partial else ""
        return f"Replications({self.scenario!r}, {len(self)}{state})"


def scenario_digest(scenario: Scenario) -> str:
    """Fingerprint of a resolved scenario without its seed, what it records and its texts."""
    kept = {k: v for k, v in scenario.canonical.items() if k not in _OF_NO_ACCOUNT}
    text = json.dumps(kept, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _joined(parts: Sequence[Mapping[str, NDArray[Any]]], field: Field, flows: int) -> NDArray[Any]:
    if not parts:
        return np.zeros((0, flows) if field.per_flow else 0)
    return np.concatenate([part[field.name] for part in parts])


def _arrow_field(name: str, kind: pa.DataType, unit: str, summary: str) -> pa.Field:
    return pa.field(name, kind, metadata={"description": summary, "unit": unit})
