"""Example test cases of draft-ietf-ccwg-bbr (appendix), by their numbers, as runs over one link.

10, 15 and 21 are in `test_bbr3.py`. A flow's phases are what the records say of its window, and its
gains those of its pace.
"""

import numpy as np
import pytest
from test_congestion_laws import MSS, PACKET, one_link

import ackclock

RECORD = ["window_rules", "tcp_info", "queue"]
PAYLOAD = MSS / PACKET


def phases(results):
    """Return (phase, begin) for each spell of one phase; recoveries do not count."""
    table = results.table("window_rules").to_pandas()
    rules = table[table.rule.astype(str).str.startswith("bbr-") & (table.rule != "bbr-recovery")]
    spells = []
    for time_s, rule in zip(rules.time_s, rules.rule.astype(str), strict=True):
        if not spells or spells[-1][0] != rule:
            spells.append((rule, float(time_s)))
    return spells


def names(results):
    return [phase.removeprefix("bbr-") for phase, _ in phases(results)]


def paces(results, rate_mbps):
    """Return times, and paces in parts of the link's payload."""
    table = results.table("tcp_info").to_pandas()
    return table.time_s.to_numpy(), table.pacing_rate_bps.to_numpy() / (rate_mbps * 1e6 * PAYLOAD)


def with_source(source, *, rate_mbps=100, end_s=30, loss=None, burst=None):
    """Run a flow whose application says when it writes."""
    forward = {"queue": burst or {"limit": "unlimited"}, **({"loss": loss} if loss else {})}
    link = {"rate": f"{rate_mbps} Mbps", "delay": "20 ms", "forward": forward}
    document = {
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], **link}],
        "flows": [{"id": "F0", "from": "A", "to": "B", "tcp": {"cc": "bbr3", "source": source}}],
        "stop": {"when": "time", "at_latest": f"{end_s} s"},
        "record": dict.fromkeys([*RECORD, "transmissions"], "changes"),
    }
    return ackclock.run(ackclock.Scenario.from_dict(document))


def test_1_startup_ends_on_a_plateau():
    results = one_link(20, 40, {"cc": "bbr3"}, end_s=2, record=RECORD)
    assert names(results)[:3] == ["startup", "drain", "probe-bw"]
    exit_s = phases(results)[1][1]
    table = results.table("tcp_info").to_pandas()
    before = table[table.time_s <= exit_s]
    # The rate is known to 2 %, and for three round trips it has not grown by a quarter.
    greatest = before.delivery_rate_bps.max() / (20e6 * PAYLOAD)
    assert greatest == pytest.approx(1, abs=0.02)
    known = before.time_s[before.delivery_rate_bps >= 0.8 * 20e6 * PAYLOAD].min()
    assert 3 * 0.04 <= exit_s - known <= 8 * 0.04


def test_3_drain_paces_at_half_until_the_queue_is_gone():
    results = one_link(20, 40, {"cc": "bbr3"}, end_s=2, record=RECORD)
    time_s, pace = paces(results, 20)
    # Before the handshake has measured a round-trip time the pace is that of 1 ms.
    known = time_s > 0.1
    time_s, pace = time_s[known], pace[known]
    fastest = time_s[np.nanargmax(pace)]
    drain = time_s[(np.abs(pace / (0.5 * 0.99) - 1) < 0.03) & (time_s > fastest)]
    begin, end = drain[0], drain[-1]
    # It follows Startup, and takes out at half the rate what is more than the path holds.
    assert pace[time_s < begin][-1] > 2.5
    assert 0.04 < end - begin < 4 * 0.04
    queue = results.table("queue").to_pandas()
    mine = queue[(queue.link == "L") & (queue.direction == "forward") & (queue.time_s <= end)]
    assert mine.queue_packets.max() > 30
    assert mine.queue_packets.iloc[-1] <= 0.1 * 20e6 * 0.04 / 8 / PACKET


def test_7_and_20_an_application_that_limits_it_keeps_it_in_startup():
    """Only ProbeRTT interrupts, and leads back to Startup."""
    results = with_source({"kind": "cbr", "rate": "2 Mbps"})
    seen = names(results)
    assert set(seen) == {"startup", "probe-rtt"}
    assert seen[:3] == ["startup", "probe-rtt", "startup"]


def test_8_a_probe_is_followed_by_nine_tenths_and_then_by_the_rate():
    results = one_link(20, 40, {"cc": "bbr3"}, end_s=9, record=RECORD)
    time_s, pace = paces(results, 20)
    late = pace[time_s > 2]
    for gain in (1.25, 0.9, 1.0):
        assert (np.abs(late / (0.99 * gain) - 1) < 0.01).mean() > 0.03, gain
    assert (late < 0.85).sum() == 0 or names(results).count("probe-rtt") > 0


def test_11_no_probe_for_the_round_trip_time_after_an_idle_time():
    """Silence of 7 s has shown the empty path already."""
    on_off = {"kind": "on-off", "rate": "50 Mbps", "on": "3 s", "off": "7 s"}
    results = with_source(on_off, end_s=28)
    assert "probe-rtt" not in names(results)


def test_14_a_path_that_holds_less_than_a_packet():
    results = one_link(0.064, 10, {"cc": "bbr3"}, end_s=120, record=["cwnd", *RECORD])
    rate = results.summary["flows"]["F0"]["goodput_bps"]
    assert rate > 0.9 * 64e3 * PAYLOAD
    cwnd = results.table("cwnd").to_pandas()
    # The initial window takes 1.9 s, so that the timer expires before its end.
    assert cwnd.cwnd_bytes[cwnd.time_s > 5].min() >= 4 * MSS


def test_16_a_tenth_of_the_rate_is_found_within_two_cycles():
    document = {
        "hosts": ["A", "B"],
        "links": [
            {
                "id": "L",
                "between": ["A", "B"],
                "rate": "100 Mbps",
                "delay": "20 ms",
                "queue": {"limit": "330 packets"},
                "changes": [{"at": "6 s", "rate": "10 Mbps"}],
            }
        ],
        "flows": [{"id": "F0", "from": "A", "to": "B", "tcp": {"cc": "bbr3"}}],
        "stop": {"when": "time", "at_latest": "20 s"},
        "record": dict.fromkeys(["drops", *RECORD], "changes"),
    }
    results = ackclock.run(ackclock.Scenario.from_dict(document))
    time_s, pace = paces(results, 10)
    assert pace[(time_s > 5) & (time_s < 6)].max() > 8
    # Two cycles take 8 s at most; after that the pace is that of the link, but for probes.
    assert np.median(pace[time_s > 15]) == pytest.approx(0.99, abs=0.05)
    drops = results.table("drops").to_pandas()
    assert (drops.time_s > 15).sum() < 0.02 * 5 * 10e6 / 8 / PACKET


def test_17_a_policer_costs_little_once_its_bucket_is_empty():
    policer = {"kind": "policer", "rate": "10 Mbps", "burst": "60 kB"}
    results = with_source("bulk", burst=policer, end_s=20)
    flow = results.summary["flows"]["F0"]
    assert flow["goodput_bps"] > 0.85 * 10e6 * PAYLOAD
    assert flow["segments_dropped"] / flow["segments_sent"] < 0.08
