"""`ackclock validate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ackclock.cli import figures
from ackclock.cli.options import read_overrides
from ackclock.cli.terminal import error_json, print_json, show_error
from ackclock.errors import AckclockError, InputError, rendered

if TYPE_CHECKING:
    from ackclock.scenario import Scenario


def validate(
    scenarios: list[str],
    settings: list[str] | None = None,
    expand: bool = False,
    as_json: bool = False,
) -> None:
    """Check scenario files without running them.

    Reports all errors at once, each with file, line, path, value, what is allowed, and a hint. Exit
    status 2 if a file is invalid. With --expand the output is itself a scenario file.

    [bold]Examples[/bold]

    [cyan]ackclock validate my-experiment.yaml[/cyan]
    [cyan]ackclock validate scenarios/*.yaml --json[/cyan]
    [cyan]ackclock validate shapes/dumbbell --expand[/cyan]   short forms written out
    """
    from ackclock.scenario import Scenario

    overrides = read_overrides(settings)
    reports: list[dict[str, Any]] = []
    for name in scenarios:
        report: dict[str, Any] = {"file": name, "valid": False, "errors": [], "warnings": []}
        reports.append(report)
        try:
            scenario = Scenario.load(name, overrides)
        except InputError as error:
            report |= error_json(error)
            if not as_json:
                show_error(_named(name, error))
            continue
        report |= {
            "valid": True,
            "scenario": scenario.name,
            "warnings": [warning.to_json() for warning in scenario.warnings],
        }
        if expand:
            report["resolved"] = scenario.canonical
        if expand and not as_json:
            _print_expanded(scenario)
        elif not as_json:
            _print_valid(name, scenario)
    if as_json:
        print_json({"files": reports})
    if not all(report["valid"] for report in reports):
        raise typer.Exit(2)


def _named(name: str, error: AckclockError) -> AckclockError:
    return error if name in str(error) else InputError(f"{name}: {error}")


def _print_valid(name: str, scenario: Scenario) -> None:
    counts = [
        figures.counted(len(scenario.flows), "flow"),
        figures.counted(len(scenario.links), "link"),
        figures.counted(len(scenario.hosts), "host"),
        figures.counted(len(scenario.routers), "router"),
    ]
    typer.echo(f"{name}: valid, {scenario.name}: {', '.join(counts)}")
    _print_warnings(scenario)


def _print_expanded(scenario: Scenario) -> None:
    from ackclock.canonical import to_yaml

    typer.echo(to_yaml(scenario.canonical), nl=False)
    _print_warnings(scenario)


def _print_warnings(scenario: Scenario) -> None:
    for warning in rendered(scenario.warnings):
        typer.echo(f"warning: {warning}", err=True)
