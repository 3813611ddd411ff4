"""Made-up runs for the tests of plots: no simulation, just series of the right shape."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

MIB = 2**20
KINDS = ["data", "ack", "router"]
TABLES = (
    "packets",
    "cwnd",
    "rtt",
    "queue",
    "transmissions",
    "drops",
    "routes",
    "events",
    "tcp_info",
    "aqm",
)


class FakeRun:
    """What `ackclock.plots` needs of `ackclock.results.Results`."""

    def __init__(self, model, summary, tables):
        self.model = model
        self.summary = summary
        self.tables = tables

    def table(self, name):
        return self.tables[name]

    def without(self, *tables):
        """The same run with these tables not recorded."""
        record = self.model["record"] | dict.fromkeys(tables, "off")
        kept = {name: table for name, table in self.tables.items() if name not in tables}
        return FakeRun(self.model | {"record": record}, self.summary, kept)


def way(rate_bps=10 * MIB, limit_bytes=65536):
    queue = {"kind": "droptail", "limit_bytes": limit_bytes, "counts": "waiting"}
    return {"rate_bps": rate_bps, "delay_ns": 10_000_000, "queue": queue}


def link(name, a, b, rate_bps=10 * MIB, duplex="half"):
    return {
        "id": name,
        "ends": [a, b],
        "duplex": duplex,
        "forward": way(rate_bps),
        "backward": way(rate_bps),
    }


def tcp_flow(name, source, target, start_s=1.0, kind="reno"):
    cc = {"kind": kind} | ({"alpha": 50.0, "gamma": 0.5} if kind == "fast" else {})
    return {
        "id": name,
        "from": source,
        "to": target,
        "start_ns": round(start_s * 1e9),
        "send_bytes": 20 * MIB,
        "tcp": {
            "segment_bytes": 1024,
            "header_bytes": 0,
            "ack_bytes": 64,
            "cc": cc,
            "numbering": "packets",
        },
        "udp": None,
    }


def model(hosts, routers, links, flows, **more):
    return {
        "name": "test/made-up",
        "title": "A made-up run",
        "hosts": hosts,
        "routers": routers,
        "links": links,
        "flows": flows,
        "routing": {"kind": "distance-vector"},
        "record": dict.fromkeys(TABLES, "changes"),
    } | more


def named(values, names):
    codes = pa.array([names.index(v) if v is not None else None for v in values], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string()))


def one(value, names, count):
    """A column that has the same name in every row."""
    codes = np.full(count, names.index(value), np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names, pa.string()))


NAMES = pa.dictionary(pa.int32(), pa.string())
COLUMNS = {
    "tcp_info": (
        *("flow", "state", "in_flight", "sacked", "lost", "retransmitted", "srtt_s"),
        *("min_rtt_s", "rto_s", "reo_wnd_s", "delivery_rate_bps", "pacing_rate_bps"),
    ),
    "packets": ("host", "flow", "event", "kind", "seq", "bytes", "retransmission", "packet_id"),
    "cwnd": ("flow", "cwnd_bytes", "ssthresh_bytes", "state"),
    "rtt": ("flow", "rtt_s"),
    "queue": ("link", "direction", "queue_data_packets", "queue_packets"),
    "transmissions": ("link", "direction", "flow", "kind", "bytes", "entered_s"),
    "drops": ("link", "direction", "flow", "kind", "seq", "reason", "packet_id"),
    "routes": ("router", "host", "link", "previous_link"),
    "events": ("flow", "event"),
    "aqm": ("link", "direction", "variable", "value"),
}
TYPES = {
    "bytes": pa.int32(),
    "seq": pa.int64(),
    "packet_id": pa.int64(),
    "retransmission": pa.bool_(),
    "queue_packets": pa.int32(),
    "queue_data_packets": pa.int32(),
    "cwnd_bytes": pa.float64(),
    "ssthresh_bytes": pa.float64(),
    "rtt_s": pa.float64(),
    "entered_s": pa.float64(),
    "value": pa.float64(),
    **dict.fromkeys(("in_flight", "sacked", "lost", "retransmitted"), pa.int32()),
    **dict.fromkeys(("srtt_s", "min_rtt_s", "rto_s", "reo_wnd_s"), pa.float64()),
    **dict.fromkeys(("delivery_rate_bps", "pacing_rate_bps"), pa.float64()),
}


def empty(table):
    """A table that was recorded and has no row."""
    fields = [(column, TYPES.get(column, NAMES)) for column in COLUMNS[table]]
    return pa.schema([("time_s", pa.float64()), *fields]).empty_table()


class Maker:
    """Collects rows for all tables of a run over the given model."""

    def __init__(self, scenario):
        self.model = scenario
        self.flows = [flow["id"] for flow in scenario["flows"]]
        self.links = [entry["id"] for entry in scenario["links"]]
        self.parts = {name: [] for name in TABLES}

    def _add(self, table, columns):
        self.parts[table].append(pa.table(columns))

    def _ids(self, flow, kind, count):
        return np.arange(count) + 10**6 * (2 * self.flows.index(flow) + (kind == "data"))

    def cwnd(self, flow, times, packets, ssthresh=np.inf):
        count = len(times)
        self._add(
            "cwnd",
            {
                "time_s": np.asarray(times, float),
                "flow": one(flow, self.flows, count),
                "cwnd_bytes": np.asarray(packets, float) * 1024,
                "ssthresh_bytes": np.broadcast_to(ssthresh, count) * 1024.0,
                "state": one("slow-start", ["slow-start"], count),
            },
        )

    def rtt(self, flow, times, values):
        self._add(
            "rtt",
            {
                "time_s": np.asarray(times, float),
                "flow": one(flow, self.flows, len(times)),
                "rtt_s": np.asarray(values, float),
            },
        )

    def queue(self, name, times, packets, direction="both"):
        values = np.asarray(packets, np.int32)
        self._add(
            "queue",
            {
                "time_s": np.asarray(times, float),
                "link": one(name, self.links, len(times)),
                "direction": one(direction, ["both", "forward", "backward"], len(times)),
                "queue_packets": values,
                "queue_data_packets": values,
                "queue_bytes": values.astype(np.int64) * 1024,
            },
        )

    def transmissions(self, name, times, size=1024, direction="both"):
        count = len(times)
        self._add(
            "transmissions",
            {
                "time_s": np.asarray(times, float),
                "link": one(name, self.links, count),
                "direction": one(direction, ["both", "forward", "backward"], count),
                "flow": one(self.flows[0], self.flows, count),
                "kind": one("data", KINDS, count),
                "bytes": np.full(count, size, np.int32),
                "entered_s": np.asarray(times, float),
            },
        )

    def packets(self, flow, event, times, size=1024, kind="data"):
        entry = self.model["flows"][self.flows.index(flow)]
        host = entry["from"] if (event == "sent") == (kind == "data") else entry["to"]
        count = len(times)
        self._add(
            "packets",
            {
                "time_s": np.asarray(times, float),
                "host": one(host, self.model["hosts"], count),
                "flow": one(flow, self.flows, count),
                "event": one(event, ["sent", "received"], count),
                "kind": one(kind, KINDS, count),
                "seq": np.arange(count),
                "bytes": np.full(count, size, np.int32),
                "retransmission": np.zeros(count, bool),
                "packet_id": self._ids(flow, kind, count),
            },
        )

    def drops(self, name, times, flow=None, direction="both"):
        count = len(times)
        self._add(
            "drops",
            {
                "time_s": np.asarray(times, float),
                "link": named([name] * count, self.links),
                "direction": named(
                    [direction if name else None] * count, ["both", "forward", "backward"]
                ),
                "flow": one(flow or self.flows[0], self.flows, count),
                "kind": one("data", KINDS, count),
                "seq": np.arange(count),
                "bytes": np.full(count, 1024, np.int32),
                "reason": one("queue-full", ["queue-full", "no-route"], count),
                "packet_id": self._ids(flow or self.flows[0], "data", count),
            },
        )

    def routes(self, rows):
        """Rows of (time, router, host, link, previous link or None)."""
        columns = list(zip(*rows, strict=True))
        self._add(
            "routes",
            {
                "time_s": np.asarray(columns[0], float),
                "router": named(columns[1], self.model["routers"]),
                "host": named(columns[2], self.model["hosts"]),
                "link": named(columns[3], self.links),
                "previous_link": named(columns[4], self.links),
                "cost_s": np.full(len(rows), 0.01),
            },
        )

    def events(self, flow, event, times):
        kinds = ["start", "finish", "finish-ack", "timeout", "fast-retransmit", "gap-retransmit"]
        self._add(
            "events",
            {
                "time_s": np.asarray(times, float),
                "flow": one(flow, self.flows, len(times)),
                "event": one(event, kinds, len(times)),
                "seq": np.arange(len(times)),
            },
        )

    def run(self, end_s, finish=None, path=None, **summary):
        """The run; `finish` and `path` by flow."""
        tables = {
            name: pa.concat_tables(parts) if parts else empty(name)
            for name, parts in self.parts.items()
        }
        flows = {
            name: {
                "path": (path or {}).get(name),
                "start_s": 0.0,
                "finish_ack_s": (finish or {}).get(name),
                "goodput_bps": 1e6 * number,
            }
            for number, name in enumerate(self.flows)
        }
        document = {
            "ackclock": "0.1.0",
            "scenario": self.model["name"],
            "seed": 1,
            "digest": "0123456789abcdef",
            "end_s": end_s,
            "flows": flows,
            "links": {},
        }
        return FakeRun(self.model, document | summary, tables)
