"""What a run gave: a summary and tables of records, in memory or in a run directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ackclock.errors import AckclockError, InputError, unknown
from ackclock.run_directory import FILES, RunDirectory
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    from os import PathLike

Columns = Mapping[str, np.ndarray]


class ResultsError(AckclockError):
    """A run directory that cannot be read: a file is missing, cut off or damaged."""


class Results:
    """The outcome of a run.

    Attributes:
        summary: figures of the whole run, per flow and per link, as in `summary.json`.
        canonical: the resolved scenario as a document.
        directory: where it was saved to or loaded from; None before that.
        log: the text of `log.txt`.
    """

    def __init__(
        self, summary: dict[str, Any], canonical: dict[str, Any], tables: dict[str, pa.Table]
    ) -> None:
        self.summary = summary
        self.canonical = canonical
        self.directory: Path | None = None
        self.log = ""
        self._tables = tables
        self._files: dict[str, Path] = {}
        self._model: dict[str, Any] | None = None

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
        results = cls(
            summary,
            scenario.canonical,
            {name: _table(name, columns, categories, summary) for name, columns in tables.items()},
        )
        results._model = scenario.model
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

    @cached_property
    def scenario(self) -> Scenario:
        """The resolved scenario, ready to run again."""
        return Scenario.from_dict(self.canonical)

    @property
    def model(self) -> dict[str, Any]:
        """The resolved scenario in numbers (`_ns`, `_bps`, `_bytes`). Do not change it."""
        if self._model is None:
            self._model = self.scenario.model
        return self._model

    @property
    def tables(self) -> list[str]:
        """Names of the recorded tables."""
        return list(self._tables) + [name for name in self._files if name not in self._tables]

    def table(self, name: str) -> pa.Table:
        """Return a table of records, with categories (flows, links, states) as dictionary columns.

        Every field carries its unit and meaning as metadata. Rows are in the order of time within
        each flow or link.

        Raises:
            InputError: there is no such table, or it was not recorded.
            ResultsError: its file is damaged.
        """
        if name in self._tables:
            return self._tables[name]
        if name in self._files:
            self._tables[name] = _read(self._files[name])
            return self._tables[name]
        known = _descriptions()
        if name in known:
            raise InputError(f"table '{name}' was not recorded; see 'record' in the scenario")
        raise InputError(unknown("table", name, known))

    def save(self, directory: str | PathLike[str], *, force: bool = False) -> Path:
        """Write a run directory and return its path.

        It is written beside under another name and renamed into place, so that a directory under
        this name is complete or absent. A run directory of the same scenario and seed is replaced,
        one of another only with `force`; anything else is never touched.

        Raises:
            InputError: something is there that is not replaced.
            OSError: the disk is full, the place cannot be written to.
        """
        target = RunDirectory(Path(directory))
        target.require_free(self.summary["scenario"], self.summary["seed"], force=force)
        with target.replacement() as staging:
            (staging / FILES.scenario).write_text(self._scenario_text(), encoding="utf-8")
            text = json.dumps(self.summary, indent=2, ensure_ascii=False, allow_nan=False)
            (staging / FILES.summary).write_text(text + "\n", encoding="utf-8")
            (staging / FILES.log).write_text(self.log, encoding="utf-8")
            (staging / FILES.records).mkdir()
            for place, content in self.received.items():
                copy = staging / FILES.received / place
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
            for name in self.tables:
                _write(self.table(name), staging / FILES.records / f"{name}.parquet")
        self.directory = target.path
        return target.path

    @classmethod
    def load(cls, directory: str | PathLike[str]) -> Results:
        """Open a run directory. Tables are read when they are asked for.

        Raises:
            InputError: this is no run directory.
            ResultsError: a file of it is damaged.
        """
        from ackclock.document import Document

        path = Path(directory)
        if not RunDirectory(path).is_run():
            what = "is not a run directory" if path.exists() else "does not exist"
            raise InputError(f"'{path}' {what}; 'ackclock run SCENARIO' makes one")
        try:
            summary = json.loads((path / FILES.summary).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ResultsError(f"'{path / FILES.summary}' is damaged: {error}") from None
        document = Document.read(path / FILES.scenario)
        results = cls(summary, document.data, {})
        results._files = {
            file.stem: file for file in sorted((path / FILES.records).glob("*.parquet"))
        }
        results.directory = path
        log = path / FILES.log
        results.log = log.read_text(encoding="utf-8") if log.is_file() else ""
        return results

    def _scenario_text(self) -> str:
        from ackclock.canonical import to_yaml

        title = self.summary["scenario"]
        header = [
            f"{title}, as run by ackclock {self.summary['ackclock']} with all defaults filled in.",
            f"Run it again: ackclock run {FILES.scenario}",
            f"Digest of the records: {self.summary['digest']}",
        ]
        if question := self.canonical.get("question"):
            header.append(f"Question: {question}")
        return to_yaml(self.canonical, header)

    def _repr_html_(self) -> str:
        """What a notebook shows: the figures of the run, its flows and its busiest links."""
        from ackclock.tables.overview import html

        return html(self)

    def __repr__(self) -> str:
        state = "" if self.summary["finished"] else ", unfinished"
        return f"Results({self.summary['scenario']!r}, seed={self.summary['seed']}{state})"


def _descriptions() -> dict[str, Any]:
    from ackclock import _core

    return json.loads(_core.record_tables())


def _table(
    name: str,
    columns: Columns,
    categories: Mapping[str, list[str]],
    summary: Mapping[str, Any],
) -> pa.Table:
    arrays, fields = [], []
    described = _descriptions()[name]
    for column in described["columns"]:
        values = columns[column["name"]]
        if column["category"] is None:
            array = pa.array(values)
        else:
            codes = pa.array(values, pa.int32(), mask=values < 0)
            array = pa.DictionaryArray.from_arrays(
                codes, pa.array(categories[column["category"]], pa.string())
            )
        arrays.append(array)
        metadata = {"description": column["summary"], "unit": column["unit"] or ""}
        fields.append(pa.field(column["name"], array.type, metadata=metadata))
    metadata = {
        "description": described["summary"],
        "producer": f"ackclock {summary['ackclock']}",
        "scenario": summary["scenario"],
        "seed": str(summary["seed"]),
        "digest": summary["digest"],
    }
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata))


def _write(table: pa.Table, path: Path) -> None:
    words = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    reals = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    pq.write_table(
        table,
        path,
        compression="zstd",
        use_dictionary=words,  # pyright: ignore[reportArgumentType]  # names are allowed too
        column_encoding=dict.fromkeys(reals, "BYTE_STREAM_SPLIT"),
        write_page_checksum=True,
    )


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ResultsError(f"'{path}' is damaged: {reason}") from None
