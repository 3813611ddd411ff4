"""Random documents, good and bad, made from the engine's own tables: what `fuzz.py` runs."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from ackclock import _core

Doc = dict[str, Any]
PACKETS = 20_000


@cache
def tables() -> dict[str, dict[str, list[Doc]]]:
    """Return the parameters of every entry of every registry."""
    registry = json.loads(_core.registry())
    return {
        kind: {entry["name"]: entry["params"] for entry in entries}
        for kind, entries in registry.items()
    }


UNITS = {
    "time": ("ns", "us", "ms", "s", "min", "h"),
    "rate": ("bps", "kbps", "Mbps", "Gbps", "KiB/s"),
    "size": ("B", "kB", "KiB", "MB"),
    "packets": ("packets",),
    "BDP": ("BDP",),
}
WRONG = (
    None, True, -1, 0, 1.5, 1e308, -0.0, 2**63, 2**64 - 1, [], {}, [[]], {"kind": {}}, {"a": 1},
    "", " ", "x", "-1 s", "0 s", "0 B", "0 bps", "nan s", "1e400 s", "18446744073709551615 ns",
    "18446744073709551615 B", "18446744073709551615 bps", "4294967296 packets", "1 parsec", "1,5 s",
    "\0", "ß" * 70, "*", "../..", "=1+1", "none", "unlimited", "all", "random",
)  # fmt: skip
ROWS = {
    "steps": {"at": "at", "rate": "rate"},
    "writes": {"at": "at", "size": "size"},
    "drop": {"flow": "flow", "data": "numbers"},
    "hold": {"flow": "flow", "data": "numbers", "by": "time"},
}
"""Columns of tables within documents."""
RARE = ("p", "corruption", "duplication")
"""Shares that are mostly small: where most packets are lost no flow comes to its end."""
USUAL = {
    "limit": {"size": (3.6, 6), "packets": (0.3, 3), "time": (6, 8.5)},
    "burst": {"size": (3.6, 6), "time": (6, 8.5)},
    "rate": {"rate": (5, 9)},
    "write": {"size": (2, 4)},
}
"""Powers of ten of values with which packets get through, mostly."""
PLAIN = {"rate": "10 Mbps", "delay": "5 ms", "stop": {"at_latest": "2 s"}}
"""What stands in for a value that is refused where there has to be one."""
ELSEWHERE = {"on": "period", "off": "period", "period": "period"}


class Maker:
    """Makes one document from a seed. `wild` is the share of values that are anything at all."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"document {seed}")
        self.wild = self.random.choice((0, 0, 0, 0.01, 0.03, 0.1))
        self.extreme = self.random.choice((0, 0, 0.02, 0.2))

    def document(self) -> Doc:
        """Return a scenario: a network, flows, and what else a scenario says."""
        draw = self.random
        found: Doc = {"name": "fuzz"}
        hosts = self.network(found)
        count = draw.randint(1, 4)
        found["flows"] = [self.flow(f"F{n}", hosts) for n in range(1, count + 1)]
        found["stop"] = {"at_latest": draw.choice(("10 ms", "2 s", "60 s", "60 s", "60 s"))}
        found["stop"]["max_packets"] = PACKETS
        if self.chance(0.3):
            found["stop"]["when"] = self.word("block", "stop", "when")
        for name in ("profile", "routing", "ties", "record", "seed"):
            if self.chance(0.3):
                found[name] = self.value(self.param("block", "scenario", name))
        if self.chance(0.2):
            found["defaults"] = {
                "tcp": self.tcp(),
                "link": self.entry("block", "link-defaults", 0.2),
            }
        if self.chance(0.85):
            mend(found)
        return self.damaged(found) if self.chance(self.wild) else found

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def network(self, found: Doc) -> list[str]:
        """Add a network in one of the ways in which it can be written; return its hosts."""
        draw = self.random
        if self.chance(0.3):
            kind = draw.choice(sorted(tables()["topology"]))
            found["topology"] = {"kind": kind, **self.entry("topology", kind, 0.8)}
            for param in tables()["topology"][kind]:
                if param["kind"] == "whole number":
                    found["topology"][param["name"]] = (
                        4 if kind == "fat-tree" else draw.randint(3, 4)
                    )
            fabric = kind in ("star", "leaf-spine", "fat-tree")
            return ["H1", "H2", "H3"] if fabric else ["S1", "S2", "D1", "D2"]
        hosts = [f"H{n}" for n in range(1, draw.randint(2, 4) + 1)]
        routers = [f"R{n}" for n in range(1, draw.randint(0, 3) + 1)]
        pairs = [(host, draw.choice(routers)) for host in hosts] if routers else [hosts[:2]]
        pairs += [(routers[n], draw.choice(routers[:n])) for n in range(1, len(routers))]
        more = draw.randint(0, len(routers) - 1) if routers else 0
        pairs += [tuple(draw.sample(routers, 2)) for _ in range(more)]
        found["hosts"], found["routers"] = hosts if routers else hosts[:2], routers
        rates = (3.5, 9), (5.5, 8.5)  # powers of ten
        found["links"] = [
            {
                "id": f"L{n}",
                "between": list(pair),
                "rate": f"{10 ** draw.uniform(*draw.choice(rates)):.0f} bps",
                "delay": f"{10 ** draw.uniform(-3, 2.5):.3f} ms",
                **self.entry("block", "link", 0.15, leave=("id", "between")),
            }
            for n, pair in enumerate(pairs, 1)
        ]
        return hosts if routers else hosts[:2]

    def flow(self, name: str, hosts: list[str]) -> Doc:
        draw = self.random
        start, end = draw.sample(hosts, 2)
        found: Doc = {"id": name, "from": start, "to": end}
        if self.chance(0.85):
            found["send"] = f"{10 ** draw.uniform(0, 6):.0f} B"
        elif self.chance(0.5):
            found["send"] = self.value(self.param("block", "flow", "send"))
        if self.chance(0.5):
            found["start"] = self.value(self.param("block", "flow", "start"))
        if self.chance(0.05):
            found["count"] = draw.randint(1, 5)
        if self.chance(0.2):
            found["udp"] = {"source": self.value(self.param("block", "udp", "source"))}
        else:
            found["tcp"] = self.tcp()
        return found

    def tcp(self) -> Doc:
        """Return settings of one family of senders, now and then with some of another."""
        draw = self.random
        share = draw.choice((0.05, 0.2, 0.5))
        found = self.entry("block", "tcp", share)
        found["sender"] = draw.choice(sorted(tables()["sender"]))
        found |= self.entry("sender", found["sender"], share)
        if self.chance(0.5):
            found["cc"] = self.value(self.param("block", "tcp", "cc"))
        return found

    def param(self, kind: str, entry: str, name: str) -> Doc:
        return next(param for param in tables()[kind][entry] if param["name"] == name)

    def word(self, kind: str, entry: str, name: str) -> Any:
        return self.random.choice(self.param(kind, entry, name)["choices"])["name"]

    def entry(self, kind: str, name: str, share: float, leave: tuple[str, ...] = ()) -> Doc:
        """Return values for some of the parameters of an entry, and for all that are required."""
        return {
            param["name"]: self.value(param)
            for param in tables()[kind][name]
            if param["name"] not in leave and (param["default"] is None or self.chance(share))
        }

    def value(self, param: Doc) -> Any:
        """Return a value for a parameter, mostly one that its table allows."""
        draw, kind = self.random, param["kind"]
        if self.chance(self.wild):
            return draw.choice(WRONG)
        if kind == "flag":
            return draw.choice((True, False))
        if kind == "whole number":
            return round(self.amount(param, 1, 1e4))
        if kind == "number":
            return self.amount(param, 1e-3, 1e3)
        if kind == "list of whole numbers":
            return sorted(draw.randint(1, 60) for _ in range(draw.randint(0, 5) or 1))
        if kind == "list of rows" and param["name"] in ROWS:
            return self.rows(ROWS[param["name"]])
        if kind in ("time", "rate", "size"):
            return self.quantity(param, kind)
        if kind == "size or packets":
            return self.quantity(param, draw.choice(("size", "packets")))
        if kind == "size, packets, time or BDP":
            return self.quantity(param, draw.choice(("packets",) * 5 + ("size", "time", "BDP")))
        if kind == "segments or size":
            return draw.randint(1, 100) if self.chance(0.7) else self.quantity(param, "size")
        if kind == "rate, or mapping" and self.chance(0.9):
            return self.quantity(param, "rate")
        if kind == "word" or kind.endswith(" or mapping"):
            return self.chosen(param)
        return self.structure(param)

    def chosen(self, param: Doc) -> Any:
        """Return an entry of a registry, a word, or a time or size where that will do."""
        draw = self.random
        dimension = param["kind"].partition(",")[0]
        if dimension in ("time", "size") and self.chance(0.5):
            return self.quantity(param, dimension)
        registry = ELSEWHERE.get(param["name"], param["name"])
        entries = tables().get(registry)
        if entries is None or param["name"] == "record" or param["kind"] == "word":
            words = [choice["name"] for choice in param["choices"] or ()]
            return draw.choice(words) if words else "0 s"
        # Programs in Python have tests of their own.
        name = draw.choice(sorted(entry for entry in entries if entry != "python"))
        if self.chance(0.3) and all(param["default"] is not None for param in entries[name]):
            return name
        return {"kind": name, **self.entry(registry, name, 0.4)}

    def structure(self, param: Doc) -> Any:
        """Return a mapping or a list that the tables describe as a block."""
        draw = self.random
        name = param["name"]
        if name == "changes":
            return [self.entry("block", "change", 0.5) for _ in range(draw.randint(0, 4))]
        if name in ("forward", "backward"):
            return self.entry("block", "direction", 0.4)
        if param["kind"] == "mapping of values or lists":
            return self.entry("block", "link-of-shape", 0.3)
        return draw.choice(WRONG)

    def rows(self, columns: dict[str, str]) -> list[Doc]:
        """Return rows of a table, in order of time."""
        draw = self.random
        found, at_us = [], 0
        for _ in range(draw.randint(1, 4)):
            row: Doc = {}
            for column, kind in columns.items():
                if kind == "at":
                    row[column] = f"{at_us} us"
                    at_us += draw.randint(1, 300_000)
                elif kind == "flow":
                    row[column] = "F1"
                elif kind == "numbers":
                    row[column] = sorted({draw.randint(1, 60) for _ in range(3)})
                else:
                    row[column] = self.quantity({"min": None, "max": None}, kind)
            found.append(row)
        return found[:1] if "flow" in columns else found

    def amount(self, param: Doc, least: float, most: float) -> float:
        """Return a number within the bounds of the table, or near them."""
        low, high = (_number(param[bound]) for bound in ("min", "max"))
        if self.chance(self.extreme):
            return self.random.choice(
                [n for n in (low, high, 0, 2.0**32, 2.0**62) if n is not None]
            )
        if param["name"] in RARE and self.chance(0.9):
            return 10 ** self.random.uniform(-4, -1)
        low = least if low is None else low
        high = max(low, most) if high is None else high
        if low <= 0 or high / low < 10:
            return self.random.uniform(low, min(high, max(most, low)))
        return math.exp(self.random.uniform(math.log(low), math.log(min(high, max(most, low)))))

    def quantity(self, param: Doc, dimension: str) -> str:
        draw = self.random
        bounds = [bound for bound in (param["min"], param["max"]) if bound]
        if bounds and self.chance(max(0.05, self.extreme)):
            return draw.choice(bounds)
        if self.chance(self.extreme):
            return f"{draw.choice((0, 1, 2**32 - 1, 2**62, 2**64 - 1))} {UNITS[dimension][0]}"
        if dimension == "BDP":
            return f"{draw.uniform(0, 4):.2f} BDP"
        if param.get("name") in USUAL and self.chance(0.9):
            low, high = USUAL[param["name"]].get(dimension, (0, 3))
            return f"{10 ** draw.uniform(low, high):.0f} {UNITS[dimension][0]}"
        if dimension == "packets":
            return f"{10 ** draw.uniform(0, 3):.0f} packets"
        if dimension == "time":
            return f"{10 ** draw.uniform(-3, 3):.3f} ms"
        if dimension == "rate":
            return f"{10 ** draw.uniform(3, 9):.0f} bps"
        return f"{10 ** draw.uniform(0, 4):.0f} B"

    def damaged(self, found: Doc) -> Doc:
        """Return the document with something in it moved, left out or replaced."""
        draw = self.random
        for _ in range(draw.randint(1, 3)):
            places = list(places_of(found))
            holder, key = draw.choice(places)
            _, other = draw.choice(places)
            if isinstance(holder, list) or self.chance(0.3):
                holder[key] = draw.choice(WRONG)
            elif self.chance(0.5):
                del holder[key]
            else:
                holder[str(other)] = holder.pop(key)
        return found


def mend(document: Doc) -> None:
    """Take out what the engine refuses, so that there is something to simulate."""
    for _ in range(8):
        _, errors, _ = _core.check(json.dumps(document))
        for error in json.loads(errors) if isinstance(errors, str) else errors:
            holder, key = document, None
            missing = error["message"].endswith("is missing")
            if missing and error["path"][0] == "topology" and error["path"][-1] in PLAIN:
                block = document["topology"].setdefault(error["path"][1], {})
                block |= {key: PLAIN[key] for key in error["path"][-1:]}
                continue
            for step in error["path"][: -1 if missing else None]:
                inside = holder if key is None else holder[key]
                if not isinstance(inside, dict | list):
                    break
                if step not in (inside if isinstance(inside, dict) else range(len(inside))):
                    break
                holder, key = inside, step
            if key is None or (
                holder is document and key in ("flows", "links", "hosts", "topology")
            ):
                continue
            if key in PLAIN and holder[key] != PLAIN[key]:
                holder[key] = PLAIN[key]
            else:
                del holder[key]
        if not errors:
            return


def _number(bound: str | None) -> float | None:
    try:
        return None if bound is None else float(bound)
    except ValueError:
        return None


def places_of(value: Any) -> Iterator[tuple[Any, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(entries):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places_of(inner)
