"""BBR, version 1, beside flows that react to losses, before one drop-tail buffer.

Source: Ware, Mukerjee, Seshan, Sherry, "Modeling BBR's interactions with loss-based congestion
control", IMC 2019. The other end of the range is derived here from the same equations; Mishra, Tiu,
Leong, "Are we heading towards a BBR-dominant internet?", IMC 2022, model the same mixture.

With P packets in the path and a buffer of q = X P that is full, BBR's share f of the link is its
share of the packets in flight, f (P + q), and those are two bandwidth-delay products as it takes
them: 2 f c R, where R is the RTT that it measures while it keeps four packets in flight and the
others fill the queue. All depends on what they have there.

**They have what they had** (Ware and others): p of the buffer, and R = RTT + (p q + 4 N) / c for N
flows of BBR. This leads to

    p = 1/2 - 1/(2 X) - 4 N / q,       f = (1 - p) (1 - (q/c + 0.2 s + RTT) / 10 s)

where the last factor is the time for which BBR keeps four packets in flight, each 10 s.

**They have just cut their windows** (derived here): `left` (1 - f) (P + q)
packets, which fill the path as well as the queue, so that c R = left (1 - f) (P + q). With c R =
(P + q) / 2 from above

    f = 1 - 1 / (2 left)

for CUBIC 0.29, and for Reno 0, whatever the buffer. A run is between the two. Neither has a part
for the number of flows that react to losses.

DEVIATION: bursts, and room for ACKs in clumps, are not in it; several flows of a kind are given
their share together. Ware and others state median errors of 5 % (CUBIC) and 8 % (Reno), of the
link.
"""

from ackclock.theory.estimate import Estimate, Model, Outcome
from ackclock.theory.long_run.shared import LOSS_BASED, Shared

MODEL = Model(
    "BBR beside loss-based",
    "BBR keeps what it takes for two BDP in flight; the others fill the rest of the buffer.",
    "Ware and others 2019, and what follows from it",
    "BBRv1 beside CUBIC or Reno, with one RTT, at a drop-tail buffer of 2 to 64 BDP",
)

_ACCURACY = {"cubic": 0.05, "reno": 0.08}
"""Median error that the authors state, as a share of the link."""

LEAST_BUFFER = 2.0
"""In bandwidth-delay products; below, where losses of BBR count, shares are not judged."""

MOST_BUFFER = 64.0
"""The largest buffer of the paper."""


def ware(shared: Shared) -> float:
    """Share of the link that flows of BBR have together, where the others keep their windows."""
    path, buffer = shared.path_packets, shared.buffer or 0.0
    bbr = next(member.cc for member in shared.members if member.kind == "bbr")
    others = 0.5 - path / (2 * buffer) - 4 * len(shared.names("bbr")) / buffer
    rtt_s = path / shared.rate
    probing_s = buffer / shared.rate + bbr["probe_rtt_ns"] / 1e9 + rtt_s
    left = 1 - probing_s / (bbr["min_rtt_window_ns"] / 1e9)
    return (1 - max(0.0, others)) * max(0.0, left)


def after_a_cut(shared: Shared) -> float:
    """The same where the others have just cut their windows."""
    left = max(member.left for member in shared.members if member.kind in LOSS_BASED)
    return max(0.0, 1 - 1 / (2 * left))


def outcome(shared: Shared) -> Outcome | None:
    """What the model gives; none unless BBR and others share one limited buffer."""
    bbr, others = shared.names("bbr"), shared.names(*LOSS_BASED)
    plain = shared.buffer and not shared.disturbed and not shared.loss and shared.one_rtt
    others_too = len(bbr) + len(others) < len(shared.members)
    if not (bbr and others and plain) or others_too or shared.buffer is None:
        return None
    payload, depth, link = shared.payload_bps, shared.buffer / shared.path_packets, shared.link
    low, high = sorted((after_a_cut(shared), ware(shared)))
    kinds = {member.kind for member in shared.members if member.kind != "bbr"}
    grain = max(_ACCURACY[kind] for kind in kinds) * payload
    judged = 0.0 if LEAST_BUFFER <= depth <= MOST_BUFFER else None
    estimates = [
        Estimate("rate", bbr, link, low * payload, high * payload, judged, grain),
        Estimate("rate", others, link, (1 - high) * payload, (1 - low) * payload, judged, grain),
    ]
    cc = next(member.cc for member in shared.members if member.kind == "bbr")
    remark = (
        f"{shared.station.link}: BBR beside flows that react to losses, before a buffer of "
        f"{depth:.2g} bandwidth-delay products: shown, not judged. From two products on it is the "
        "buffer that decides, below that also who loses packets."
    )
    least_s = 5 * cc["min_rtt_window_ns"] / 1e9
    return Outcome(estimates, least_s, remark if depth < LEAST_BUFFER else None)
