"""The generated parts of the reference pages. `generate.py` puts them into place."""

import inspect
import json
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo

from ackclock import Results, Scenario, _core, library, run
from ackclock.theory import compare, predict
from ackclock.theory.laws import LAWS
from ackclock.theory.long_run import ENTRIES

Override = tuple[str, Any]

DEFECT = "**defect**"


def make(words: str) -> str:
    """Return a part as Markdown; the first word is its function, the others are arguments."""
    name, *arguments = words.split()
    return PARTS[name](*arguments)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], right: str = "") -> str:
    """Return a Markdown table; columns with an `r` in `right` are aligned to the right."""
    rules = ["---:" if right[i : i + 1] == "r" else "---" for i in range(len(head))]
    lines = [head, rules, *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


@cache
def registry() -> dict[str, list[dict[str, Any]]]:
    """Return everything that a scenario can name."""
    return json.loads(_core.registry())


def entry(kind: str, name: str) -> dict[str, Any]:
    """Return one registered thing."""
    return next(e for e in registry()[kind] if e["name"] == name)


@cache
def simulated(name: str, *overrides: Override, record: str = "none") -> Results:
    """Return the results of a scenario of the package, or of `LAB`."""
    scenario = Scenario.from_dict(LAB) if name == LAB["name"] else Scenario.load(name)
    for path, value in (*overrides, ("record", record)):
        scenario = scenario.set(path, value)
    return run(scenario)


LAB: dict[str, Any] = {
    "name": "docs/lab",
    "hosts": ["A", "B"],
    "links": [
        {
            "id": "L",
            "between": ["A", "B"],
            "rate": "10 Mbps",
            "delay": "20 ms",
            "queue": {"limit": "50 packets"},
        }
    ],
    "flows": [
        {
            "id": "F1",
            "from": "A",
            "to": "B",
            "send": "10 MB",
            "tcp": {"sender": "classic", "recovery": "newreno"},
        }
    ],
}
"""A network to show rules on."""


# Tables of keys.


def _value(param: dict[str, Any]) -> str:
    unit = f", such as `10 {param['unit'].split()[0]}`" if param["unit"] else ""
    return param["kind"] + unit


def _default(param: dict[str, Any]) -> str:
    default = param["default"]
    chosen = default in [choice["name"] for choice in param["choices"] or ()]
    absent = default == "none" and not chosen
    return "required" if default is None else "-" if absent else f"`{default}`"


def _range(param: dict[str, Any]) -> str:
    low, high = param["min"], param["max"]
    if low and high:
        return f"{low} to {high}"
    return f"from {low}" if low else f"to {high}" if high else ""


def _meaning(param: dict[str, Any]) -> str:
    lines = [param["summary"]]
    if param["kind"] == "word or mapping":
        lines.append(", ".join(f"`{choice['name']}`" for choice in param["choices"]))
        return "<br>".join(lines)
    for choice in param["choices"] or ():
        mark = f" ({DEFECT})" if choice["defect"] else ""
        lines.append(f"`{choice['name']}`: {choice['summary']}{mark}")
    return "<br>".join(lines)


def keys(params: list[dict[str, Any]]) -> str:
    """Return the table of the keys of a mapping."""
    if not params:
        return "No parameters."
    rows = [
        (f"`{p['name']}`", _value(p), _default(p), _range(p), _meaning(p).replace("|", "\\|"))
        for p in params
    ]
    return table(("Key", "Value", "Default", "Range", "Meaning"), rows)


def block(name: str) -> str:
    """Return the keys of a part of a scenario file."""
    return keys(entry("block", name)["params"])


def params(kind: str, name: str) -> str:
    """Return the parameters and references of a registered thing."""
    found = entry(kind, name)
    references = "; ".join(found["references"])
    tail = f"\n\nReferences: {references}." if references else ""
    if state := ", ".join(f"`{name}`" for name in found.get("state", ())):
        tail = f"\n\nRecorded of its state (table `aqm`): {state}.{tail}"
    return f"`{name}`: {found['summary']}\n\n{keys(found['params'])}{tail}"


def entries(kind: str) -> str:
    """Return the names and summaries of one registry."""
    return table(("Name", "What"), [(f"`{e['name']}`", e["summary"]) for e in registry()[kind]])


def registries() -> str:
    """Return everything that is registered, kind by kind, with all parameters."""
    texts = []
    for kind, found in registry().items():
        if kind not in ("block", "profile"):
            described = "\n\n".join(params(kind, e["name"]) for e in found)
            texts.append(f"## `{kind}`\n\n{described}")
    return "\n\n".join(texts)


def presets() -> str:
    """Return all presets with what they set."""
    rows = [
        (
            f"`{found['name']}`",
            found["summary"],
            "<br>".join(f"`{key}: {value}`" for key, value in found["defaults"].items()),
            "; ".join(found["references"]),
        )
        for found in registry()["preset"]
    ]
    return table(("Preset", "What", "Stands for", "Source"), rows)


def profiles() -> str:
    """Return all profiles with the defaults that they set."""
    return "\n\n".join(
        f"### `{found['name']}`\n\n{found['summary']}\n\n{_settings(found['defaults'])}"
        for found in registry()["profile"]
    )


def _settings(defaults: dict[str, Any]) -> str:
    """Return the values of a profile; of a list of kinds the first is what it chooses."""
    rows: list[tuple[str, str]] = []

    def walk(path: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{path}.{key}" if path else key, inner)
        elif isinstance(value, list) and all(isinstance(inner, dict) for inner in value):
            rows.append((f"`{path}`", f"`{value[0]['kind']}`"))
            for inner in value:
                walk(f"{path} ({inner['kind']})", {k: v for k, v in inner.items() if k != "kind"})
        else:
            rows.append((f"`{path}`", f"`{value}`"))

    walk("", defaults)
    return table(("Key", "Value"), rows)


def units() -> str:
    """Return the units of each kind of quantity, as the schema of scenario files knows them."""
    definitions = json.loads(_core.schema())["definitions"]

    def of(quantity: str) -> str:
        pattern = re.search(r"\\s\*\(([^()]*)\)\\s\*\$$", definitions[quantity]["pattern"])
        assert pattern is not None, "a pattern ends with the units"
        return " ".join(f"`{name}`" for name in pattern[1].split("|"))

    rows = [(quantity, of(quantity)) for quantity in ("rate", "time", "size")]
    return table(("Quantity", "Units"), rows)


# Records, plots, scenarios, laws, commands.


def records() -> str:
    """Return all record tables with their columns."""
    texts = []
    for name, described in json.loads(_core.record_tables()).items():
        rows = []
        for column in described["columns"]:
            category = column["category"]
            kind = f"word of `{category}`" if category else column["type"]
            kind += " or null" if column["optional"] else ""
            rows.append((f"`{column['name']}`", kind, column["unit"] or "", column["summary"]))
        columns = table(("Column", "Type", "Unit", "Meaning"), rows)
        texts.append(f"### `{name}`\n\n{described['summary']}\n\n{columns}")
    return "\n\n".join(texts)


def categories() -> str:
    """Return the words of the categories that are the same in all runs."""
    document = {
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "1 ms"}],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 B"}],
    }
    words = _core.Simulation(_core.Scenario(json.dumps(document))).categories()
    rows = [
        (f"`{name}`", ", ".join(f"`{word}`" for word in list_))
        for name, list_ in words.items()
        if name not in ("flow", "link", "host", "router")
    ]
    return table(("Category", "Words"), rows)


def plots() -> str:
    """Return the plots that can be asked for."""
    from ackclock.plots import PLOTS

    drawn = {"always": "yes", "never": "", "changing-routes": "where routes change"}
    rows = [
        (f"`{p.name}`", p.summary, ", ".join(f"`{t}`" for t in p.needs), drawn[p.default])
        for p in PLOTS
    ]
    return table(("Plot", "What", "Needs the records", "Drawn by default"), rows)


def columns(what: str) -> str:
    """Return what the columns of a result table mean."""
    from ackclock.columns import OF_RECORDS, TABLES

    rows = []
    for column in {**TABLES, **OF_RECORDS}[what]:
        computed = f" `{column.formula}`" if column.formula else ""
        source = f" ({column.source})" if column.source else ""
        rows.append(
            (f"`{column.name}`", column.title, column.unit, f"{column.meaning}.{computed}{source}")
        )
    return table(("Column", "Heading", "Unit", "Meaning"), rows)


def scenarios() -> str:
    """Return the scenarios that come with the package."""
    rows = [(f"`{name}`", Scenario.load(name).model["title"] or "") for name in library.names()]
    return table(("Name", "What"), rows)


def lab_list() -> str:
    """Return the labs that come with the package."""
    from ackclock import labs

    found = map(labs.find, labs.names())
    rows = [
        (f"`{one.name}`", f"{one.title}. {one.about}", one.minutes, f"{one.points:g}", one.source)
        for one in found
    ]
    return table(("Lab", "What", "Minutes", "Points", "Source"), rows, "  rr")


def laws() -> str:
    """Return the laws that the theory knows."""
    rows = [(f"`{law.name}`", law.summary, "; ".join(law.references)) for law in LAWS.values()]
    return table(("Word", "Equilibrium", "Source"), rows)


def long_run() -> str:
    """Return the models of averages over a long run."""
    models = [entry.MODEL for entry in ENTRIES]
    rows = [(m.name, m.says, m.holds_for, m.source) for m in models]
    return table(("Model", "What it says", "For", "Source"), rows)


def commands() -> str:
    """Return all commands with their arguments and options."""
    from ackclock.cli.app import application

    texts = []
    app = application()
    groups = [(f"{one.name} ", one.typer_instance) for one in app.registered_groups]
    commands = [
        (prefix, registered)
        for prefix, group in [("", app), *groups]
        for registered in (group.registered_commands if group is not None else ())
    ]
    for prefix, registered in commands:
        function = registered.callback
        assert function is not None, "a command has a function"
        hints = get_type_hints(function, include_extras=True)
        rows = []
        for name, parameter in inspect.signature(function).parameters.items():
            kind, info = get_args(hints[name])[:2]
            rows.append(_option(name, kind, info, parameter.default))
        paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
        about = [_plain(text) for text in paragraphs if "[cyan]" not in text and text.endswith(".")]
        intro = "\n\n".join(about)
        body = table(("Argument or option", "Default", "Meaning"), rows)
        name = registered.name or function.__name__
        texts.append(f"### `ackclock {prefix}{name}`\n\n{intro}\n\n{body}")
    return "\n\n".join(texts)


def _option(name: str, kind: Any, info: Any, default: Any) -> tuple[str, str, str]:
    """Return how an argument or option is spelled, its default, and its meaning."""
    value = info.metavar or name.upper()
    is_word = get_origin(kind) is Literal
    if is_word:
        value = " or ".join(get_args(kind))
    if isinstance(info, ArgumentInfo):
        spelled = f"`{value}`"
    else:
        # Within `Annotated`, typer keeps the first spelling in the place of the default.
        first = (info.default,) if isinstance(info.default, str) else ()
        words = (*first, *(info.param_decls or ())) or (f"--{name.replace('_', '-')}",)
        spelled = ", ".join(f"`{word}`" for word in words)
        if kind is not bool:
            spelled += f" {value}"
    has_none = default is None or default is False or default is inspect.Parameter.empty
    shown = "" if has_none else f"`{default:g}`" if kind is float else f"`{default}`"
    meaning = " ".join(filter(None, (info.help, _bounds(info))))
    return spelled.replace("|", "\\|"), shown, _plain(meaning)


def _bounds(info: Any) -> str:
    """Return what a number may be."""
    if info.min is None:
        return ""
    return f"At least {info.min:g}." if info.max is None else f"From {info.min:g} to {info.max:g}."


def _plain(text: str) -> str:
    text = re.sub(r"\[/?(bold|cyan|dim|italic|yellow)\]", "", text)
    text = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"(?<![\w`])\*(?![\w`])", "\\*", text)


# Runs.


def comparison(name: str) -> str:
    """Return a table of theory next to a run, period by period."""
    scenario = Scenario.load(name)
    results = simulated(name, record="all")
    rows: list[tuple[str, ...]] = []
    compared = compare(predict(scenario), results)
    for period in compared.periods:
        for figure in period.figures:
            if figure.quantity in _SHOWN and figure.measured is not None:
                rows.append(_compared(f"{period.start_s:.1f} to {period.end_s:.1f} s", figure))
    rows += [_compared("", figure) for figure in compared.finishes if figure.measured is not None]
    head = ("Period", "What", "Theory", "Run", "Difference", "Allowed")
    return table(head, rows, "  rrrr")


_SHOWN = {
    "rate": "rate of {}, Mbit/s",
    "path-queue": "data packets queued along the path of {}",
    "rtt": "RTT of {}, ms",
    "window": "window of {}, packets",
}


def _compared(period: str, figure: Any) -> tuple[str, ...]:
    what = _SHOWN.get(figure.quantity, "{} complete, s").format(f"`{figure.subject}`")
    scale = {"rate": 1e-6, "rtt": 1e3}.get(figure.quantity, 1.0)
    if figure.unit == "ms":
        scale = 1.0
    theory = " to ".join(dict.fromkeys(f"{value * scale:.4g}" for value in figure.ends))
    run_ = f"{figure.measured * scale:.4g}"
    difference = f"{figure.error:+.1%}" if figure.relative else f"{figure.error:+.2f} s"
    allowed = ""
    if figure.tolerance is not None:
        allowed = f"{figure.tolerance:.0%}" if figure.relative else f"{figure.tolerance:g} s"
    return period, what, theory, run_, difference, allowed


def empty_paths() -> str:
    """Return RTTs of the empty network: in closed form, and the least that a run measured."""
    rows = []
    for name in (
        "caltech/test-case-0-fast",
        "caltech/test-case-1-fast",
        "caltech/test-case-2-fast",
    ):
        facts = predict(Scenario.load(name).model).flows
        flows = simulated(name).summary["flows"]
        for flow, known in facts.items():
            if known.start_s < 1.5:  # later flows find queues
                closed, least = known.empty_rtt_s * 1e3, flows[flow]["base_rtt_s"] * 1e3
                rows.append((f"`{name}`", f"`{flow}`", f"{closed:.6f}", f"{least:.6f}"))
    return table(("Scenario", "Flow", "Closed form, ms", "Run, ms"), rows, "  rr")


def source_rates() -> str:
    """Return mean rates of on-off sources, with standard errors, against their closed form."""
    rows = []
    for law, remainder in (
        ("fixed", "carry"),
        ("fixed", "restart"),
        ("exponential", "carry"),
        ("exponential", "restart"),
        ("exponential", "whole-writes"),
        ("pareto", "carry"),
    ):
        periods = {
            name: {"kind": law, "mean": mean} for name, mean in (("on", "50 ms"), ("off", "100 ms"))
        }
        source = {"kind": "on-off", "rate": "1 Mbps", "write": "500 B", "remainder": remainder}
        flow = {"id": "F", "count": 10, "from": "A", "to": "B"}
        flow["udp"] = {"source": source | periods}
        stop = {"when": "time", "at_latest": "200 s"}
        scenario = Scenario.from_dict({**LAB, "flows": [flow], "stop": stop, "record": "none"})
        flows = run(scenario).summary["flows"].values()
        rates = [flow["bytes_written"] * 8 / 200e3 for flow in flows]
        error = statistics.stdev(rates) / len(rates) ** 0.5
        rows.append((f"`{law}`", f"`{remainder}`", f"{statistics.mean(rates):.1f}", f"{error:.1f}"))
    head = ("Law", "`remainder`", "Mean rate, kbps", "Standard error")
    return table(head, rows, "  rr")


_SOUND: list[Override] = [
    ("flows.F1.tcp.ack_view", "snapshot"),
    ("flows.F1.tcp.ack_duplicates", "always"),
    ("links.L1.queue.admission", "fits"),
    (
        "flows.F1.tcp.recovery",
        "{reduction: per-window, inflation: none, growth: any-ack, settles: listed, "
        "timeout_floor: two-segments}",
    ),
]

VARIANTS: dict[str, tuple[str, list[tuple[str, list[Override]]]]] = {
    "rules": (
        "caltech/test-case-0-reno",
        [
            ("as in the Caltech paper", []),
            ("`ack_view: snapshot`", [("flows.F1.tcp.ack_view", "snapshot")]),
            (
                "`recovery.reduction: per-window`",
                [("flows.F1.tcp.recovery.reduction", "per-window")],
            ),
            ("`recovery.inflation: none`", [("flows.F1.tcp.recovery.inflation", "none")]),
            ("`recovery.growth: any-ack`", [("flows.F1.tcp.recovery.growth", "any-ack")]),
            ("`queue.admission: fits`", [("links.L1.queue.admission", "fits")]),
            ("all of these, and the other defaults of `recovery`", _SOUND),
        ],
    ),
    "recoveries": (
        LAB["name"],
        [
            (f"`recovery: {kind}`", [("flows.F1.tcp.recovery", kind)])
            for kind in ("timeout", "tahoe", "reno", "newreno")
        ],
    ),
    "losses": (
        LAB["name"],
        [
            (
                f"`p: {p}`",
                [
                    ("links.L.rate", "100 Mbps"),
                    ("links.L.queue.limit", "unlimited"),
                    ("flows.F1.send", "200 MB"),
                    ("links.L.forward.loss", f"{{kind: bernoulli, p: {p}}}"),
                ],
            )
            for p in ("0.0001", "0.001", "0.01")
        ],
    ),
    "ties": (
        "caltech/test-case-1-reno",
        [
            ("`ties: entity`", [("ties", "entity")]),
            ("`ties: first-come`", [("ties", "first-come")]),
            *(
                (f"`ties: {{kind: random, seed: {n}}}`", [("ties", f"{{kind: random, seed: {n}}}")])
                for n in (1, 2, 3, 4)
            ),
        ],
    ),
    "ties-fast": (
        "caltech/test-case-0-fast",
        [
            ("`ties: entity`", [("ties", "entity")]),
            ("`ties: first-come`", [("ties", "first-come")]),
            ("`ties: {kind: random, seed: 1}`", [("ties", "{kind: random, seed: 1}")]),
        ],
    ),
}
"""Runs that differ in one thing: a scenario, and what is set in it."""


def variants(name: str) -> str:
    """Return what runs of one scenario give that differ in one thing."""
    scenario, changes = VARIANTS[name]
    rows = []
    for label, overrides in changes:
        flow = simulated(scenario, *overrides).summary["flows"]["F1"]
        finish = "never" if flow["finish_ack_s"] is None else f"{flow['finish_ack_s']:.3f}"
        counts = (flow[key] for key in ("segments_dropped", "retransmissions", "timeouts"))
        rows.append((label, finish, f"{flow['goodput_bps'] / 1e6:.3f}", *counts))
    head = ("Run", "Complete, s", "Goodput, Mbit/s", "Data lost", "Sent again", "Timeouts")
    about = "" if scenario == LAB["name"] else f"`{scenario}`, flow `F1`:\n\n"
    return about + table(head, rows, " rrrrr")


def route_changes(name: str, router: str, host: str) -> str:
    """Return the changes of one router's way to one host."""
    rows = [
        (
            f"{row['time_s']:.3f}",
            row["previous_link"] or "-",
            row["link"],
            f"{row['cost_s'] * 1e3:.2f}",
        )
        for row in simulated(name, record="all").table("routes").to_pylist()
        if row["router"] == router and row["host"] == host
    ]
    return table(("Time, s", "From", "To", "Distance, ms"), rows, "r  r")


PARTS: dict[str, Callable[..., str]] = {
    "block": block,
    "categories": categories,
    "columns": columns,
    "commands": commands,
    "comparison": comparison,
    "empty-paths": empty_paths,
    "entries": entries,
    "labs": lab_list,
    "laws": laws,
    "long-run": long_run,
    "params": params,
    "plots": plots,
    "presets": presets,
    "profiles": profiles,
    "records": records,
    "registries": registries,
    "route-changes": route_changes,
    "scenarios": scenarios,
    "source-rates": source_rates,
    "units": units,
    "variants": variants,
}
"""All parts by the first word of their mark."""
