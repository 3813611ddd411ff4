"""The page: a template, its parts, and the data of the runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from html import escape
from pathlib import Path
from typing import Any, Literal, TypeVar

from ackclock.packaged import filled
from ackclock.plots import heading, palette, quantities
from ackclock.plots.lanes import Lane
from ackclock.plots.view import View
from ackclock.results import Results

from . import figures, moments, network, packets, series
from .pack import Pack
from .series import busiest

_HERE = Path(__file__).parent
_LONGEST_SCENARIO = 60_000
MOST_BYTES = 1_000_000
"""A page is made coarser until it is smaller than this, as far as that helps."""

_SHARES = (1.0, 0.6, 0.35, 0.2, 0.1)
_COARSE = " Finer data are left out, so that the page stays below 1 MB."
_INKS = ("INK", "FAINT_INK", "RULE", "GRID", "LOSS", "HOST", "ROUTER")
_LOOKS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_K = TypeVar("_K", bound=Hashable)


def html(
    runs: Mapping[str, Results],
    flows: list[str] | None,
    links: list[str] | None,
    animate: tuple[float, float] | None,
) -> str:
    """The text of a page of these runs, by their names."""
    views = {name: View(run, flows or _usual(run), links) for name, run in runs.items()}
    first = next(iter(runs.values()))
    parts = {
        "title": escape(f"{first.summary['scenario']}: report"),
        "style": style(),
        "head": _head(runs),
        "main": _read("page/main.html") + figures.html(runs) + _scenarios(runs),
        "uplot": uplot(),
        "script": "\n".join(
            path.read_text(encoding="utf-8") for path in sorted((_HERE / "page").glob("*.js"))
        ),
    }
    made = f"Made by Ackclock {first.summary['ackclock']}. Same records, same page."
    text = ""
    for share in _SHARES:
        note = "" if share == 1 else _COARSE
        parts |= {"data": _data(views, animate, share), "footer": escape(made + note)}
        text = framed("report", parts)
        if len(text.encode()) < MOST_BYTES:
            break
    return text


def _data(views: Mapping[str, View], animate: tuple[float, float] | None, share: float) -> str:
    """The data of a page, with this share of the usual points and packets."""
    pack = Pack()
    points = round(share * series.POINTS / len(views))
    runs = [_run(name, view, pack, animate, points, share) for name, view in views.items()]
    units = _units(list(views.values()))
    return pack.written({"marks": moments.MARKS, "units": units, "runs": runs})


def _usual(run: Results) -> list[str]:
    return busiest(run.summary, list(run.summary["flows"]), series.MOST_FLOWS)


def _others(view: View) -> str:
    """What is said of the flows that a page has not, all together."""
    flows, here = view.summary["flows"], set(view.flows)
    others = [flow["bytes_delivered"] for name, flow in flows.items() if name not in here]
    if not others:
        return ""
    # Their goodputs are over different times, and have no sum.
    every = sum(flow["bytes_delivered"] for flow in flows.values())
    share = f", with {sum(others) / every:.0%} of the data" if every else ""
    shown = f"{len(view.flows):,} of {len(flows):,} flows are shown"
    return f"{shown}; there are {len(others):,} others{share}. "


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def uplot() -> str:
    """The script that draws curves."""
    return _read("vendor/uplot/uPlot.iife.min.js")


def framed(kind: str, parts: Mapping[str, str]) -> str:
    """A page: its parts in the frame that pages for browsers share.

    Args:
        kind: `report` or `playground`.
        parts: `title`, `style`, `head`, `main`, `footer`, `data`, `uplot`, `script`; where there is
            something: `tabs` in the head, `more` before the scripts, `allowed` to scripts.
    """
    nothing = {"tabs": "", "more": "", "allowed": ""}
    return filled(_HERE / "page/frame.html", {**nothing, "kind": kind, **parts})


def style() -> str:
    """The looks of a page, light and dark."""
    looks = []
    for look in _LOOKS:
        with palette.shown(look) as inks:
            named = {ink.removesuffix("_INK").lower(): inks[ink] for ink in _INKS}
            colors = " ".join(f"--{name}: {color};" for name, color in named.items())
            looks.append(f':root[data-theme="{look}"] {{ {colors} }}\n')
    return _read("vendor/uplot/uPlot.min.css") + "".join(looks) + _read("page/page.css")


def _head(runs: Mapping[str, Results]) -> str:
    """What was simulated, what it asks, and which runs these are."""
    model = next(iter(runs.values())).model
    names = dict.fromkeys(str(run.summary["scenario"]) for run in runs.values())
    lines = [
        f'<p class="over">{escape(", ".join(names))}</p>',
        f"<h1>{escape(str(model.get('title') or model['name']))}</h1>",
    ]
    if question := model.get("question"):
        lines.append(f'<p class="asked"><b>Question.</b> {_prose(question)}</p>')
    if expectation := model.get("expectation"):  # folded: the reader may want to guess first
        words = _prose(expectation)
        lines.append(f'<details class="asked"><summary>Expectation</summary>{words}</details>')
    for name, run in runs.items():
        summary = run.summary
        fairness = summary.get("fairness_jain")
        shared = fairness is not None and len(summary["flows"]) > 1
        reason, warmup = summary["stop_reason"], summary.get("warmup_s")
        facts = {
            "Run": name if len(runs) > 1 else "",
            "Simulated": f"{quantities.number(summary['end_s'])} s",
            "Figures from": f"{quantities.number(warmup)} s on" if warmup else "",
            "Ended early": "" if reason in ("flows-complete", "time") else reason,
            "Seed": summary["seed"],
            "Digest": summary["digest"],
            "Fairness (Jain)": f"{fairness:.3f}" if shared else "",
            "Version": summary["ackclock"],
        }
        shown = (
            f"<div><dt>{word}</dt><dd>{escape(str(fact))}</dd></div>"
            for word, fact in facts.items()
            if fact != ""
        )
        lines.append(f'<dl class="facts">{"".join(shown)}</dl>')
    return "\n".join(lines)


def _prose(text: str) -> str:
    """A text of a scenario, with what stands in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(" ".join(str(text).split())))


def _scenarios(runs: Mapping[str, Results]) -> str:
    parts = []
    for name, run in runs.items():
        text = run.scenario_text()
        if len(text) > _LONGEST_SCENARIO:
            text = "Too long for this page: it is scenario.yaml in the run directory."
        whose = f" of {escape(name)}" if len(runs) > 1 else ""
        parts.append(
            f'<details class="card figures"><summary>Scenario{whose}, with all defaults</summary>'
            f"<pre>{escape(text)}</pre></details>\n"
        )
    return "".join(parts)


def _units(views: list[View]) -> dict[str, Any]:
    """Units that are the same in all runs: those of the highest rate and round-trip time."""
    binary = any(view.binary_rates for view in views)
    highest = longest = 0.0
    for view in views:
        for flow in view.summary["flows"].values():
            highest = max(highest, flow["goodput_bps"] or 0.0)
            longest = max(longest, (flow.get("rtt_s") or {}).get("max") or 0.0)
    rate = quantities.rate_unit(highest, binary=binary)
    return {"rate": rate._asdict(), "rtt": quantities.span_unit(longest)._asdict()}


def _run(
    name: str,
    view: View,
    pack: Pack,
    animate: tuple[float, float] | None,
    points: int,
    share: float,
) -> dict[str, Any]:
    results: Any = view.results
    lanes = series.kept_lanes(view)
    shown = packets.span(results, animate, share)
    packed = series.packed(view, lanes, pack, shown or (0.0, 0.0), points)
    return {
        "name": name,
        "end": view.end_s,
        "warmup": view.summary.get("warmup_s"),
        "others": _others(view),
        "nodes": len(view.model["hosts"]) + len(view.model["routers"]),
        "flows": _flows(view),
        "lanes": _lanes(view, lanes),
        **packed,
        "moments": moments.of_flows(view),
        "losses": moments.of_lanes(view, lanes, pack, packed["tick"]),
        "changes": moments.of_network(view),
        "network": network.drawn(view, lanes),
        "packets": shown and packets.packed(results, shown, animate, pack, view.flows),
        "withoutPackets": None if shown else packets.why_not(results),
    }


def _colors(of: Callable[[], Mapping[_K, str]]) -> dict[str, Mapping[_K, str]]:
    """Colours on light and on dark ground."""
    colors: dict[str, Mapping[_K, str]] = {}
    for look in _LOOKS:
        with palette.shown(look):
            colors[look] = of()
    return colors


def _flows(view: View) -> list[dict[str, Any]]:
    every = [flow["id"] for flow in view.model["flows"]]
    if len(every) > series.MOST_FLOWS:  # the colours of all would be too alike
        every = list(view.flows)
    first = set(busiest(view.summary, view.flows, series.FIRST_FLOWS))
    colors = _colors(lambda: palette.flow_colors(every, view.flows))
    found = []
    for name in view.flows:
        flow, active = view.flow(name), view.active(name)
        label = view.summary["flows"][name].get("label") or heading.algorithm(flow)
        own = {
            "id": name,
            "label": name,
            "about": f"{label}, {flow['from']} to {flow['to']}",
            "shown": name in first,
            "start": active.start_s,
            "stop": active.stop_s,
        }
        found.append(own | {look: of[name] for look, of in colors.items()})
    return found


def _lanes(view: View, lanes: list[Lane]) -> list[dict[str, Any]]:
    colors = _colors(lambda: palette.link_colors(lanes))
    first = set(series.worth_drawing(view) if view.asked_links is None else view.lanes)
    found = []
    for number, lane in enumerate(lanes):
        summary = view.summary["links"][lane.link][lane.direction]
        size = summary["queue_bytes"]["max"] / max(1, summary["queue_packets"]["max"])
        own = {
            "id": f"{lane.link} {lane.direction}",
            "label": lane.label,
            "direction": lane.direction,
            "dashed": number >= len(palette.LINKS),
            "shown": lane in first,
            "utilization": summary["utilization"],
            "most": summary["queue_packets"]["max"],
            "lost": sum(summary["drops"].values()),
            "limit": lane.limit_packets or (lane.limit_bytes and lane.limit_bytes / max(1.0, size)),
            "rate": lane.states[0].rate_bps,
        }
        found.append(own | {look: of[lane] for look, of in colors.items()})
    return found
