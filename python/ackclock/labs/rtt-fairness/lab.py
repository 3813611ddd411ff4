"""Unequal round-trip times: who gets less, and by how much."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number


def _flow(runs, name, flow):
    return runs.of(name).summary["flows"][flow]


def _ratio(runs, name):
    near, far = (_flow(runs, name, flow)["goodput_bps"] for flow in ("near", "far"))
    return near / far


def _rtt(runs, flow, what="mean", of="reno"):
    return _flow(runs, of, flow)["rtt_s"][what]


def _facts(results):
    flow, link = results.model["flows"][0], results.model["links"][0]["forward"]
    sizes = flow["tcp"]["segment_bytes"] + flow["tcp"]["header_bytes"] + flow["tcp"]["ack_bytes"]
    return {
        "rtt_s": 2 * link["delay_ns"] / 1e9 + sizes * 8 / link["rate_bps"],
        "loss": link["loss"]["p"],
        "segment_bytes": flow["tcp"]["segment_bytes"],
    }


def _mathis(rtt_s, loss, segment_bytes):
    return segment_bytes * 8 / rtt_s * (1.5 / loss) ** 0.5


LAB = Lab(
    title="Unequal round-trip times",
    about="Why a far flow gets less than a near one, and what CUBIC changes about it.",
    minutes=60,
    scenarios={
        "reno": "teach/rtt-unfairness-reno",
        "cubic": "teach/rtt-unfairness-cubic",
        "random-loss": "random-loss.yaml",
    },
    source="Lakshman and Madhow, ToN 5(3), 1997; Mathis and others, CCR 27(3), 1997; RFC 9438.",
    questions=[
        Number(
            name="reno_ratio",
            text="Run `reno.yaml`. What is the ratio of the goodput of `near` to that of `far`?",
            unit="",
            value=lambda runs: _ratio(runs, "reno"),
            tolerance=0.03,
            because="a quotient of two figures that are read off a table",
            public=True,
            why="Both lose packets at about the same times. In between, near has more round trips: its "
            "window grows more often, and is sent more often. So rates go as RTT to the power of -2.",
            mistakes=[
                Mistake(
                    lambda runs: 1 / _ratio(runs, "reno"),
                    "That is far over near; near over far is asked for.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: _ratio(runs, "cubic"), "That is the ratio of the CUBIC flows."
                ),
                Mistake(
                    lambda runs: 4.0, "That is the ratio of the round-trip times without a queue."
                ),
            ],
        ),
        Number(
            name="cubic_ratio",
            text="What is the same ratio for CUBIC (`cubic.yaml`)?",
            unit="",
            value=lambda runs: _ratio(runs, "cubic"),
            tolerance=0.03,
            because="a quotient of two figures that are read off a table",
            why="CUBIC grows with the time since the last loss, not with round trips.",
            mistakes=[
                Mistake(
                    lambda runs: 1 / _ratio(runs, "cubic"),
                    "That is far over near; near over far is asked for.",
                    credit=0.5,
                ),
                Mistake(lambda runs: _ratio(runs, "reno"), "That is the ratio of the Reno flows."),
            ],
        ),
        Number(
            name="near_rtt",
            text="What is the mean round-trip time of `near` in the Reno run, including the time in "
            "the queue?",
            unit="ms",
            value=lambda runs: _rtt(runs, "near"),
            tolerance=0.02,
            because="the summary has it",
            why="20 ms of the path, and about 18 ms of the queue.",
            mistakes=[
                Mistake(
                    lambda runs: _rtt(runs, "near", "min"),
                    "That is the minimum round-trip time, without the wait.",
                ),
                Mistake(
                    lambda runs: _rtt(runs, "near", "max"),
                    "That is the largest round-trip time; the mean is asked for.",
                ),
                Mistake(lambda runs: _rtt(runs, "far"), "That is the other flow's."),
                Mistake(lambda runs: _rtt(runs, "near", of="cubic"), "That is in the CUBIC run."),
                Mistake(
                    lambda runs: _rtt(runs, "near") / 2,
                    "A round trip goes there and back: this is half of it.",
                ),
            ],
        ),
        Number(
            name="squared",
            text="Theory says: with losses at the same times, rates are proportional to RTT⁻². What "
            "ratio of the goodputs does that give for the two Reno flows, with the **mean** round-trip times of the run?",
            unit="",
            value=lambda runs: (_rtt(runs, "far") / _rtt(runs, "near")) ** 2,
            tolerance=0.04,
            because="the square doubles the error of the round-trip times",
            why="It is close to what the run gives: the queue counts in both round-trip times.",
            mistakes=[
                Mistake(
                    lambda runs: 16.0,
                    "That uses the round-trip times without the wait (20 and 80 ms). The wait is "
                    "part of a round trip.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: _rtt(runs, "far") / _rtt(runs, "near"),
                    "That is the ratio of the round-trip times; its square is asked for.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: (_rtt(runs, "near") / _rtt(runs, "far")) ** 2,
                    "That is the inverse.",
                ),
                Mistake(
                    lambda runs: (
                        (_rtt(runs, "far", of="cubic") / _rtt(runs, "near", of="cubic")) ** 2
                    ),
                    "That uses the round-trip times of the CUBIC run.",
                ),
            ],
        ),
        Choice(
            name="random",
            text="`random-loss.yaml` loses packets at random, so two flows would not lose at the "
            "same times. Run it with `--set 'links.path.delay=20 ms'` and `'40 ms'`. How does the "
            "goodput of Reno depend on the round-trip time here?",
            options={
                "inverse": "as RTT⁻¹",
                "square": "as RTT⁻²",
                "none": "it does not depend on it",
            },
            value=lambda runs: (
                "inverse"
                if 1.5
                < runs.of("random-loss").summary["flows"]["F1"]["goodput_bps"]
                / runs.of("random-loss", {"links.path.delay": "40 ms"}).summary["flows"]["F1"][
                    "goodput_bps"
                ]
                < 2.7
                else "square"
            ),
            why="With a fixed loss rate, the mean *window* is the same for any "
            "round-trip time; the rate is window over RTT.",
            mistakes={
                "square": "Twice the round-trip time would then give a quarter of the rate. What do "
                "the two runs give?",
                "none": "Compare the goodputs of the two runs.",
            },
        ),
        Formula(
            name="reno_rate",
            text="Write a function that predicts the goodput of Reno on such a path.",
            arguments={
                "rtt_s": "round-trip time of the path, seconds",
                "loss": "probability that a packet is lost",
                "segment_bytes": "payload of a segment, bytes",
            },
            returns="goodput, in bit/s",
            scenario="random-loss",
            facts=_facts,
            value=lambda results: results.summary["flows"]["F1"]["goodput_bps"],
            tolerance=0.17,
            because="the formula leaves out slow start and timeouts, and a run has a few hundred "
            "losses, whose number is a matter of chance",
            why="Mathis and others 1997: `segment / rtt * sqrt(3 / (2 loss))`.",
            mistakes=[
                Mistake(
                    lambda **of: _mathis(**of) / 8,
                    "That is in bytes per second; bit/s are asked for.",
                ),
                Mistake(
                    lambda rtt_s, loss, segment_bytes: _mathis(rtt_s, loss, 1),
                    "The segment is missing: windows count segments, rates count bits.",
                ),
                Mistake(
                    lambda rtt_s, loss, segment_bytes: segment_bytes * 8 / rtt_s * 1.5 / loss,
                    "The square root is missing.",
                ),
                Mistake(
                    lambda rtt_s, loss, segment_bytes: (
                        segment_bytes * 8 / rtt_s * (0.75 / loss) ** 0.5
                    ),
                    "That is the formula for a receiver that answers every second segment to a sender "
                    "that counts ACKs. This sender counts bytes.",
                    credit=0.5,
                ),
                Mistake(
                    lambda rtt_s, loss, segment_bytes: segment_bytes * 8 / rtt_s / loss**0.5,
                    "The constant is missing, which comes from the mean of the sawtooth.",
                    credit=0.5,
                ),
            ],
        ),
    ],
)
