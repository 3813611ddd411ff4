"""Captures of modern flows: options, flags and blocks, and what tshark says of them."""

import shutil
import struct

import pytest
from modern_runs import ECN, simulated
from pcapng_reader import read
from tshark import tshark

from ackclock.export import export

FIN, SYN, PSH, ACK, ECE, CWR = 0x01, 0x02, 0x08, 0x10, 0x40, 0x80
KINDS = ("retransmission", "out_of_order")
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")


@pytest.fixture(scope="module")
def lossy():
    return simulated()


@pytest.fixture(scope="module")
def marked():
    return simulated(tcp={"ecn": True}, queue=ECN)


@pytest.fixture(scope="module")
def spurious():
    """A delay that grows at once makes the timer expire for nothing."""
    return simulated(send="300 kB", late=True)


def captured(results, path, **options):
    (written,) = export(results, "pcapng", path, **options)
    return read(written)


def blocks(packet):
    raw = packet.tcp_options.get(5, b"")
    return [struct.unpack(">II", raw[at : at + 8]) for at in range(0, len(raw), 8)]


def test_handshake_agrees_on_options_and_the_data_end_with_a_fin(lossy, tmp_path):
    packets = captured(lossy, tmp_path / "x.pcapng").packets
    assert [packet.flags for packet in packets[:3]] == [SYN, SYN | ACK, ACK]
    for packet in packets[:2]:
        assert packet.tcp_options[2] == (1460).to_bytes(2)
        assert {3, 4, 8} <= set(packet.tcp_options)
    assert all(8 in packet.tcp_options for packet in packets)
    (last,) = {p.seq + p.payload for p in packets if p.outbound and p.flags & FIN}
    assert last == 1 + 3_000_000
    assert max(packet.ack for packet in packets if not packet.outbound) == last + 1
    assert any(packet.flags & PSH for packet in packets)


@pytest.mark.slow
def test_blocks_are_what_the_receiver_holds(lossy, tmp_path):
    held, expected, seen = set(), 1, 0
    for packet in captured(lossy, tmp_path / "x.pcapng", hosts=["B"]).packets:
        if not packet.outbound:
            held.update(range(packet.seq, packet.seq + packet.payload))
            while expected in held:
                expected += 1
            continue
        for left, right in blocks(packet):
            seen += 1
            assert expected < left < right
            assert held.issuperset(range(left, right))
            assert left - 1 not in held
            assert right not in held
    assert seen > 50


def test_duplicates_are_reported_below_the_ack(spurious, tmp_path):
    packets = captured(spurious, tmp_path / "x.pcapng").packets
    dsacks = [p for p in packets if any(right <= p.ack for _, right in blocks(p)[:1])]
    rows = spurious.table("events").to_pylist()
    needless = [row for row in rows if row["event"] == "spurious"]
    assert len(dsacks) == len(needless) > 0
    assert [blocks(p)[0][0] - 1 for p in dsacks] == [row["seq"] for row in needless]


def test_marks_are_shown_from_where_they_are_made(marked, tmp_path):
    sent = captured(marked, tmp_path / "a.pcapng").packets
    come = captured(marked, tmp_path / "b.pcapng", hosts=["B"]).packets
    assert sent[0].flags == SYN | ECE | CWR
    assert sent[1].flags == SYN | ACK | ECE
    data = [packet for packet in sent if packet.payload]
    assert {packet.data[1] & 3 for packet in data} <= {0, 2}
    ce = {packet.number for packet in come if packet.data[1] & 3 == 3}
    rows = marked.table("marks").to_pylist()
    assert ce == {row["packet_id"] for row in rows if row["packet_id"] in {p.number for p in come}}
    assert len(ce) > 3
    assert (
        sum(bool(packet.flags & CWR) for packet in data)
        == (marked.summary["flows"]["F"]["ecn_reductions"])
    )
    assert any(packet.flags & ECE for packet in sent[3:] if not packet.outbound)


@pytest.mark.parametrize(("back", "agreed"), [(False, 0), (True, ECE)])
def test_a_repeated_syn_does_not_ask_for_marks(back, agreed, tmp_path):
    """The answer echoes the first SYN that has arrived, and agrees to what it asked for."""
    first = {"kind": "packets", "numbers": [1], "at": "entry"}
    results = simulated(tcp={"ecn": True}, queue=ECN, send="30 kB", loss=first, back=back)
    packets = captured(results, tmp_path / "x.pcapng").packets
    opening = [packet for packet in packets if packet.flags & SYN]
    assert [p.flags for p in opening] == [SYN | ECE | CWR, SYN, SYN | ACK | agreed]
    stamp, echo = (struct.unpack(">II", opening[i].tcp_options[8])[i // 2] for i in (1 - back, 2))
    assert echo == stamp
    assert {packet.data[1] & 3 for packet in packets if packet.payload} == {2 * back}


@needs_tshark
@pytest.mark.slow
@pytest.mark.parametrize("name", ["lossy", "marked", "spurious"])
def test_tshark_finds_no_fault_and_counts_the_same(name, request, tmp_path):
    results = request.getfixturevalue(name)
    (path,) = export(results, "pcapng", tmp_path / "x.pcapng", snaplen=65535)
    said = tshark(path)
    assert "Errors" not in said.expert
    # Its rule for disorder takes a retransmission within the first RTT of the highest segment for
    # an original that comes late; and it warns of every D-SACK.
    warned = said.expert.partition("Warns")[2].partition("\n\n")[0].splitlines()[3:]
    known = ("(suspected) out-of-order segment", "D-SACK Sequence")
    assert [line for line in warned if not any(words in line for words in known)] == []
    assert said.faulty == []
    # It counts the same retransmissions and blocks.
    counts = {what: len(said.where(f"tcp.analysis.{what}")) for what in KINDS}
    assert sum(counts.values()) == results.summary["flows"]["F"]["retransmissions"], counts
    edges = sum(
        len(packet["tcp.options.sack_le"].split(","))
        for packet in said.where("tcp.options.sack_le")
    )
    table = results.table("headers").to_pylist()
    arrived = {r["packet_id"] for r in results.table("packets").to_pylist() if r["host"] == "A"}
    ours = [row for row in table if row["packet_id"] in arrived]
    assert edges == sum(row[f"sack_{k}_from"] >= 0 for row in ours for k in range(1, 5))
