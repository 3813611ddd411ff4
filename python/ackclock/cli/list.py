"""`ackclock list`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ackclock.cli.terminal import console, print_json, table
from ackclock.errors import InputError, one_of, unknown

if TYPE_CHECKING:
    from rich.console import Console

Entry = dict[str, Any]

# What the kinds of the simulator's registry are called in a sentence; a kind without a title here
# is shown by its own name.
_TITLES = {
    "preset": "Presets: what a word such as NewReno means",
    "sender": "Families of senders and receivers",
    "cc": "Congestion control",
    "recovery": "Loss recovery",
    "rto": "Retransmission timer",
    "queue": "Queue disciplines",
    "loss": "Loss models",
    "routing": "Routing",
    "source": "Traffic sources",
    "period": "Lengths of on- and off-periods",
    "handshake": "Handshakes",
    "receiver": "Receivers: when ACKs are sent",
    "topology": "Shapes: short forms of networks",
    "start": "Rules for the starts of flows",
    "send": "Distributions of the sizes of transfers",
    "pattern": "Traffic patterns: which hosts flows connect",
    "jitter": "Jitter: how delays vary",
    "rate": "Rates that change in the course of a run",
    "ties": "Order of simultaneous events",
    "profile": "Profiles: named sets of defaults",
    "block": "Parts of a scenario file and their keys",
    "scenario": "Scenarios of the package",
    "plot": "Plots",
    "record": "Tables of records",
    "export": "Formats of exports",
    "plugin": "Congestion control and queues of installed packages",
}


def list_(kind: str | None = None, name: str | None = None, as_json: bool = False) -> None:
    """List what a scenario can contain, and the packaged scenarios.

    What only reproduces a defect of another program is marked [yellow]defect[/yellow].

    [bold]Examples[/bold]

    [cyan]ackclock list scenario[/cyan]
    [cyan]ackclock list cc fast[/cyan]       parameters with units, ranges and defaults
    [cyan]ackclock list block flow[/cyan]    what a scenario file can say about a flow
    [cyan]ackclock list record cwnd[/cyan]   columns of a table of records
    """
    kinds = _kinds()
    if kind is None:
        if as_json:
            print_json({"kinds": kinds})
        else:
            _print_kinds(console(), kinds)
        return
    if kind not in kinds and kind in (entry["name"] for entry in _entries("block")):
        raise InputError(f"'{kind}' is a part of a scenario file: 'ackclock list block {kind}'")
    entries = _entries(one_of("kind", kind, kinds), name)
    if name is not None:
        entries = [entry for entry in entries if entry["name"] == name]
        if not entries:
            raise InputError(unknown(kind, name, (entry["name"] for entry in _entries(kind))))
    if as_json:
        print_json(entries[0] if name is not None and len(entries) == 1 else entries)
    elif name is None:
        _print_entries(console(), kind, entries)
    else:
        # Families of senders have things of one name, each its own.
        for number, entry in enumerate(entries):
            if number:
                console().print()
            _print_entry(console(), kind, entry)


def _kinds() -> list[str]:
    from ackclock.registry import registry

    order = list(_TITLES)
    registered = sorted(registry(), key=lambda k: (order.index(k) if k in order else len(order), k))
    return [*registered, "scenario", "plot", "record", "export", "plugin"]


def _entries(kind: str, wanted: str | None = None) -> list[Entry]:
    """Return name, summary and more of everything of a kind, or at least of what is wanted."""
    from ackclock import _core
    from ackclock.registry import registry

    if kind == "scenario":
        return [_scenario(name) for name in _scenario_names() if wanted in (None, name)]
    if kind == "plot":
        from ackclock import plots

        return [
            {"name": plot.name, "summary": plot.summary, "tables": list(plot.needs)}
            for plot in plots.PLOTS
        ]
    if kind == "plugin":
        from ackclock.controllers import plugins

        return [
            {
                "name": one.name,
                "summary": f"{one.key}: {one.target} of {one.package}",
            }
            for one in plugins.installed()
        ]
    if kind == "export":
        from ackclock import export

        return [
            {
                "name": entry.name,
                "summary": entry.summary,
                "tables": list(entry.tables),
                "references": list(entry.references),
            }
            for entry in export.FORMATS
        ]
    if kind == "record":
        tables = json.loads(_core.record_tables())
        return [{"name": name, **described} for name, described in tables.items()]
    return registry()[kind]


def _scenario_names() -> list[str]:
    from ackclock import library

    return library.names()


def _scenario(name: str) -> Entry:
    from ackclock import library
    from ackclock.document import Document

    document = Document.read(library.find(name)).data
    texts = {key: document.get(key) for key in ("question", "expectation", "source")}
    return {
        "name": name,
        "summary": document.get("title") or "",
        **{key: " ".join(text.split()) if text else None for key, text in texts.items()},
    }


def _print_kinds(console: Console, kinds: list[str]) -> None:
    shown = table("Kind", "What")
    for kind in kinds:
        shown.add_row(kind, _TITLES.get(kind, kind))
    console.print(shown)
    console.print("\nShow one kind: [cyan]ackclock list cc[/cyan]")


def _print_entries(console: Console, kind: str, entries: list[Entry]) -> None:
    if not entries:
        console.print(f"{_TITLES.get(kind, kind)}: none here.")
        return
    of_senders = any(entry.get("sender") for entry in entries)
    columns = ("Name", "Sender", "What") if of_senders else ("Name", "What")
    shown = table(*columns, title=_TITLES.get(kind, kind))
    for entry in entries:
        mark = "[yellow]defect[/yellow] " if entry.get("defect") else ""
        sender = (entry.get("sender") or "",) if of_senders else ()
        name, what = f"[cyan]{escape(entry['name'])}[/cyan]", mark + escape(entry["summary"])
        shown.add_row(name, *sender, what)
    console.print(shown)
    if entries:
        example = entries[0]["name"]
        verb = "Run one" if kind == "scenario" else "Show one in full"
        command = (
            f"ackclock run {example}" if kind == "scenario" else f"ackclock list {kind} {example}"
        )
        console.print(f"\n{verb}: [cyan]{command}[/cyan]")


def _print_entry(console: Console, kind: str, entry: Entry) -> None:
    console.print(f"[bold]{escape(entry['name'])}[/bold]  {escape(entry['summary'])}")
    if entry.get("defect"):
        console.print("[yellow]Only reproduces a defect of another program.[/yellow]")
    console.print()
    for key in ("question", "expectation", "source"):
        if text := entry.get(key):
            console.print(f"[dim]{key.capitalize()}:[/dim] {escape(text)}\n")
    if entry.get("sender"):
        console.print(f"[dim]Of the sender:[/dim] {entry['sender']}\n")
    if entry.get("params"):
        _print_parameters(console, entry["params"])
    if entry.get("tables"):
        console.print(f"[dim]Needs records of:[/dim] {', '.join(entry['tables'])}")
    if entry.get("state"):
        console.print(f"[dim]Recorded of its state (`aqm`):[/dim] {', '.join(entry['state'])}")
    if entry.get("defaults"):
        from ackclock.canonical import to_yaml

        if kind == "cc":
            console.print("\n[dim]With the modern sender, where nothing else is said:[/dim]")
        console.print(escape(to_yaml(entry["defaults"])), end="")
    if entry.get("columns"):
        _print_columns(console, entry["columns"])
    if entry.get("references"):
        console.print("\n[dim]References:[/dim]")
        for reference in entry["references"]:
            console.print(f"  {escape(reference)}")
    if kind == "scenario":
        console.print(f"Run it: [cyan]ackclock run {entry['name']}[/cyan]")


def _print_parameters(console: Console, params: list[Entry]) -> None:
    limited = any(map(_range_of, params))
    shown = table("Parameter", "Value", "Default", *(["Range"] if limited else []), "What")
    for param in params:
        meaning = escape(param["summary"])
        for choice in param.get("choices") or ():
            mark = " [yellow](defect)[/yellow]" if choice["defect"] else ""
            meaning += f"\n[cyan]{escape(choice['name'])}[/cyan]{mark}: {escape(choice['summary'])}"
        default = param["default"]
        shown.add_row(
            f"[cyan]{escape(param['name'])}[/cyan]",
            _kind_of(param),
            "required" if default is None else str(default),
            *([_range_of(param)] if limited else []),
            meaning,
        )
    console.print(shown)


def _kind_of(param: Entry) -> str:
    kind = str(param["kind"])
    return f"{kind}, {param['unit']}" if param.get("unit") else kind


def _range_of(param: Entry) -> str:
    least, most = param.get("min"), param.get("max")
    if least is None and most is None:
        return ""
    if most is None:
        return f"from {least}"
    return f"to {most}" if least is None else f"{least} to {most}"


def _print_columns(console: Console, columns: list[Entry]) -> None:
    shown = table("Column", "Type", "Unit", "What")
    for column in columns:
        category = f"word of {column['category']}" if column.get("category") else column["type"]
        shown.add_row(
            f"[cyan]{escape(column['name'])}[/cyan]",
            category,
            column.get("unit") or "",
            escape(column["summary"]),
        )
    console.print(shown)
