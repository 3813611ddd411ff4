"""Measurements of real connections, to lay over a run: samples of `ss`, and captures.

>>> from ackclock import measured
>>> measured.read("F1.ss").series["window"]  # doctest: +SKIP
(array([0. , 0.1, ...]), array([10., 20., ...]))
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ackclock.errors import InputError
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
        path: A capture (pcapng or pcap), best made at the sender; or samples of `ss -tin`, each
            after a line with the time in seconds.

    Raises:
        InputError: there is no such file, nothing in it can be used, or a library is missing.
    """
    place = Path(path)
    try:
        with place.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise InputError(f"cannot read '{place}': {error.strerror}") from None
    if start in _CAPTURES:
        from ackclock.measured import capture

        return capture.read(place)
    from ackclock.measured import socket_samples

    return socket_samples.read(place)
