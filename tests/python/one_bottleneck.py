"""Networks with one bottleneck, and what was measured there: for tests against closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ackclock import Results, Scenario, run
from ackclock.metrics import queue_series, select, step_mean

AMPLE = {"kind": "droptail", "limit": "unlimited"}
RECORD = {"kind": "none", "transmissions": "changes", "queue": "changes"}
PACKET_BYTES = 1500
"""A full segment of the presets called Linux."""


@dataclass
class Network:
    """Flows over one bottleneck, each from and to a host of its own."""

    rate_mbps: float = 10
    delay_ms: float = 18
    """One way, of the bottleneck alone; each access link adds its own."""
    queue: dict[str, Any] | None = None
    loss: dict[str, Any] | None = None
    access_ms: tuple[float, ...] = (1,)
    """One way, of the link of each flow to the bottleneck."""
    access_mbps: float = 10_000

    @property
    def packet_s(self) -> float:
        """How long a full segment is transmitted."""
        return 8 * PACKET_BYTES / (self.rate_mbps * 1e6)

    def path_s(self, flow: int = 0) -> float:
        """Round-trip time where nothing waits."""
        return 2e-3 * (self.delay_ms + self.access_ms[flow]) + self.packet_s

    @property
    def path_packets(self) -> float:
        """Packets on the path of the first flow when it is full and nothing waits."""
        return self.path_s() / self.packet_s

    def document(self, flows: list[dict[str, Any]], seconds: float, **more: Any) -> dict[str, Any]:
        """Return the scenario; flow i of the list is `F{i}`, from `S{i}` to `D{i}`."""
        edge = {"rate": f"{self.access_mbps} Mbps", "queue": AMPLE}
        numbers = range(len(flows))
        links = [
            {
                **edge,
                "id": f"in{i}",
                "between": [f"S{i}", "R1"],
                "delay": f"{1000 * self.access_ms[i]:g} us",
            }
            for i in numbers
        ]
        links += [
            {**edge, "id": f"out{i}", "between": ["R2", f"D{i}"], "delay": "0 s"} for i in numbers
        ]
        forward: dict[str, Any] = {"queue": self.queue or AMPLE}
        if self.loss:
            forward["loss"] = self.loss
        middle = {
            "id": "bottleneck",
            "between": ["R1", "R2"],
            "rate": f"{self.rate_mbps} Mbps",
            "delay": f"{1000 * self.delay_ms:g} us",
            "queue": AMPLE,
            "forward": forward,
        }
        ends = [{"id": f"F{i}", "from": f"S{i}", "to": f"D{i}"} for i in numbers]
        return {
            "hosts": [f"{end}{i}" for i in numbers for end in "SD"],
            "routers": ["R1", "R2"],
            "links": [*links, middle],
            "flows": [{**end, **flow} for end, flow in zip(ends, flows, strict=True)],
            "stop": {"when": "time", "at_latest": f"{seconds} s"},
            "record": RECORD,
            **more,
        }

    def run(self, flows: list[dict[str, Any]], seconds: float, **more: Any) -> Results:
        """Run it."""
        return run(Scenario.from_dict(self.document(flows, seconds, **more)))


@dataclass
class Use:
    """What was measured at the bottleneck from a time on."""

    utilisation: float
    queue_packets: float
    """Mean over time."""


def use(results: Results, after_s: float, link: str = "bottleneck") -> Use:
    """Measure the forward direction of the bottleneck."""
    end_s = results.summary["end_s"]
    time_s, size = select(
        results, "transmissions", ("time_s", "bytes"), link=link, direction="forward"
    )
    links = results.scenario.model["links"]
    rate = next(each for each in links if each["id"] == link)["forward"]["rate_bps"]
    busy = 8 * size[time_s >= after_s].sum() / rate / (end_s - after_s)
    changed_s, waiting = queue_series(results, link, "forward", "queue_packets")
    return Use(float(busy), float(step_mean(changed_s, waiting, after_s, end_s)))


def goodput_segments(results: Results, flow: str, before: Results | None = None) -> float:
    """Return full segments per second that the receiver has in order, after the end of `before`."""
    found = results.summary["flows"][flow]
    segments, seconds = found["bytes_delivered"], results.summary["end_s"]
    if before is not None:
        segments -= before.summary["flows"][flow]["bytes_delivered"]
        seconds -= before.summary["end_s"]
    return segments / found["segment_bytes"] / seconds
