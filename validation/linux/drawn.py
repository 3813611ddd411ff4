"""Scenarios on networks and with losses that a seed draws: is a simulator right, or fitted?

With another `SEED` it is another set. `docs/models/modern.md` has what came of this one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from form import ALGORITHMS, Scenario, bdp, packets, scenario

SEED = 77102611
ALL: list[Scenario] = []

_DRAW = random.Random(SEED)
_RATES = [4, 5, 7, 9, 11, 13, 15, 16, 19, 21, 22, 24, 27, 29, 31, 36]
_RTTS = [14, 18, 22, 26, 32, 38, 44, 48, 54, 58, 64, 72, 78, 86, 94, 110, 124, 144, 170]
_LENGTHS = [150, 200, 240, 300, 350, 420]
_MSS = 1448
_EVERY: dict[str, Any] = {"ack": "every"}
_below, _one, _sample = _DRAW.randrange, _DRAW.choice, _DRAW.sample


def _network() -> tuple[int, int]:
    return _one(_RATES), _one(_RTTS)


def _each(share: float, first: int, last: int) -> list[str]:
    return packets(*(i for i in range(first, last + 1) if _DRAW.random() < share))


def _sorted(numbers: Iterable[int]) -> list[str]:
    return packets(*sorted(numbers))


def _pair(n: int) -> list[str]:
    first = _below(15, n - 30)
    return packets(first, first + _below(2, 12))


def _burst(n: int) -> list[str]:
    first, count = _below(15, n - 40), _below(3, 25)
    return packets(*range(first, first + count))


def _bursts(n: int) -> list[str]:
    def one() -> range:
        first = _below(12, n - 12)
        return range(first, first + _below(2, 6))

    return _sorted({number for _ in range(3) for number in one()})


def _stride(n: int) -> list[str]:
    first, step, count = _below(15, n // 2), _below(2, 7), _below(4, 12)
    return packets(*range(first, first + step * count, step))


def _lost_again(n: int) -> dict[str, Any]:
    first = _below(20, n - 60)
    return {
        "drop": packets(first, first + 3, first + 7),
        "rdrop": packets(*_sample(range(1, 5), 2)),
    }


def _held(n: int, most: int, times_us: list[int]) -> list[str]:
    numbers = sorted(_sample(range(12, n - 12), most))
    return [f"0:{number}:{_one(times_us)}" for number in numbers]


def _spike(n: int) -> list[str]:
    first = _below(30, 60)
    return [f"0:{number}:{_one([300000, 400000])}" for number in range(first, first + 60)]


def _writes(step_s: float, count: int, sizes: list[int]) -> str:
    return ",".join(f"{round(i * step_s, 3)}:{_one(sizes)}" for i in range(count))


def _idle() -> str:
    first = _below(80, 200) * _MSS
    return f"0:{first},{_one([1.3, 2.2, 4.1])}:{_below(80, 200) * _MSS}"


_KINDS: dict[str, Callable[[int], dict[str, Any]]] = {
    "one": lambda n: {"drop": packets(_below(11, n - 10))},
    "pair": lambda n: {"drop": _pair(n)},
    "burst": lambda n: {"drop": _burst(n)},
    "bursts": lambda n: {"drop": _bursts(n)},
    "stride": lambda n: {"drop": _stride(n)},
    "retx": lambda n: {"drop": packets(_below(20, n - 40)), "rdrop": packets(1)},
    "retx2": _lost_again,
    "tail": lambda n: {"drop": packets(*range(n - _below(0, 6), n + 1))},
    "tailmix": lambda n: {"drop": packets(n - _below(5, 9), n - 2), "rdrop": packets(1)},
    "probe": lambda n: {"drop": packets(n - 1, n), "rdrop": packets(1)},
    "early": lambda _: {"drop": _sorted(_sample(range(1, 11), _below(1, 5)))},
    "iw": lambda _: {"drop": packets(*range(_below(1, 4), 11))},
    "rand3": lambda n: {"drop": _each(0.03, 5, n)},
    "rand6": lambda n: {"drop": _each(0.06, 5, n), "rdrop": _each(0.1, 1, 20)},
    "rand12": lambda n: {"drop": _each(0.12, 11, n)},
    "ackloss": lambda n: {"adrop": _each(_one([0.15, 0.3, 0.6]), 2, n)},
    "both": lambda n: {"drop": _each(0.03, 5, n), "adrop": _each(0.25, 2, n)},
    "hold": lambda n: {"hold": _held(n, _below(1, 5), [1500, 4000, 9000, 25000, 70000])},
    "holddrop": lambda n: {
        "drop": _sorted(_sample(range(40, n - 12), 2)),
        "hold": _held(51, 2, [3000, 12000, 40000]),
    },
    "spike": lambda n: {"hold": _spike(n)},
    "buffer": lambda _: {"share": _one([0.3, 0.5, 0.8, 1.2])},
    "bufdrop": lambda _: {"share": _one([0.5, 1.0]), "drop": packets(_below(11, 60))},
    "app": lambda _: {"writes": _writes(0.07, _below(6, 16), [2896, 7240, 20272, 40544])},
    "appdrop": lambda _: {
        "writes": _writes(0.11, 9, [4344, 14480, 28960]),
        "drop": _sorted(_sample(range(8, 60), 3)),
    },
    "idle": lambda _: {"writes": _idle()},
    "far": lambda n: {"extra": float(_one([7, 30, 61])), "drop": _each(0.02, 11, n)},
}
"""Rules of a script for a transfer of n packets; `share` is the buffer as a share of the BDP,
`extra` the flow's further round-trip time in ms."""

_DELAYED = (
    "pair", "burst", "stride", "retx", "tail", "rand3", "rand6", "ackloss", "hold", "buffer",
    "appdrop", "early",
)  # fmt: skip
"""Kinds that are measured with delayed ACKs, too."""


def _vector(name: str, cc: str, make: Callable[[int], dict[str, Any]]) -> None:
    rate, rtt = _network()
    count = _one(_LENGTHS)
    size = count * _MSS - _below(0, _MSS)
    rules = make(count)
    share = rules.pop("share", None)
    buffer = 1000 if share is None else max(4, round(share * bdp(rate, rtt)))
    flow: dict[str, Any] = {"cc": cc, "size": size}
    if writes := rules.pop("writes", ""):
        flow = {"cc": cc, "writes": writes}
    if extra := rules.pop("extra", 0.0):
        flow["extra_rtt_ms"] = extra
    ALL.append(
        scenario(
            f"v_{name}_{cc}", rate, rtt, [flow], 20, warmup=0, buffer_pkts=buffer, kind="vector",
            **rules,
        )
    )  # fmt: skip


def _short(cc: str, number: int, count: int) -> None:
    rate, rtt = _network()
    rules: dict[str, Any] = {}
    if number % 3 == 1 and count > 3:
        rules = {"drop": _sorted(_sample(range(1, count + 1), min(3, count // 4)))}
    if number % 3 == 2 and count > 3:
        rules = {"drop": packets(count)} | ({"adrop": packets(1, 2)} if number % 2 else {})
    flow = {"cc": cc, "size": count * _MSS - (7 if number % 2 else 0)}
    ALL.append(
        scenario(
            f"x_m{count}_{cc}", rate, rtt, [flow], 12, warmup=0, buffer_pkts=1000, kind="micro",
            **rules,
        )
    )  # fmt: skip


def _long(name: str, flows: list[str | dict[str, Any]], duration: float, **other: Any) -> None:
    rate, rtt = _network()
    ALL.append(scenario(name, rate, rtt, flows, duration, **other))


def _every(make: Callable[[int], dict[str, Any]]) -> Callable[[int], dict[str, Any]]:
    return lambda n: _EVERY | make(n)


def _marked(threshold: int, loses: bool) -> Callable[[int], dict[str, Any]]:
    mark = _EVERY | {"ecn_threshold_pkts": threshold}
    return lambda n: mark | ({"drop": packets(n // 2)} if loses else {})


for _number, (_tag, _make) in enumerate(_KINDS.items()):
    for _cc in ALGORITHMS:
        _vector(f"b{_number:02}_{_tag}", _cc, _every(_make))
for _tag in _DELAYED:
    for _cc in ALGORITHMS:
        _vector(f"d_{_tag}", _cc, _KINDS[_tag])
for _threshold, _loses in ((8, False), (15, True), (30, False)):
    for _cc in ("reno", "cubic"):
        _vector(f"e{_threshold}", _cc, _marked(_threshold, _loses))
for _cc in ALGORITHMS:
    for _number, _count in enumerate([1, 2, 3, 5, 9, 11, 14, 22, 37, 50, 75, 110, 150, 200]):
        _short(_cc, _number, _count)
for _cc in ALGORITHMS:
    for _size in (0.35, 0.7, 1.3, 2.5):
        _long(f"s1_{_cc}_b{_size}", [_cc], 18, buffer_bdp=_size)
    _long(f"s1_{_cc}_every", [_cc], 18, buffer_bdp=1.0, ack="every")
    for _p in (0.002, 0.006, 0.015, 0.03):
        _long(f"l1_{_cc}_p{_p}", [_cc], 25, buffer_bdp=2, loss=_p)
    _long(f"l1_{_cc}_acks", [_cc], 25, buffer_bdp=2, loss=0.005, ack_loss=0.2)
    _two: list[str | dict[str, Any]] = [_cc, {"cc": _cc, "start": 3.0}]
    _long(f"f2_{_cc}_stag", _two, 28, warmup=10, buffer_bdp=1.5)
    _late = {"cc": _cc, "extra_rtt_ms": 70.0, "start": 2.0}
    _three: list[str | dict[str, Any]] = [_cc, {"cc": _cc, "extra_rtt_ms": 25.0}, _late]
    _long(f"f3_{_cc}_rtts", _three, 28, warmup=10, buffer_bdp=2)
    _five: list[str | dict[str, Any]] = [{"cc": _cc, "start": i * 0.9} for i in range(5)]
    _long(f"f5_{_cc}", _five, 28, warmup=10, buffer_bdp=1.0)
_long("m2_cubic_bbr_b2", ["cubic", "bbr"], 28, warmup=10, buffer_bdp=2)
_long("m2_reno_cubic_b1", ["reno", "cubic"], 28, warmup=10, buffer_bdp=1)
_long("m3_all_b1", ["reno", "cubic", "bbr"], 28, warmup=10, buffer_bdp=1.5)
for _cc in ("reno", "cubic"):
    _long(f"e1_{_cc}_k12", [_cc], 18, buffer_pkts=200, ecn_threshold_pkts=12)
