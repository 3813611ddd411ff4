"""Writes the parts of a lab: what students get, and what the teacher sees beside it."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ackclock.canonical import to_yaml
from ackclock.document import Document
from ackclock.errors import InputError, save_as_utf8
from ackclock.files import require_folder_above, write_text
from ackclock.labs import personal
from ackclock.labs.marking import Marker
from ackclock.labs.questions import (
    ANSWERS,
    FORMULAS,
    Choice,
    Controller,
    Formula,
    Lab,
    Mistake,
    Number,
    Question,
)
from ackclock.labs.units import Unit

_ANSWERS_IN = ("question", "expectation")
"""What a run is about and what it shows, with figures: the page asks for these."""

_GIVING_AWAY = re.compile(
    rf"^(?:{'|'.join(_ANSWERS_IN)}):.*\n(?:[ \t]+.*\n|[ \t]*\n(?=[ \t]))*", re.M
)

_MARK = re.compile(r"^<!-- question: (?P<name>\w+) -->$", re.M)
_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]+) -->\n)?^```(?P<language>bash|python|yaml)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
_ANSWERS_GO = (
    f" Answers go into `{ANSWERS}`, each by the name that stands below its question, with a unit."
)
_KINDS = {
    "time": "A time, such as 12.5 ms.",
    "rate": "A rate, such as 9.4 Mbps.",
    "size": "A size, such as 64 KiB.",
    "packets": "A number of packets, such as 20 packets.",
    "share": "A share, such as 12.5 %.",
    "number": "A plain number.",
}

_UNITS = {
    "time": "ms",
    "rate": "Mbps",
    "size": "KiB",
    "packets": "packets",
    "share": "%",
    "number": "",
}
"""A unit of each kind: as good as any where only the kind of an answer is known."""

_ASKED = re.compile(r"^  # \d+\. (?:One of: (?P<words>.+)\.|(?P<kind>.+))\n  (?P<name>\w+):", re.M)
"""A question in the file of answers, as `_form` writes it."""


def student(
    lab: Lab,
    folder: Path,
    *,
    notebook: bool,
    force: bool,
    name: str | None = None,
    secret: bytes | None = None,
) -> list[Path]:
    """Write what students get, with networks of the student of this name; return the files.

    Raises:
        InputError: there is something already, and `force` is not set; a question is missing.
    """
    from ackclock.labs.runs import Runs

    require_folder_above(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"'{folder}' is not a folder; choose another place with --out")
    who = personal.student(name)
    if name is not None and who is None:
        raise InputError("--student needs a name")
    if secret is not None and who is None:
        raise InputError("--secret is for networks of a student: give --student, too")
    values = personal.networks(lab, who, secret)
    texts: dict[str, str] = {}
    if notebook:
        texts["lab.ipynb"] = _notebook(page(lab))
    else:
        texts["lab.md"] = page(lab)
    texts[ANSWERS] = _form(lab, lambda question: "null", who, secret is not None)
    if FORMULAS in lab.programs:
        texts[FORMULAS] = _skeleton(lab)
    runs = Runs(lab.folder, lab.scenarios)
    for one in lab.scenarios:
        texts[f"{one}.yaml"] = _scenario(runs.file(one), values.get(one), who)
    for question in lab.questions:
        if isinstance(question, Controller):
            texts[question.file] = _part(lab, question.file)
    there = [file for file in texts if (folder / file).exists()]
    if there and not force:
        raise InputError(
            f"'{folder / there[0]}' already exists; choose another folder with --out, or replace "
            "what is there with --force"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        write_text(folder / file, text)
    return [folder / file for file in texts]


def _scenario(file: Path, values: Mapping[str, Any] | None, who: str | None) -> str:
    """Return a scenario with the values of a student, without the texts that give away answers."""
    if not values:
        return _GIVING_AWAY.sub("", file.read_text(encoding="utf-8"))
    document = Document.read(file)
    for key in _ANSWERS_IN:
        document.data.pop(key, None)
    for path, value in values.items():
        document.override(path, value)
    listed = ", ".join(f"{path} = {value}" for path, value in values.items())
    return to_yaml(document.data, [f"The network of {who}: {listed}."])


def page(lab: Lab) -> str:
    """Return what students read, in Markdown."""
    return _page(lab, asked)


def teacher(marker: Marker, folder: Path) -> Path:
    """Write a lab as a folder of one's own, with a page that has the answers; return the page.

    Raises:
        InputError: there is something already.
    """
    lab = marker.lab
    if folder.exists():
        raise InputError(f"'{folder}' already exists; choose another folder with --out")
    require_folder_above(folder)
    answered = _page(lab, lambda question, number: _answered(marker, question, number))
    solved = _form(lab, lambda question: _solution(marker, question))
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(lab.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "solution").mkdir(exist_ok=True)
    solved = solved.replace(f"\nlab: {lab.name}\n", f"\nlab: {folder.absolute().name}\n")
    write_text(folder / "solution" / ANSWERS, solved)
    write_text(folder / "teacher.md", answered)
    return folder / "teacher.md"


def solution(marker: Marker) -> str:
    """Return the file of answers that earns all points."""
    return _form(
        marker.lab,
        lambda question: _solution(marker, question),
        marker.student,
        marker.secret is not None,
    )


def _solution(marker: Marker, question: Number | Choice) -> str:
    right = marker.reference(question)
    return str(right) if isinstance(question, Choice) else Unit.of(question.unit).show(right)


def _part(lab: Lab, name: str) -> str:
    """Return the text of a file of the lab.

    Raises:
        InputError: it is not there, or not text.
    """
    file = lab.folder / name
    if not file.is_file():
        raise InputError(f"the lab '{lab.name}' has no {name}: there is no file '{file}'")
    raw = file.read_bytes()
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InputError(f"'{file}' is not UTF-8 text; {save_as_utf8(raw)}") from None


def _page(lab: Lab, block: Callable[[Question, int], str]) -> str:
    numbers = {question.name: i for i, question in enumerate(lab.questions, 1)}
    body = _part(lab, "page.md")
    named = _MARK.findall(body)
    if sorted(named) != sorted(numbers):
        different = sorted({*named} ^ {*numbers}) or named
        raise InputError(
            f"'{lab.folder / 'page.md'}' does not have each question once: {', '.join(different)}"
        )
    body = _MARK.sub(
        lambda m: block(lab.questions[numbers[m["name"]] - 1], numbers[m["name"]]), body
    )
    hand_in = [ANSWERS] * any(isinstance(q, Number | Choice) for q in lab.questions)
    files = " and ".join(f"`{name}`" for name in [*hand_in, *lab.programs])
    return (
        f"# {lab.title}\n\n{lab.about} About {lab.minutes} minutes, {lab.points:g} points."
        f"{_ANSWERS_GO * bool(hand_in)}\n\n{body.rstrip()}\n\n"
        "## Hand in\n\n`ackclock lab check .` in this folder says what is "
        f"missing or cannot be. Then hand in {files}.\n\nSource: {lab.source}\n"
    )


def asked(question: Question, number: int) -> str:
    """Return a question as students see it, in Markdown."""
    points = f"{question.points:g} point" + "s" * (question.points != 1)
    text = f"**Question {number}** ({points}). {question.text}"
    if isinstance(question, Number):
        kind = _KINDS[Unit.of(question.unit).kind]
        return f"{text}\n\n`{question.name}`: {kind[0].lower()}{kind[1:]}"
    if isinstance(question, Choice):
        options = "\n".join(f"- `{word}`: {text}" for word, text in question.options.items())
        return f"{text}\n\n`{question.name}`: one of\n\n{options}"
    if isinstance(question, Formula):
        arguments = "\n".join(f"- `{name}`: {text}" for name, text in question.arguments.items())
        return (
            f"{text}\n\n`{question.name}()` in `{FORMULAS}` returns {question.returns}. The grader "
            f"calls it with networks that you have not seen.\n\n{arguments}"
        )
    assert isinstance(question, Controller)
    rows = "\n".join(
        f"| {one.name} | {one.text} | {one.none:g} | {one.full:g} | {one.points:g} |"
        for one in question.criteria
    )
    head = (
        "| What | Measured as | Nothing at | All at | Points |\n| --- | --- | ---: | ---: | ---: |"
    )
    return f"{text}\n\n{head}\n{rows}"


def _answered(marker: Marker, question: Question, number: int) -> str:
    """Return a question with its answer, tolerance and wrong answers."""
    lines = []
    if isinstance(question, Number | Choice):
        lines.append(f"**{_solution(marker, question)}**. {question.why}")
    else:
        lines.append(question.why)
    if isinstance(question, Number | Formula) and not getattr(question, "options", ()):
        more = ""
        if isinstance(question, Number) and question.absolute:
            more = f", or {Unit.of(question.unit).show(question.absolute)} if that is more"
        lines.append(f"Tolerance: {100 * question.tolerance:g} %{more}; {question.because}.")
    if isinstance(question, Number):
        show = Unit.of(question.unit).show
        lines += [
            f"- {show(marker.wrong(one))}{_credit(one)}: {one.feedback}"
            for one in question.mistakes
        ]
    elif isinstance(question, Choice):
        right = marker.reference(question)
        wrong = {word: text for word, text in question.mistakes.items() if word != right}
        lines += [f"- `{word}`: {text}" for word, text in wrong.items()]
    elif isinstance(question, Formula):
        lines += [f"- {one.feedback}{_credit(one)}" for one in question.mistakes]
    quoted = "\n".join(
        f"> {line}\n>" if not line.startswith("-") else f"> {line}" for line in lines
    )
    return f"{asked(question, number)}\n\n{quoted}"


def _credit(mistake: Mistake) -> str:
    return f" ({mistake.credit:.0%} of the points)".replace("%", " %") if mistake.credit else ""


def _form(
    lab: Lab, value: Callable[[Any], str], who: str | None = None, secret: bool = False
) -> str:
    lines = [f"# Answers to the lab '{lab.title}'."]
    if not any(isinstance(question, Number | Choice) for question in lab.questions):
        return "\n".join([*lines, "# All of them are in your program.", "", f"lab: {lab.name}\n"])
    lines += ["# Replace each null by your answer, with its unit.", ""]
    whose = [f"{personal.STUDENT}: {json.dumps(who, ensure_ascii=False)}"] if who else []
    whose += [f"{personal.DRAWN}: {personal.BY_SECRET}"] if who and secret else []
    lines += [f"lab: {lab.name}", *whose, "answers:"]
    for i, question in enumerate(lab.questions, 1):
        if isinstance(question, Number):
            lines.append(f"  # {i}. {_KINDS[Unit.of(question.unit).kind]}")
        elif isinstance(question, Choice):
            lines.append(f"  # {i}. One of: {', '.join(question.options)}.")
        else:
            continue
        lines.append(f"  {question.name}: {value(question)}")
    return "\n".join(lines) + "\n"


def asked_for(file: Path) -> list[Number | Choice]:
    """Return the questions of a file of answers as far as its comments say what they are.

    Raises:
        InputError: it has answers, and the comments of `_form` are gone.
    """

    def unknown(runs: Any) -> Any:
        raise InputError("the lab of these questions is not known")

    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    units = {_KINDS[kind]: unit for kind, unit in _UNITS.items()}
    found: list[Number | Choice] = []
    for match in _ASKED.finditer(text):
        name = match["name"]
        if match["words"]:
            options = dict.fromkeys(match["words"].split(", "), "")
            found.append(Choice(name=name, text="", options=options, value=unknown, mistakes={}))
        elif match["kind"] in units:
            unit = units[match["kind"]]
            found.append(Number(name=name, text="", unit=unit, value=unknown, least=-math.inf))
    if not found and re.search(r"^answers:", text, re.M):
        raise InputError(f"'{file}' no longer says in comments what it asks for")
    return found


def _skeleton(lab: Lab) -> str:
    parts = [f'"""Functions of the lab \'{lab.title}\'."""\n']
    for question in lab.questions:
        if isinstance(question, Formula):
            arguments = "\n".join(f"    {n}: {text}" for n, text in question.arguments.items())
            parts.append(
                f"def {question.name}({', '.join(question.arguments)}):\n"
                f'    """Return {question.returns}.\n\n{arguments}\n    """\n'
                "    return None  # your formula\n"
            )
    return "\n\n".join(parts)


def _notebook(page: str) -> str:
    """Return a page as a Jupyter notebook: commands, programs and files become cells."""
    cells: list[dict[str, Any]] = []

    def add(kind: str, text: str) -> None:
        if text.strip():
            lines = text.strip().splitlines(keepends=True)
            cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}}
            if kind == "code":
                cell |= {"execution_count": None, "outputs": []}
            cells.append({**cell, "source": lines})

    end = 0
    for match in _BLOCK.finditer(page):
        add("markdown", page[end : match.start()])
        end = match.end()
        if match["language"] == "bash":
            add("code", re.sub("^", "!", match["text"].rstrip(), flags=re.M))
        elif match["language"] == "python":
            add("code", match["text"])
        else:
            name = (match["mark"] or "").removeprefix("file: ")
            add("code", f"%%writefile {name}\n{match['text']}")
    add("markdown", page[end:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
