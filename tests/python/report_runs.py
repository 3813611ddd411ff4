"""Runs for the tests of reports, and what a page of them holds."""

from __future__ import annotations

import base64
import gzip
import json
import re

import numpy as np

import ackclock

FIVE = {
    "name": "five",
    "title": "Five flows share a bottleneck",
    "topology": {
        "kind": "dumbbell",
        "leaves": 5,
        "access": {"rate": "100 Mbps", "delay": "1 ms"},
        "bottleneck": {
            "rate": "10 Mbps",
            "delay": "20 ms",
            "queue": {"limit": "60 packets"},
        },
    },
    "flows": [
        {"id": f"F{i}", "from": f"S{i}", "to": f"D{i}", "tcp": tcp, "start": f"{i - 1} s"}
        for i, tcp in enumerate(
            ("linux-cubic", "linux-bbr", "linux-reno", "linux-cubic", "newreno"), 1
        )
    ],
    "stop": {"when": "time", "at_latest": "60 s"},
}


def scenario(seconds, **changes):
    """Five flows for so long."""
    stop = {"when": "time", "at_latest": f"{seconds} s"}
    return ackclock.Scenario.from_dict({**FIVE, "stop": stop, **changes})


class Page:
    """The data of a page, read as the browser reads them."""

    def __init__(self, text):
        data = re.search(r'<script type="text/plain" id="data">(.*?)</script>', text)[1]
        whole = gzip.decompress(base64.b64decode(data))
        size = int.from_bytes(whole[:4], "little")
        self.document = json.loads(whole[4 : 4 + size])
        self._arrays = np.frombuffer(whole[4 + size :], np.uint8)

    def integers(self, at):
        place, count, each = at
        ranks = self._arrays[place : place + count * each].reshape(each, count).astype(np.int64)
        folded = sum(rank << (8 * i) for i, rank in enumerate(ranks))
        return np.cumsum((folded >> 1) ^ -(folded & 1))

    def curve(self, run, quantity, of):
        """Times in seconds and values of one curve."""
        told = self.document["runs"][run]
        entry = next(e for e in told["curves"][quantity] if e["of"] == of)
        values = self.integers(entry["v"]["at"]) * entry["v"]["unit"]
        return self.integers(entry["t"]) * told["tick"], values
