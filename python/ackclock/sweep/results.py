"""What a sweep gave: one row per run, and one row per flow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from ackclock.errors import InputError, names_of, one_of, path_of
from ackclock.extras import require
from ackclock.nested import elements
from ackclock.results import ResultsError
from ackclock.sweep import remote
from ackclock.sweep import table as tables
from ackclock.sweep.store import PLAN, RESULTS, Store


class SweepResults:
    """The results of a sweep.

    Attributes:
        study: Name of the study.
        axes: Names of the axes.
        runs: How many runs the study has.
        path: The folder of the sweep; None if there is none.
    """

    def __init__(
        self,
        source: tables.Rows | tables.InFile | pa.Table,
        study: str,
        axes: list[str],
        runs: int,
        path: Path | None,
    ) -> None:
        self._source = source
        self.study = study
        self.axes = axes
        self.runs = runs
        self.path = path

    @cached_property
    def table(self) -> pa.Table:
        """One row per run, in the order of the study.

        `key`, one column for each axis, `replication`, `seed`, `status` (`done` or `failed`),
        `error`, figures of the run, and `flows` and `links`, lists of figures. Each field carries
        unit and meaning as metadata.
        """
        return self._source.select(self.column_names)

    def select(self, columns: Sequence[str]) -> pa.Table:
        """Return some columns of the table; no others are read.

        Raises:
            InputError: there is no such column.
        """
        columns = names_of("columns", columns, "seed")
        for name in columns:
            one_of("column", name, self.column_names)
        held = self.table if "table" in self.__dict__ else self._source
        return held.select(columns)

    @classmethod
    def of(
        cls, stored: tables.Stored, plan: pa.Table, identity: dict[str, Any], path: Path | None
    ) -> SweepResults:
        """Put together what is stored of a plan."""
        axes, metadata = _about(plan, identity)
        rows = tables.Rows(plan, stored, metadata)
        return cls(rows, identity["study"], axes, plan.num_rows, path)

    @classmethod
    def write(cls, store: Store, plan: pa.Table, identity: dict[str, Any]) -> SweepResults:
        """Write the results of a plan of which nothing is missing to the folder."""
        place = store.path / RESULTS
        tables.write_sorted(store.open(), plan, _about(plan, identity)[1], place)
        return cls.load(place)

    @classmethod
    def written(cls, plan: pa.Table, identity: dict[str, Any], folder: Path) -> SweepResults | None:
        """Return the results of a plan that stand in a file, if they do."""
        try:
            found = cls.load(folder / RESULTS)
        except (InputError, ResultsError):
            return None
        same = tables.about(found._source.schema) == _about(plan, identity)[1]
        return found if same and not found.partial else None

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
            return cls._of_file(remote.read(str(path)), None, str(path))
        place = path_of("path", path, "the folder of a sweep, its `results.parquet`, or a URL")
        folder = place.parent if place.is_file() else place
        file = place if place.is_file() else place / RESULTS
        if file.is_file():
            return cls._of_file(tables.InFile(file), folder, place)
        store = Store(folder)
        if not store.exists():
            raise InputError(f"'{place}' contains no sweep; run 'ackclock sweep' first")
        plan = tables.read(folder / PLAN)
        return cls.of(store.open(), plan, store.identity(), folder)

    @classmethod
    def _of_file(
        cls, source: tables.InFile | pa.Table, folder: Path | None, place: str | Path
    ) -> SweepResults:
        about = tables.about(source.schema)
        if about.get("format") != tables.FORMAT:
            raise InputError(f"'{place}' holds no results of a sweep")
        return cls(source, about["study"], json.loads(about["axes"]), int(about["runs"]), folder)

    def __len__(self) -> int:
        return len(self._source)

    @property
    def partial(self) -> bool:
        """Whether runs are missing."""
        return len(self) < self.runs

    @property
    def sampled(self) -> list[str]:
        """Names of the axes whose values were drawn, together for each point of a sample."""
        return json.loads(tables.about(self._source.schema).get("sampled", "[]"))

    @property
    def state(self) -> str:
        """How much there is while runs are missing, in words; empty for a complete sweep."""
        return f"not complete: {len(self)} of {self.runs} runs" if self.partial else ""

    @property
    def failed(self) -> int:
        """Number of runs that failed."""
        return self.select(["status"])["status"].to_pylist().count("failed")

    def flows(self) -> pa.Table:
        """Return one row for each flow of each run: the axes, `flow`, and its figures.

        Columns of the run that a flow has, too (`goodput_bps`, `timeouts`, ...), are the flow's.
        """
        return elements(self.with_list("flows"), "flows")

    def links(self) -> pa.Table:
        """Return one row for each direction of each link of each run."""
        return elements(self.with_list("links"), "links")

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of the table."""
        return self._source.schema.names

    def plain(self) -> pa.Table:
        """Return one row per run without the lists of flows and links: plain columns only."""
        plain = [f.name for f in self._source.schema if not pa.types.is_list(f.type)]
        return self.select(plain)

    def with_list(self, name: str) -> pa.Table:
        """Return one row per run with its list of `flows` or of `links`, without the other one."""
        other = {"flows", "links"} - {name}
        return self.select([name for name in self.column_names if name not in other])

    def notes(self) -> list[str]:
        """Return what would mislead: replications that are all the same, axes that change nothing.

        Runs are the same where their digests are.
        """
        import pyarrow.compute as pc

        done = self.select([*self.axes, "seed", "digest"]).filter(pc.field("digest").is_valid())
        found = []
        if _same(done, self.axes):
            found.append(
                "All replications are the same: nothing in this scenario is random. More of them "
                "add nothing, and intervals over them are meaningless."
            )
        for axis in self.axes:
            others = [name for name in (*self.axes, "seed") if name != axis]
            if _same(done, others):
                found.append(
                    f"'{axis}' changes nothing: runs that differ in it alone are the same."
                )
        return found

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


def _about(plan: pa.Table, identity: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Return the axes of a study, and what the table of its results says of itself."""
    axes = [axis["name"] for axes in identity["dimensions"] for axis in axes]
    sampled = json.dumps(identity.get("sampled", []), ensure_ascii=False)
    return axes, {
        "description": "Results of a sweep: one row per run",
        "format": tables.FORMAT,
        "study": identity["study"],
        "title": identity["title"] or "",
        "axes": json.dumps(axes, ensure_ascii=False),
        "runs": str(plan.num_rows),
        **({"sampled": sampled} if "sampled" in identity else {}),
    }


def _same(runs: pa.Table, by: list[str]) -> bool:
    """Whether runs that agree in some columns are the same, of which there are several."""
    agreeing = runs.group_by(by).aggregate([]).num_rows if by else min(1, len(runs))
    return agreeing == runs.group_by([*by, "digest"]).aggregate([]).num_rows < len(runs)


load = SweepResults.load
