"""`ackclock grade`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ackclock.cli.lab import line
from ackclock.cli.options import require_writable
from ackclock.cli.terminal import echo_error
from ackclock.errors import InputError, listed

if TYPE_CHECKING:
    from ackclock.labs.grading import Grade
    from ackclock.labs.marking import Marker


def grade(
    lab: str,
    submission: Path,
    out: Path | None = None,
    form: Literal["text", "gradescope", "otter"] = "text",
    seed: int = 0,
    hidden: Path | None = None,
    table: Path | None = None,
    feedback: Path | None = None,
    personal: bool = False,
    secret: Path | None = None,
    seconds: float = 20.0,
    memory: int = 1024,
) -> None:
    """Grade a submission, or a folder of them, with feedback for each answer.

    Right answers are measured in simulations. Programs run in separate processes with time and
    memory limits. This is not a sandbox: grade untrusted programs in a container.

    Exit status: 0 graded, whatever the points; 1 some submission could not be graded; 2 bad input.

    [bold]Examples[/bold]

    [cyan]ackclock grade bufferbloat handed-in/ada[/cyan]
    [cyan]ackclock grade bufferbloat . --seed 7 --out /autograder/results/results.json[/cyan]
    [cyan]ackclock grade bufferbloat handed-in --csv grades.csv --feedback feedback[/cyan]
    """
    from ackclock import labs
    from ackclock.labs import grading
    from ackclock.labs.hidden import Hidden
    from ackclock.labs.marking import Marker
    from ackclock.labs.personal import is_personal, secret_of
    from ackclock.labs.programs import Limits

    found = labs.find(lab)
    key = secret_of(secret)
    marker = Marker(found, Hidden(found, seed, hidden), Limits(seconds, memory), secret=key)
    if personal and not is_personal(found):
        raise InputError(f"--personal: the lab '{found.name}' has the same networks for all")
    if key is not None and not is_personal(found):
        raise InputError(f"--secret: the lab '{found.name}' has the same networks for all")
    if table is not None:
        if out is not None:
            raise InputError("--out is for one submission; --feedback writes a file for each")
        require_writable(table, "--csv")
        if feedback is not None and feedback.exists() and not feedback.is_dir():
            raise InputError(f"--feedback: '{feedback}' is not a folder")
        _many(marker, submission, table, feedback, form, personal)
        return
    if feedback is not None:
        raise InputError("--feedback needs --csv")
    if submission.is_dir() and not grading.holds_one(found, submission):
        inner = grading.submissions(submission)
        if any(grading.holds_one(found, one) for one in inner):
            raise InputError(f"'{submission}' holds many submissions; grade them with --csv FILE")
    if out is not None:  # before the work, not after it
        require_writable(out, "--out")
    done = grading.grade(marker, submission, own=personal)
    if out is not None:
        from ackclock.files import write_text

        write_text(out, _text(done, "gradescope" if form == "text" else form))
    if form == "text":
        _show(done)
    elif out is None:
        typer.echo(_text(done, form), nl=False)


def _text(done: Grade, form: str) -> str:
    from ackclock.labs.formats import FORMATS

    return json.dumps(FORMATS[form](done), indent=2, ensure_ascii=False) + "\n"


def _show(done: Grade) -> None:
    typer.echo(f"{done.lab.title}: {done.points:g} of {done.most:g} points\n")
    for remark in done.remarks:
        line("", "", remark)
    for mark in done.marks:
        line(f"{mark.points:g}/{mark.most:g}", mark.question, mark.feedback)


def _many(
    marker: Marker, folder: Path, table: Path, feedback: Path | None, form: str, own: bool
) -> None:
    import hashlib

    from ackclock._core import version
    from ackclock.cli.progress import progress_bar
    from ackclock.files import write_text
    from ackclock.labs import grading

    made = hashlib.sha256(f"{version()} {marker.limits}".encode())
    files = [file for file in sorted(marker.lab.folder.rglob("*")) if file.is_file()]
    for file in [*(one for one in files if "__pycache__" not in one.parts), marker.hidden.file]:
        if file.is_file():
            made.update(file.read_bytes())
    made.update(str(marker.hidden.seed).encode() + (marker.secret or b""))

    def write(done: grading.Grade) -> None:
        if feedback is not None:
            feedback.mkdir(parents=True, exist_ok=True)
            if form == "text":
                write_text(feedback / f"{done.name}.txt", _plain(done))
            else:
                write_text(feedback / f"{done.name}.json", _text(done, form))

    at = grading.BulkProgress(0, 0, "")

    def show(state: grading.BulkProgress) -> None:
        nonlocal at
        at = state
        bar(state)

    with progress_bar(
        lambda state: f"{state.done}/{state.total}  {state.name}", wanted=True
    ) as bar:
        try:
            bulk = grading.grade_all(marker, folder, table, made.hexdigest(), show, write, own=own)
        except KeyboardInterrupt:
            echo_error(
                f"stopped: {at.done} of {at.total} submissions are in {table}; the same command "
                "grades the others"
                if at.done
                else "stopped before a submission was graded"
            )
            raise
    before = f", {bulk.before} were in the table already" if bulk.before else ""
    typer.echo(f"{bulk.graded} graded{before}: {table}")
    for name in bulk.failed:
        echo_error(f"not graded: {name}; the table says why")
    if ignored := grading.left_out(folder):
        echo_error(f"not graded: {listed(ignored)}: not a folder and not a .zip file")
    if bulk.failed:
        raise typer.Exit(1)


def _plain(done: Grade) -> str:
    lines = [f"{done.lab.title}: {done.points:g} of {done.most:g} points", "", *done.remarks]
    for mark in done.marks:
        lines.append(f"{mark.question}: {mark.points:g} of {mark.most:g}. {mark.feedback}")
    return "\n".join(lines) + "\n"
