"""The form of a scenario: what is measured, without a word about any simulator.

Units: rates in Mbit/s of IP bytes, round-trip times in ms (two-way propagation, split evenly),
buffers in packets that wait (the one on the wire is not counted), sizes in bytes, times in s.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

MTU, MSS, ACK = 1500, 1448, 52
ALGORITHMS = ("reno", "cubic", "bbr")
MOST_WRITES = 64

Scenario = dict[str, Any]


def bdp(rate_mbps: float, rtt_ms: float) -> float:
    """Return the bandwidth-delay product in packets."""
    return rate_mbps * 1e6 * rtt_ms * 1e-3 / 8 / MTU


def scenario(
    name: str,
    rate: float,
    rtt: float,
    flows: list[str | dict[str, Any]],
    duration: float,
    *,
    buffer_bdp: float = 1.0,
    buffer_pkts: int | None = None,
    warmup: float | None = None,
    **other: Any,
) -> Scenario:
    """Return a scenario; `other` sets further keys, as the README describes them.

    Args:
        name: Its name.
        rate: Mbit/s of the bottleneck.
        rtt: Round-trip propagation time in ms.
        flows: Algorithms, or mappings with `cc` and what else a flow has.
        duration: Seconds.
        buffer_bdp: The buffer as a multiple of the bandwidth-delay product.
        buffer_pkts: The buffer in packets instead.
        warmup: Seconds that figures of long flows leave out; by default a third.
        other: Further keys.
    """
    size = buffer_pkts if buffer_pkts is not None else max(1, round(buffer_bdp * bdp(rate, rtt)))
    made = {
        "name": name,
        "rate_mbps": rate,
        "rtt_ms": rtt,
        "buffer_pkts": size,
        "buffer_bdp": round(size / bdp(rate, rtt), 3),
        "bdp_pkts": round(bdp(rate, rtt), 2),
        "loss": 0.0,
        "ack_loss": 0.0,
        "ecn_threshold_pkts": 0,
        "duration_s": float(duration),
        "warmup_s": float(duration / 3 if warmup is None else warmup),
        "mtu": MTU,
        "mss": MSS,
        "ack_bytes": ACK,
        "gso_segs": 1,
        "kind": "bulk",
        "flows": [_flow(flow, duration) for flow in flows],
        "drop": [],
        "rdrop": [],
        "adrop": [],
        "hold": [],
        "ack": "linux",
    }
    if unknown := set(other) - set(made):
        raise ValueError(f"{name}: no such keys: {', '.join(sorted(unknown))}")
    return {**made, **other}


def _flow(flow: str | dict[str, Any], duration: float) -> dict[str, Any]:
    given = flow if isinstance(flow, dict) else {"cc": flow}
    if given.get("writes", "").count(":") > MOST_WRITES:
        raise ValueError(f"a flow writes at most {MOST_WRITES} times")
    return {"start": 0.0, "stop": float(duration), **given}


def packets(*numbers: int, flow: int = 0) -> list[str]:
    """Return rules for packets of a flow, by their numbers from 1."""
    return [f"{flow}:{number}" for number in numbers]


def drawn(seed: int, share: float, first: int, last: int) -> list[int]:
    """Draw numbers by a plain linear congruential generator, so that any language can do it."""
    state, found = seed, []
    for number in range(first, last + 1):
        state = (1103515245 * state + 12345) % 2**31
        if state / 2**31 < share:
            found.append(number)
    return found


def family(one: Scenario) -> str:
    """Return the family of a scenario: vector, micro, bulk1, loss or multi."""
    if one["kind"] != "bulk":
        return one["kind"]
    if one["loss"] or one["ack_loss"]:
        return "loss"
    return "multi" if len(one["flows"]) > 1 else "bulk1"


def load(path: Path) -> list[Scenario]:
    """Read scenarios: the list ALL of a Python file, or a JSON file, also one that was measured."""
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is neither Python nor JSON")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ALL
