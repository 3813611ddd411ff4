"""Fold measured repetitions into the file that `ackclock reproduce linux --oracle` reads.

    python validation/linux/summarise.py FOLDER [--scenarios FILE]

FOLDER/results.jsonl becomes FOLDER/oracle.json: of each figure the median, least and largest value
over the valid repetitions, and the tolerance that a simulator is held to: twice the range, and at
least a floor (absolute, or relative to the median).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import form

Floor = tuple[float, float]

FLOORS: dict[str, dict[str, Floor]] = {
    "bulk1": {
        "goodput_mbps_window": (0.03, 0.03),
        "utilisation": (0.02, 0.0),
        "queue_pkts_mean": (2.0, 0.12),
        "mean_srtt_ms_kernel": (1.5, 0.05),
        "retransmits_wire": (5, 0.25),
        "mean_cwnd_pkts_kernel": (2.0, 0.06),
    },
    "loss": {
        "goodput_mbps_window": (0.03, 0.10),
        "utilisation": (0.02, 0.10),
        "queue_pkts_mean": (1.5, 0.30),
        "mean_srtt_ms_kernel": (1.5, 0.05),
        "retransmits_wire": (10, 0.15),
        "mean_cwnd_pkts_kernel": (1.0, 0.10),
    },
    "multi": {
        "goodput_mbps_window": (0.2, 0.20),
        "utilisation": (0.02, 0.0),
        "queue_pkts_mean": (3.0, 0.15),
        "mean_srtt_ms_kernel": (3.0, 0.08),
        "retransmits_wire": (10, 0.35),
        "mean_cwnd_pkts_kernel": (3.0, 0.20),
    },
    "micro": {
        "fct_ms": (3.0, 0.01),
        "retransmits_wire": (0, 0.0),
        "final_cwnd": (1, 0.02),
        "max_cwnd_pkts_kernel": (1, 0.02),
    },
}
FLOORS["vector"] = FLOORS["micro"]
_QUANTILES: Floor = (2, 0.15)
_COUNTS: Floor = (5, 0.35)
_TIMER: Floor = (20.0, 0.03)
_JAIN: Floor = (0.05, 0.0)
_SHARE: Floor = (0.10, 0.0)
_OF_LINK = ("utilisation", "queue_pkts_mean")
_SILENCE_RTTS = 1.5


def main() -> int:
    """Write the file; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    default = Path(__file__).with_name("scenarios.py")
    parser.add_argument("--scenarios", type=Path, default=default)
    given = parser.parse_args()
    lines = (given.folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    measured: dict[str, list[dict[str, Any]]] = {}
    for result in map(json.loads, lines):
        measured.setdefault(result["name"], []).append(result)
    scenarios = [one for one in form.load(given.scenarios) if one["name"] in measured]
    entries = [summary(one, measured[one["name"]], given.folder / "traces") for one in scenarios]
    text = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    (given.folder / "oracle.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")
    print(f"{len(entries)} scenarios in {given.folder / 'oracle.json'}")
    return 0


def summary(one: form.Scenario, every: list[dict[str, Any]], traces: Path) -> dict[str, Any]:
    """Return the entry of a scenario; without a valid repetition the others count."""
    valid = [result for result in every if result["valid"]]
    used = valid or every
    family = form.family(one)
    timer = timer_driven(one, traces)
    floors = {**FLOORS[family], **({"fct_ms": _TIMER} if timer else {})}
    entry: dict[str, Any] = {key: one[key] for key in one if key not in ("metrics", "flow_metrics")}
    entry |= {
        "timer_driven": timer,
        "family": family,
        "reps": len(used),
        "all_valid": len(valid) == len(every),
        "metrics": {},
        "flow_metrics": [],
    }
    for number in range(len(one["flows"])):
        flows = [result["flows"][number] for result in used]
        figures: dict[str, Any] = {
            name: figure([flow.get(name) for flow in flows], floor)
            for name, floor in floors.items()
            if name in flows[0]
        }
        for name in ("drops_tail", "drops_rand", "ce_marks"):
            if any(flow[name] for flow in flows):
                figures[name] = figure([flow[name] for flow in flows], _COUNTS)
        sent = sum(flow["data_pkts_sent"] for flow in flows)
        figures["acks_per_data"] = round(sum(flow["acks"] for flow in flows) / max(1, sent), 3)
        figures["min_rtt_ms"] = min(flow["min_rtt_ms_kernel"] for flow in flows)
        entry["flow_metrics"].append(figures)
    if one["kind"] == "bulk":
        floors |= {f"queue_pkts_p{percent}": _QUANTILES for percent in (5, 50, 95, 99)}
        names = [name for name in floors if name in _OF_LINK or name.startswith("queue_pkts_p")]
        entry["metrics"] = {
            name: figure([result[name] for result in used], floors[name]) for name in names
        }
        if len(one["flows"]) > 1:
            shares = [[flow["goodput_mbps_window"] for flow in result["flows"]] for result in used]
            entry["metrics"]["jain"] = figure([round(_jain(x), 4) for x in shares], _JAIN)
            first = [round(x[0] / sum(x), 4) for x in shares]
            entry["metrics"]["share_first"] = figure(first, _SHARE)
    return entry


def figure(values: list[float | None], floor: Floor) -> dict[str, float] | None:
    """Return median, range and tolerances of a figure; none if no repetition has it."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    median = statistics.median(known)
    low, high = min(known), max(known)
    least = max(floor[0], floor[1] * abs(median))
    return {
        "median": round(median, 4),
        "min": low,
        "max": high,
        "tol": round(max(least, 2 * (high - low)), 4),
        "strict": round(max(least / 4, 3 * (high - low)), 4),
    }


def _jain(shares: list[float]) -> float:
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))


def timer_driven(one: form.Scenario, traces: Path) -> bool:
    """Whether a transfer was silent for long: it waited for a timer, which kernels round up."""
    trace = traces / f"{one['name']}.csv"
    if one["kind"] == "bulk" or not trace.exists() or one["flows"][0].get("writes"):
        return False
    lines = trace.read_text(encoding="utf-8").splitlines()[1:]
    times = [float(line.split(",", 1)[0]) for line in lines]
    longest = max((after - before for before, after in pairwise(times)), default=0.0)
    return longest > _SILENCE_RTTS * one["rtt_ms"]


if __name__ == "__main__":
    sys.exit(main())
