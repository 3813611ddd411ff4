"""Runs of the BYU labs' network: two hosts, 10 Mbps, 10 ms, a buffer of 100 packets."""

from functools import lru_cache

from ackclock import Scenario, run

TAHOE = {"cc": "aimd", "recovery": {"kind": "tahoe", "guard": "none", "repeat": "once"}}


def scenario(flows=2, send="1 MB", tcp=None, link=None, gap_ms=0, **more):
    """Flows F1, F2, ... from n1 to n2 that start `gap_ms` after each other."""
    entries = [
        {
            "id": f"F{i + 1}",
            "from": "n1",
            "to": "n2",
            "send": send,
            "start": f"{i * gap_ms} ms",
            "tcp": tcp or TAHOE,
        }
        for i in range(flows)
    ]
    line = {
        "id": "L1",
        "between": ["n1", "n2"],
        "rate": "10 Mbps",
        "delay": "10 ms",
        "queue": {"kind": "droptail", "limit": "100 packets"},
    }
    document = {
        "name": "tests/lab",
        "title": "Flows of the labs",
        "profile": "bene",
        "hosts": ["n1", "n2"],
        "links": [line | (link or {})],
        "flows": entries,
        "stop": {"when": "flows-complete", "at_latest": "200 s"},
        "record": "all",
    }
    return Scenario.from_dict(document | more)


@lru_cache
def tahoe(flows=2, send="1 MB", gap_ms=0):
    """A run of Tahoe flows. Tests do not change it."""
    return run(scenario(flows, send, gap_ms=gap_ms))


@lru_cache
def window(segments):
    """A run of one flow of 514,520 bytes with a fixed window."""
    tcp = {
        "cc": {"kind": "fixed", "window": segments},
        "initial_window": segments,
        "recovery": "timeout",
    }
    return run(scenario(1, "514520 B", tcp))


@lru_cache
def timer():
    """A run that loses segment 3 on its way and two ACKs: the timer expires once."""
    tcp = {
        "initial_window": 3,
        "cc": {"kind": "fixed", "window": 3},
        "recovery": "timeout",
        "rto": {
            "kind": "rfc6298",
            "initial": "3 s",
            "min": "1 s",
            "max": "none",
            "floor": "variance",
            "variance_from": "new-srtt",
        },
        "timer_restart": "on-send",
    }
    losses = {
        "forward": {"loss": {"kind": "packets", "numbers": [3], "at": "entry"}},
        "backward": {"loss": {"kind": "packets", "numbers": [6, 9], "at": "entry"}},
    }
    return run(scenario(1, "10 kB", tcp, losses))
