"""Vegas beside Reno, and a comparison that was none: the ns-2 lab."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

ALONE = {"flows.reno.start": "199 s"}
FLOWS = ("tahoe", "reno", "vegas")


def _flow(runs, name, flow, changes=None):
    return runs.of(name, changes).summary["flows"][flow]


def _link(runs, name, changes=None):
    return runs.of(name, changes).summary["links"]["bottleneck"]["forward"]


def _share(runs):
    vegas, reno = (_flow(runs, "duel", f)["bytes_delivered"] for f in ("vegas", "reno"))
    return vegas / (vegas + reno)


def _asked(tcp):
    source = tcp["source"]
    on, off = (source[key]["mean_ns"] for key in ("on", "off"))
    return source["rate_bps"] * on / (on + off)


def _facts(results):
    sources = [flow["tcp"]["source"] for flow in results.model["flows"]]
    return {
        "rates_bps": [one["rate_bps"] for one in sources],
        "on_s": [one["on"]["mean_ns"] / 1e9 for one in sources],
        "off_s": [one["off"]["mean_ns"] / 1e9 for one in sources],
    }


def _load(rates_bps, on_s, off_s):
    return sum(r * a / (a + b) for r, a, b in zip(rates_bps, on_s, off_s, strict=True))


def _delivered(results):
    end = results.summary["end_s"]
    return sum(8 * f["bytes_delivered"] for f in results.summary["flows"].values()) / end


LAB = Lab(
    title="Vegas beside Reno",
    about="What a flow that avoids queues gets beside one that fills them, and how to notice that "
    "an experiment has no congestion.",
    minutes=60,
    scenarios={
        "duel": "ns2/vegas-against-reno",
        "as-run": "ns2/lab-as-run",
        "as-meant": "ns2/lab-as-meant",
    },
    source="Pérez Datsira, Exercise 2 of Communication Services and Security, University of Lleida, "
    "2021; Brakmo and Peterson, TCP Vegas, JSAC 13(8), 1995.",
    questions=[
        Number(
            name="vegas_share",
            text="Run `duel.yaml`. What share of the data delivered is Vegas's?",
            unit="%",
            value=_share,
            tolerance=0.02,
            because="two figures of a table",
            public=True,
            most=1.0,
            why="Vegas yields to each queue, and Reno builds them.",
            mistakes=[
                Mistake(lambda runs: 1 - _share(runs), "That is Reno's share."),
                Mistake(
                    lambda runs: _share(runs) / (1 - _share(runs)),
                    "That is Vegas over Reno; Vegas's share of both is asked for.",
                    credit=0.5,
                ),
            ],
        ),
        Number(
            name="drops",
            text="How many packets of **both** are dropped in this run?",
            unit="packets",
            value=lambda runs: float(_link(runs, "duel")["packets_dropped"]),
            tolerance=0.0,
            because="it is counted",
            why="All of them are Reno's.",
            mistakes=[
                Mistake(
                    lambda runs: float(_flow(runs, "duel", "vegas")["segments_dropped"]),
                    "Vegas loses nothing, but Reno does.",
                ),
                Mistake(
                    lambda runs: float(_flow(runs, "duel", "reno")["retransmissions"]),
                    "Those are Reno's retransmissions; the drops are asked for.",
                ),
            ],
        ),
        Number(
            name="vegas_queue",
            text="Give Vegas the link alone (`--set flows.reno.start='199 s'`). What is the mean "
            "length of the queue?",
            unit="packets",
            value=lambda runs: _link(runs, "duel", ALONE)["queue_packets"]["mean"],
            tolerance=0.06,
            because="Reno's last second changes the mean by some per cent",
            why="Between alpha = 1 and beta = 3 packets of Vegas wait on top of what is in "
            "transmission.",
            mistakes=[
                Mistake(
                    lambda runs: _link(runs, "duel")["queue_packets"]["mean"],
                    "That is the queue with both flows.",
                ),
                Mistake(
                    lambda runs: float(_link(runs, "duel", ALONE)["queue_packets"]["max"]),
                    "That is the longest queue, from Reno's slow start; the mean is asked for.",
                ),
            ],
        ),
        Number(
            name="asked",
            text="The report compares Tahoe, Reno and Vegas with sources of 0.5 Mbps that are on "
            "half of the time (`as-meant.yaml`). What is the total rate that the three "
            "offer on average?",
            unit="Mbps",
            value=lambda runs: sum(
                _asked(flow["tcp"]) for flow in runs.of("as-meant").model["flows"]
            ),
            tolerance=0.01,
            because="it is computed",
            why="3 · 0.5 Mbps · 1/2, less than the bottleneck's 1 Mbps.",
            mistakes=[
                Mistake(
                    lambda runs: 1.5e6, "That is while all are on; each is off half of the time."
                ),
                Mistake(lambda runs: 0.25e6, "That is one of the three."),
                Mistake(lambda runs: 1e6, "That is the rate of the bottleneck."),
            ],
        ),
        Choice(
            name="verdict",
            text="Run `as-meant.yaml`. Does it show which of the three handles congestion best?",
            options={
                "none": "No: each delivers all that it has, there is hardly any congestion.",
                "vegas": "Yes: Vegas delivers most.",
                "reno": "Yes: Reno loses least.",
            },
            value=lambda runs: (
                "none"
                if len({_flow(runs, "as-meant", f)["bytes_delivered"] for f in FLOWS}) == 1
                else "vegas"
            ),
            why="`as-run.yaml` has the sources as ns-2 really ran them: they are always behind.",
            mistakes={
                "vegas": "Compare bytes_delivered of the three flows.",
                "reno": "A handful of packets in 20 s; what does each flow deliver of what it has?",
            },
        ),
        Formula(
            name="delivered",
            text="Write a function for the rate at which all data are delivered, for on-off sources "
            "that the bottleneck can carry.",
            arguments={
                "rates_bps": "rates of the sources while they are on, a list, bit/s",
                "on_s": "how long each is on, a list, seconds",
                "off_s": "how long each is off, a list, seconds",
            },
            returns="the rate of all together, in bit/s",
            scenario="as-meant",
            facts=_facts,
            value=_delivered,
            tolerance=0.06,
            because="20 s hold a whole number of periods only of some sources, and the last data "
            "are in flight",
            why="`sum of rate · on / (on + off)`.",
            mistakes=[
                Mistake(
                    lambda rates_bps, on_s, off_s: sum(rates_bps),
                    "That is while all are on.",
                ),
                Mistake(
                    lambda rates_bps, on_s, off_s: _load(rates_bps, on_s, off_s) / len(rates_bps),
                    "That is the mean over the sources; all together is asked for.",
                    credit=0.5,
                ),
                Mistake(
                    lambda rates_bps, on_s, off_s: _load(rates_bps, off_s, on_s),
                    "That has on and off swapped.",
                ),
            ],
        ),
    ],
)
