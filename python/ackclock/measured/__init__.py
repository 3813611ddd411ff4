"""Measurements to lay over a run: samples of `ss`, captures, traces of Linux and of ns-2.

>>> from ackclock import measured
>>> measured.read("F1.ss").series["window"]  # doctest: +SKIP
(array([0. , 0.1, ...]), array([10., 20., ...]))
"""

from __future__ import annotations

from os import PathLike

from ackclock.errors import InputError, path_of
from ackclock.measured.measurement import Measurement

__all__ = ["Measurement", "read"]

_CAPTURES = (
    b"\n\r\r\n",  # pcapng
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
)
"""How captures begin: pcapng, and pcap in two orders of bytes with micro- and nanoseconds."""


def read(path: str | PathLike[str]) -> Measurement:
    """Read a measurement, of the connection that carries most data.

    Args:
        path: A capture (pcapng or pcap), best made at the sender; samples of `ss -tin`, each
            after a line with the time in seconds; the trace event `tcp:tcp_probe` as text; or a
            trace of ns-2, of packets or of `cwnd_` and `rtt_`.

    Raises:
        InputError: there is no such file, nothing in it can be used, or a library is missing.
    """
    place = path_of("path", path)
    try:
        with place.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise InputError(f"cannot read '{place}': {error.strerror}") from None
    if start in _CAPTURES:
        from ackclock.measured import capture

        return capture.read(place)
    from ackclock.measured import ns2, probe, socket_samples

    lines = place.read_text(encoding="utf-8", errors="replace").splitlines()
    lines = [line for line in lines if line.strip()]
    if lines and ns2.recognizes(lines[0]):
        return ns2.read(place, lines)
    if probe.recognizes(lines):
        return probe.read(place, lines)
    return socket_samples.read(place)
