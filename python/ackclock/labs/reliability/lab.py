"""Reliable transport over a lossy link: timers, as in the lab of BYU CS 460."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

COUNT = 1000
NO_LOSS = {"links.L1.loss.p": 0}
HALF = {"links.L1.loss.p": 0.5}


def _times(runs, name, changes=None):
    return runs.replicated(name, COUNT, changes).arrays["finish_s"][:, 0]


def _quantile(runs, name, share, changes=None):
    times = sorted(_times(runs, name, changes).tolist())
    place = share * (len(times) - 1)
    low = times[int(place)]
    return low + (place - int(place)) * (times[min(int(place) + 1, len(times) - 1)] - low)


def _median(runs, name, changes=None):
    return _quantile(runs, name, 0.5, changes)


def _mean(runs, name, changes=None):
    return float(_times(runs, name, changes).mean())


def _samples(runs):
    rows = runs.of("dynamic", NO_LOSS, record=["rto"]).table("rto").to_pylist()
    return [row for row in rows if row["event"] == "sample"]


def _facts(results):
    link, flow = results.model["links"][0]["forward"], results.model["flows"][0]
    return {
        "segments": flow["send_bytes"] // flow["tcp"]["segment_bytes"],
        "window": flow["tcp"]["cc"]["window"],
        "rate_bps": link["rate_bps"],
        "delay_s": link["delay_ns"] / 1e9,
    }


def _finish(segments, window, rate_bps, delay_s):
    return _in_rounds(segments, window, rate_bps, delay_s, window * 8000 / rate_bps)


def _in_rounds(segments, window, rate_bps, delay_s, least=0.0):
    """With a window per round trip, which takes this long at least."""
    one = 8000 / rate_bps
    rounds, rest = divmod(segments - 1, window)
    return rounds * max(2 * delay_s + one, least) + (rest + 1) * one + delay_s


LAB = Lab(
    title="Reliable transport: fixed and adaptive timers",
    about="What losses cost when only a timer repairs them, and how to speak about random times.",
    minutes=75,
    scenarios={"fixed": "bene/reliability-text-fixed", "dynamic": "bene/reliability-text-dynamic"},
    source="The lab on reliable transport of BYU CS 460, winter 2016; Elison and Eklund's report.",
    questions=[
        Number(
            name="without_loss",
            text="Ten segments of 1000 B, a window of three, 10 Mbps, 10 ms. When has the last byte "
            "**arrived** if nothing is lost (`--set links.L1.loss.p=0`)?",
            unit="ms",
            value=lambda runs: runs.of("fixed", NO_LOSS).summary["flows"]["F1"]["finish_s"],
            tolerance=0.005,
            because="nothing is random here",
            public=True,
            why="Three round trips of 20.8 ms, and the tenth segment's way: 0.8 ms and 10 ms.",
            mistakes=[
                Mistake(
                    lambda runs: runs.of("fixed", NO_LOSS).summary["flows"]["F1"]["finish_ack_s"],
                    "That is when the last ACK is back at the sender; the last byte arrives before.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: 10 * 8000 / 10e6 + 0.010,
                    "That is with a window that is large enough; this one is three segments.",
                ),
            ],
        ),
        Number(
            name="fixed_median",
            text="With a loss of 10 %, what is the **median** time of the transfer with the fixed "
            "timer? (`ackclock replicate fixed.yaml --count 1000`)",
            unit="s",
            value=lambda runs: _median(runs, "fixed"),
            tolerance=0.01,
            because="with 1000 runs the 95 % interval of this median is a single value: times come "
            "in steps of whole timeouts",
            why="Half of the runs have at most one timeout of a second.",
            mistakes=[
                Mistake(
                    lambda runs: _mean(runs, "fixed"),
                    "That is the mean; the median is asked for.",
                ),
                Mistake(
                    lambda runs: _median(runs, "fixed", NO_LOSS),
                    "That is the time without losses.",
                ),
                Mistake(
                    lambda runs: _quantile(runs, "fixed", 0.95),
                    "That is the 95 % quantile.",
                ),
                Mistake(lambda runs: _median(runs, "dynamic"), "That is with the adaptive timer."),
            ],
        ),
        Number(
            name="tail",
            text="One in twenty transfers with the fixed timer takes at least how long (the 95 % "
            "quantile)?",
            unit="s",
            value=lambda runs: _quantile(runs, "fixed", 0.95),
            tolerance=0.04,
            because="with 1000 runs a 95 % quantile is known to a few per cent",
            why="Three timeouts.",
            mistakes=[
                Mistake(
                    lambda runs: _median(runs, "fixed"), "That is the median: half of them do."
                ),
                Mistake(
                    lambda runs: float(_times(runs, "fixed").max()),
                    "That is the longest of all.",
                ),
                Mistake(
                    lambda runs: _quantile(runs, "fixed", 0.05),
                    "That is the quick end: 95 % take longer.",
                ),
                Mistake(
                    lambda runs: _quantile(runs, "dynamic", 0.95),
                    "That is with the adaptive timer.",
                ),
            ],
        ),
        Number(
            name="second_rto",
            text="The adaptive timer starts at 3 s. What is it after the **second** sample of the "
            "round-trip time, without loss? (`ackclock run dynamic.yaml --set links.L1.loss.p=0`, "
            "table `rto`)",
            unit="s",
            value=lambda runs: _samples(runs)[1]["rto_s"],
            tolerance=0.00004,
            because="four decimals distinguish it from the first and the third",
            why="The variation is floored at a second, so it is srtt + 1 s.",
            mistakes=[
                Mistake(lambda runs: _samples(runs)[0]["rto_s"], "That is after the first sample."),
                Mistake(lambda runs: _samples(runs)[2]["rto_s"], "That is after the third sample."),
                Mistake(lambda runs: 3.0, "That is the timer before the first sample."),
                Mistake(
                    lambda runs: 1.0,
                    "That is the floor alone. In this lab's program the floor is that of the "
                    "variation, to which the smoothed round-trip time is added.",
                ),
            ],
        ),
        Choice(
            name="mean_exists",
            text="With a loss of 50 % the report has a mean of 2,067,467 s for the adaptive timer. "
            "Run `ackclock replicate dynamic.yaml --count 1000 --set links.L1.loss.p=0.5` with two "
            "values of `--seed`. What is the mean of such transfers?",
            options={
                "same": "about what the report has",
                "none": "there is none: it grows with the number of runs",
                "median": "the same as the median",
            },
            value=lambda runs: (
                "none"
                if _mean(runs, "dynamic", HALF) > 50 * _median(runs, "dynamic", HALF)
                else "median"
            ),
            why="A wait of 2^k s has the probability 0.75^k: the expectation of the sum diverges.",
            mistakes={
                "same": "Compute the mean for two seeds in Python, as on the page: they are far apart.",
                "median": "Compute both in Python, as on the page: they are orders of magnitude apart.",
            },
        ),
        Formula(
            name="finish",
            text="Write a function for the time of a transfer **without losses**: when has the last "
            "byte arrived? Segments have 1000 B and no header, ACKs have no length.",
            arguments={
                "segments": "segments to send",
                "window": "window, segments",
                "rate_bps": "rate of the link, bit/s",
                "delay_s": "its propagation delay, seconds",
            },
            returns="the time, in seconds",
            scenario="fixed",
            facts=_facts,
            value=lambda results: results.summary["flows"]["F1"]["finish_s"],
            tolerance=0.01,
            because="nothing is random here, but 1 % allows for rounding",
            why="A window each round trip, or the link all the time if the window is larger than "
            "the pipe.",
            mistakes=[
                Mistake(
                    lambda **of: _finish(**of) + of["delay_s"],
                    "That is when the last ACK is back; the last byte arrives before.",
                    credit=0.5,
                ),
                Mistake(
                    lambda segments, window, rate_bps, delay_s: (
                        segments * 8000 / rate_bps + delay_s
                    ),
                    "That is for a window that never limits the flow.",
                ),
                Mistake(
                    _in_rounds,
                    "A window larger than the pipe keeps the link busy: it is not sent in rounds.",
                ),
            ],
        ),
    ],
)
