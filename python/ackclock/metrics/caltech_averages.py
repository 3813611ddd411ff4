"""The averages that the Caltech simulator printed, as it computed them.

Source: the program of Bhasin, Luo, Su, Yang (Caltech CS/EE 143, December 2015). They are kept,
under their own names, to set its printed numbers next to ours. For anything else use time-weighted
means and rates over the life of a flow: a mean by sample weighs busy moments more, and a rate over
the last time stamp counts the time before a flow has started as idle.

Its rates are in units of 2^20 bit/s, which it calls Mbps; here they are in bit/s.
"""

import numpy as np
from numpy.typing import ArrayLike

from ackclock.metrics.series import (
    HasTables,
    cwnd_series,
    drop_times,
    packet_series,
    queue_series,
    rtt_series,
    transmission_series,
)
from ackclock.metrics.steps import step_at

MEBIBIT = 2**20
"""Bits per second in what the program calls one Mbps."""


def mean_by_sample(value: ArrayLike) -> float:
    """Plain mean over samples; 0 without samples."""
    values = np.asarray(value, dtype=np.float64)
    return float(values.mean()) if values.size else 0.0


def rate_by_last_stamp(time_s: ArrayLike, size_bytes: ArrayLike) -> float:
    """All bits over the last time stamp (not over the time from first to last), bit/s."""
    times = np.asarray(time_s, dtype=np.float64)
    if not times.size:
        return 0.0
    return float(np.sum(size_bytes, dtype=np.float64) * 8 / times[-1])


def count_by_last_stamp(time_s: ArrayLike) -> float:
    """Events per second up to the last one; 0 without events."""
    times = np.asarray(time_s, dtype=np.float64)
    return float(times.size / times[-1]) if times.size else 0.0


def link_averages(results: HasTables, link: str) -> dict[str, float]:
    """Averages of a half-duplex link.

    Returns:
        `buffer_occupancy_packets` (data packets waiting, mean over all changes of the queue),
        `packet_loss_per_s`, `transmission_rate_bps` (router packets excepted).
    """
    _, waiting = queue_series(results, link)
    sent = [transmission_series(results, link, kind=kind) for kind in ("data", "ack")]
    time_s = np.concatenate([series[0] for series in sent])
    size = np.concatenate([series[1] for series in sent])
    order = np.argsort(time_s, kind="stable")
    return {
        "buffer_occupancy_packets": mean_by_sample(waiting),
        "packet_loss_per_s": count_by_last_stamp(drop_times(results, link=link)),
        "transmission_rate_bps": rate_by_last_stamp(time_s[order], size[order]),
    }


def flow_averages(results: HasTables, flow: str, segment_bytes: int) -> dict[str, float]:
    """Averages of a flow.

    The receive rate counts ACKs. The window has one sample per ACK and one per change between ACKs,
    as the program took one at each ACK and at each tick of FAST.

    Args:
        results: The run.
        flow: Name of the flow.
        segment_bytes: Payload of a packet, to give the window in packets.

    Returns:
        `receive_rate_bps`, `send_rate_bps`, `window_packets`, `rtt_s`.
    """
    change_s, cwnd_bytes = cwnd_series(results, flow)
    ack_s, rtt_s = rtt_series(results, flow)
    sampled_s = np.concatenate([ack_s, np.setdiff1d(change_s, ack_s)])
    return {
        "receive_rate_bps": rate_by_last_stamp(
            *packet_series(results, "received", flow=flow, kind="ack")
        ),
        "send_rate_bps": rate_by_last_stamp(
            *packet_series(results, "sent", flow=flow, kind="data")
        ),
        "window_packets": mean_by_sample(
            step_at(change_s, cwnd_bytes, sampled_s, initial=segment_bytes) / segment_bytes
        ),
        "rtt_s": mean_by_sample(rtt_s),
    }


def host_averages(results: HasTables, host: str) -> dict[str, float]:
    """Averages of a host over data and ACKs: `send_rate_bps`, `receive_rate_bps`."""
    return {
        "send_rate_bps": rate_by_last_stamp(*packet_series(results, "sent", host=host)),
        "receive_rate_bps": rate_by_last_stamp(*packet_series(results, "received", host=host)),
    }
