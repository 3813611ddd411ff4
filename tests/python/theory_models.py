"""Numeric models written by hand, for tests of the theory."""

from typing import Any

MIBPS = 2**20
KIB = 1024
MS = 1_000_000


def link(
    name: str,
    ends: list[str],
    rate: float,
    delay_ms: float = 10,
    duplex: str = "half",
    limit: int | None = None,
    back_rate: float | None = None,
) -> dict[str, Any]:
    def side(bps: float) -> dict[str, Any]:
        queue = {
            "kind": "droptail",
            "limit_bytes": limit,
            "counts": "waiting",
            "admission": "strict",
        }
        loss = {"kind": "none"}
        return {"rate_bps": int(bps), "delay_ns": int(delay_ms * MS), "queue": queue, "loss": loss}

    backward = side(rate if back_rate is None else back_rate)
    return {
        "id": name,
        "ends": ends,
        "duplex": duplex,
        "changes": [],
        "forward": side(rate),
        "backward": backward,
    }


def fast(alpha: float = 50, **other: Any) -> dict[str, Any]:
    cc = {
        "kind": "fast",
        "alpha": alpha,
        "gamma": 0.5,
        "update": "period",
        "period_ns": 50 * MS,
        "averaging": "samples",
        "samples": 40,
    }
    return cc | other


def vegas(alpha: float = 1, beta: float = 3, **other: Any) -> dict[str, Any]:
    cc = {"kind": "vegas", "alpha": alpha, "beta": beta, "gamma": 1, "compare": "exact"}
    cc |= {"rtt": "marked", "actual": "sent"}
    return cc | other


def flow(
    name: str,
    ends: tuple[str, str],
    start_s: float = 0.0,
    send_bytes: int | None = None,
    cc: dict[str, Any] | None = None,
    segment: int = 1024,
    header: int = 0,
    ack: int = 64,
    initial_window: int = 1,
) -> dict[str, Any]:
    return {
        "id": name,
        "from": ends[0],
        "to": ends[1],
        "start_ns": round(start_s * 1e9),
        "send_bytes": send_bytes,
        "tcp": {
            "sender": "selective-repeat",
            "numbering": "packets",
            "segment_bytes": segment,
            "header_bytes": header,
            "ack_bytes": ack,
            "initial_window": initial_window,
            "initial_ssthresh": 100,
            "cc": fast() if cc is None else cc,
            "source": {"kind": "bulk"},
        },
        "udp": None,
    }


def cbr(name: str, ends: tuple[str, str], rate_bps: float, packet: int = 1024) -> dict[str, Any]:
    source = {"kind": "cbr", "rate_bps": int(rate_bps), "write_bytes": packet}
    return {
        "id": name,
        "from": ends[0],
        "to": ends[1],
        "start_ns": 0,
        "send_bytes": None,
        "tcp": None,
        "udp": {"source": source},
    }


def model(
    hosts: list[str],
    routers: list[str],
    links: list[dict[str, Any]],
    flows: list[dict[str, Any]],
    routing: str = "shortest-path",
    at_latest_s: float | None = 200.0,
) -> dict[str, Any]:
    return {
        "name": "made-by-hand",
        "hosts": hosts,
        "routers": routers,
        "links": links,
        "flows": flows,
        "routing": {"kind": routing},
        "stop": {
            "when": "flows-complete",
            "at_latest_ns": None if at_latest_s is None else round(at_latest_s * 1e9),
        },
    }


def case_0(cc: dict[str, Any] | None = None) -> dict[str, Any]:
    return model(
        ["H1", "H2"],
        [],
        [link("L1", ["H1", "H2"], 10 * MIBPS, limit=64 * KIB)],
        [flow("F1", ("H1", "H2"), 1.0, 20 * KIB * KIB, cc)],
    )


def case_1() -> dict[str, Any]:
    def half(name: str, a: str, b: str, rate: float) -> dict[str, Any]:
        return link(name, [a, b], rate * MIBPS, limit=64 * KIB)

    return model(
        ["H1", "H2"],
        ["R1", "R2", "R3", "R4"],
        [
            half("L0", "H1", "R1", 12.5),
            half("L1", "R1", "R2", 10),
            half("L2", "R1", "R3", 10),
            half("L3", "R2", "R4", 10),
            half("L4", "R3", "R4", 10),
            half("L5", "R4", "H2", 12.5),
        ],
        [flow("F1", ("H1", "H2"), 0.5, 20 * KIB * KIB, fast(30))],
        routing="distance-vector",
    )


def case_2(cc: dict[str, Any] | None = None) -> dict[str, Any]:
    def half(name: str, a: str, b: str, rate: float) -> dict[str, Any]:
        return link(name, [a, b], rate * MIBPS, limit=128 * KIB)

    return model(
        ["S1", "S2", "S3", "T1", "T2", "T3"],
        ["R1", "R2", "R3", "R4"],
        [
            half("L1", "R1", "R2", 10),
            half("L2", "R2", "R3", 10),
            half("L3", "R3", "R4", 10),
            half("LS1", "S1", "R1", 12.5),
            half("LT1", "T1", "R4", 12.5),
            half("LS2", "S2", "R1", 12.5),
            half("LT2", "T2", "R2", 12.5),
            half("LS3", "S3", "R3", 12.5),
            half("LT3", "T3", "R4", 12.5),
        ],
        [
            flow("F1", ("S1", "T1"), 0.5, 35 * KIB * KIB, cc),
            flow("F2", ("S2", "T2"), 10.0, 15 * KIB * KIB, cc),
            flow("F3", ("S3", "T3"), 20.0, 30 * KIB * KIB, cc),
        ],
        routing="distance-vector",
    )
