"""`ackclock table`."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import typer

from ackclock.cli.options import name_list, read_overrides, read_where, require_folder
from ackclock.cli.terminal import MOST_ROWS, console, print_json
from ackclock.cli.terminal import table as frame
from ackclock.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.cli.table_sources import Source
    from ackclock.tables import ResultTable
    from ackclock.tables.shown import Shown


TableFormat = Literal["text", "csv", "parquet", "markdown", "latex", "json"]
What = Literal["flows", "links", "drops", "runs", "steady", "sharing", "delays", "harm"]

_SUFFIXES: dict[str, TableFormat] = {
    ".txt": "text",
    ".csv": "csv",
    ".parquet": "parquet",
    ".md": "markdown",
    ".tex": "latex",
    ".json": "json",
}


def table(
    sources: list[str],
    what: What | None = None,
    begin: float | None = None,
    end: float | None = None,
    columns: list[str] | None = None,
    where: list[str] | None = None,
    sort: list[str] | None = None,
    by: list[str] | None = None,
    rows: str | None = None,
    across: str | None = None,
    values: list[str] | None = None,
    aggregate: str | None = None,
    against: str | None = None,
    digits: int | None = None,
    table_format: TableFormat | None = None,
    out: Path | None = None,
    settings: list[str] | None = None,
    seed: int | None = None,
    as_json: bool = False,
) -> None:
    """Show results as a table, in the terminal, or for papers and programs.

    Text, Markdown and LaTeX are for people: each column has one unit and a fixed number of
    decimals. CSV, Parquet and JSON are for programs: bit/s, bytes and seconds with all digits, in
    columns named with the unit.

    [bold]Examples[/bold]

    [cyan]ackclock table caltech/test-case-2-fast[/cyan]
    [cyan]ackclock table runs/my-experiment-1 --what links --sort -utilization[/cyan]
    [cyan]ackclock table runs/my-experiment-1 --what drops --rows flow --across link[/cyan]
    [cyan]ackclock table runs/my-experiment-1 --what steady --from 10[/cyan]
    [cyan]ackclock table my-sweep --by cc --against cc=reno --value goodput_bps[/cyan]
    [cyan]ackclock table my-sweep --by queue,cc --value goodput_bps,drops --out grid.tex[/cyan]
    """
    from ackclock import columns as known
    from ackclock.cli.table_sources import opened

    chosen = _format(table_format, out, as_json)
    named = [*name_list(columns), *name_list(sort), *name_list(values)]
    named += [name.lstrip("-") for name in (*named, *read_where(where))]
    ends = tuple(f"_{name}" for name in known.PERCENTILES)
    percentiles = any(name in ("all", "list") or name.endswith(ends) for name in named)
    if what not in known.OF_RECORDS and (begin, end) != (None, None):
        _refuse("--from and --to need a table of a span: --what steady, sharing or delays")
    span = None
    if what in known.OF_RECORDS:
        if what == "harm" and (begin, end) != (None, None):
            _refuse("--what harm is of whole runs; leave out --from and --to")
        span = (begin, end)
    found = opened(
        sources, what, read_overrides(settings), seed, percentiles=percentiles, span=span
    )
    wanted = [*named, *name_list(by), *name_list([rows or "", across or ""]), *read_where(where)]
    _refuse_others(found.table, found.what, wanted)
    made = found.table.where(read_where(where))
    if not len(made) and where:
        _refuse("no row has all these values together; leave out one --where")
    if columns == ["list"]:
        tables = {found.what: made}
        if what is None and found.what == "runs":
            tables["flows"] = opened(sources, "flows", [], None).table
        made = _listed(tables)
    else:
        made = _summed_up(made, found, by, rows, across, values, aggregate, against)
        # Before columns are chosen: rows can be in the order of one that is not shown.
        made = made.sort(name_list(sort))
        if columns is not None and columns != ["all"]:
            made = made.select(name_list(columns))
        elif columns is None and by is None and rows is None and chosen in _FOR_PEOPLE:
            made = made.usual()
    _write(made, chosen, out, digits)


def _refuse_others(made: ResultTable, what: str, names: list[str]) -> None:
    """Refuse columns that this table does not have, and another of the same results has."""
    from ackclock.columns import TABLES

    own = {column.name for column in TABLES.get(what, ())} | {*made.names}
    for name in (name for name in names if name not in own):
        others = [o for o, all_ in TABLES.items() if o != what and name in {c.name for c in all_}]
        if others:
            _refuse(f"'{name}' is a column of --what {' and '.join(others)}")


_FOR_PEOPLE = ("text", "markdown", "latex")


def _format(wanted: TableFormat | None, out: Path | None, as_json: bool) -> TableFormat:
    if as_json:
        if wanted not in (None, "json"):
            _refuse(f"--json and --format {wanted} exclude each other")
        return "json"
    if wanted is None and out is not None and out.suffix:
        if out.suffix not in _SUFFIXES:
            _refuse(
                f"'{out}': the suffix names no format; take one of {', '.join(_SUFFIXES)}, or say "
                "--format"
            )
        wanted = _SUFFIXES[out.suffix]
    if wanted == "parquet" and out is None:
        _refuse("a Parquet file is not for the terminal; say where to with --out FILE.parquet")
    return wanted or "text"


def _summed_up(
    made: ResultTable,
    found: Source,
    by: list[str] | None,
    rows: str | None,
    across: str | None,
    values: list[str] | None,
    aggregate: str | None,
    against: str | None,
) -> ResultTable:
    from ackclock.tables import grouped, paired, pivoted

    if against is not None:
        if by is None or rows is not None or aggregate:
            _refuse("--against needs --by, and takes neither --rows nor --aggregate")
        name, _, value = against.partition("=")
        numbers = name_list(values) or ["goodput_bps"]
        return paired(made, name_list(by), numbers, (name, value), found.sampled)
    if by is not None and rows is not None:
        _refuse("--by makes a list, --rows a cross table; choose one")
    if (rows is None) != (across is None):
        _refuse("a cross table needs both --rows and --across")
    if by is None and rows is None:
        if values or aggregate:
            _refuse("--value and --aggregate need --by or --rows")
        return made
    counted = found.what in ("drops", "delays")
    numbers = name_list(values) or ["packets" if counted else "goodput_bps"]
    varied = (found.axes, found.sampled)
    word = aggregate or ("sum" if counted else "mean")
    if rows is not None and across is not None:
        return pivoted(made, rows, across, numbers[0], word, *varied)
    return grouped(made, name_list(by), numbers, word, *varied)


_SENTENCE = 24
"""Longer texts that are no numbers can go on in another line."""


def _listed(tables: Mapping[str, ResultTable]) -> ResultTable:
    """Return the columns of tables, by their words for `--what`, as a table."""
    from ackclock.tables import Column, ResultTable

    heads = ("name", "unit", "meaning", "formula", "source")
    every = [(what, column) for what, made in tables.items() for column in made.columns]
    cells = {head: [getattr(c, head) or None for _, c in every] for head in heads}
    columns = [Column(head, head.capitalize(), "word") for head in heads]
    if len(tables) > 1:
        cells["what"] = [what for what, _ in every]
        columns.insert(0, Column("what", "--what", "word"))
    titles = ", ".join(made.title for made in tables.values())
    return ResultTable(tuple(columns), cells, f"Columns: {titles}").usual()


def _write(made: ResultTable, chosen: TableFormat, out: Path | None, digits: int | None) -> None:
    from ackclock.files import write_bytes
    from ackclock.tables.formats import TEXTS, to_json, to_parquet

    if chosen == "json" and out is None:
        print_json(to_json(made))
        return
    if chosen == "text" and out is None:
        left = len(made) - MOST_ROWS
        _print(console(), made.take(range(MOST_ROWS)) if left > 0 else made, digits)
        if left > 0:
            console().print(
                f"and {left:,} more rows; --where and --by choose, --out FILE writes all of them"
            )
        return
    if chosen == "parquet":
        content = to_parquet(made)
    elif chosen == "json":
        content = (json.dumps(to_json(made), indent=2, ensure_ascii=False) + "\n").encode()
    elif chosen == "text":
        content = _as_text(made, digits).encode()
    else:
        content = TEXTS[chosen](made, digits).encode()
    if out is None:
        typer.echo(content.decode(), nl=False)
        return
    require_folder(out, "--out")
    write_bytes(out, content)
    typer.echo(f"written: {out}", err=True)


def _as_text(made: ResultTable, digits: int | None) -> str:
    from rich.console import Console

    lines = io.StringIO()
    _print(Console(file=lines, width=10_000, highlight=False, color_system=None), made, digits)
    return "\n".join(line.rstrip() for line in lines.getvalue().splitlines()) + "\n"


def _print(screen: Console, made: ResultTable, digits: int | None) -> None:
    from rich.markup import escape

    from ackclock.tables.shown import shown

    if made.title:
        screen.print(f"[bold]{escape(made.title)}[/bold]")
    for number, columns in enumerate(_blocks(shown(made, digits), screen.width)):
        if number:
            screen.print()
        drawn = frame(
            *(
                f"{'>' if c.numeric else ''}{escape(c.column.title)}"
                + (f"\n{c.unit}" if c.unit else "")
                for c in columns
            )
        )
        for column, one in zip(drawn.columns, columns, strict=True):
            column.width = _least_width(one) if _is_whole(one) else None
        for row in zip(*(column.cells for column in columns), strict=True):
            drawn.add_row(*(escape(cell) for cell in row))
        screen.print(drawn)
    if not len(made):
        screen.print("[dim]no rows[/dim]")
    for note in made.notes:
        screen.print(f"[dim]Note:[/dim] {escape(note)}")


def _blocks(columns: list[Shown], width: int) -> Iterator[list[Shown]]:
    """Columns that fit side by side; each block begins with those that distinguish the rows."""
    rows = [list(zip(*(c.cells for c in columns[:n]), strict=True)) for n in (1, 2, 3)]
    names = next((n for n, keys in enumerate(rows, 1) if len(set(keys)) == len(keys)), 1)
    block = columns[:names]
    for column in columns[names:]:
        used = sum(_least_width(c) + 2 for c in (*block, column)) - 1
        if used > width and len(block) > names:
            yield block
            block = columns[:names]
        block = [*block, column]
    yield block


def _least_width(column: Shown) -> int:
    """Characters that a column needs."""
    texts = [*column.column.title.split(), column.unit]
    cells = column.cells if _is_whole(column) else (" " * _SENTENCE,)
    return max(map(len, (*texts, *cells)), default=0)


def _is_whole(column: Shown) -> bool:
    """Whether its figures and names have to stay in one piece."""
    return column.numeric or max(map(len, column.cells), default=0) <= _SENTENCE


def _refuse(message: str) -> NoReturn:
    raise InputError(message)
