"""All formats, by name. To add one: write its file and add its line to `formats.csv`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock.errors import A_RUN, InputError, must_have, one_of, path_of, refuse
from ackclock.export.options import Options
from ackclock.files import replacement
from ackclock.packaged import rows
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    from os import PathLike

    from ackclock.results import Results


@dataclass(frozen=True)
class Format:
    """A format that can be asked for.

    Attributes:
        name: The word for `--format`.
        summary: What is written, in one line.
        suffix: How names of its files end.
        tables: Record tables that it needs.
        also: Record tables that it takes where they are there.
        module: Module of this package with `chunks(results, options)`, which gives the file piece
            by piece, as bytes.
        options: Names of the `Options` that it knows.
        references: Where the format is defined.
        of: What it is made of: a `run`, or a `scenario` that need not be run.
    """

    name: str
    summary: str
    suffix: str
    tables: tuple[str, ...]
    module: str
    options: tuple[str, ...]
    references: tuple[str, ...]
    also: tuple[str, ...]
    of: Literal["run", "scenario"]

    def load(self) -> Callable[[Any, Options], Iterator[bytes]]:
        """Import the function that makes the file."""
        return import_module(f"{__package__}.{self.module}").chunks


def _format(row: dict[str, Any]) -> Format:
    row |= {key: tuple(row[key].split()) for key in ("tables", "also", "options")}
    row |= {"references": tuple(row["references"].split("; "))}
    return Format(**row)


FORMATS = tuple(map(_format, rows(Path(__file__).with_name("formats.csv"))))


def names() -> list[str]:
    """Names of all formats."""
    return [entry.name for entry in FORMATS]


def find(name: str) -> Format:
    """The format of this name.

    Raises:
        InputError: there is none.
    """
    known = {entry.name: entry for entry in FORMATS}
    return known[one_of("format", name, known)]


def export(
    results: Results | Scenario,
    format: str,
    out: str | PathLike[str],
    options: Options | None = None,
    **more: Any,
) -> list[Path]:
    """Write a run in another format.

    Args:
        results: The run; for `netem` and `mininet`, a scenario does.
        format: Name of a format of `FORMATS`.
        out: The file; for several tables as `csv`, the folder. A file is replaced when the new one
            is complete.
        options: What to export.
        **more: The same by name: `flows=["F1"]`.

    Returns:
        The files written.

    Raises:
        InputError: an unknown format, flow, link, host or table; an option that the format does not
            know, or that has no effect; nothing is left; records that are needed were not made.
        OSError: the file cannot be written.
    """
    entry = find(format)
    must_have(results, "model", wanted=f"a scenario, or {A_RUN}")
    chosen = Options(**more) if options is None else options
    if not isinstance(chosen, Options):
        refuse("options", chosen, "an `export.Options`")
    check(entry, results, chosen)
    place = path_of("out", out)
    if entry.name == "csv" and not isinstance(results, Scenario):
        return _tables(results, chosen, place)
    with replacement(place) as stream:
        stream.writelines(entry.load()(results, chosen))
    return [place]


def check(
    entry: Format,
    results: Results | Scenario,
    options: Options,
    spelled: Callable[[str], str] = "`{}`".format,
) -> None:
    """Refuse what cannot be done.

    Args:
        entry: The format.
        results: The run, or the scenario.
        options: What to export.
        spelled: How the one who reads an error spells an option.

    Raises:
        InputError: as `export`.
    """
    for option in options.given():
        if option not in entry.options:
            known = ", ".join(map(spelled, entry.options))
            raise InputError(
                f"{spelled(option)} has no meaning for '{entry.name}', which knows {known}"
            )
    model = results.model
    for kind, wanted, known in (
        ("flow", options.flows, [flow["id"] for flow in model["flows"]]),
        ("link", options.links, [link["id"] for link in model["links"]]),
        ("host", options.hosts, model["hosts"]),
    ):
        for name in wanted or ():
            one_of(kind, name, known)
    if isinstance(results, Scenario):
        if entry.of != "scenario":
            raise InputError(f"'{entry.name}' shows a run, not a scenario; run it first")
        return
    if entry.name == "csv":
        from ackclock.export import tables

        tables.require_columns(options)
    missing = [table for table in entry.tables if table not in results.tables]
    if missing:
        needed, none = (
            " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
            for words in (list(entry.tables), missing)
        )
        raise InputError(
            f"'{entry.name}' needs records of {needed}, and this run has none of {none}; run the "
            "scenario again with `record: all` (--set record=all), or give 'ackclock export' the "
            "scenario in place of the run"
        )


def _tables(results: Results, options: Options, place: Path) -> list[Path]:
    from ackclock.export import tables

    wanted = tables.chosen(results, options)
    if options.tables is not None and len(wanted) == 1:
        files = {wanted[0]: place}
    else:
        if place.exists() and not place.is_dir():
            raise InputError(f"'{place}' is not a folder; several tables go into a folder")
        place.mkdir(parents=True, exist_ok=True)
        files = {name: place / f"{name}.csv" for name in wanted}
    for name, path in files.items():
        with replacement(path) as stream:
            only = Options(options.flows, options.links, tables=[name])
            stream.writelines(tables.chunks(results, only))
    return list(files.values())
