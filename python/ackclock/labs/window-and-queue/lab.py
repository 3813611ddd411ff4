"""The receiver's window and the queue: the grid of the ns-3 lab."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

SMALL = {"flows.F1.tcp.receive_window": "2000 B"}
MIDDLE = {"flows.F1.tcp.receive_window": "8000 B"}
SHORT = {**MIDDLE, "defaults.link.queue.limit": "2000 B"}
TAHOE = {"flows.F1.tcp.recovery": "tahoe", "flows.F1.tcp.cc.decrease_from": "cwnd"}
GUARD = {"flows.F1.tcp.recovery.guard": "recover"}


def _flow(runs, changes=None):
    return runs.of("one-flow", changes).summary["flows"]["F1"]


def _rate(runs, changes=None):
    """Goodput until the end of the run, in bit/s."""
    return 8 * _flow(runs, changes)["goodput_to_end_bytes_per_s"]


def _facts(results):
    tcp = results.model["flows"][0]["tcp"]
    rates = {link["id"]: link["forward"]["rate_bps"] for link in results.model["links"]}
    return {
        "window_bytes": tcp["receive_window_bytes"],
        "segment_bytes": tcp["segment_bytes"],
        "header_bytes": tcp["header_bytes"],
        "rtt_s": results.summary["flows"]["F1"]["path_rtt_s"],
        "rate_bps": rates["bottleneck"],
    }


def _by_rate(rate_bps, segment_bytes, header_bytes):
    return rate_bps * segment_bytes / (segment_bytes + header_bytes)


def _two_bounds(window_bytes, segment_bytes, header_bytes, rtt_s, rate_bps):
    # Whole segments only fit into the window.
    window = window_bytes // segment_bytes * segment_bytes
    return min(window * 8 / rtt_s, _by_rate(rate_bps, segment_bytes, header_bytes))


LAB = Lab(
    title="The receiver's window and the queue",
    about="Two bounds of a rate, and how a simulator can decide who wins.",
    minutes=60,
    scenarios={"one-flow": "ns3/lab-one-flow"},
    source="Ravuri, Lab 1 report, ECE 6110, Georgia Institute of Technology, 2016.",
    questions=[
        Number(
            name="small_window",
            text="Run `one-flow.yaml` with a receiver's window of 2000 B "
            "(`--set 'flows.F1.tcp.receive_window=2000 B'`). What is the goodput until the end of "
            "the run (`goodput_to_end_bytes_per_s`)?",
            unit="kB/s",
            value=lambda runs: _rate(runs, SMALL),
            tolerance=0.01,
            because="the table has it",
            public=True,
            why="At most 1920 B, the whole segments in 2000 B, each round trip of 82.6 ms; the receiver "
            "answers every second segment, and the fifteenth of a window waits for its pair.",
            mistakes=[
                Mistake(lambda runs: _rate(runs), "That is with the window of 64000 B as shipped."),
                Mistake(
                    lambda runs: 8 * 2000 / _flow(runs, SMALL)["path_rtt_s"],
                    "That is the formula window over RTT. What does the run give, and why less?",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: 8 * 15 * 128 / _flow(runs, SMALL)["path_rtt_s"],
                    "That is the formula, with whole segments. What does the run give, and why less?",
                    credit=0.5,
                ),
            ],
        ),
        Number(
            name="bottleneck_bound",
            text="With 8000 B the window is no longer the bound. What goodput does a bottleneck of "
            "1 Mbps allow for segments of 128 B with 54 B of headers?",
            unit="kB/s",
            value=lambda runs: 1e6 * 128 / (128 + 54),
            tolerance=0.01,
            because="it is computed",
            why="Of each 182 B on the wire 128 B are payload: 87.9 kB/s.",
            mistakes=[
                Mistake(
                    lambda runs: 1e6, "The headers cross the link as well: 54 B on each 128 B."
                ),
                Mistake(
                    lambda runs: 1e6 * 54 / 182,
                    "That is the share of the headers.",
                ),
                Mistake(
                    lambda runs: _rate(runs, MIDDLE),
                    "That is what the run gives. It includes slow start and the handshake, so it is "
                    "less than the bound.",
                    credit=0.5,
                ),
            ],
        ),
        Number(
            name="short_queue",
            text="Keep the window of 8000 B and shorten all queues to 2000 B "
            "(`--set 'defaults.link.queue.limit=2000 B'`). How many packets are dropped?",
            unit="packets",
            value=lambda runs: float(_flow(runs, SHORT)["segments_dropped"]),
            tolerance=0.0,
            because="it is counted",
            why="A burst of slow start does not fit, and goodput falls to a third.",
            mistakes=[
                Mistake(
                    lambda runs: float(_flow(runs)["segments_dropped"]),
                    "That is the run as shipped, with a window and queues of 64000 B.",
                ),
                Mistake(
                    lambda runs: 0.0, "With queues of 64000 B nothing is lost; these hold 2000."
                ),
            ],
        ),
        Number(
            name="tahoe",
            text="As shipped, Reno gets 59.4 kB/s. What does Tahoe get "
            "(`--set flows.F1.tcp.recovery=tahoe --set flows.F1.tcp.cc.decrease_from=cwnd`)?",
            unit="kB/s",
            value=lambda runs: _rate(runs, TAHOE),
            tolerance=0.01,
            because="the table has it",
            why="The published figure, to the byte.",
            mistakes=[
                Mistake(lambda runs: _rate(runs), "That is Reno, as shipped."),
                Mistake(
                    lambda runs: _rate(runs, {**TAHOE, **GUARD}),
                    "That is Tahoe with the guard of RFC 6582, which is the next question.",
                ),
            ],
        ),
        Choice(
            name="with_guard",
            text="Neither sender of ns-3.24 checks whether three duplicate ACKs mean a new loss. Give "
            "both the guard of RFC 6582: add `--set flows.F1.tcp.recovery.guard=recover` to both "
            "runs. Which has the higher goodput now?",
            options={"reno": "Reno", "tahoe": "Tahoe", "equal": "They are equal within 1 %."},
            value=lambda runs: (
                "tahoe" if _rate(runs, {**TAHOE, **GUARD}) > 1.01 * _rate(runs, GUARD) else "reno"
            ),
            why="The published order is a property of the simulator, not of TCP.",
            mistakes={
                "reno": "That is the order without the guard. Run both with it.",
                "equal": "Run both with the guard: they differ by more than a tenth.",
            },
        ),
        Formula(
            name="goodput",
            text="Write a function for the goodput of a flow that loses nothing, to a receiver that "
            "answers each segment at once: the smaller of two bounds.",
            arguments={
                "window_bytes": "the receiver's window, bytes",
                "segment_bytes": "payload of a segment, bytes",
                "header_bytes": "headers of a segment, bytes",
                "rtt_s": "round-trip time where nothing waits, seconds",
                "rate_bps": "rate of the bottleneck, bit/s",
            },
            returns="goodput, in bit/s",
            scenario="one-flow",
            facts=_facts,
            value=lambda results: results.summary["flows"]["F1"]["goodput_bps"],
            tolerance=0.09,
            because="slow start and the handshake are a part of the ten seconds",
            why="`min(window / rtt, rate · segment / (segment + header))`, with the window in whole "
            "segments.",
            mistakes=[
                Mistake(
                    lambda **of: _two_bounds(**of) / 8,
                    "That is in bytes per second; bit/s are asked for.",
                ),
                Mistake(
                    lambda window_bytes, rtt_s, **of: min(window_bytes * 8 / rtt_s, _by_rate(**of)),
                    "Only whole segments fit into the window.",
                    credit=0.5,
                ),
                Mistake(
                    lambda window_bytes, rtt_s, **of: window_bytes * 8 / rtt_s,
                    "A large window does not make the link faster: there is a second bound.",
                ),
                Mistake(
                    lambda rate_bps, **of: rate_bps,
                    "Headers cross the link as well, and they are no goodput.",
                ),
                Mistake(
                    lambda window_bytes, rtt_s, **of: _by_rate(**of),
                    "A small window leaves the link idle: there is a second bound.",
                ),
            ],
        ),
    ],
)
