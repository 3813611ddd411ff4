"""BBR, version 1, with nothing but BBR beside it.

Source: Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: Congestion-based congestion control", ACM
Queue 14(5), 2016 (one flow); Hock, Bless, Zitterbart, "Experimental evaluation of BBR congestion
control", ICNP 2017 (several).

**One flow** sends at the bandwidth of the link. A round trip in eight it sends a quarter more, and
drains the queue until a bandwidth-delay product P and three bursts are in flight (`bbr_inflight` of
Linux), so that the queue stays below a quarter of P and three bursts. Each 10 s it lets the path
empty, which takes a round trip, and keeps four packets in flight for 200 ms or a round trip,
whichever is longer; this costs that share of the rate. Its window is never below four packets:
nothing is judged on paths that hold fewer.

**Several flows** keep the greatest rate of ten round trips each, so that together they count on
more than the link has: up to a quarter, which is what they try. What stops them is the cap of two
such bandwidth-delay products in flight and three bursts each; one product fits into the path, and
the rest stands in the queue: P to 1.5 P (Hock and others), the bursts, and what caps are rounded
up by.

DEVIATION: room for ACKs in clumps (`ack_aggregation`) is not in it, and adds up over flows. The
shares of several flows, which differ for
minutes, are given as equal, and not judged. Where all measure the empty path at one time, the link
idles as with one flow: the least rate. With round trips above 200 ms nothing is judged.
"""

from ackclock.theory.estimate import Estimate, Model, Outcome, rounded
from ackclock.theory.long_run.shared import Shared

MODEL = Model(
    "BBR in flight",
    "One flow keeps the queue short; several are stopped by the cap of two BDP in flight.",
    "Cardwell and others 2016; Hock, Bless, Zitterbart 2017",
    "flows of BBRv1 with one RTT at one queue",
)

_ACCURACY = 0.1
_RATE_ACCURACY = 0.02
_KEPT = 4
"""Packets in flight while the empty path is measured."""
_MOST_PRODUCTS = 1.5
_ROUNDED = 1 + 1 + 2 / 8
"""Packets that a cap can be larger: rounded up, then to an even number, and two more while BBR
probes, which is one phase in eight (`bbr_bdp`, `bbr_quantization_budget` of Linux)."""
_MARGIN = 0.99
"""BBR paces at this share of what it measured."""


def probing_share(shared: Shared) -> float:
    """Share of what BBR carries that is left beside the measurements of the empty path."""
    cc = shared.members[0].cc
    every_s, kept_s = cc["min_rtt_window_ns"] / 1e9, cc["probe_rtt_ns"] / 1e9
    rtt_s = shared.members[0].rtt_s
    idle = 1 - min(1.0, _KEPT / (rtt_s * shared.rate))
    idle_s = rtt_s + max(kept_s, rtt_s)
    return 1 - idle * idle_s / (every_s + idle_s)


def burst_packets(rate_bps: float, payload_bits: int) -> int:
    """Packets of a burst at a rate, as `bbr_tso_segs_goal` of Linux has it."""
    least = 1 if rate_bps < 1.2e6 else 2
    return max(least, int(min(rate_bps / 8 / 1024, 65_215) / (payload_bits / 8)))


def rate_and_queue(
    shared: Shared, names: tuple[str, ...], rate: float, low: float, high: float, *, judged: bool
) -> list[Estimate]:
    """What flows of BBR have together: a rate, and a queue between two ends."""
    accuracies = (_RATE_ACCURACY, _ACCURACY) if judged else (None, None)
    return [
        Estimate("rate", names, shared.link, _MARGIN * rate, rate, accuracies[0]),
        Estimate("queue", names, shared.link, low, high, accuracies[1], grain=1.0),
    ]


def outcome(shared: Shared) -> Outcome | None:
    """What the model gives; none where another algorithm, or a loss, has a part."""
    only = {member.kind for member in shared.members} == {"bbr"}
    if not only or shared.disturbed or shared.loss or not shared.one_rtt:
        return None
    path, payload = shared.path_packets, shared.payload_bps
    room = float("inf") if shared.buffer is None else shared.buffer
    names, link = shared.names("bbr"), shared.link
    least_s = 3 * shared.members[0].cc["min_rtt_window_ns"] / 1e9

    if len(names) == 1:
        rate = payload * probing_share(shared)
        most = path / 4 + 3 * burst_packets(payload, shared.payload_bits)
        reason = short_of(shared, most, _KEPT)
        found = rate_and_queue(shared, names, rate, 0.0, most, judged=reason is None)
        return Outcome(found, least_s, reason)
    share = payload / len(names)
    bursts = 3 * len(names) * burst_packets(share, shared.payload_bits)
    low, high = (products * path + bursts for products in (1.0, _MOST_PRODUCTS))
    high += _ROUNDED * len(names)
    shares = [Estimate("rate", (name,), link, share, share, None) for name in names]
    reason = short_of(shared, high, _KEPT)
    if reason is None and shared.members[0].rtt_s > shared.members[0].cc["probe_rtt_ns"] / 1e9:
        reason = (
            f"{shared.station.link}: all flows of BBR empty the path at one time, which takes long "
            "with these round trips: shown, not judged."
        )
    together = rate_and_queue(
        shared, names, payload, min(low, room), min(high, room), judged=reason is None
    )
    # All can measure the empty path at one time, or each at its own, while others fill the link.
    together[0] = together[0]._replace(low=_MARGIN * payload * probing_share(shared))
    remark = (
        f"{shared.station.link}: how several flows of BBR share a link changes for minutes: their "
        "rates are shown as equal, and not judged."
    )
    return Outcome([*together, *shares], least_s, reason or remark)


def short_of(shared: Shared, queue: float, kept: float) -> str | None:
    """Why a buffer or a path is too short for what a model of BBR says, if so.

    Args:
        shared: The flows.
        queue: Packets that the flows would have in the queue.
        kept: Packets that the path has to hold for each flow.
    """
    link, flows = shared.station.link, len(shared.members)
    if shared.buffer is not None and shared.buffer < queue:
        return (
            f"{link}: BBR would have up to {rounded(queue)} packets in the queue, and the buffer "
            f"holds {rounded(shared.buffer)}: packets are lost, which no model here has; shown, "
            "not judged."
        )
    if shared.path_packets < kept * flows:
        return (
            f"{link}: the empty path holds {rounded(shared.path_packets)} packets, which is little "
            f"next to the {_KEPT} that each flow of BBR has in flight at least: shown, not judged."
        )
    return None
