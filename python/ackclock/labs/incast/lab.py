"""Incast: many answers at once, through the last port of a switch."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

DCTCP = {
    "flows.A.tcp": "linux-dctcp",
    "topology.bottleneck.queue": {
        "kind": "threshold",
        "limit": "128 KiB",
        "mark_from": "20 packets",
    },
}
COUNTS = (4, 8, 12, 16, 24, 32)


def _servers(count, more=None):
    return {"topology.leaves": count, "flows.A.count": count, **(more or {})}


def _flows(results):
    return list(results.summary["flows"].values())


def _slowest(results):
    return max(flow["finish_s"] for flow in _flows(results))


def _first(results):
    return min(flow["finish_s"] for flow in _flows(results))


def _timeouts(results):
    return sum(flow["timeouts"] for flow in _flows(results))


def _ideal(servers, answer_bytes, rate_bps):
    return servers * answer_bytes * 1500 / 1448 * 8 / rate_bps


def _collapse(runs):
    return next(n for n in COUNTS if _timeouts(runs.of("incast", _servers(n))) > 0)


def _facts(results):
    rates = {link["id"]: link["forward"]["rate_bps"] for link in results.model["links"]}
    flows = results.model["flows"]
    return {
        "servers": len(flows),
        "answer_bytes": flows[0]["send_bytes"],
        "rate_bps": rates["bottleneck"],
    }


LAB = Lab(
    title="Incast and DCTCP",
    about="Why a data centre needs short queues: one lost window costs twenty times the whole transfer.",
    minutes=75,
    scenarios={"incast": "incast.yaml"},
    source="Phanishayee and others, FAST 2008; Alizadeh and others, SIGCOMM 2010; RFC 8257.",
    questions=[
        Number(
            name="slowest",
            text="Run `incast.yaml`: 16 servers. When has the slowest answer arrived?",
            unit="ms",
            value=lambda runs: _slowest(runs.of("incast")),
            tolerance=0.02,
            because="the table has it",
            public=True,
            why="15 servers are done after 8 ms. One loses its whole first window, and waits 200 ms for the "
            "retransmission timeout.",
            mistakes=[
                Mistake(
                    lambda runs: _first(runs.of("incast")),
                    "That is the fastest answer; the slowest is asked for.",
                ),
                Mistake(
                    lambda runs: sum(f["finish_s"] for f in _flows(runs.of("incast"))) / 16,
                    "That is the mean over the servers; the slowest is asked for.",
                ),
                Mistake(lambda runs: _slowest(runs.of("incast", DCTCP)), "That is with DCTCP."),
            ],
        ),
        Number(
            name="ideal",
            text="How long does the port need to transmit all 16 answers, with 52 B of headers "
            "on each segment of 1448 B?",
            unit="ms",
            value=lambda runs: _ideal(**_facts(runs.of("incast"))),
            tolerance=0.015,
            because="headers are 3.6 %: an answer without them is outside",
            why="16 · 64 KiB · 1500/1448 · 8 / 1 Gbps.",
            mistakes=[
                Mistake(
                    lambda runs: 16 * 65536 * 8 / 1e9,
                    "The headers are missing: 52 B on each 1448 B.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: _ideal(1, 65536, 1e9), "That is one answer; there are 16 of them."
                ),
                Mistake(
                    lambda runs: _ideal(16, 65536, 10e9),
                    "The port has 1 Gbps; 10 Gbps is the rate of the servers' links.",
                ),
            ],
        ),
        Number(
            name="collapse",
            text="Vary the number of servers: 4, 8, 12, 16, 24, 32 "
            "(`--set topology.leaves=4 --set flows.A.count=4`). What is the smallest of these at which "
            "a retransmission timeout occurs?",
            unit="",
            value=_collapse,
            tolerance=0.0,
            because="it is one of six numbers",
            least=1.0,
            most=100.0,
            why="A server loses its whole first window and the tail loss probe: no ACK shows the gap, only the "
            "timer does.",
            mistakes=[
                Mistake(
                    lambda runs: next(
                        n
                        for n in COUNTS
                        if runs.of("incast", _servers(n)).summary["packets_dropped"]["queue-full"]
                    ),
                    "There are drops, but no timeout: fast retransmit repairs them.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: 8.0,
                    "There are drops, but no timeout: fast retransmit repairs them.",
                ),
                *(
                    Mistake(
                        lambda runs, count=count: float(count),
                        "There are timeouts with fewer servers: look at `timeouts`.",
                    )
                    for count in (16, 24, 32)
                ),
            ],
        ),
        Number(
            name="dctcp",
            text="Give the switch a queue that marks, and the servers DCTCP. When has "
            "the slowest of 16 answers arrived?",
            unit="ms",
            value=lambda runs: _slowest(runs.of("incast", DCTCP)),
            tolerance=0.02,
            because="the table has it",
            why="Close to the ideal. One server loses its whole first window here, too, but marks have "
            "shortened the queue by the time of its tail loss probe, which gets through.",
            mistakes=[
                Mistake(
                    lambda runs: _slowest(runs.of("incast")),
                    "That is without marks. Is `tcp` of the flows linux-dctcp, and does the queue mark?",
                ),
                Mistake(
                    lambda runs: _slowest(runs.of("incast", _servers(64, DCTCP))),
                    "That is with 64 servers.",
                ),
            ],
        ),
        Choice(
            name="limits",
            text="Try DCTCP with 64 servers. Why does it fail?",
            options={
                "first_windows": "The first windows alone, ten segments of each server, are more than "
                "the buffer holds.",
                "marks": "The marks are lost.",
                "rate": "The port is too slow for that much data.",
            },
            value=lambda runs: (
                "first_windows"
                if _timeouts(runs.of("incast", _servers(64, DCTCP))) > 0 and 64 * 10 * 1500 > 131072
                else "rate"
            ),
            why="640 segments are 960 kB: some servers lose their whole first window and the probe. A mark "
            "can slow down a sender only after its first window.",
            mistakes={
                "marks": "Marks travel on the data packets and come back on ACKs; look at what is "
                "dropped, and when.",
                "rate": "The port needs 35 ms for all of it. How long does the run take?",
            },
        ),
        Formula(
            name="completion",
            text="Write a function that predicts when the slowest answer has arrived, **with DCTCP** "
            "and as long as the buffer holds the first windows.",
            arguments={
                "servers": "number of servers",
                "answer_bytes": "length of an answer, bytes",
                "rate_bps": "rate of the port, bit/s",
            },
            returns="the time, in seconds",
            scenario="incast",
            facts=_facts,
            value=_slowest,
            tolerance=0.08,
            because="the first packets and the last ACK take some round trips of 40 µs, and a "
            "few retransmissions cost another",
            why="`servers * answer_bytes * 1500 / 1448 * 8 / rate_bps`: the port is never idle.",
            mistakes=[
                Mistake(
                    lambda servers, answer_bytes, rate_bps: answer_bytes * 8 / rate_bps,
                    "That is one answer: all of them share the port.",
                ),
                Mistake(
                    lambda servers, answer_bytes, rate_bps: servers * answer_bytes / rate_bps,
                    "Bytes over bits per second: a byte has 8 bits.",
                ),
            ],
        ),
    ],
)
