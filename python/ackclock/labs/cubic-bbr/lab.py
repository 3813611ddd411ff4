"""CUBIC against BBR, and the buffer that decides."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

BUFFER = "links.bottleneck.forward.queue.limit"
ALONE = {"flows.cubic.start": "119 s", BUFFER: "8 BDP"}
CUBIC_ALONE = {"flows.bbr.start": "119 s", BUFFER: "8 BDP"}


def _goodput(results, flow):
    return results.summary["flows"][flow]["goodput_bps"]


def _rate(runs):
    return runs.of("duel").model["links"][-1]["forward"]["rate_bps"]


def _wait(results, what="mean"):
    return results.summary["links"]["bottleneck"]["forward"]["queueing_delay_s"][what]


def _share(results):
    both = _goodput(results, "cubic") + _goodput(results, "bbr")
    return _goodput(results, "bbr") / both


def _more(results):
    return "bbr" if _share(results) > 0.5 else "cubic"


def _crossing(runs):
    """Return the buffer in BDP at which both have half, by bisection."""
    low, high = 1.0, 8.0
    while high - low > 0.1:
        middle = round((low + high) / 2, 3)
        if _more(runs.of("duel", {BUFFER: f"{middle} BDP"})) == "bbr":
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _straight(runs, low, high):
    """Return where a straight line between two buffers in BDP has equal goodputs."""
    more = [0.5 - _share(runs.of("duel", {BUFFER: f"{buffer:g} BDP"})) for buffer in (low, high)]
    return low + (high - low) * more[0] / (more[0] - more[1])


def _facts(results):
    # In the model, thousandths of the product.
    queue = results.model["links"][-1]["forward"]["queue"]
    return {"buffer_bdp": queue["limit_products"] / 1000}


LAB = Lab(
    title="CUBIC against BBR",
    about="Two algorithms that want different things from one queue, and how its size decides.",
    minutes=60,
    scenarios={"duel": "teach/cubic-bbr"},
    source="Hock, Bless, Zitterbart, Experimental Evaluation of BBR, ICNP 2017; Ware and others, "
    "Modeling BBR's Interactions with Loss-Based Congestion Control, IMC 2019.",
    questions=[
        Number(
            name="bbr_share",
            text="Run `duel.yaml`, with a buffer of one bandwidth-delay product. What is BBR's share "
            "of the total goodput of the two flows?",
            unit="%",
            value=lambda runs: _share(runs.of("duel")),
            tolerance=0.02,
            because="shares are read off a table",
            public=True,
            most=1.0,
            why="CUBIC reduces its window at each loss, BBR does not.",
            mistakes=[
                Mistake(
                    lambda runs: 1 - _share(runs.of("duel")), "That is the share of the other flow."
                ),
                Mistake(
                    lambda runs: _share(runs.of("duel")) / (1 - _share(runs.of("duel"))),
                    "That is BBR's goodput over CUBIC's; its share of both is asked for.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: _goodput(runs.of("duel"), "bbr") / _rate(runs),
                    "That is its share of the link; its share of the goodput of both is asked for.",
                    credit=0.5,
                ),
            ],
        ),
        Number(
            name="crossing",
            text="Vary the buffer (`ackclock sweep buffers.yaml`). At a buffer of "
            "how many bandwidth-delay products do both flows have the same goodput?",
            unit="",
            value=_crossing,
            tolerance=0.2,
            because="interpolated between buffers half a product apart; closer to the crossing, the "
            "phase of the two flows decides",
            least=0.25,
            most=16.0,
            points=3,
            why="BBR keeps at most about two bandwidth-delay products in flight; a buffer beyond "
            "that belongs to CUBIC.",
            mistakes=[
                Mistake(
                    lambda runs: 1.0,
                    "At one bandwidth-delay product BBR has most of the link: that was the first "
                    "question.",
                ),
                Mistake(
                    lambda runs: _straight(runs, 2.0, 4.0),
                    "That is on a straight line from 2 to 4. Run buffers between them: the shares "
                    "bend there.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: 16.0,
                    "At 16 CUBIC is far ahead. Look where the two lines cross.",
                ),
            ],
        ),
        Number(
            name="cubic_queue",
            text="Let CUBIC have the link alone, with 8 BDP of buffer "
            "(`--set flows.bbr.start='119 s'`). What is the mean queueing "
            "delay at the bottleneck over the whole run?",
            unit="ms",
            value=lambda runs: _wait(runs.of("duel", CUBIC_ALONE)),
            tolerance=0.03,
            because="the last second, in which BBR starts, changes the mean by less",
            why="CUBIC fills any buffer: its window stays between 70 and 100 % of buffer and pipe together.",
            mistakes=[
                Mistake(
                    lambda runs: _wait(runs.of("duel", CUBIC_ALONE), "max"),
                    "That is the longest wait; the mean is asked for.",
                ),
                Mistake(
                    lambda runs: _wait(runs.of("duel", ALONE)), "That is the wait with BBR alone."
                ),
                Mistake(
                    lambda runs: runs.of("duel", CUBIC_ALONE).summary["flows"]["cubic"]["rtt_s"][
                        "mean"
                    ],
                    "That is the round-trip time; the wait at the bottleneck is a part of it.",
                ),
            ],
        ),
        Number(
            name="bbr_queue",
            text="Now let BBR have the link alone (`--set flows.cubic.start='119 s'`). What is the "
            "mean queueing delay?",
            unit="ms",
            value=lambda runs: _wait(runs.of("duel", ALONE)),
            tolerance=0.05,
            because="the last second, in which CUBIC starts, changes the mean by a few per cent",
            why="BBR sends at the rate that it measured; a queue forms when it probes for more.",
            mistakes=[
                Mistake(
                    lambda runs: _wait(runs.of("duel", CUBIC_ALONE)),
                    "That is the wait with CUBIC alone.",
                ),
                Mistake(
                    lambda runs: _wait(runs.of("duel", ALONE), "max"),
                    "That is the longest wait, from BBR's startup; the mean is asked for.",
                ),
                Mistake(
                    lambda runs: runs.of("duel", ALONE).summary["flows"]["bbr"]["rtt_s"]["mean"],
                    "That is the round-trip time; the wait at the bottleneck is a part of it.",
                ),
            ],
        ),
        Choice(
            name="why",
            text="Why does BBR win at small buffers?",
            options={
                "losses": "It does not reduce its rate at a loss, and CUBIC does.",
                "delay": "It has a shorter round-trip time.",
                "start": "It starts first.",
            },
            value=lambda runs: (
                "losses"
                if runs.of("duel").summary["flows"]["bbr"]["segments_dropped"] > 0
                and runs.of("duel").summary["flows"]["bbr"]["start_s"] > 0
                else "start"
            ),
            why="Both lose packets; only CUBIC slows down because of it.",
            mistakes={
                "delay": "Both share one path: compare path_rtt_s of the two flows.",
                "start": "Look at start_s: BBR starts 137 ms after CUBIC.",
            },
        ),
        Formula(
            name="winner",
            text="Which flow has the higher goodput? Write a function of the buffer.",
            arguments={"buffer_bdp": "room in the buffer, in bandwidth-delay products"},
            returns='"cubic" or "bbr"',
            scenario="duel",
            facts=_facts,
            value=_more,
            options=("cubic", "bbr"),
            why="Where the lines cross depends little on rate and delay, since both are in the "
            "bandwidth-delay product.",
        ),
    ],
)
