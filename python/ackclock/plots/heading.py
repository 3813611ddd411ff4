"""The words above and below a figure: what was simulated, and which run this is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ackclock.record_tables import sampled
from ackclock.registry import entry

from . import quantities
from .view import View

_ENDED_EARLY = {
    "interrupted": "interrupted",
    "record-limit": "ended early: records reached their limit",
    "disk-full": "ended early: disk full",
    "controller-fault": "ended early: the controller failed",
}


def title(view: View) -> str:
    """The title of the scenario, or else its name."""
    return str(view.model.get("title") or view.model.get("name") or "Run")


def subtitle(view: View) -> str:
    """The algorithms, the number of flows and the end of the run."""
    parts = [algorithms(view)]
    count = len(view.model["flows"])
    if count != 1:
        parts.append(f"{count} flows")
    if "end_s" in view.summary:
        unit = quantities.time_unit(view.end_s)
        parts.append(f"run ends at {quantities.number(view.end_s / unit.size)} {unit.name}")
    if word := _ENDED_EARLY.get(view.summary.get("stop_reason", "")):
        parts.append(word)
    return "  ·  ".join(part for part in parts if part)


def caption(view: View, *, figures: bool = False) -> str:
    """Which run it is: scenario, seed, beginning of the digest, version.

    With `figures`, those of the run are shown, and it says from when on they count.
    """
    summary = view.summary
    parts = [str(summary.get("scenario") or view.model.get("name") or "")]
    if "seed" in summary:
        parts.append(f"seed {summary['seed']}")
    if summary.get("digest"):
        parts.append(f"digest {str(summary['digest'])[:8]}")
    if summary.get("ackclock"):
        parts.append(f"Ackclock {summary['ackclock']}")
    if figures and (warmup := summary.get("warmup_s")):
        parts.append(f"figures from {quantities.number(warmup)} s on")
    if some := sampled(view.model):
        alike: dict[str, list[str]] = {}
        for table, kept in some.items():
            alike.setdefault(kept, []).append(table)
        rows = "; ".join(f"{', '.join(tables)} {kept}" for kept, tables in alike.items())
        parts.append(f"not all rows are recorded: {rows}")
    return "  ·  ".join(part for part in parts if part)


def of_runs(views: Sequence[View]) -> tuple[str, str, str]:
    """Title, subtitle and caption of a figure of several runs."""
    seeds = sorted({str(view.summary["seed"]) for view in views if "seed" in view.summary})
    names = list(dict.fromkeys(str(view.summary.get("scenario") or "") for view in views))
    parts = [", ".join(filter(None, names))]
    if seeds:
        parts.append(f"seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}")
    if version := views[0].summary.get("ackclock"):
        parts.append(f"Ackclock {version}")
    return title(views[0]), f"{len(views)} runs", "  ·  ".join(filter(None, parts))


def run_name(view: View, number: int) -> str:
    """What a run is called among others: its folder, or else its scenario, or its number."""
    place = getattr(view.results, "directory", None)
    return str(place.name if place else view.summary.get("scenario") or f"run {number}")


def task(flow: Mapping[str, Any]) -> str:
    """What a flow does, such as "   S1 → T1, 35 MiB"."""
    amount = "" if flow["send_bytes"] is None else f", {quantities.size(flow['send_bytes'])}"
    return f"   {flow['from']} → {flow['to']}{amount}"


def algorithm(flow: Mapping[str, Any]) -> str:
    """The algorithm of a flow with two parameters that were chosen, such as "FAST, alpha 50".

    Tahoe, Reno and NewReno have one congestion control and differ in the recovery of losses.
    """
    if flow.get("udp"):
        return f"UDP {flow['udp']['source']['kind']}"
    cc = flow["tcp"]["cc"]
    name, defaults = str(cc["kind"]), {}
    # A run of another version may name one that is not known here.
    with suppress(KeyError):
        known = entry("cc", name)
        name = known["label"][:1].upper() + known["label"][1:]
        defaults = {param["name"]: param["default"] for param in known["params"]}
    if cc["kind"] == "python":
        name, cc = cc["class"], json.loads(cc["parameters"])
    elif cc["kind"] == "reno" and flow["tcp"]["numbering"] == "bytes":
        name = flow["label"]
    numbers = [
        f"{key} {quantities.number(value)}"
        for key, value in cc.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and not key.endswith(("_ns", "_bps", "_bytes"))
        and f"{value:g}" != defaults.get(key)
    ]
    return ", ".join([name, *numbers[:2]])


def algorithms(view: View) -> str:
    """The algorithms of all flows, each once, with the number of its flows if that is not one."""
    counts: Counter[str] = Counter()
    for flow, count in view.transports:
        counts[algorithm(flow)] += count
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{count} × {name}" if count > 1 else name for name, count in counts.items())
