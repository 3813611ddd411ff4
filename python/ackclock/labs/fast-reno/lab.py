"""FAST and Reno over one link: the experiment of the Caltech paper, test case 0."""

from ackclock.labs import Choice, Formula, Lab, Mistake, Number

PACKET, ACK = 1024, 64
SETTLED = (3.0, 16.0)


def _recorded(runs, name):
    return runs.of(name, record=["cwnd", "rtt"])


def _flow(runs, name):
    return runs.of(name).summary["flows"]["F1"]


def _window(results):
    from ackclock.metrics import cwnd_series, step_mean

    return step_mean(*cwnd_series(results, "F1"), *SETTLED) / PACKET


def _rtt(results, since=SETTLED[0], to=SETTLED[1]):
    from ackclock.metrics import rtt_series

    time, rtt = rtt_series(results, "F1")
    return float(rtt[(time > since) & (time < to)].mean())


def _teeth(runs):
    """Times at which Reno's window is reduced by about a third or more."""
    from ackclock.metrics import cwnd_series

    time, window = cwnd_series(_recorded(runs, "reno"), "F1")
    cut = window[1:] < 0.7 * window[:-1]
    return time[1:][cut]


def _first_burst(runs):
    """Packets that are lost before the first reduction."""
    from ackclock.metrics import drop_times

    times = drop_times(runs.of("reno", record=["cwnd", "rtt", "drops"]))
    return float((times < _teeth(runs)[0]).sum())


def _mean_gap(times):
    return float((times[-1] - times[0]) / (len(times) - 1))


def _period(runs):
    return _mean_gap(_teeth(runs)[1:])


def _facts(results):
    link = results.model["links"][0]
    both = link.get("both") or link["forward"]
    return {
        "rate_bps": both["rate_bps"],
        "delay_s": both["delay_ns"] / 1e9,
        "alpha": results.model["flows"][0]["tcp"]["cc"]["alpha"],
    }


def _pipe(rate_bps, delay_s, per_packet=PACKET + ACK):
    """Packets in an empty network, each of which takes so many bytes of the link."""
    return rate_bps / 8 / per_packet * (2 * delay_s + (PACKET + ACK) * 8 / rate_bps)


LAB = Lab(
    title="FAST and Reno over one link",
    about="A window that follows delay beside one that follows losses.",
    minutes=60,
    scenarios={"fast": "caltech/test-case-0-fast", "reno": "caltech/test-case-0-reno"},
    source="Bhasin, Luo, Su, Yang, Configurable Network Simulation for TCP Reno and FAST Flows, "
    "Caltech 2015, section 3.1.",
    questions=[
        Number(
            name="fast_window",
            text="Run `fast.yaml`. At how many packets (of 1024 bytes) does FAST's window settle?",
            unit="packets",
            value=lambda runs: _window(_recorded(runs, "fast")),
            tolerance=0.02,
            because="a plot can be read to 2 %",
            public=True,
            why="What an empty pipe holds, 25 packets, and alpha = 50 that wait.",
            mistakes=[
                Mistake(lambda runs: 50.0, "That is alpha, what waits; the pipe is full as well."),
                Mistake(
                    lambda runs: _window(_recorded(runs, "fast")) - 50,
                    "That is what an empty pipe holds; alpha packets more are waiting.",
                ),
                Mistake(
                    lambda runs: _flow(runs, "reno")["cwnd_bytes"]["max"] / PACKET,
                    "That is the largest window of Reno.",
                ),
            ],
        ),
        Number(
            name="fast_rtt",
            text="What is the round-trip time once FAST has settled?",
            unit="ms",
            value=lambda runs: _rtt(_recorded(runs, "fast")),
            tolerance=0.01,
            because="it is constant by then",
            why="20.8 ms of the empty path, and the wait of 50 packets and their ACKs.",
            mistakes=[
                Mistake(
                    lambda runs: _flow(runs, "fast")["rtt_s"]["min"],
                    "That is the round-trip time of the empty network.",
                ),
                Mistake(
                    lambda runs: _rtt(_recorded(runs, "fast")) / 2,
                    "A round trip goes there and back: this is half of it.",
                ),
                Mistake(
                    lambda runs: _flow(runs, "reno")["rtt_s"]["mean"],
                    "That is the mean of Reno.",
                ),
            ],
        ),
        Number(
            name="reno_losses",
            text="Run `reno.yaml`. How many packets are dropped?",
            unit="packets",
            value=lambda runs: _flow(runs, "reno")["segments_dropped"],
            tolerance=0.0,
            because="it is counted",
            why="A burst at the end of slow start, and one or a few for each tooth.",
            mistakes=[
                Mistake(lambda runs: 0.0, "FAST loses nothing; Reno does."),
                Mistake(
                    _first_burst, "That is the burst that ends slow start; more are lost later."
                ),
                Mistake(
                    lambda runs: float(len(_teeth(runs))),
                    "That is the number of reductions; one reduction may answer several losses.",
                    credit=0.5,
                ),
            ],
        ),
        Number(
            name="reno_period",
            text="What is the mean period of Reno's sawtooth in congestion avoidance?",
            unit="s",
            value=_period,
            tolerance=0.03,
            because="teeth differ a little, and a plot can be read to 3 %",
            points=3,
            why="From half of the pipe and buffer to all of it, at a packet per round trip.",
            mistakes=[
                Mistake(
                    lambda runs: _mean_gap(_teeth(runs)),
                    "That includes the first reduction, which ends slow start: the tooth after it is "
                    "longer.",
                    credit=0.5,
                ),
                Mistake(
                    lambda runs: _flow(runs, "reno")["finish_s"] / len(_teeth(runs)),
                    "That is the time of the whole run over the number of teeth; the first second "
                    "and the unfinished last tooth are not teeth.",
                    credit=0.5,
                ),
                Mistake(lambda runs: 1 / _period(runs), "That is the number of teeth per second."),
            ],
        ),
        Choice(
            name="first",
            text="Which of the two finishes its 20 MiB first?",
            options={"fast": "FAST", "reno": "Reno"},
            value=lambda runs: min(
                ("fast", "reno"), key=lambda name: _flow(runs, name)["finish_s"]
            ),
            why="With Reno, data and ACKs travel in blocks, between which the link idles: it is busy for 81 to "
            "91 % of the time. With FAST it is always busy once the window has settled.",
            mistakes={
                "reno": "Compare finish_s of the two runs.",
                "fast": "Compare finish_s of the two runs.",
            },
        ),
        Formula(
            name="settled_window",
            text="Write a function that predicts the window, in packets, at which FAST settles. Data "
            "packets have 1024 B, ACKs 64 B, and **both share the link**: it transmits one packet at a "
            "time, in whichever direction.",
            arguments={
                "rate_bps": "rate of the link, bit/s",
                "delay_s": "its propagation delay, one way, seconds",
                "alpha": "packets that FAST keeps waiting",
            },
            returns="the window, in packets",
            scenario="fast",
            facts=_facts,
            value=_window,
            record=["cwnd"],
            tolerance=0.02,
            because="the mean of 40 samples, with which FAST works, lags behind",
            why="`alpha + x · d` with the rate of data x = 16/17 of the link, in packets per second, "
            "and the round-trip time d of the empty network.",
            mistakes=[
                Mistake(lambda rate_bps, delay_s, alpha: alpha, "The pipe holds packets, too."),
                Mistake(
                    lambda rate_bps, delay_s, alpha: _pipe(rate_bps, delay_s),
                    "That is what the pipe holds; alpha packets more are waiting.",
                ),
                Mistake(
                    lambda rate_bps, delay_s, alpha: alpha + _pipe(rate_bps, delay_s) / 2,
                    "The pipe is as long as the round trip: there and back.",
                ),
                Mistake(
                    lambda rate_bps, delay_s, alpha: alpha + _pipe(rate_bps, delay_s, PACKET),
                    "Each data packet has an ACK, which takes its part of the link.",
                    credit=0.5,
                ),
                Mistake(
                    lambda rate_bps, delay_s, alpha: alpha + 8 * _pipe(rate_bps, delay_s),
                    "Bits over bytes: a byte has 8 bits.",
                ),
            ],
        ),
    ],
)
