"""The scenarios whose figures come with Ackclock."""

from __future__ import annotations

from typing import Any

from form import ALGORITHMS, Scenario, drawn, packets, scenario

ALL: list[Scenario] = []


def long(
    name: str, rate: float, rtt: float, flows: list[Any], duration: float, **other: Any
) -> None:
    """Add flows without end, of which means are taken."""
    ALL.append(scenario(name, rate, rtt, flows, duration, **other))


def short(name: str, flow: dict[str, Any], duration: float, rate: float = 10, **other: Any) -> None:
    """Add a transfer over an empty network of 100 ms, with a buffer that is never full."""
    ALL.append(
        scenario(
            name, rate, 100, [flow], duration, warmup=0, buffer_pkts=1000, kind="micro", **other
        )
    )


LAST = 277
"""Data packets of the 400,000 bytes that a vector sends."""


def vector(
    name: str, duration: float = 9, buffer: int = 1000, writes: str = "", **other: Any
) -> None:
    """Add a script of losses for each algorithm.

    The link has 12 Mbit/s (1 ms a packet) and 100 ms; each segment is acknowledged.
    """
    for cc in ALGORITHMS:
        if other.get("ecn_threshold_pkts") and cc == "bbr":
            continue  # does not ask for ECN
        flow = {"cc": cc, "writes": writes} if writes else {"cc": cc, "size": 400_000}
        ALL.append(
            scenario(
                f"v_{name}_{cc}", 12, 100, [flow], duration, warmup=0, buffer_pkts=buffer,
                kind="vector", ack="every", **other,
            )
        )  # fmt: skip


# One flow, drop-tail
for cc in ALGORITHMS:
    for size, tag in ((0.25, "b025"), (1, "b1"), (4, "b4")):
        long(f"s1_{cc}_10m_40ms_{tag}", 10, 40, [cc], 20, buffer_bdp=size)
    long(f"s1_{cc}_50m_20ms_b1", 50, 20, [cc], 20)
    long(f"s1_{cc}_1m_100ms_b1", 1, 100, [cc], 30)
    long(f"s1_{cc}_20m_200ms_b05", 20, 200, [cc], 30, buffer_bdp=0.5)
    long(f"s1_{cc}_50m_100ms_b1", 50, 100, [cc], 30)
    long(f"s1_{cc}_5m_10ms_b2", 5, 10, [cc], 15, buffer_bdp=2)

# One flow, random loss
for cc in ALGORITHMS:
    long(f"l1_{cc}_50m_50ms_p0.1", 50, 50, [cc], 30, buffer_bdp=2, loss=0.001)
    long(f"l1_{cc}_20m_40ms_p1", 20, 40, [cc], 30, buffer_bdp=2, loss=0.01)
    long(f"l1_{cc}_20m_20ms_p2", 20, 20, [cc], 30, buffer_bdp=2, loss=0.02)

# Several flows
for cc in ALGORITHMS:
    long(f"f2_{cc}_10m_40ms_b1_stag5", 10, 40, [cc, {"cc": cc, "start": 5.0}], 30, warmup=15)
    four = [{"cc": cc, "start": 2.0 * i} for i in range(4)]
    long(f"f4_{cc}_20m_40ms_b1_stag2", 20, 40, four, 30, warmup=12)
    far = [cc, {"cc": cc, "extra_rtt_ms": 60.0}]
    long(f"f2_{cc}_10m_rtt20_80_b1", 10, 20, far, 30, warmup=10, buffer_pkts=42)
for size, tag in ((0.5, "b05"), (1, "b1"), (4, "b4")):
    mixed = ["cubic", "bbr"]
    long(f"m2_cubic_bbr_10m_40ms_{tag}", 10, 40, mixed, 30, warmup=10, buffer_bdp=size)
long("m2_cubic_reno_10m_40ms_b1", 10, 40, ["cubic", "reno"], 30, warmup=10)
long("m2_cubic_reno_50m_100ms_b1", 50, 100, ["cubic", "reno"], 30, warmup=10)
long("m2_reno_bbr_10m_40ms_b1", 10, 40, ["reno", "bbr"], 30, warmup=10)

# Explicit congestion notification, marks from a number of waiting packets
for cc in ("reno", "cubic"):
    long(f"e1_{cc}_10m_40ms_k20", 10, 40, [cc], 20, buffer_pkts=200, ecn_threshold_pkts=20)

# Trains of segments, as hosts send by default, instead of one packet after the other
for cc in ALGORITHMS:
    long(f"g1_{cc}_10m_40ms_b025_gso", 10, 40, [cc], 20, buffer_bdp=0.25, gso_segs=0)
    long(f"g1_{cc}_50m_20ms_b1_gso", 50, 20, [cc], 20, gso_segs=0)

# Short transfers
for cc in ALGORITHMS:
    some = {"cc": cc, "size": 600_000}
    few = {"cc": cc, "size": 100_000}
    short(f"x_{cc}_fct_10k", {"cc": cc, "size": 10_000}, 3)
    short(f"x_{cc}_fct_100k", few, 3)
    short(f"x_{cc}_fct_1m", {"cc": cc, "size": 1_000_000}, 5)
    short(f"x_{cc}_drop1", some, 5, 50, drop=packets(120))
    short(f"x_{cc}_drop3", some, 5, 50, drop=packets(120, 125, 131))
    short(f"x_{cc}_lostretx", some, 5, 50, drop=packets(120), rdrop=packets(1))
    short(f"x_{cc}_tail1", few, 5, 50, drop=packets(70))
    short(f"x_{cc}_tail5", few, 5, 50, drop=packets(*range(66, 71)))
    short(f"x_{cc}_rto_flight", few, 8, 50, drop=packets(*range(31, 74)))
    short(f"x_{cc}_reorder", some, 5, 50, hold=["0:120:30000"])
    short(f"x_{cc}_idle", {"cc": cc, "writes": "0:400000,4:400000"}, 7, 50)

# What the receiver's delayed ACKs do: some of the above with each segment acknowledged
for cc in ALGORITHMS:
    for rate, rtt, size, tag in ((10, 40, 0.25, "b025"), (10, 40, 1, "b1"), (50, 20, 1, "b1")):
        name = f"a1_{cc}_{rate}m_{rtt}ms_{tag}_ackall"
        long(name, rate, rtt, [cc], 20, buffer_bdp=size, ack="every")

# Scripted losses
vector("00_none")
vector("01_drop1", drop=packets(40))
vector("02_drop3", drop=packets(40, 41, 42))
vector("03_drop_every4th", drop=packets(40, 44, 48, 52, 56))
vector("04_drop16_burst", drop=packets(*range(60, 76)))
vector("05_drop8_alternate", drop=packets(*range(60, 76, 2)))
vector("06_lost_retx", drop=packets(40), rdrop=packets(1))
vector("07_lost_retx3", drop=packets(40), rdrop=packets(1, 2, 3))
vector("08_tail1", drop=packets(LAST))
vector("09_tail3", drop=packets(LAST - 2, LAST - 1, LAST))
vector("10_tail1_probe_lost", drop=packets(LAST), rdrop=packets(1))
vector("11_reorder_3ms", hold=["0:40:3000"])
vector("12_reorder_20ms", hold=["0:40:20000"])
vector("13_reorder_60ms", hold=["0:40:60000"])
vector("14_reorder_twice", hold=["0:40:60000", "0:160:60000"])
vector("15_delay_spike_500ms", hold=[f"0:{i}:500000" for i in range(60, 131)])
vector("16_flight_lost", drop=packets(*range(31, 74)))
vector("17_first_lost", drop=packets(1))
vector("18_iw_lost", drop=packets(*range(1, 11)))
for number, share in ((1, 0.02), (2, 0.02), (3, 0.05), (4, 0.05), (5, 0.10)):
    lost = drawn(number * 7919, share, 11, LAST)
    vector(f"2{number}_random_{int(share * 100)}pct", 20, drop=packets(*lost))
vector("30_tailbuf20", buffer=20)
vector("31_tailbuf50", buffer=50)
vector("32_applimited", writes=",".join(f"{i / 10}:{14480}" for i in range(12)))
vector("33_idle_restart", writes="0:200000,3:200000")
vector("34_ackloss20", adrop=packets(*drawn(4242, 0.2, 2, 300)))
vector("35_ackloss50", adrop=packets(*drawn(777, 0.5, 2, 300)))
vector("36_ecn20", ecn_threshold_pkts=20)
