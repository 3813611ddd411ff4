"""`ackclock lab`: its commands for students and teachers."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Literal

import typer

from ackclock.cli.terminal import console, echo_error, print_json, table
from ackclock.errors import InputError

lab = typer.Typer(
    help="Labs: experiments with questions, for students and teachers.",
    rich_markup_mode="rich",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@lab.command("list")
def list_(as_json: bool = False) -> None:
    """List the labs."""
    from ackclock import labs
    from ackclock.labs.personal import is_personal

    found = [labs.find(name) for name in labs.names()]
    if as_json:
        print_json(
            [
                {
                    "name": one.name,
                    "title": one.title,
                    "about": one.about,
                    "minutes": one.minutes,
                    "points": one.points,
                    "personal": is_personal(one),
                    "questions": [question.name for question in one.questions],
                }
                for one in found
            ]
        )
        return
    shown = table("Lab", "What", ">Minutes", ">Points", "--student")
    for one in found:
        own = "yes" if is_personal(one) else ""
        name = f"[cyan]{one.name}[/cyan]"
        shown.add_row(name, one.title, str(one.minutes), f"{one.points:g}", own)
    console().print(shown)
    console().print("--student gives each student networks of their own.")
    console().print("\nStart one: [cyan]ackclock lab start bufferbloat[/cyan]")


@lab.command("start")
def start(
    lab: str,
    out: Path | None = None,
    form: Literal["markdown", "notebook"] = "markdown",
    student: str | None = None,
    secret: Path | None = None,
    force: bool = False,
) -> None:
    """Write the student's part of a lab: the page, the scenarios, and a file for the answers."""
    from ackclock import labs
    from ackclock.labs import personal, writing

    found = labs.find(lab)
    key = personal.secret_of(secret)
    folder = out if out is not None else Path(found.name)
    files = writing.student(
        found, folder, notebook=form == "notebook", force=force, name=student, secret=key
    )
    screen = console()
    screen.print(f"[bold]{found.title}[/bold]", soft_wrap=True)
    for file in files:
        screen.print(f"  {file}", soft_wrap=True, markup=False)
    screen.print(f"\nRead [cyan]{files[0]}[/cyan], then: cd {folder}", soft_wrap=True)


@lab.command("check")
def check(
    folder: Path = Path(),
    lab: str | None = None,
    seconds: float = 20.0,
    memory: int = 1024,
    as_json: bool = False,
) -> None:
    """Check your answers before you hand them in: format, units and plausibility.

    Marks the first question and tests programs on the lab's own scenarios; other questions are not
    marked. Exit status 1 if something is missing or wrong.
    """
    from ackclock import labs
    from ackclock.labs import grading, hidden
    from ackclock.labs.marking import Marker
    from ackclock.labs.programs import Limits

    limits = Limits(seconds, memory)
    name = lab if lab is not None else _named(folder)
    if lab is None and not labs.exists(name):
        echo_error(
            f"note: '{name}' is not a lab of the package. Checked is only whether answers can be "
            "read and programs be loaded; --lab names the folder of a lab."
        )
        said = grading.check_alone(folder, limits)
    else:
        found = labs.find(name)
        said = grading.check(Marker(found, hidden.Hidden(found, 0), limits), folder)
    if as_json:
        print_json([{"question": name, "text": text, "fine": fine} for name, text, fine in said])
    else:
        for name, text, fine in said:
            line("ok" if fine else "--", name, text)
    if not all(fine for _, _, fine in said):
        raise typer.Exit(1)


@lab.command("teach")
def teach(lab: str, out: Path | None = None) -> None:
    """Write the teacher's version: answers, tolerances with reasons, wrong answers and feedback.

    The folder is itself a lab: you can edit it and use its path in place of a lab's name.
    """
    from ackclock import labs
    from ackclock.labs import hidden, writing
    from ackclock.labs.marking import Marker
    from ackclock.labs.programs import Limits

    found = labs.find(lab)
    folder = out if out is not None else Path(f"{found.name}-teacher")
    page = writing.teacher(Marker(found, hidden.Hidden(found, 0), Limits()), folder)
    typer.echo(str(page))


def line(mark: str, name: str, text: str, *, width: int = 78) -> None:
    """Write a remark on a question, wrapped; lines of the text stay apart."""
    head = f"{mark:>7}  {name or '':18} "
    for part in text.splitlines() or [""]:
        typer.echo(textwrap.fill(part, width, initial_indent=head, subsequent_indent=" " * 28))
        head = " " * 28


def _named(folder: Path) -> str:
    """Return the lab that a folder of answers names."""
    from ackclock.document import Document
    from ackclock.labs.answers import alike
    from ackclock.labs.questions import ANSWERS

    file = folder / ANSWERS
    if not file.is_file():
        advice = alike(file) or "; name the lab with --lab, or give another folder"
        raise InputError(f"'{folder}' has no {ANSWERS}{advice}")
    name = Document.read(file, "lab: NAME").data.get("lab")
    if not isinstance(name, str):
        raise InputError(f"'{file}' does not name its lab; write 'lab: NAME' or use --lab")
    return name
