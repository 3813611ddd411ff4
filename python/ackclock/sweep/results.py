"""What a sweep gave: one row a run, and one row a flow."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from ackclock.errors import InputError
from ackclock.extras import require
from ackclock.sweep import remote
from ackclock.sweep import table as tables
from ackclock.sweep.store import PLAN, RESULTS, Store


class SweepResults:
    """The results of a sweep.

    Attributes:
        table: One row a run, in the order of the study: `key`, one column for each axis,
            `replication`, `seed`, `status` (`done` or `failed`), `error`, figures of the run, and
            `flows` and `links`, lists of figures. Each field carries unit and meaning as metadata.
        study: Name of the study.
        axes: Names of the axes.
        runs: How many runs the study has.
        path: The folder of the sweep; None if there is none.
    """

    def __init__(
        self, table: pa.Table, study: str, axes: list[str], runs: int, path: Path | None
    ) -> None:
        self.table = table
        self.study = study
        self.axes = axes
        self.runs = runs
        self.path = path

    @classmethod
    def of(
        cls, stored: pa.Table, plan: pa.Table, identity: dict[str, Any], path: Path | None
    ) -> SweepResults:
        """Put together what is stored of a plan."""
        axes = [axis["name"] for axes in identity["dimensions"] for axis in axes]
        metadata = {
            "description": "Results of a sweep: one row a run",
            "format": tables.FORMAT,
            "study": identity["study"],
            "title": identity["title"] or "",
            "axes": json.dumps(axes, ensure_ascii=False),
            "runs": str(plan.num_rows),
        }
        table = tables.joined(plan, stored, metadata)
        return cls(table, identity["study"], axes, plan.num_rows, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SweepResults:
        """Read the results in the folder of a sweep, or in a file `results.parquet`.

        Published ones are read from their URL (`s3://BUCKET/FOLDER`).

        While a sweep is not complete, these are the runs that are done so far.

        Raises:
            InputError: there is no sweep.
            ResultsError: it is damaged.
        """
        if remote.is_url(path):
            return cls._of_table(remote.read(str(path)), None, str(path))
        place = Path(path)
        folder = place.parent if place.is_file() else place
        file = place if place.is_file() else place / RESULTS
        if file.is_file():
            return cls._of_table(tables.read(file), folder, place)
        store = Store(folder)
        if not store.exists():
            raise InputError(f"'{place}' holds no sweep; 'ackclock sweep' makes one")
        plan = tables.read(folder / PLAN)
        return cls.of(store.stored(), plan, store.identity(), folder)

    @classmethod
    def _of_table(cls, table: pa.Table, folder: Path | None, place: str | Path) -> SweepResults:
        about = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
        if about.get("format") != tables.FORMAT:
            raise InputError(f"'{place}' holds no results of a sweep")
        return cls(table, about["study"], json.loads(about["axes"]), int(about["runs"]), folder)

    def __len__(self) -> int:
        return self.table.num_rows

    @property
    def partial(self) -> bool:
        """Whether runs are missing."""
        return len(self) < self.runs

    @property
    def failed(self) -> int:
        """Number of runs that failed."""
        return self.table["status"].to_pylist().count("failed")

    def flows(self) -> pa.Table:
        """Return one row for each flow of each run: the axes, `flow`, and its figures.

        Columns of the run that a flow has, too (`goodput_bps`, `timeouts`, ...), are the flow's.
        """
        return tables.exploded(self.table, "flows")

    def links(self) -> pa.Table:
        """Return one row for each direction of each link of each run."""
        return tables.exploded(self.table, "links")

    def plain(self) -> pa.Table:
        """Return one row a run without the lists of flows and links: plain columns only."""
        plain = [f.name for f in self.table.schema if not pa.types.is_list(f.type)]
        return self.table.select(plain)

    def notes(self) -> list[str]:
        """Return what would mislead: replications that are all the same, axes that change nothing.

        Runs are the same where their digests are.
        """
        found = []
        if self._same(self.axes):
            found.append(
                "All replications are the same: nothing in this scenario is random. More of them "
                "say nothing more, and intervals over them mean nothing."
            )
        for axis in self.axes:
            others = [name for name in (*self.axes, "seed") if name != axis]
            if self._same(others):
                found.append(
                    f"'{axis}' changes nothing: runs that differ in it alone are the same."
                )
        return found

    def _same(self, by: list[str]) -> bool:
        """Whether runs that agree in some columns are the same, of which there are several."""
        columns = [self.table[name].to_pylist() for name in (*by, "digest")]
        several = False
        first: dict[tuple[Any, ...], str] = {}
        for *key, digest in zip(*columns, strict=True):
            if digest is not None:
                several |= tuple(key) in first
                if first.setdefault(tuple(key), digest) != digest:
                    return False
        return several

    def frame(self) -> Any:
        """Return `plain` as a data frame of pandas.

        Raises:
            InputError: pandas is not installed.
        """
        require("pandas")
        return self.plain().to_pandas()

    to_pandas = frame

    def _repr_html_(self) -> str:
        """What a notebook shows: how many runs there are, and the first of them."""
        from ackclock.tables.cards import sweep

        return sweep(self)

    def __repr__(self) -> str:
        state = f" of {self.runs}" if self.partial else ""
        return f"SweepResults({self.study!r}, {len(self)}{state} runs)"


def load(path: str | PathLike[str]) -> SweepResults:
    """Read the results in the folder of a sweep, complete or not; see `SweepResults.load`."""
    return SweepResults.load(path)
