"""Bufferbloat, and what a queue that looks at delay does about it."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

CODEL = {"links.bottleneck.forward.queue": "codel"}
SMALL = {"links.bottleneck.forward.queue.limit": "1 BDP"}


def _bottleneck(results):
    return results.summary["links"]["bottleneck"]["forward"]


def _waits(results, since=10.0, flow="call"):
    from ackclock.metrics import select

    where = {"link": "bottleneck", "direction": "forward", "flow": flow}
    time, entered = select(results, "transmissions", ("time_s", "entered_s"), **where)
    return (time - entered)[time > since]


def _recorded(runs, name="bloat"):
    return runs.of(name, record=["transmissions"])


def _goodput(runs, name):
    return runs.of(name).summary["flows"]["download"]["goodput_bps"]


def _longest(results):
    return _bottleneck(results)["queueing_delay_s"]["max"]


def _facts(results):
    rate = results.model["links"][-1]["forward"]["rate_bps"]
    return {"rate_bps": rate, "limit_bytes": _bottleneck(results)["queue_limit"]["bytes"]}


LAB = Lab(
    title="Bufferbloat: a phone call behind a download",
    about="How a large buffer turns into delay, and how CoDel gives it back.",
    minutes=60,
    scenarios={"bloat": "teach/bufferbloat", "codel": "teach/bufferbloat-codel"},
    source="Gettys and Nichols, Bufferbloat, ACM Queue 9(11), 2011; RFC 8289.",
    questions=[
        Number(
            name="longest_wait",
            text="Run `bloat.yaml`. What is the longest time that a packet waits at the bottleneck?",
            unit="ms",
            value=lambda runs: _longest(runs.of("bloat")),
            most=60.0,
            tolerance=0.03,
            because="a plot can be read to 3 %",
            public=True,
            why="CUBIC fills the buffer, so the longest wait is the whole buffer at the link's rate.",
            mistakes=[
                Mistake(
                    lambda runs: _bottleneck(runs.of("bloat"))["queueing_delay_s"]["mean"],
                    "That is the mean wait; the longest is asked for.",
                ),
                Mistake(
                    lambda runs: runs.of("bloat").summary["flows"]["download"]["rtt_s"]["max"],
                    "That is the longest round-trip time, which includes the propagation delay.",
                ),
            ],
        ),
        Number(
            name="mean_wait",
            text="How long does a packet of the **call** wait at the bottleneck on average, after "
            "the first ten seconds? The table `transmissions` has both times of each packet.",
            unit="ms",
            value=lambda runs: float(_waits(_recorded(runs)).mean()),
            most=60.0,
            tolerance=0.02,
            because="the mean hardly depends on where exactly the ten seconds are cut",
            why="Once the buffer has filled, the queue swings with CUBIC's window and is never empty.",
            mistakes=[
                Mistake(
                    lambda runs: float(_waits(_recorded(runs), since=0.0).mean()),
                    "That includes the first ten seconds, in which the buffer fills.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: runs.of("bloat").summary["flows"]["download"]["rtt_s"]["mean"],
                    "That is the round-trip time of the download; it includes the propagation delay.",
                ),
                Mistake(
                    lambda runs: float(_waits(_recorded(runs)).max()),
                    "That is the longest wait; the mean is asked for.",
                ),
            ],
        ),
        Number(
            name="codel_wait",
            text="The same with CoDel: what is the mean wait of the call in `codel.yaml`, after the "
            "first ten seconds?",
            unit="ms",
            value=lambda runs: float(_waits(_recorded(runs, "codel")).mean()),
            most=60.0,
            tolerance=0.05,
            because="a wait of a few milliseconds is read less exactly than a long one",
            why="CoDel's target is 5 ms, and the queue is often empty after a drop.",
            mistakes=[
                Mistake(
                    lambda runs: float(_waits(_recorded(runs)).mean()),
                    "That is the wait without CoDel: look at the run of codel.yaml.",
                ),
                Mistake(lambda runs: 0.005, "That is CoDel's target. What does the run give?"),
                Mistake(
                    lambda runs: float(_waits(_recorded(runs, "codel")).max()),
                    "That is the longest wait; the mean is asked for.",
                ),
            ],
        ),
        Number(
            name="price",
            text="What share of the goodput that it has in `bloat.yaml` does the download lose in "
            "`codel.yaml`?",
            unit="%",
            value=lambda runs: 1 - _goodput(runs, "codel") / _goodput(runs, "bloat"),
            absolute=0.01,
            because="a small difference of two large figures: one percentage point",
            most=1.0,
            why="One flow alone needs a queue of about 40 % of a bandwidth-delay product to keep the "
            "link busy after CUBIC's reduction; CoDel does not allow that much.",
            mistakes=[
                Mistake(
                    lambda runs: _goodput(runs, "codel") / _goodput(runs, "bloat"),
                    "That is the share that remains; the share that is lost is asked for.",
                    credit=0.5,
                )
            ],
        ),
        Choice(
            name="small_buffer",
            text="Set the buffer of `bloat.yaml` to a tenth (1 BDP): "
            "`--set links.bottleneck.forward.queue.limit='1 BDP'`. What happens to the "
            "download?",
            options={
                "same": "It keeps at least 98 % of its goodput.",
                "half": "It loses about half of its goodput.",
                "tenth": "It has about a tenth of its goodput.",
            },
            value=lambda runs: (
                "same"
                if runs.of("bloat", SMALL).summary["flows"]["download"]["goodput_bps"]
                > 0.98 * _goodput(runs, "bloat")
                else "half"
            ),
            why="Nine tenths of the buffer only made packets wait.",
            mistakes={
                "half": "Run it and compare the goodputs: a buffer holds packets, it does not make "
                "the link faster.",
                "tenth": "The rate of a link does not depend on its buffer. Run it and compare.",
            },
        ),
        Formula(
            name="longest_wait_of",
            text="Write a function that predicts the longest wait at such a bottleneck, for any rate "
            "and any buffer.",
            arguments={
                "rate_bps": "rate of the bottleneck, bit/s",
                "limit_bytes": "room in its buffer, bytes",
            },
            returns="the longest wait, in seconds",
            scenario="bloat",
            facts=_facts,
            value=_longest,
            tolerance=0.03,
            because="the buffer holds whole packets, so up to one packet may be missing",
            why="The buffer, drained at the rate of the link: `limit_bytes * 8 / rate_bps`.",
            mistakes=[
                Mistake(
                    lambda rate_bps, limit_bytes: limit_bytes / rate_bps,
                    "Bytes over bits per second: a byte has 8 bits.",
                ),
                Mistake(
                    lambda rate_bps, limit_bytes: limit_bytes * 8 / rate_bps * 1e3,
                    "That is in milliseconds; seconds are asked for.",
                ),
                Mistake(
                    lambda rate_bps, limit_bytes: limit_bytes * 4 / rate_bps,
                    "That is half of it: the mean of a sawtooth, not its peak.",
                ),
            ],
        ),
    ],
)
