"""`ackclock theory`, and the theory that `ackclock run` shows beside its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ackclock.cli.options import read_overrides
from ackclock.cli.terminal import console, print_json
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.results import Results
    from ackclock.theory import Comparison


Assumptions = Literal["ours", "paper", "paper-with-acks"]


def theory(
    scenario: str,
    settings: list[str] | None = None,
    seed: int | None = None,
    assumptions: Assumptions = "ours",
    as_json: bool = False,
) -> None:
    """Predict rates, windows and queues from theory, without simulating the scenario.

    Divides the run into periods in which the same flows are active, and solves each for rates,
    windows, queues and round-trip times. The completion times of flows follow from these. CUBIC,
    Reno and BBR have no equilibrium; for these it predicts long-run averages with published
    models. [cyan]ackclock run[/cyan] shows the predictions next to what it measured.

    [bold]Examples[/bold]

    [cyan]ackclock theory caltech/test-case-2-fast[/cyan]
    [cyan]ackclock theory caltech/test-case-2-fast --assume paper[/cyan]
    """
    from ackclock.cli.theory_tables import print_prediction
    from ackclock.scenario import Scenario
    from ackclock.theory import TheoryError, predict

    chosen = Scenario.load(scenario, read_overrides(settings), seed)
    try:
        prediction = predict(chosen.model, assumptions=assumptions)
    except TheoryError as error:
        raise AckclockError(f"no theory for '{chosen.name}': {error}") from None
    if as_json:
        print_json(prediction.to_json())
    else:
        print_prediction(console(), prediction)


# With more flows the comparison is a file of its own, not a table below a summary.
MOST_FLOWS = 200


def _compared(results: Results) -> Comparison | str:
    """Prediction and measurement side by side, or why there is none."""
    from ackclock.extras import MissingExtraError
    from ackclock.theory import TheoryError, compare, predict

    if len(results.summary["flows"]) > MOST_FLOWS:
        return f"not shown for more than {MOST_FLOWS} flows"
    try:
        return compare(predict(results.model), results)
    except TheoryError as error:
        return f"none for this scenario: {error}"
    except MissingExtraError as error:
        return f"not shown: {error.short}"


def print_comparison(console: Console, results: Results) -> bool:
    """Print prediction and measurement side by side; a line where there is no theory.

    Returns:
        Whether there is a prediction that `ackclock theory` shows.
    """
    from ackclock.cli.theory_tables import print_comparison as print_tables

    found = _compared(results)
    if isinstance(found, str):
        console.print(f"\n[dim]Theory:[/dim] {found}")
        return False
    if not found.periods:  # notes only, which bring no empty line before them
        console.print()
    print_tables(console, found)
    return bool(found.prediction.periods or found.prediction.averages)


def comparison_json(results: Results) -> dict[str, Any] | None:
    """Return prediction and measurement as a document; None where there is no theory."""
    found = _compared(results)
    return None if isinstance(found, str) else found.to_json()
