"""Slow start, losses and sharing: the congestion control lab of BYU CS 460."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

SEGMENT = 1000


def _queue(runs, name):
    return runs.of(name).summary["links"]["L1"]["forward"]["queue_packets"]


def _flow(runs, name, flow):
    return runs.of(name).summary["flows"][flow]


def _drops(runs, name):
    return float(sum(f["segments_dropped"] for f in runs.of(name).summary["flows"].values()))


def _first_loss_window(results):
    """Window in segments when the first packet is dropped."""
    from ackclock.metrics import cwnd_series, drop_times, step_at

    first = drop_times(results)[0]
    return float(step_at(*cwnd_series(results, "F1"), first)) / SEGMENT


def _facts(results):
    link = results.model["links"][0]["forward"]
    return {
        "rate_bps": link["rate_bps"],
        "delay_s": link["delay_ns"] / 1e9,
        "limit_packets": link["queue"]["limit_packets"],
    }


def _pipe(rate_bps, delay_s):
    return rate_bps / 8 / SEGMENT * 2 * delay_s


LAB = Lab(
    title="Slow start, losses, and sharing a link",
    about="What fills a queue, what a loss costs, and how the decrease after it decides the length of the queue.",
    minutes=60,
    scenarios={
        "one": "one.yaml",
        "two": "bene/two-flows",
        "aiad": "bene/aiad",
        "aimd": "bene/aimd",
        "rtt": "bene/competing-rtt",
    },
    source="The lab on congestion control of BYU CS 460, winter 2015; Heffner's report.",
    questions=[
        Number(
            name="both_drops",
            text="Run `two.yaml`: two flows that start together. How many packets are dropped?",
            unit="packets",
            value=lambda runs: _drops(runs, "two"),
            tolerance=0.0,
            because="it is counted",
            public=True,
            why="Slow start doubles until the queue overflows; the sender learns of it an RTT later.",
            mistakes=[
                Mistake(
                    lambda runs: float(_flow(runs, "two", "F1")["segments_dropped"]),
                    "That is F1 alone; packets of both count.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: float(_flow(runs, "two", "F2")["segments_dropped"]),
                    "That is F2 alone; packets of both count.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: float(
                        sum(_flow(runs, "two", f)["retransmissions"] for f in ("F1", "F2"))
                    ),
                    "Those are retransmissions; Tahoe retransmits more than was lost.",
                ),
            ],
        ),
        Number(
            name="spurious",
            text="How many retransmissions of the two flows were unnecessary, because the receiver "
            "already had the data? (`spurious_retransmissions`)",
            unit="packets",
            value=lambda runs: float(
                sum(_flow(runs, "two", f)["spurious_retransmissions"] for f in ("F1", "F2"))
            ),
            tolerance=0.0,
            because="it is counted",
            why="Tahoe goes back to the loss and retransmits everything after it.",
            mistakes=[
                Mistake(
                    lambda runs: float(
                        sum(_flow(runs, "two", f)["retransmissions"] for f in ("F1", "F2"))
                    ),
                    "Those are all retransmissions; some of them were needed.",
                ),
                *(
                    Mistake(
                        lambda runs, flow=flow: float(
                            _flow(runs, "two", flow)["spurious_retransmissions"]
                        ),
                        f"That is {flow} alone; those of both count.",
                        credit=0.5,
                    )
                    for flow in ("F1", "F2")
                ),
                Mistake(lambda runs: _drops(runs, "two"), "Those are the drops."),
            ],
        ),
        Number(
            name="aiad_queue",
            text="In `aiad.yaml` a loss costs a constant amount, in `aimd.yaml` a sixth of the "
            "window. What is the mean length of the queue with **AIAD**?",
            unit="packets",
            value=lambda runs: _queue(runs, "aiad")["mean"],
            tolerance=0.02,
            because="the table has it",
            why="Flows that give up only a constant amount keep the queue full.",
            mistakes=[
                Mistake(
                    lambda runs: _queue(runs, "aimd")["mean"], "That is with AIMD (`aimd.yaml`)."
                ),
                Mistake(
                    lambda runs: float(_queue(runs, "aiad")["max"]),
                    "That is the longest queue; the mean is asked for.",
                ),
            ],
        ),
        Number(
            name="far_finish",
            text="In `rtt.yaml` the first link of F1 has ten times the delay. How much later than F2 "
            "does F1 finish?",
            unit="s",
            value=lambda runs: (
                _flow(runs, "rtt", "F1")["finish_s"] - _flow(runs, "rtt", "F2")["finish_s"]
            ),
            tolerance=0.01,
            because="both times are in the table",
            why="The window grows once per round trip, and one of 222 ms is long.",
            mistakes=[
                Mistake(
                    lambda runs: _flow(runs, "rtt", "F1")["finish_s"],
                    "That is when F1 finishes; how much later than F2 is asked for.",
                    credit=0.5,
                ),
                Mistake(lambda runs: _flow(runs, "rtt", "F2")["finish_s"], "That is F2's finish."),
            ],
        ),
        Choice(
            name="cause",
            text="What slows F1 down in `rtt.yaml`?",
            options={
                "growth": "Its window grows once per round trip, and its round trips are long.",
                "losses": "It loses packets at the shared link.",
                "rate": "Its first link is slower.",
            },
            value=lambda runs: "growth" if _drops(runs, "rtt") == 0 else "losses",
            why="Nothing is lost in this run, and all links have 10 Mbps.",
            mistakes={
                "losses": "How many packets are dropped in this run?",
                "rate": "Compare the rates of AC and BC in the scenario.",
            },
        ),
        Formula(
            name="first_loss_window",
            text="`one.yaml` has one flow and a large file. Write a function that predicts its "
            "window, in segments of 1000 B, when the first packet is dropped.",
            arguments={
                "rate_bps": "rate of the link, bit/s",
                "delay_s": "its propagation delay, one way, seconds",
                "limit_packets": "packets that its queue holds",
            },
            returns="the window, in segments",
            scenario="one",
            facts=_facts,
            value=_first_loss_window,
            record=["cwnd", "drops"],
            tolerance=0.05,
            because="the packet in transmission and the last ACK add a packet or two",
            why="All of the window is in the pipe or in the queue: "
            "`rate · 2 delay + limit_packets`.",
            mistakes=[
                Mistake(
                    lambda rate_bps, delay_s, limit_packets: limit_packets,
                    "That is the queue; the pipe holds packets, too.",
                ),
                Mistake(
                    lambda rate_bps, delay_s, limit_packets: _pipe(rate_bps, delay_s),
                    "That is the pipe; the queue holds packets, too.",
                ),
                Mistake(
                    lambda rate_bps, delay_s, limit_packets: (
                        _pipe(rate_bps, delay_s) / 2 + limit_packets
                    ),
                    "A packet counts until its ACK is back: the pipe is as long as a round trip.",
                ),
                Mistake(
                    lambda rate_bps, delay_s, limit_packets: (
                        _pipe(rate_bps, delay_s) * SEGMENT / 1500 + limit_packets
                    ),
                    "Segments have 1000 B here, not 1500 B.",
                    credit=0.5,
                ),
                Mistake(
                    lambda rate_bps, delay_s, limit_packets: (
                        8 * _pipe(rate_bps, delay_s) + limit_packets
                    ),
                    "Bits over bytes: a byte has 8 bits.",
                ),
            ],
        ),
    ],
)
