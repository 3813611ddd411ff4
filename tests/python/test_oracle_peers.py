"""The converter of networks that other simulators have measured."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from ackclock import Scenario, run

sys.path.append(str(Path(__file__).parents[1] / "peers"))

import oracle


def network(**changes: Any) -> dict[str, Any]:
    """A flow over a bottleneck of 10 Mbps and 44 ms."""
    ample = {"type": "droptail", "limit_packets": 1_000_000}

    def link(a: str, b: str, rate: float, delay: float, **more: Any) -> dict[str, Any]:
        ends = {"a": a, "b": b, "rate_bps": rate, "delay_s": delay}
        return {**ends, "queue_ab": ample, "queue_ba": ample, **more}

    transport = {
        "segment_bytes": 1448,
        "header_bytes": 52,
        "ack_bytes": 52,
        "initial_window_segments": 10,
        "delayed_ack": {"count": 2, "timeout_s": 0.04},
        "min_rto_s": 0.2,
        "initial_rto_s": 1.0,
        "ecn": False,
        "timestamps": True,
    }
    flow = {"id": 0, "src": "s0", "dst": "d0", "start_s": 0.0, "transport": transport}
    queue = {"type": "droptail", "limit_packets": 40}
    return {
        "id": "small",
        "nodes": ["r0", "r1", "s0", "d0"],
        "links": [
            link("r0", "r1", 1e7, 0.02, queue_ab=queue, monitor=True),
            link("s0", "r0", 1e9, 0.001),
            link("r1", "d0", 1e9, 0.001),
        ],
        "flows": [{**flow, "cc": "linuxreno", "app": {"kind": "bulk"}}],
        "duration_s": 20.0,
        "measure_from_s": 10.0,
        "seeds": [1],
        **changes,
    }


def test_a_network_is_converted_and_measured():
    description = network()
    found = oracle.figures(description, run(Scenario.from_dict(oracle.document(description))))
    assert found.utilisation > 0.99
    assert found.goodput_bps == pytest.approx(1e7 * 1448 / 1500, rel=0.01)
    # Reno's sawtooth with a buffer as large as the path: 7/9 (P + B) - P packets wait.
    path = (0.044 + 0.0012) / 0.0012
    assert found.mean_packets == pytest.approx(7 / 9 * (path + 40) - path, rel=0.1)
    assert 0 < found.drops < 20


def test_starts_and_delays_can_be_moved():
    moved = oracle.document(network(), random.Random(1))
    plain = oracle.document(network())
    assert plain["flows"][0]["start"] == "0 ns" != moved["flows"][0]["start"]
    assert plain["links"][0]["delay"] == "20000000 ns" != moved["links"][0]["delay"]
    assert not Scenario.from_dict(moved).warnings


def test_what_cannot_be_run_is_named(tmp_path, capsys, monkeypatch):
    description = network()
    description["flows"][0]["cc"] = "nv"
    for folder, content in (("scenarios", description), ("results", {})):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "small.json").write_text(json.dumps(content))
    monkeypatch.setattr(sys, "argv", ["oracle.py", str(tmp_path)])
    assert oracle.main() == 0
    assert "| small | not run: congestion control nv |" in capsys.readouterr().out


def test_a_band_is_what_the_results_say():
    result = {
        "queues": [{"mean_packets": {"mean": 4.0, "sd": 0.5}}],
        "aggregate_goodput_bps": 5e6,
        "flows": [],
    }
    description = network(duration_s=3.0, measure_from_s=1.0)
    result["queues"][0] |= {"utilisation": 1.0, "drops": 0, "marks": 0}
    rows = {row[0]: row[1:] for row in oracle.compare(description, result)}
    assert rows["mean packets"][0] == "3 to 5"
    assert rows["goodput, Mbps"][0] == "5 to 5"
    assert rows["goodput, Mbps"][2].endswith("% outside")
