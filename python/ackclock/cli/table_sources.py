"""What tables are made of: run directories, scenarios to simulate, sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.tables import ResultTable, detailed, of_summaries, of_sweep


@dataclass(frozen=True)
class Source:
    """A table with what it is of.

    Attributes:
        table: All columns and rows.
        what: Which table.
        axes: Columns that were varied on purpose; over them a mean has no interval.
    """

    table: ResultTable
    what: str
    axes: tuple[str, ...]


def opened(
    sources: Sequence[str],
    what: str | None,
    overrides: list[tuple[str, str]],
    seed: int | None,
    *,
    percentiles: bool = False,
) -> Source:
    """Open or make the runs and return their table, with `percentiles` those that records give.

    Raises:
        InputError: there is no such thing, or a value is set of what has been simulated before.
    """
    folders = [text for text in sources if is_sweep(Path(text))]
    if folders:
        if len(sources) > 1:
            raise InputError(f"'{folders[0]}' is a sweep, which stands for itself; name it alone")
        if overrides or seed is not None:
            raise InputError("a sweep was simulated before; --set and --seed are for scenarios")
        return _sweep(folders[0], what or "runs")
    summaries: dict[str, Any] = {}
    for text in dict.fromkeys(sources):
        summaries[text] = _summary(text, overrides, seed, percentiles=percentiles)
    chosen = what or "flows"
    axes = ("run",) if len(summaries) > 1 else ()
    return Source(of_summaries(summaries, chosen), chosen, axes)


def is_sweep(place: Path) -> bool:
    """Whether results of a sweep are here: in its folder, or in its file."""
    from ackclock.sweep.store import RESULTS, Store

    if place.is_file():
        return place.name == RESULTS
    return Store(place).exists() or (place / RESULTS).is_file()


def _sweep(text: str, what: str) -> Source:
    from ackclock.sweep import load

    results = load(text)
    nested = {"flows": "flows", "links": "links", "drops": "links"}.get(what)
    rows = results.with_list(nested) if nested else results.plain()
    made = of_sweep(rows, what, results.axes)
    notes = results.notes()
    if results.partial:
        notes.append(f"The sweep is not complete: {len(results)} of {results.runs} runs.")
    made = replace(made, notes=(*made.notes, *notes))
    return Source(made, what, tuple(results.axes))


def _summary(
    text: str, overrides: list[tuple[str, str]], seed: int | None, *, percentiles: bool
) -> Any:
    from ackclock import run
    from ackclock.results import Results
    from ackclock.run_directory import RunDirectory
    from ackclock.scenario import Scenario

    if RunDirectory(Path(text)).is_run():
        if overrides or seed is not None:
            raise InputError(
                f"'{text}' was simulated before; to simulate it with other values, use its "
                f"{Path(text) / 'scenario.yaml'}"
            )
        results = Results.load(text)
    else:
        record = {"kind": "none", "rtt": "changes", "transmissions": "changes"}
        scenario = Scenario.load(text, overrides, seed)
        results = run(scenario.set("record", record if percentiles else "none"))
    return detailed(results) if percentiles else results.summary
