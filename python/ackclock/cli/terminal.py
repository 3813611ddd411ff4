"""Output: text for people on a terminal, one JSON document for programs."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from ackclock.errors import AckclockError, ScenarioError, rendered

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Without a terminal there is no width to fit into; tables stay readable in a file or a pager.
_WIDTH_OF_FILES = 110

MOST_ROWS = 1000
"""Rows of a table that are printed as text: more are read by programs only, which take files."""


def console() -> Console:
    """Return the console for standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH_OF_FILES
    return Console(highlight=False, emoji=False, width=width)


def table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table; a column whose name starts with '>' is aligned to the right."""
    from rich import box
    from rich.table import Table

    made = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for column in columns:
        # What is too wide goes on in another line: figures must not be cut off.
        side = "right" if column[0] == ">" else "left"
        made.add_column(column.lstrip(">"), justify=side, overflow="fold")
    return made


def print_title(console: Console, name: str, head: Mapping[str, Any]) -> None:
    """Print what a scenario is called and what it asks."""
    from rich.markup import escape

    title = f"  {escape(head['title'])}" if head.get("title") else ""
    console.print(f"\n[bold]{escape(name)}[/bold]{title}")
    if question := head.get("question"):
        console.print(f"[dim]Question:[/dim] {escape(' '.join(question.split()))}")


@contextmanager
def terminable() -> Iterator[None]:
    """Let a request to terminate end the work as Ctrl-C does: with what there is."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def print_json(document: Any) -> None:
    """Print one JSON document and nothing else; what is not finite becomes null."""
    text = json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(text + "\n")


def _finite(document: Any) -> Any:
    if isinstance(document, Mapping):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [_finite(value) for value in document]
    if isinstance(document, float) and not math.isfinite(document):
        return None
    return document


def error_json(error: AckclockError) -> dict[str, Any]:
    """Return an error as the JSON document of a command that failed."""
    if isinstance(error, ScenarioError):
        return {"errors": [problem.to_json() for problem in error.problems]}
    return {"errors": [{"message": str(error)}]}


def echo_error(text: str) -> None:
    """Write a line to standard error."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def show_error(error: AckclockError) -> None:
    """Write an error to standard error, in colour on a terminal."""
    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    if isinstance(error, ScenarioError):
        texts = rendered(error.problems, colour=colour)
        text = "\n".join([*texts, f"{len(texts)} problems"] if len(texts) > 1 else texts)
    elif colour:
        text = f"\x1b[31merror:\x1b[0m {error}"
    else:
        text = f"error: {error}"
    echo_error(text)


def fail(error: AckclockError) -> NoReturn:
    """Show an error and leave with its exit status; with `--json`, as a JSON document too."""
    show_error(error)
    if "--json" in sys.argv[1:]:
        print_json(error_json(error))
    sys.exit(error.exit_code)
