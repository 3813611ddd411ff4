"""What tables are made of: run directories, scenarios to simulate, sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import InputError
from ackclock.tables import ResultTable, detailed, of_summaries, of_sweep

if TYPE_CHECKING:
    from ackclock.results import Results


@dataclass(frozen=True)
class Source:
    """A table with what it is of.

    Attributes:
        table: All columns and rows.
        what: Which table.
        axes: Columns that were varied on purpose; over them a mean has no interval.
        sampled: Those of them whose values were drawn.
    """

    table: ResultTable
    what: str
    axes: tuple[str, ...]
    sampled: tuple[str, ...] = ()


def opened(
    sources: Sequence[str],
    what: str | None,
    overrides: list[tuple[str, str]],
    seed: int | None,
    *,
    percentiles: bool = False,
    span: tuple[float | None, float | None] | None = None,
) -> Source:
    """Open or make the runs and return their table, with `percentiles` those that records give.

    With a `span` it is a table of that part of the runs, which may be without beginning or end.

    Raises:
        InputError: there is no such thing, or a value is set of what has been simulated before.
    """
    folders = [text for text in sources if is_sweep(Path(text))]
    if folders:
        if len(sources) > 1:
            raise InputError(f"'{folders[0]}' is a sweep; name it alone")
        if overrides or seed is not None:
            raise InputError("a sweep was simulated before; --set and --seed are for scenarios")
        if span is not None:
            raise InputError(
                f"a sweep keeps no records, of which '{what}' is made; name runs or scenarios"
            )
        return _sweep(folders[0], what or "runs")
    if span is not None and what is not None:
        from ackclock.tables.of_records import of_records

        runs = {text: _results(text, overrides, seed, what) for text in dict.fromkeys(sources)}
        made = of_records(runs, what, *span, alone=_alone)
        return Source(made, what, ("run",) if len(runs) > 1 else ())
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
    made = of_sweep(results, what, results.axes)
    notes = results.notes()
    if results.state:
        notes.append(f"The sweep is {results.state}.")
    made = replace(made, notes=(*made.notes, *notes))
    return Source(made, what, tuple(results.axes), tuple(results.sampled))


def _summary(
    text: str, overrides: list[tuple[str, str]], seed: int | None, *, percentiles: bool
) -> Any:
    record = {"rtt": "changes", "transmissions": "changes"} if percentiles else {}
    results = _opened(text, overrides, seed, record)
    return detailed(results) if percentiles else results.summary


def _results(text: str, overrides: list[tuple[str, str]], seed: int | None, what: str) -> Results:
    from ackclock.tables.of_records import NEEDS

    return _opened(text, overrides, seed, {} if what == "harm" else NEEDS)


def _opened(
    text: str, overrides: list[tuple[str, str]], seed: int | None, record: Mapping[str, str]
) -> Results:
    """Return a run from its directory, or simulate a scenario with these records."""
    from ackclock.differences import opened as single
    from ackclock.run_directory import RunDirectory

    if (overrides or seed is not None) and RunDirectory(Path(text)).is_run():
        raise InputError(
            f"'{text}' was simulated before; to simulate it with other values, use its "
            f"{Path(text) / 'scenario.yaml'}"
        )
    return single(text, record, overrides, seed)


def _alone(results: Any, flow: str) -> Mapping[str, Any]:
    """Simulate a run again with one of its flows alone; return the summary."""
    from ackclock import run
    from ackclock.scenario import Scenario

    document = dict(results.scenario.canonical)
    document["flows"] = [one for one in document["flows"] if one["id"] == flow]
    return run(Scenario.from_dict({**document, "record": "none"})).summary
