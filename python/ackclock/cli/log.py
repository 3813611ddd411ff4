"""`ackclock log`."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from ackclock.cli.options import choose
from ackclock.cli.terminal import echo_error, print_json


def log(
    run_directory: Path,
    kinds: list[str] | None = None,
    why: bool = False,
    flows: list[str] | None = None,
    begin: float | None = None,
    end: float | None = None,
    as_json: bool = False,
) -> None:
    """Print the events of a run, one per line, starting with the time in seconds.

    [bold]Examples[/bold]

    [cyan]ackclock log runs/bene/two-flows-1 --from 0.2 --to 0.3[/cyan]
    [cyan]ackclock log runs/bene/reliability-timer-trace-1 --kind rto[/cyan]
    [cyan]ackclock log runs/bene/two-flows-1 --kind events,packets --flows F1 --json[/cyan]
    [cyan]ackclock log runs/my-cubic-1 --why --from 1.2 --to 1.4[/cyan]
    """
    from ackclock import log as logs
    from ackclock.results import Results

    results = Results.load(run_directory)
    chosen = choose("kind of log", kinds, logs.KINDS)
    if why:
        logs.require_reasons(results, choose("flow", flows, results.summary["flows"]))
    found = logs.entries(
        results,
        [*logs.WHY, *(chosen or ())] if why else chosen,
        choose("flow", flows, results.summary["flows"]),
        begin or 0.0,
        math.inf if end is None else end,
    )
    if as_json:
        print_json([{"table": e.kind, "text": e.text, **e.row} for e in found])
        return
    for line in logs.lines(found):
        sys.stdout.write(line + "\n")
    if not found:
        without = "; 'aqm', 'queue' and 'routes' belong to no flow" if flows else ""
        echo_error(f"nothing of this kind happened in this time{without}")
