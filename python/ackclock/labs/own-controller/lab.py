"""Design your own congestion control, in Python."""

from math import nan

from ackclock.labs import Controller, Criterion, Lab

LINK = "bottleneck"
USED = 0.5
"""A flow that hardly sends has no queue and is fair: below this utilisation that earns nothing."""
IDLE = "The link is used less than half: a flow that hardly sends earns nothing for this."


def _link(results):
    return results.summary["links"][LINK]["forward"]


def _flow(results, name):
    return results.summary["flows"][name]


def _utilisation(results):
    return _link(results)["utilization"]


def _delay(results):
    """Mean queueing delay at the bottleneck, in round-trip times of the empty path."""
    delay = _link(results)["queueing_delay_s"]["mean"] / _flow(results, "mine")["path_rtt_s"]
    return delay if _utilisation(results) >= USED else nan


def _fairness(results):
    return results.summary["fairness_jain"] if _utilisation(results) >= USED else nan


def _balance(results):
    """Goodput of the flow that has less, over that of the one that has more."""
    rates = sorted(flow["goodput_bps"] for flow in results.summary["flows"].values())
    return rates[0] / rates[-1]


LAB = Lab(
    title="Design your own congestion control",
    about="A class in Python against networks that nobody has shown you: use the link, keep the "
    "queue short, share it, and live beside CUBIC.",
    minutes=180,
    scenarios={"alone": "alone.yaml", "pair": "pair.yaml", "beside-cubic": "beside-cubic.yaml"},
    source="The networks are ours; the form of the contest is that of many courses, such as the "
    "throughput and delay contest of MIT 6.829.",
    questions=[
        Controller(
            name="mine",
            text="Write a class in `mine.py` that does well in all four respects on networks of 5 to "
            "40 Mbps with round-trip times of 15 to 60 ms.",
            file="mine.py",
            why="A controller that holds a small delay when it is alone, and responds to losses as "
            "Reno does while others cause them.",
            criteria=[
                Criterion(
                    name="utilisation",
                    text="Share of the time in which the bottleneck transmits; one flow",
                    scenario="alone",
                    figure=_utilisation,
                    none=0.5,
                    full=0.85,
                    points=3,
                    advice="The link is idle at times: does the window grow soon enough, and is it "
                    "not reduced too far?",
                ),
                Criterion(
                    name="delay",
                    text="Mean queueing delay at the bottleneck, in round-trip times of the empty path; one "
                    "flow that uses half of the link or more, less is better",
                    scenario="alone",
                    figure=_delay,
                    none=1.0,
                    full=0.35,
                    points=6,
                    needs=IDLE,
                    advice="Packets wait: rtt - min_rtt of an ACK says for how long.",
                ),
                Criterion(
                    name="fairness",
                    text="Jain's index of two of your flows that use half of the link or more; one "
                    "starts later",
                    scenario="pair",
                    figure=_fairness,
                    none=0.55,
                    full=0.8,
                    points=4,
                    needs=IDLE,
                    advice="One flow has much more: the larger one has to give up more.",
                ),
                Criterion(
                    name="beside CUBIC",
                    text="Goodput of your flow or of CUBIC's, whichever has less, over the other's",
                    scenario="beside-cubic",
                    figure=_balance,
                    none=0.1,
                    full=0.4,
                    points=3,
                    advice="One starves the other: a flow that yields to every queue gets nothing "
                    "beside one that fills it, and one that never yields starves it.",
                ),
            ],
            board=("utilisation less delay", lambda of: of["utilisation"] - of["delay"]),
        ),
    ],
)
