"""One Vegas flow with the rules of ns-2.35 sends the same segments in the same order as ns-2.35.

The figures are of runs of ns-2.35 (Debian 12): Agent/TCP/Vegas over 100 Mbps, 1 ms, then `rate`,
20 ms, with a `queue-limit` of one more than may wait; packets of 1000 bytes, ACKs of 40 bytes, one
for each packet. The segments that leave the sender are compared as a whole, by a checksum of their
numbers.
"""

import zlib

import pytest

from ackclock import Scenario, run

CC = {
    "kind": "vegas",
    "window": "flight",
    "rtt": "mean",
    "compare": "rounded",
    "base_rtt": "lone",
    "exit": "eighth",
    "step": "spread",
    "growth": "used",
    "first_window": "one",
    "loss": "whole-segments",
    "counting": "acks",
}

RECOVERY = {
    "kind": "vegas",
    "overdue": "two-deviations",
    "samples": "after-repairs",
    "log": "ring",
    "deflation": "many",
    "restart_window": 2,
    "grow_on_exit": True,
    "rto_backoff": True,
}


def network(rate, waiting, kept, window, end):
    alpha, beta, gamma = kept
    return {
        "name": "vegas-ns2",
        "hosts": ["S", "D"],
        "routers": ["R"],
        "defaults": {"link": {"queue": {"limit": "unlimited"}}},
        "links": [
            {"id": "A", "between": ["S", "R"], "rate": "100 Mbps", "delay": "1 ms"},
            {
                "id": "B",
                "between": ["R", "D"],
                "rate": rate,
                "delay": "20 ms",
                "forward": {"queue": {"limit": f"{waiting} packets"}},
            },
        ],
        "flows": [
            {
                "id": "F",
                "from": "S",
                "to": "D",
                "tcp": {
                    "sender": "classic",
                    "segment": "1000 B",
                    "header": "0 B",
                    "handshake": {"kind": "first-segment", "size": "1000 B"},
                    "initial_window": 2,
                    "initial_ssthresh": window,
                    "receive_window": f"{window * 1000} B",
                    "window_unit": "segments",
                    "cc": CC | {"alpha": alpha, "beta": beta, "gamma": gamma},
                    "recovery": RECOVERY,
                    "rto": {
                        "kind": "rfc6298",
                        "initial": "3 s",
                        "min": "200 ms",
                        "max": "60 s",
                        "sampling": "karn",
                    },
                },
            }
        ],
        "ties": {"kind": "first-come", "clock": "double"},
        "stop": {"when": "time", "at_latest": end},
    }


SENT_DATA = ("S", "sent", "data")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "waiting", "kept", "window", "end", "sent", "drops", "checksum"),
    [
        ("1.5 Mbps", 49, (1, 3, 1), 10000, "20 s", 3717, 0, 3517076380),
        ("1.5 Mbps", 9, (20, 40, 20), 10000, "20 s", 3628, 42, 1799718983),
        ("1.5 Mbps", 2, (30, 32, 40), 20, "15 s", 2836, 69, 3661562063),
        ("10 Mbps", 14, (1, 21, 5), 60, "15 s", 16325, 10, 3617872057),
        ("10 Mbps", 5, (30, 32, 1), 60, "15 s", 7607, 142, 1100515360),
    ],
)
def test_the_segments_are_those_of_ns2(rate, waiting, kept, window, end, sent, drops, checksum):
    results = run(Scenario.from_dict(network(rate, waiting, kept, window, end)))
    rows = results.table("packets").to_pydict()
    kinds = zip(rows["host"], rows["event"], rows["kind"], rows["seq"], strict=True)
    numbers = [
        str(seq // 1000) for host, event, kind, seq in kinds if (host, event, kind) == SENT_DATA
    ]
    assert len(numbers) == sent
    assert results.table("drops").num_rows == drops
    assert zlib.crc32(" ".join(numbers).encode()) == checksum
