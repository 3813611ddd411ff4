"""What tables are made of: run directories, scenarios to simulate, sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.tables import ResultTable, of_summaries


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
    sources: Sequence[str], what: str | None, overrides: list[tuple[str, str]], seed: int | None
) -> Source:
    """Open or make the runs and return their table.

    Raises:
        InputError: there is no such thing, or a value is set of what has been simulated before.
    """
    summaries: dict[str, Any] = {}
    for text in dict.fromkeys(sources):
        summaries[text] = _summary(text, overrides, seed)
    chosen = what or "flows"
    axes = ("run",) if len(summaries) > 1 else ()
    return Source(of_summaries(summaries, chosen), chosen, axes)


def _summary(text: str, overrides: list[tuple[str, str]], seed: int | None) -> Any:
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
        return Results.load(text).summary
    return run(Scenario.load(text, overrides, seed).set("record", "none")).summary
