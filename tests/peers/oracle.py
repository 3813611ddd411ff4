"""Holds Ackclock against figures that another simulator measured on networks described as JSON.

``python tests/peers/oracle.py FOLDER`` reads ``FOLDER/scenarios/*.json`` (schema
``oracle-scenario/1``) and ``FOLDER/results/*.json``, runs each network that can be run here, and
prints goodput, utilisation, mean queue and drops of the measured interval beside theirs, as a table
of Markdown. Networks whose results have a band are run five times, with starts moved by up to 0.1 s
and delays by up to 1 %, as the band was made; those with several seeds with as many seeds.

The senders are the nearest there are: the profile of ns-2 where it has them, else see ``SENDERS``
and ``_tcp``. What cannot be run is named.
``--as cubic=linux-reno`` takes another preset for a congestion control: does the difference come
from the sender?
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from ackclock import Results, Scenario, run
from ackclock.metrics import queue_series, select, step_mean

TABLES = ("transmissions", "queue", "drops", "marks")
RECORD = {"kind": "none", **dict.fromkeys(TABLES, "changes")}
RUNS = 5
LEAST = 1e-9
"""A mean queue below it is none."""
SENDERS: dict[str, dict[str, Any]] = {
    "linuxreno": {"preset": "linux-reno"},
    "cubic": {"preset": "linux-cubic"},
    "bbr": {"preset": "linux-bbr"},
    "dctcp": {"preset": "linux-dctcp"},
    "westwood": {"preset": "linux-reno", "cc": "westwood"},
    "sack": {
        "preset": "linux-reno",
        "cc": {"kind": "reno", "arithmetic": "real"},
        "reduce": "pipe",
    },
    "newreno": {"preset": "newreno"},
    "reno": {"preset": "reno"},
    "tahoe": {"preset": "tahoe"},
}
"""Presets by the name of the congestion control."""

SETTINGS: dict[str, Any] = {}
"""Keys of the modern sender that the command line sets."""

CLASSIC = ("newreno", "reno", "tahoe")
PROFILE = "ns-2.35"
NS_RED = {"spacing": "wait", "first": "passed", "short_queue": "passed", "idle": "sampled"}
"""Rules of RED that ns-2 and ns-3 have otherwise than the paper."""


class CannotRunError(Exception):
    """There is no such model here."""


@dataclass
class Figures:
    """Of one run, in the measured interval."""

    goodput_bps: float
    utilisation: float
    mean_packets: float
    drops: float
    marks: float


def _is_ns2(oracle: dict[str, Any]) -> bool:
    """Whether all senders are those that the profile of ns-2 has."""
    return oracle.get("reference", "").startswith("ns-2") and all(
        flow["cc"] in (*CLASSIC, "vegas") for flow in oracle["flows"]
    )


def document(oracle: dict[str, Any], draw: random.Random | None = None) -> dict[str, Any]:
    """Return our scenario of a network, with starts and delays moved if there is a `draw`."""
    nodes = {end for flow in oracle["flows"] for end in (flow["src"], flow["dst"])}
    return {
        "name": f"oracle/{oracle['id']}",
        **({"profile": PROFILE} if _is_ns2(oracle) else {}),
        "hosts": sorted(nodes),
        "routers": sorted(set(oracle["nodes"]) - nodes),
        "links": [_link(link, draw) for link in oracle["links"]],
        "flows": [_flow(flow, draw, ns2=_is_ns2(oracle)) for flow in oracle["flows"]],
        "record": RECORD,
        "stop": {"when": "time", "at_latest": f"{oracle['duration_s']} s"},
    }


def _ns(seconds: float) -> str:
    return f"{round(seconds * 1e9)} ns"


def _link(link: dict[str, Any], draw: random.Random | None) -> dict[str, Any]:
    ways: dict[str, dict[str, Any]] = {}
    for way, key in (("forward", "ab"), ("backward", "ba")):
        ways[way] = {"queue": _queue(link[f"queue_{key}"])}
        if loss := link.get(f"loss_{key}"):
            ways[way]["loss"] = {"kind": "bernoulli", "p": loss["p"]}
    moved = draw.uniform(0.99, 1.01) if draw else 1.0
    return {
        "id": _name(link),
        "between": [link["a"], link["b"]],
        "rate": f"{link['rate_bps']:.0f} bps",
        "delay": _ns(link["delay_s"] * moved),
        **ways,
    }


def _name(link: dict[str, Any]) -> str:
    return f"{link['a']}-{link['b']}"


def _queue(queue: dict[str, Any]) -> dict[str, Any]:
    kind, attributes = queue["type"], queue.get("ns3_attributes", {})
    ecn = {"ecn": True} if queue.get("ecn") else {}
    limit = {"limit": f"{queue['limit_packets']} packets"} if "limit_packets" in queue else {}
    if kind == "droptail":
        return {"kind": "droptail", **limit, "counts": "waiting", "admission": "fits"}
    if kind == "cobalt":
        times = {
            key: attributes[key.title()].replace("ms", " ms") for key in ("target", "interval")
        }
        return {"kind": "cobalt", **limit, **times, "ecn": bool(ecn)}
    if kind in ("codel", "fqcodel"):
        # As ns-3: one Newton step for the square root, "later than" the interval.
        rules = {
            "target": attributes["Target"].replace("ms", " ms"),
            "interval": attributes["Interval"].replace("ms", " ms"),
            "square_root": "newton",
            "above": "after-interval",
            **({"after_mark": "now"} if ecn else {}),
        }
        if kind == "codel":
            return {"kind": "codel", **limit, **rules, **ecn}
        return {"kind": "fq-codel", **limit, **rules, "ecn": bool(ecn)}
    if kind == "red" and attributes.get("QW") == "1":
        # RED whose average is the queue itself, and whose thresholds are one: a step.
        return {"kind": "threshold", **limit, "mark_from": f"{attributes['MinTh']} packets"}
    if kind == "red" and not attributes:
        return {
            "kind": "red",
            **limit,
            "min": f"{queue['min_th_packets']} packets",
            "max": f"{queue['max_th_packets']} packets",
            "weight": queue["weight"],
            "max_p": queue["max_p"],
            "gentle": queue["gentle"],
            "mean_packet": f"{queue['mean_packet_bytes']} B",
            **NS_RED,
            **ecn,
        }
    raise CannotRunError(f"queue {kind}")


def _flow(flow: dict[str, Any], draw: random.Random | None, *, ns2: bool) -> dict[str, Any]:
    app = flow["app"]
    start_s = flow["start_s"] + (draw.uniform(0, 0.1) if draw else 0.0)
    found: dict[str, Any] = {
        "id": f"F{flow['id']}",
        "from": flow["src"],
        "to": flow["dst"],
        "start": _ns(start_s),
    }
    if app["kind"] not in ("bulk", "file"):
        raise CannotRunError(f"application {app['kind']}")
    found["tcp"] = (_ns2_tcp if ns2 else _tcp)(flow["cc"], flow["transport"])
    if app["kind"] == "file":
        found["send"] = f"{app['segments'] * flow['transport']['segment_bytes']} B"
    return found


def _ns2_tcp(cc: str, transport: dict[str, Any]) -> dict[str, Any]:
    delayed = transport["delayed_ack"]
    tcp = {
        "recovery": cc,
        "receive_window": f"{transport['max_window_segments']} packets",
        "header": f"{transport['header_bytes']} B",
        "ack": f"{transport['ack_bytes']} B",
        "initial_window": transport["initial_window_segments"],
        "receiver": "delayed" if delayed else "immediate",
    }
    if cc == "vegas":
        tcp["cc"] = "vegas"
        tcp["handshake"] = {"kind": "first-segment", "size": f"{transport['segment_bytes']} B"}
    return tcp


def _tcp(cc: str, transport: dict[str, Any]) -> dict[str, Any]:
    if cc not in SENDERS:
        raise CannotRunError(f"congestion control {cc}")
    delayed = transport["delayed_ack"]
    receiver: Any = "immediate"
    if delayed:
        receiver = {
            "kind": "delayed",
            "count": delayed["count"],
            "delay": _ns(delayed["timeout_s"]),
        }
    tcp = {
        **SENDERS[cc],
        "segment": f"{transport['segment_bytes']} B",
        "header": f"{transport['header_bytes']} B",
        "ack": f"{transport['ack_bytes']} B",
        "initial_window": transport["initial_window_segments"],
        "receiver": receiver,
        "rto": {
            "kind": "rfc6298",
            "min": _ns(transport["min_rto_s"]),
            "initial": _ns(transport["initial_rto_s"]),
        },
        "ecn": transport["ecn"],
    }
    if cc in CLASSIC:
        # Without limited transmit: after a timeout it would send again what has arrived.
        if transport["timestamps"]:
            tcp["handshake"] = "three-way"
        return tcp
    # No other simulator has RACK, tail loss probes, F-RTO or undo.
    absent = {"detect": "dupthresh", "tail_loss_probe": False, "frto": False, "undo": False}
    return {**tcp, **absent, **SETTINGS}


def figures(oracle: dict[str, Any], results: Results) -> Figures:
    """Measure a run as theirs was measured."""
    start_s, end_s = oracle["measure_from_s"], oracle["duration_s"]
    link = next(each for each in oracle["links"] if each.get("monitor"))
    on = {"link": _name(link), "direction": "forward"}

    def within(table: str) -> Any:
        (time_s,) = select(results, table, ("time_s",), **on)
        return (time_s >= start_s) & (time_s < end_s)

    (size,) = select(results, "transmissions", ("bytes",), **on)
    busy = 8 * float(size[within("transmissions")].sum()) / (link["rate_bps"] * (end_s - start_s))
    (lost_s,) = select(results, "drops", ("time_s",), **on, reason="loss")
    lost = int(((lost_s >= start_s) & (lost_s < end_s)).sum())
    changed_s, waiting = queue_series(results, on["link"], "forward", "queue_packets")
    return Figures(
        goodput_bps=sum(_goodput(results, flow, start_s, end_s) for flow in oracle["flows"]),
        utilisation=busy,
        mean_packets=float(step_mean(changed_s, waiting, start_s, end_s)),
        drops=int(within("drops").sum()) - lost,
        marks=int(within("marks").sum()),
    )


def _goodput(results: Results, flow: dict[str, Any], start_s: float, end_s: float) -> float:
    """New segments that left the last link; what arrived twice counts once."""
    last = results.summary["flows"][f"F{flow['id']}"]["path"][-1]
    time_s, seq = select(
        results, "transmissions", ("time_s", "seq"), link=last, flow=f"F{flow['id']}", kind="data"
    )
    first: dict[int, float] = {}
    for at_s, number in zip(time_s.tolist(), seq.tolist(), strict=True):
        first.setdefault(number, at_s)
    new = sum(start_s <= at_s < end_s for at_s in first.values())
    return 8 * flow["transport"]["segment_bytes"] * new / (end_s - start_s)


def _theirs(result: dict[str, Any], name: str) -> tuple[float, float]:
    """Least and greatest value of a figure of theirs."""
    band = result.get("band", {})
    if name == "goodput_bps":
        value = band.get("aggregate_goodput_bps") or result.get("aggregate_goodput_bps")
        if value is None:
            value = result["flows"][0]["goodput_bps"]
    else:
        value = (band.get("queues") or result["queues"])[0][name]
    if not isinstance(value, dict):
        return value, value
    if "min" in value:
        return value["min"], value["max"]
    return max(value["mean"] - 2 * value["sd"], 0), value["mean"] + 2 * value["sd"]


def compare(oracle: dict[str, Any], result: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return figure, theirs, ours, and whether ours is inside."""
    seeds = oracle["seeds"]
    if len(seeds) > 1:
        runs = [document(oracle) | {"seed": seed} for seed in seeds[:RUNS]]
    else:
        runs = [document(oracle, random.Random(number)) for number in range(RUNS)]
    ours = [figures(oracle, run(Scenario.from_dict(each))) for each in runs]
    rows = []
    for name in ("goodput_bps", "utilisation", "mean_packets", "drops", "marks"):
        low, high = _theirs(result, name)
        found = [getattr(each, name) for each in ours]
        if name in ("drops", "marks") and max(found) == high == 0:
            continue
        unit = 1e-6 if name == "goodput_bps" else 1
        away = max(low - mean(found), mean(found) - high, 0)
        away = away if away > LEAST else 0
        share = away / abs((low + high) / 2) if low + high else float(away > 0)
        rows.append(
            (
                name.replace("goodput_bps", "goodput, Mbps").replace("_", " "),
                f"{low * unit:.4g} to {high * unit:.4g}",
                f"{mean(found) * unit:.4g} ({min(found) * unit:.4g} to {max(found) * unit:.4g})",
                _verdict(share, overlaps=min(found) <= high and max(found) >= low),
            )
        )
    return rows


def _verdict(share: float, *, overlaps: bool) -> str:
    if share < 0.0005:
        return "inside"
    return f"overlaps, mean {share:.1%} outside" if overlaps else f"{share:.1%} outside"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--as", dest="instead", metavar="CC=PRESET", help="another preset")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="of SACK senders"
    )
    options = parser.parse_args()
    for setting in options.set:
        key, _, value = setting.partition("=")
        SETTINGS[key] = json.loads(value) if value[:1] in "{[tf0123456789" else value
    if options.instead:
        cc, _, preset = options.instead.partition("=")
        SENDERS[cc] = {"preset": preset}
    found = sorted(
        (options.folder / "scenarios").glob(f"*{options.only}*.json" if options.only else "*.json")
    )
    if not found:
        sys.exit(f"{options.folder}/scenarios: no such networks")
    print("| Network | Figure | Theirs | Ours: mean (least to greatest) | |")
    print("| --- | --- | --- | --- | --- |")
    counts: dict[str, Counter[str]] = {}
    for path in found:
        oracle = json.loads(path.read_text(encoding="utf-8"))
        result = json.loads((options.folder / "results" / path.name).read_text(encoding="utf-8"))
        try:
            rows = compare(oracle, result)
        except CannotRunError as missing:
            print(f"| {oracle['id']} | not run: {missing} | | | |")
            continue
        for name, *row in rows:
            print(f"| {oracle['id']} | {name} | {' | '.join(row)} |", flush=True)
            counts.setdefault(name, Counter())[row[-1].split(",")[0].split()[-1]] += 1
    counts["all"] = sum(counts.values(), Counter())
    print("\n| Figure | Inside | Ranges overlap | Outside |\n| --- | ---: | ---: | ---: |")
    for name, count in counts.items():
        print(f"| {name} | {count['inside']} | {count['overlaps']} | {count['outside']} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
