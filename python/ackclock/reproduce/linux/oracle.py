"""What a real kernel did: scenarios of a known network, with measured figures and their tolerances.

The form is that which `validation/linux` writes: a JSON list with one entry a scenario, plain or
compressed by gzip or xz. Times of a scenario are as they stand there, in seconds or milliseconds as
their names say.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.errors import InputError

PACKAGED = Path(__file__).with_name("oracle.json.xz")
"""The measured scenarios that come with the package."""

FAMILIES = {
    "vector": "scripted vectors",
    "micro": "short transfers",
    "bulk1": "one flow",
    "loss": "random loss",
    "multi": "several flows",
}
"""Families of scenarios, in the order in which they are shown."""


@dataclass(frozen=True)
class Measured:
    """A figure of the kernel: median, least and largest value of the repetitions.

    ``tolerance`` is how far from the median another may be that counts as the same.
    """

    median: float
    least: float
    most: float
    tolerance: float

    def holds(self, value: float) -> bool:
        """Whether a value is within the tolerance."""
        return abs(value - self.median) <= self.tolerance + 1e-9

    def repeats(self, value: float) -> bool:
        """Whether the kernel itself gave this value, or one below and one above it."""
        return self.least - 1e-9 <= value <= self.most + 1e-9


@dataclass(frozen=True)
class KernelFlow:
    """A flow: what it sends (bytes, timed writes, or without end), and what came of it."""

    cc: str
    start_s: float
    stop_s: float
    size: int | None
    writes: tuple[tuple[float, int], ...]
    extra_rtt_ms: float
    figures: Mapping[str, Measured]

    @property
    def offered(self) -> int | None:
        """Bytes that it sends in all; none without end."""
        return sum(size for _, size in self.writes) if self.writes else self.size


@dataclass(frozen=True)
class Rule:
    """A rule of the emulated network for one packet: of flow `flow` the packet number `index`."""

    flow: int
    index: int
    hold_us: int = 0


@dataclass(frozen=True)
class KernelScenario:
    """One scenario with the kernel's figures; names as in `validation/linux/README.md`."""

    name: str
    family: str
    kind: str
    rate_mbps: float
    rtt_ms: float
    buffer_pkts: int
    loss: float
    ack_loss: float
    ecn_threshold_pkts: int
    duration_s: float
    warmup_s: float
    mtu: int
    mss: int
    ack_bytes: int
    gso_segs: int
    every_segment_acked: bool
    drop: tuple[Rule, ...]
    rdrop: tuple[Rule, ...]
    adrop: tuple[Rule, ...]
    hold: tuple[Rule, ...]
    flows: tuple[KernelFlow, ...]
    figures: Mapping[str, Measured]

    @property
    def bulk(self) -> bool:
        """Whether long flows are measured over a span of time, not transfers to their end."""
        return self.kind == "bulk"

    @property
    def random(self) -> bool:
        """Whether two runs differ by chance: random loss, or BBR's random phase."""
        return bool(self.loss or self.ack_loss) or any(flow.cc == "bbr" for flow in self.flows)


def read(path: Path) -> list[KernelScenario]:
    """Read a file of measured scenarios.

    Raises:
        InputError: it is not there, is not of this form, or names a scenario twice.
    """
    entries = _parsed(path)
    if not isinstance(entries, list):
        raise InputError(f"{path}: not a list of measured scenarios")
    scenarios = []
    for number, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        place = f"{path}: scenario {name or number}"
        try:
            scenarios.append(_scenario(entry))
        except KeyError as error:
            raise InputError(f"{place}: no key {error}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{place}: {error}") from None
    names = [scenario.name for scenario in scenarios]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{path}: scenario {twice} appears twice")
    return scenarios


def content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked where it is compressed by gzip or xz."""
    try:
        packed = path.read_bytes()
        if packed.startswith(b"\x1f\x8b"):
            return gzip.decompress(packed)
        if packed.startswith(b"\xfd7zXZ\x00"):
            return lzma.decompress(packed)
    except (OSError, EOFError, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: {reason}") from None
    return packed


def _parsed(path: Path) -> Any:
    try:
        return json.loads(content(path))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None


def _scenario(entry: Mapping[str, Any]) -> KernelScenario:
    flows = entry["flows"]
    measured = entry.get("flow_metrics") or [{} for _ in flows]
    if not flows or len(measured) != len(flows):
        raise ValueError("'flow_metrics' must have one element for each of 'flows'")
    if entry["ack"] not in ("linux", "every"):
        raise ValueError(f"'ack' is '{entry['ack']}'; allowed: linux, every")
    family = entry.get("family") or _family(entry)
    if family not in FAMILIES:
        raise ValueError(f"'family' is '{family}'; allowed: {', '.join(FAMILIES)}")
    end_s = float(entry["duration_s"])
    same: dict[str, Any] = {key: float(entry[key]) for key in _REALS}
    same |= {key: int(entry[key]) for key in _COUNTS}
    same |= {key: _rules(entry[key], len(flows)) for key in ("drop", "rdrop", "adrop", "hold")}
    return KernelScenario(
        **same,
        name=str(entry["name"]),
        family=family,
        kind=entry["kind"],
        every_segment_acked=entry["ack"] == "every",
        flows=tuple(_flow(*one, end_s) for one in zip(flows, measured, strict=True)),
        figures=_figures(entry.get("metrics") or {}),
    )


_REALS = ("rate_mbps", "rtt_ms", "loss", "ack_loss", "duration_s", "warmup_s")
_COUNTS = ("buffer_pkts", "ecn_threshold_pkts", "mtu", "mss", "ack_bytes", "gso_segs")


def _family(entry: Mapping[str, Any]) -> str:
    if entry["kind"] != "bulk":
        return entry["kind"]
    if entry["loss"] or entry["ack_loss"]:
        return "loss"
    return "multi" if len(entry["flows"]) > 1 else "bulk1"


def _flow(flow: Mapping[str, Any], figures: Mapping[str, Any], end_s: float) -> KernelFlow:
    return KernelFlow(
        cc=str(flow["cc"]),
        start_s=float(flow.get("start", 0.0)),
        stop_s=float(flow.get("stop", end_s)),
        size=int(flow["size"]) if flow.get("size") else None,
        writes=_writes(flow.get("writes") or ""),
        extra_rtt_ms=float(flow.get("extra_rtt_ms", 0.0)),
        figures=_figures(figures),
    )


def _writes(text: str) -> tuple[tuple[float, int], ...]:
    """Read `SECONDS:BYTES,...`."""
    pairs = (part.split(":") for part in text.split(",") if part)
    return tuple((float(time), int(size)) for time, size in pairs)


def _rules(texts: list[str], flows: int) -> tuple[Rule, ...]:
    """Read `FLOW:INDEX` or `FLOW:INDEX:MICROSECONDS`."""
    rules = tuple(Rule(*(int(part) for part in text.split(":"))) for text in texts)
    for rule, text in zip(rules, texts, strict=True):
        if not (0 <= rule.flow < flows and rule.index > 0):
            raise ValueError(f"rule '{text}' is for no packet of these flows")
    return rules


def _figures(measured: Mapping[str, Any]) -> dict[str, Measured]:
    """Keep what has a tolerance: other entries only describe the run."""
    return {
        name: Measured(
            float(value["median"]), float(value["min"]), float(value["max"]), float(value["tol"])
        )
        for name, value in measured.items()
        if isinstance(value, dict)
    }
