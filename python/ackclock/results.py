"""What a run gave: a summary and tables of records, in memory or in a run directory."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from ackclock import _core, manifest, record_tables, summaries
from ackclock.document import Document
from ackclock.errors import InputError, flag_of, names_of, one_of, span_of
from ackclock.manifest import Manifest, ResultsError
from ackclock.metrics.condense import SAMPLES, SUBJECTS, Series, condense
from ackclock.record_tables import Columns, RecordFiles, Schemas
from ackclock.run_directory import FILES, RunDirectory, Unfinished, left_behind
from ackclock.scenario import MOST_HELD, Scenario

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Results", "ResultsError"]

_LOGGER = logging.getLogger("ackclock")
_T = TypeVar("_T")


class Results:
    """The outcome of a run.

    Attributes:
        summary: figures of the whole run, per flow and per link, as in `summary.json`.
        directory: where it was saved to or loaded from; None before that.
        log: the text of `log.txt`.
        replaced: whether they took the place of an earlier run when they were written.

    Example:
        >>> import ackclock
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> results.table("drops").num_rows
        6
        >>> results.summary["flows"]["probe"]["timeouts"]
        0
    """

    def __init__(
        self,
        summary: dict[str, Any],
        canonical: dict[str, Any] | None,
        tables: dict[str, pa.Table],
        of: Scenario | None = None,
    ) -> None:
        self.summary = summary
        self._canonical = canonical
        self.directory: Path | None = None
        self.log = ""
        self.replaced = False
        self._tables = tables
        self._files: dict[str, RecordFiles] = {}
        self._manifest: Manifest | None = None
        self._of = of
        self._condensed: dict[tuple[str | float, ...], dict[tuple[str, ...], Series]] = {}

    @classmethod
    def of_run(
        cls,
        summary: dict[str, Any],
        scenario: Scenario,
        tables: Mapping[str, Columns],
        categories: Mapping[str, list[str]],
        log: str = "",
    ) -> Results:
        """Make results of what the simulator returned: columns of numbers and of category codes."""
        schemas = Schemas(categories, record_tables.about(summary), scenario.head["record"])
        made = {name: schemas.table(name, columns) for name, columns in tables.items()}
        results = cls(summary, None, made, scenario)
        results.log = log
        return results

    @classmethod
    def in_folder(
        cls, summary: dict[str, Any], scenario: Scenario, folder: Path, log: str
    ) -> Results:
        """Make results whose tables are in the folder of a run directory that is being written."""
        results = cls(summary, None, {}, scenario)
        results._files = record_tables.found_in(folder / FILES.records)
        results.log = log
        return results

    @cached_property
    def received(self) -> dict[str, bytes]:
        """What arrived of files that were sent, by place (`F1/test.txt`)."""
        if self.directory is None:
            return {}
        folder = self.directory / FILES.received
        found = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

    @property
    def canonical(self) -> dict[str, Any]:
        """The resolved scenario as a document. Do not change it."""
        if self._canonical is None:
            if self._of is not None or self._is_large:
                self._canonical = (self._of or self.scenario).canonical
            else:
                self._canonical = self._written
        return self._canonical

    @property
    def _is_large(self) -> bool:
        """Whether `scenario.yaml` has the scenario as it was given, not with all filled in."""
        return len(self.summary["flows"]) + len(self.summary["links"]) > MOST_HELD

    @cached_property
    def _written(self) -> dict[str, Any]:
        """What `scenario.yaml` holds."""
        if self._of is not None:
            return self._of.document if self._is_large else self._of.canonical
        assert self.directory is not None, "results are of a scenario or of a directory"
        return Document.read(self.directory / FILES.scenario).data

    def _fingerprint(self) -> str:
        """A checksum of the resolved scenario."""
        if self._of is not None or self._is_large:
            return (self._of or self.scenario).fingerprint
        return manifest.fingerprint(self.canonical)

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario that was run, resolved, ready to run again."""
        if self.directory is None:
            return Scenario.from_dict(self.canonical)
        # What a file holds is plain.
        return Scenario(Document(self._written))

    @property
    def model(self) -> dict[str, Any]:
        """The resolved scenario in numbers (`_ns`, `_bps`, `_bytes`). Do not change it."""
        return (self._of or self.scenario).model

    @property
    def tables(self) -> list[str]:
        """Names of the recorded tables."""
        return list(self._tables) + [name for name in self._files if name not in self._tables]

    def table(self, name: str) -> pa.Table:
        """Return a table of records, with categories (flows, links, states) as dictionary columns.

        Every field carries its unit and meaning as metadata. Rows are in the order of time within
        each flow or link.

        Args:
            name: Name of the table, such as `cwnd`; `tables` has those that were recorded.

        Raises:
            InputError: there is no such table, or it was not recorded.
            ResultsError: its file is damaged.
        """
        if (table := self._held(name)) is None:
            files = self._table_files(name)
            table = self._tables[name] = _reading(files, files.read)
        return table

    def rows(self, name: str) -> int:
        """Return the number of rows of a table, without reading it.

        Args:
            name: Name of the table.

        Raises:
            InputError: there is no such table, or it was not recorded.
            ResultsError: its file is damaged.
        """
        if (table := self._held(name)) is not None:
            return table.num_rows
        files = self._table_files(name)
        return _reading(files, files.rows)

    def pieces(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Give a table piece by piece, so that one of any length fits into memory.

        Args:
            name: Name of the table.
            columns: Names of the columns to read; default all.

        Raises:
            InputError: there is no such table, or it was not recorded.
            ResultsError: its file is damaged.
        """
        if (table := self._held(name)) is not None:
            yield table if columns is None else table.select(_columns(name, columns))
            return
        files = self._table_files(name)
        pieces = files.pieces(None if columns is None else _columns(name, columns))
        while (piece := _reading(files, lambda: next(pieces, None))) is not None:
            yield piece

    def columns(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Return some columns of a table, and read only these.

        Args:
            name: Name of the table.
            columns: Names of the columns.

        Raises:
            InputError: there is no such table or column, or the table was not recorded.
            ResultsError: its file is damaged.
        """
        if (table := self._held(name)) is not None:
            return table.select(_columns(name, columns))
        files = self._table_files(name)
        return _reading(files, lambda: files.read(_columns(name, columns)))

    def condensed(
        self, name: str, column: str, span: tuple[float, float] | None = None
    ) -> dict[tuple[str, ...], Series]:
        """Return a column of a table that is too long to be held, condensed while it is read.

        Args:
            name: `cwnd`, `rtt`, `queue` or `tcp_info`.
            column: Name of a column of numbers.
            span: Seconds; default the whole run.

        Returns:
            Times in seconds and values of each flow, or of each link and direction; see
            `ackclock.metrics.condense`. The last row before the span comes first, at its own time:
            its value still holds where the span begins.

        Raises:
            InputError: there is no such table or column, it was not recorded, or the span is none
                or after the end of the run.
            ResultsError: its file is damaged.
        """
        subject = SUBJECTS[one_of("table", name, SUBJECTS)]
        described = record_tables.descriptions()[name]["columns"]
        numbers = [one["name"] for one in described if not one["category"]]
        one_of("column", column, [one for one in numbers if one != "time_s"])
        end_s = float(self.summary["end_s"])
        whole = span_of("span", span) or (0.0, end_s)
        if whole[0] > end_s:
            raise InputError(f"the run ends at {end_s:g} s: there is nothing at {whole[0]:g} s")
        key = (name, column, *whole)
        if key not in self._condensed:
            count = len(self.model["flows"]) if subject == ("flow",) else len(self.model["links"])
            self._condensed[key] = condense(
                self.pieces(name, ["time_s", *subject, column]),
                subject,
                column,
                whole,
                samples=name in SAMPLES,
                subjects=count * len(subject),
            )
        return self._condensed[key]

    def frame(self, what: str = "flows") -> Any:
        """Return figures or records as a data frame of pandas.

        Args:
            what: `flows`, `links`, `drops` or `runs` for figures of the whole run; or the name of a
                table of records, such as `cwnd`.

        Raises:
            InputError: pandas is not installed, there is no such table, or it was not recorded.
        """
        from ackclock.columns import TABLES
        from ackclock.extras import require
        from ackclock.tables.of_run import of_summaries

        require("pandas")
        if one_of("table", what, [*TABLES, *record_tables.descriptions()]) in TABLES:
            return of_summaries({"": self.summary}, what).to_arrow().to_pandas()
        return self.table(what).to_pandas()

    def _held(self, name: str) -> pa.Table | None:
        return self._tables.get(name) if isinstance(name, str) else None

    def _table_files(self, name: str) -> RecordFiles:
        if not isinstance(name, str) or name not in self._files:
            one_of("table", name, record_tables.descriptions())
            raise InputError(f"table '{name}' was not recorded; see 'record' in the scenario")
        files = self._files[name]
        if self._manifest is not None:
            for path in files.paths:
                self._manifest.require(path)
        return files

    def save(self, directory: str | PathLike[str], *, force: bool = False) -> Path:
        """Write a run directory and return its path.

        It is written beside, as `NAME.partial`, and renamed into place, so that a directory under
        this name is complete or absent. The run directory of an earlier run of the same scenario
        is replaced, one of another only with `force`; anything else is never touched.

        Args:
            directory: The run directory; folders above it are made.
            force: Replace the run directory of another scenario, too; default False.

        Raises:
            InputError: something is there that is not replaced, or another process writes there.
            OSError: the disk is full, the place cannot be written to.
        """
        target, force = RunDirectory(directory), flag_of("force", force)
        target.require_free(
            self.summary["scenario"],
            self.summary["seed"],
            self._fingerprint(),
            force=force,
        )
        with target.unfinished(force=force) as unfinished:
            records = unfinished.path / FILES.records
            records.mkdir()
            for name in self.tables:
                if name in self._tables:
                    record_tables.write(self._tables[name], records / f"{name}.parquet")
                else:
                    _copy(self._table_files(name), records / name)
            self.complete(unfinished, target)
        return target.path

    def complete(self, unfinished: Unfinished, target: RunDirectory) -> None:
        """Write what goes with the records and let the run directory take its place."""
        folder = unfinished.path
        (folder / FILES.scenario).write_text(self.scenario_text(), encoding="utf-8")
        summaries.write(folder / FILES.summary, self.summary)
        (folder / FILES.log).write_text(self.log, encoding="utf-8")
        for place, content in self.received.items():
            copy = folder / FILES.received / place
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
        manifest.write(folder, self._fingerprint())
        self.replaced = target.is_run()
        unfinished.complete(target)
        self._at(target.path)

    def _at(self, path: Path) -> None:
        self.directory = path
        self._manifest = Manifest(path)
        self._files = record_tables.found_in(path / FILES.records)

    @classmethod
    def load(cls, directory: str | PathLike[str]) -> Results:
        """Open a run directory. Tables are read when they are asked for.

        Raises:
            InputError: this is not a run directory.
            ResultsError: a file of it is damaged.
        """
        place = RunDirectory(directory)
        path = place.path
        if not place.is_run():
            raise InputError(_no_run(path))
        known = Manifest(path)
        summary = summaries.read(path / FILES.summary)
        known.require(path / FILES.summary)
        results = cls(summary, None, {})
        results._at(path)
        as_written = known.is_as_written(path / FILES.scenario)
        if not (as_written and known.has(path / FILES.scenario)):
            _ = results._written  # its faults come to light now
        if results._is_large and summary["ackclock"] != _core.version():
            _LOGGER.warning(
                "'%s' was run by ackclock %s; what its %s does not say may be another value in %s",
                *(path, summary["ackclock"], FILES.scenario, _core.version()),
            )
        if not as_written:
            results._require_names()
            _LOGGER.warning(
                "'%s' has been changed since the run; the figures are of the scenario as it was",
                path / FILES.scenario,
            )
        log = path / FILES.log
        try:
            results.log = log.read_text(encoding="utf-8") if log.is_file() else ""
        except UnicodeDecodeError:
            raise ResultsError(f"'{log}' is damaged: it is not UTF-8 text") from None
        return results

    def _require_names(self) -> None:
        """Check that a scenario that was changed has the flows and links of the run."""
        for kind in ("flows", "links"):
            if {entry["id"] for entry in self.model[kind]} != set(self.summary[kind]):
                raise ResultsError(
                    f"'{self.directory}' holds a {FILES.scenario} that is not the run's: "
                    f"its {kind} are others than those of {FILES.summary}"
                )

    def scenario_text(self) -> str:
        """Return the text of `scenario.yaml`."""
        from ackclock.canonical import to_yaml

        return to_yaml(self._written, self._scenario_header(self._written))

    def _scenario_header(self, head: Mapping[str, Any]) -> list[str]:
        form = "with all defaults filled in"
        if self._is_large:
            # With a line for each flow and link it would be too long to be read again.
            form = "as it was given: 'ackclock validate scenario.yaml --expand' fills in defaults"
        header = [
            f"{self.summary['scenario']}, as run by ackclock {self.summary['ackclock']} {form}.",
            f"Run it again: ackclock run {FILES.scenario}",
            f"Digest of the records: {self.summary['digest']}",
        ]
        if question := head.get("question"):
            header.append(f"Question: {question}")
        return header

    def _repr_html_(self) -> str:
        """What a notebook shows: the figures of the run, its flows and its busiest links."""
        from ackclock.tables.overview import html

        return html(self)

    def __repr__(self) -> str:
        state = "" if self.summary["finished"] else ", unfinished"
        return f"Results({self.summary['scenario']!r}, seed={self.summary['seed']}{state})"


def _columns(table: str, asked: Sequence[str]) -> list[str]:
    """Return the names of columns that a table has."""
    columns = names_of("columns", asked, "time_s")
    known = [column["name"] for column in record_tables.descriptions()[table]["columns"]]
    for name in columns:
        one_of("column", name, known)
    return columns


def _no_run(path: Path) -> str:
    """Why there is nothing to load."""
    if not path.exists():
        return left_behind(path) or (
            f"'{path}' does not exist; create a run with 'ackclock run SCENARIO'"
        )
    return left_behind(path) or (
        f"'{path}' is not a run directory; create one with 'ackclock run SCENARIO'"
    )


def _copy(files: RecordFiles, place: Path) -> None:
    """Copy the files of a table to a place, given without suffix."""
    if len(files.paths) == 1 and files.paths[0].stem == place.name:
        shutil.copyfile(files.paths[0], place.with_name(f"{place.name}.parquet"))
        return
    place.mkdir()
    for path in files.paths:
        shutil.copyfile(path, place / path.name)


def _reading(files: RecordFiles, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ResultsError(f"'{files.paths[0]}' is damaged: {reason}") from None
