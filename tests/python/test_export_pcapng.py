"""Captures, read by our own reader and, where it is installed, by tshark."""

import shutil
import struct
from collections import Counter

import pytest
from pcapng_reader import read
from test_export_ns2 import LOSSY
from tshark import tshark

from ackclock import Scenario, run
from ackclock.export import export

SYN, ACK = 0x02, 0x10


def flow(name, **tcp):
    return {
        "id": name,
        "from": "S",
        "to": "D",
        "tcp": {"sender": "classic", "segment": "1000 B", **tcp},
    }


def simulated(*flows, **more):
    bottleneck = {
        "id": "L",
        "between": ["S", "D"],
        "rate": "1 Mbps",
        "delay": "20 ms",
        "queue": {"kind": "droptail", "limit": "10 packets"},
    }
    document = {
        "name": "tests/capture",
        "hosts": ["S", "D"],
        "links": [bottleneck],
        "flows": list(flows),
        "stop": {"when": "time", "at_latest": "8 s"},
        **more,
    }
    return run(Scenario.from_dict(document))


@pytest.fixture(scope="module")
def lossy():
    return simulated(
        flow("tahoe", recovery="tahoe"),
        {**flow("reno", recovery="reno"), "start": "0.1 s"},
        {**flow("newreno", recovery="newreno", receive_window="40000 B"), "start": "0.2 s"},
    )


def captured(results, path, **options):
    (written,) = export(results, "pcapng", path, **options)
    return read(written)


def test_each_flow_is_captured_at_its_sender(lossy, tmp_path):
    file = captured(lossy, tmp_path / "x.pcapng")
    assert file.comment.startswith("tests/capture, seed 1, digest ")
    (interface,) = file.interfaces
    assert interface[2] == [b"S:L"]
    assert interface[8] == [(1_000_000).to_bytes(8, "little")]
    assert interface[9] == [b"\x09"]
    sender, receiver = b"\x0a\0\0\x01", b"\x0a\0\0\x02"
    assert file.names == {sender: "S", receiver: "D"}
    times = [packet.time_ns for packet in file.packets]
    assert times == sorted(times)
    rows = lossy.table("packets").to_pylist()
    rows = [row for row in rows if row["host"] == "S"]
    packets = [packet for packet in file.packets if "made up" not in (packet.comment or "")]
    assert len(packets) == len(rows)
    for row, packet in zip(rows, packets, strict=True):
        assert packet.time_ns == round(row["time_s"] * 1e9)
        assert packet.number == row["packet_id"]
        data = row["kind"] == "data"
        assert packet.outbound == data
        assert packet.ends == ((sender, receiver) if data else (receiver, sender))
        assert packet.original == row["bytes"]
        assert packet.data == packet.data[:128]
        assert packet.payload == (1000 if data else 0)
        assert (packet.seq if data else packet.ack) == row["seq"] + 1
        assert (packet.ack if data else packet.seq) == 1
        assert packet.flags == ACK


def test_handshakes_tell_scale_and_segment(lossy, tmp_path):
    packets = captured(lossy, tmp_path / "x.pcapng").packets
    opening = [packet for packet in packets if "made up" in (packet.comment or "")]
    assert [packet.flags for packet in opening] == 3 * [SYN, SYN | ACK, ACK]
    assert [packet.time_ns for packet in opening] == 3 * [0] + 3 * [10**8] + 3 * [2 * 10**8]
    assert [(packet.seq, packet.ack) for packet in opening[:3]] == [(0, 0), (0, 1), (1, 1)]
    assert opening[0].tcp_options == {2: (1000).to_bytes(2), 3: b"\x0e"}
    assert opening[6].tcp_options == {2: (1000).to_bytes(2), 3: b"\0"}
    assert opening[6].window == 40_000
    ports = {packet.ports for packet in opening}
    assert len(ports) == 6
    newreno = [packet for packet in packets if packet.ports == opening[6].ports]
    assert {packet.window for packet in newreno} == {40_000}


def test_a_handshake_of_the_run_is_shown_as_it_was(tmp_path):
    results = simulated(flow("F", handshake="first-segment", initial_window=1))
    packets = captured(results, tmp_path / "x.pcapng").packets
    assert [packet.flags for packet in packets[:4]] == [SYN, SYN | ACK, ACK, ACK]
    assert [(p.seq, p.ack, p.payload) for p in packets[:3]] == [(0, 0, 0), (0, 1, 0), (1, 1, 1000)]
    assert packets[0].tcp_options == packets[1].tcp_options == {2: (1000).to_bytes(2), 3: b"\x0e"}
    assert {packet.flags for packet in packets[2:]} == {ACK}
    assert not any("made up" in (packet.comment or "") for packet in packets)


def test_timestamps_are_shown_where_headers_have_room(tmp_path):
    results = simulated(flow("F", header="52 B", receiver="delayed"))
    packets = captured(results, tmp_path / "x.pcapng").packets
    assert {packet.payload for packet in packets} == {0, 1000}
    assert packets[0].tcp_options[2] == (1012).to_bytes(2)  # RFC 9293 section 3.7.1
    assert {packet.original for packet in packets if packet.flags == ACK} == {52, 1052}
    rows = results.table("packets").to_pylist()
    sent = {r["packet_id"]: r["time_s"] for r in rows if r["event"] == "sent"}
    echoes = {r["packet_id"]: r["stamp_s"] for r in rows if r["event"] == "sent"}
    last = 0
    for packet in packets[3:]:
        value, echo = struct.unpack(">II", packet.tcp_options[8])
        assert value == int(round(sent[packet.number] * 1e9) // 1_000_000)
        if packet.outbound:
            assert echo == last
        else:
            assert echo == int(round(echoes[packet.number] * 1e9) // 1_000_000)
            last = value


def test_the_three_messages_of_a_handshake_are_shown(tmp_path):
    results = simulated(flow("F", handshake="three-way", initial_window=1))
    packets = captured(results, tmp_path / "x.pcapng").packets
    assert [packet.flags for packet in packets[:4]] == [SYN, SYN | ACK, ACK, ACK]
    opening = [(p.seq, p.ack, p.payload, p.outbound) for p in packets[:4]]
    assert opening == [(0, 0, 0, True), (0, 1, 0, False), (1, 1, 0, True), (1, 1, 1000, True)]
    assert {packet.flags for packet in packets[2:]} == {ACK}
    assert not any("made up" in (packet.comment or "") for packet in packets)


def test_drops_are_comments_with_place_time_and_reason(lossy, tmp_path):
    packets = captured(lossy, tmp_path / "x.pcapng").packets
    comments = {p.number: p.comment for p in packets if "dropped" in (p.comment or "")}
    rows = lossy.table("drops").to_pylist()
    assert len(rows) > 10
    assert comments == {
        row["packet_id"]: f"dropped at L forward at {row['time_s']:.9f} s: queue full"
        for row in rows
    }


def test_whole_packets_have_right_checksums_and_zeros(tmp_path):
    results = run(Scenario.from_dict(LOSSY))
    file = captured(results, tmp_path / "x.pcapng", snaplen=65535)
    assert {packet.protocol for packet in file.packets} == {6, 17}
    for packet in file.packets:
        assert len(packet.data) == packet.original
        assert packet.checksums_hold()
        assert not any(packet.data[packet.header :])
    udp = [packet for packet in file.packets if packet.protocol == 17]
    assert {packet.original for packet in udp} == {500}
    assert [interface[2] for interface in file.interfaces] == [[b"n0:A"], [b"n3:C"]]


def test_links_show_what_they_carry_and_what_they_refuse(tmp_path):
    results = run(Scenario.from_dict(LOSSY))
    file = captured(results, tmp_path / "x.pcapng", links=["B"], flows=["F1"])
    assert [interface[2] for interface in file.interfaces] == [[b"B"]]
    packets = [packet for packet in file.packets if "made up" not in (packet.comment or "")]
    carried = results.table("transmissions").to_pylist()
    carried = [row for row in carried if row["link"] == "B" and row["flow"] == "F1"]
    drops = [row for row in results.table("drops").to_pylist() if row["flow"] == "F1"]
    assert len(packets) == len(carried) + len(drops)
    seen = {packet.number: packet for packet in packets}
    for row in carried:
        assert seen[row["packet_id"]].time_ns == round(row["time_s"] * 1e9)
        assert seen[row["packet_id"]].outbound == (row["direction"] == "forward")
        assert seen[row["packet_id"]].comment is None
    for row in drops:
        assert seen[row["packet_id"]].time_ns == round(row["time_s"] * 1e9)
        assert "queue full" in seen[row["packet_id"]].comment


def test_hosts_show_what_they_send_and_receive(tmp_path):
    results = run(Scenario.from_dict(LOSSY))
    file = captured(results, tmp_path / "x.pcapng", hosts=["n2"])
    rows = [row for row in results.table("packets").to_pylist() if row["host"] == "n2"]
    made_up = Counter("made up" in (packet.comment or "") for packet in file.packets)
    assert made_up == {True: 3, False: len(rows)}
    assert not file.packets[0].outbound  # the SYN comes in


def test_selective_repeat_shows_blocks_ahead_of_a_gap(tmp_path):
    sender = {"sender": "selective-repeat", "segment": "1000 B", "cc": "reno"}
    results = simulated({"id": "F", "from": "S", "to": "D", "send": "400 kB", "tcp": sender})
    packets = captured(results, tmp_path / "x.pcapng", hosts=["D"]).packets
    assert 4 in packets[0].tcp_options  # selective acknowledgments are permitted
    come, blocks = set(), 0
    for packet in packets[3:]:
        if not packet.outbound:
            come.update(range(packet.seq, packet.seq + packet.payload, 1000))
            last = packet.seq
            continue
        expected = 1
        while expected in come:
            expected += 1000
        assert packet.ack == expected
        if last < expected:
            assert 5 not in packet.tcp_options
            continue
        blocks += 1
        block = packet.tcp_options[5]
        left, right = int.from_bytes(block[:4]), int.from_bytes(block[4:])
        assert left <= last < right
        assert set(range(left, right, 1000)) <= come
        assert left - 1000 not in come
        assert right not in come
    assert blocks > 5
    assert expected == 400_001


@pytest.mark.slow
def test_sequence_numbers_wrap_as_in_tcp(tmp_path):
    fast = {
        "id": "L",
        "between": ["S", "D"],
        "rate": "1 Tbps",
        "delay": "1 us",
        "queue": {"kind": "droptail", "limit": "unlimited"},
    }
    send = 2**32 + 10 * 60_000
    results = simulated(
        {
            **flow("F", segment="60000 B", initial_window=100, receiver="delayed"),
            "send": f"{send} B",
        },
        links=[fast],
    )
    packets = captured(results, tmp_path / "x.pcapng").packets
    assert packets[-1].ack == (send + 1) % 2**32
    assert max(packet.seq for packet in packets) > 2**32 - 60_000


def analysed(said, what):
    found = [packet["tcp.stream"] for packet in said.where(f"tcp.analysis.{what}")]
    return [found.count(str(stream)) for stream in range(3)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_tshark_counts_the_same_retransmissions(lossy, tmp_path):
    (path,) = export(lossy, "pcapng", tmp_path / "sender.pcapng", snaplen=65535)
    flows = lossy.summary["flows"].values()
    said = tshark(path)
    assert analysed(said, "retransmission") == [flow["retransmissions"] for flow in flows]
    assert analysed(said, "out_of_order") == [0, 0, 0]
    # Nothing that was acknowledged is retransmitted: that is what spurious means where it is sent.
    assert analysed(said, "spurious_retransmission") == [0, 0, 0]
    assert "Errors" not in said.expert
    assert "Warns" not in said.expert
    assert said.faulty == []
    # Where it arrives, it means that the data had been acknowledged, as with us.
    (path,) = export(lossy, "pcapng", tmp_path / "receiver.pcapng", hosts=["D"])
    needless = [flow["duplicates_received"] for flow in flows]
    assert sum(needless) > 0
    assert analysed(tshark(path), "spurious_retransmission") == needless


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_tshark_takes_quick_retransmissions_for_disorder(tmp_path):
    """Its rule: out of order is what comes within its first RTT of the highest segment."""
    link = {"id": "L", "between": ["S", "D"], "rate": "2 Mbps", "delay": "20 ms"}
    link["queue"] = {"kind": "droptail", "limit": "10 packets"}
    newreno = {**flow("newreno", recovery="newreno"), "start": "0.2 s"}
    results = simulated(flow("tahoe", recovery="tahoe"), newreno, links=[link])
    (path,) = export(results, "pcapng", tmp_path / "x.pcapng")
    said = tshark(path)
    found = [analysed(said, what)[:2] for what in ("retransmission", "out_of_order")]
    flows = results.summary["flows"].values()
    assert [sum(both) for both in zip(*found, strict=True)] == [
        flow["retransmissions"] for flow in flows
    ]
    early = said.where("tcp.analysis.out_of_order")
    (first_rtt,) = {packet["tcp.analysis.initial_rtt"] for packet in early}
    first_rtt_ns = round(float(first_rtt) * 1e9)
    packets = read(path).packets
    assert early
    for number in (int(packet["frame.number"]) for packet in early):
        packet = packets[number - 1]
        before = [p for p in packets[: number - 1] if p.ports == packet.ports]
        highest = max(before, key=lambda p: p.seq)
        assert packet.seq < highest.seq
        assert packet.time_ns - highest.time_ns < first_rtt_ns


def test_copies_have_the_times_of_what_they_were_made_of(tmp_path):
    from ackclock.export.packets import Packets

    results = run(
        Scenario.from_dict(
            {
                "hosts": ["A", "B"],
                "links": [
                    {
                        "id": "L",
                        "between": ["A", "B"],
                        "rate": "10 Mbps",
                        "delay": "10 ms",
                        "duplication": 0.1,
                        "jitter": {"kind": "normal", "deviation": "2 ms", "reorder": True},
                    }
                ],
                "flows": [
                    {
                        "id": "F",
                        "from": "A",
                        "to": "B",
                        "send": "200 kB",
                        "tcp": {"sender": "classic"},
                    }
                ],
            }
        )
    )
    packets = Packets.of(results)
    copies = results.summary["packets_duplicated"]
    assert copies > 10
    assert len(packets) == results.summary["packets_created"]
    assert (packets.sent_ns >= 0).all()
    # Of data the stamp is the time of sending; ACKs go back, and nothing else does.
    data = packets.kind == 0
    assert (packets.stamp_ns[data] == packets.sent_ns[data]).all()
    assert (packets.back == (packets.kind == 1)).all()
