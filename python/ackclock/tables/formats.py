"""Tables as text for files: CSV, Markdown, LaTeX, JSON, Parquet."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from html import escape
from typing import Any

import pyarrow.parquet as pq

from ackclock.tables.cells import cell
from ackclock.tables.shown import Shown, shown
from ackclock.tables.table import ResultTable, require_table

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "µ": r"\textmu{}",
    "²": r"\textsuperscript{2}",
    "Σ": r"$\Sigma$",
    "·": r"$\cdot$",
    "–": "--",
    "…": r"\ldots{}",
}
_MARKDOWN = "\\`*_{}[]<>|#~$"


def to_csv(table: ResultTable) -> str:
    """Return the values in full: one line of names, numbers with all digits, nothing for none.

    Texts that a spreadsheet would take for formulas begin with an apostrophe.
    """
    require_table(table)
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(table.names)
    for row in zip(*(table.cells[name] for name in table.names), strict=True):
        writer.writerow(["" if v is None else _plain(v) for v in row])
    return lines.getvalue()


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else cell(str(value))


def to_markdown(table: ResultTable, digits: int | None = None) -> str:
    """Return a table of GitHub Flavored Markdown: units in the header, numbers to the right."""
    columns = shown(table, digits)
    cells = [[markdown(_head(c)), *(markdown(cell) for cell in c.cells)] for c in columns]
    widths = [max(3, *(len(cell) for cell in column)) for column in cells]
    rules = [
        "-" * (width - 1) + ":" if column.numeric else "-" * width
        for column, width in zip(columns, widths, strict=True)
    ]
    aligned = [
        [cell.rjust(width) if column.numeric else cell.ljust(width) for cell in own]
        for column, own, width in zip(columns, cells, widths, strict=True)
    ]
    rows = list(zip(*aligned, strict=True))
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], rules, *rows[1:])]
    notes = [f"\n{markdown(note)}" for note in table.notes]
    return "\n".join([*lines, *notes]) + "\n"


def markdown(text: str) -> str:
    """Return a text so that none of its characters are read as Markdown."""
    joined = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in _MARKDOWN else letter for letter in joined)


def to_html(table: ResultTable, digits: int | None = None) -> str:
    """Return a table for web pages and notebooks, without colours of its own."""
    columns = shown(table, digits)
    sides = [f"text-align:{'right' if column.numeric else 'left'}" for column in columns]

    def row(cells: Iterable[str], word: str) -> str:
        parts = zip(cells, sides, strict=True)
        inner = "".join(f'<{word} style="{side}">{escape(cell)}</{word}>' for cell, side in parts)
        return f"<tr>{inner}</tr>"

    body = "".join(row(cells, "td") for cells in zip(*(c.cells for c in columns), strict=True))
    notes = "".join(f"<p>{escape(note)}</p>" for note in table.notes)
    head = row(map(_head, columns), "th")
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>{notes}"


def to_latex(table: ResultTable, digits: int | None = None) -> str:
    """Return a `tabular` for LaTeX with the rules of the package booktabs.

    Units stand in the header; numbers are aligned by their point, since all of a column have the
    same decimals.
    """
    columns = shown(table, digits)
    layout = "".join("r" if column.numeric else "l" for column in columns)
    heads = [latex(column.column.title) for column in columns]
    units = [latex(f"({column.unit})") if column.unit else "" for column in columns]
    rows = [[latex(cell) for cell in row] for row in zip(*(c.cells for c in columns), strict=True)]
    lines = [
        "% needs \\usepackage{booktabs}",
        f"% {table.title}" if table.title else None,
        *(f"% {note}" for note in table.notes),
        f"\\begin{{tabular}}{{@{{}}{layout}@{{}}}}",
        "\\toprule",
        _latex_row(heads),
        _latex_row(units) if any(units) else None,
        "\\midrule",
        *(_latex_row(row) for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(line for line in lines if line is not None) + "\n"


def latex(text: str) -> str:
    """Return a text so that LaTeX prints it as it is; a number keeps a real minus sign."""
    joined = " ".join(text.split())
    if joined.startswith("-"):
        with suppress(ValueError):
            if math.isfinite(float(joined)):
                return f"${joined}$"
    return "--" if joined == "-" else "".join(_LATEX.get(letter, letter) for letter in joined)


def _latex_row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _head(column: Shown) -> str:
    return f"{column.column.title} ({column.unit})" if column.unit else column.column.title


def to_json(table: ResultTable) -> dict[str, Any]:
    """Return the table as a document: what the columns mean, and the rows in full.

    What is infinite, a time that never came, is None: JSON has no word for it.
    """
    require_table(table)
    return {
        "title": table.title,
        "columns": [column.to_json() for column in table.columns],
        "notes": list(table.notes),
        "rows": [
            {k: None if v in (math.inf, -math.inf) else v for k, v in row.items()}
            for row in table.rows()
        ],
    }


def to_parquet(table: ResultTable) -> bytes:
    """Return a Parquet file; each column has its unit and meaning as metadata."""
    require_table(table)
    buffer = io.BytesIO()
    pq.write_table(table.to_arrow(), buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()


TEXTS: dict[str, Callable[[ResultTable, int | None], str]] = {
    "csv": lambda table, _: to_csv(table),
    "markdown": to_markdown,
    "latex": to_latex,
}
"""Formats of plain text by their words."""
