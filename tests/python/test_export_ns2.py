"""Packet traces of ns-2."""

import numpy as np
import pytest

from ackclock import Scenario, run
from ackclock.export import export
from ackclock.export.columns import ACK, DATA, HANDSHAKE_ACK, SYN, SYN_ACK
from ackclock.export.ns2 import segment_numbers, times
from ackclock.export.packets import Packets

LOSSY = {
    "name": "tests/lossy",
    "hosts": ["n0", "n2", "n3"],
    "routers": ["n1"],
    "links": [
        {"id": "A", "between": ["n0", "n1"], "rate": "10 Mbps", "delay": "5 ms"},
        {
            "id": "B",
            "between": ["n1", "n2"],
            "rate": "1 Mbps",
            "delay": "20 ms",
            "queue": {"kind": "droptail", "limit": "8 packets"},
        },
        {"id": "C", "between": ["n3", "n1"], "rate": "10 Mbps", "delay": "1 ms"},
    ],
    "flows": [
        {
            "id": "F1",
            "from": "n0",
            "to": "n2",
            "tcp": {"sender": "classic", "recovery": "newreno", "segment": "1000 B"},
        },
        {
            "id": "U",
            "from": "n3",
            "to": "n2",
            "start": "1 s",
            "udp": {"source": {"kind": "cbr", "rate": "300 kbps", "write": "500 B"}},
        },
    ],
    "stop": {"when": "time", "at_latest": "6 s"},
}


@pytest.fixture(scope="module")
def lossy():
    return run(Scenario.from_dict(LOSSY))


def lines_of(results, path, **options):
    (written,) = export(results, "ns2", path, **options)
    return [line.split(" ") for line in written.read_text().splitlines()]


def test_lines_are_those_of_ns_2(tmp_path):
    document = {
        "name": "tests/one",
        "hosts": ["S", "D"],
        "routers": ["R"],
        "links": [
            {"id": "A", "between": ["S", "R"], "rate": "5 Mbps", "delay": "20 ms"},
            {"id": "B", "between": ["R", "D"], "rate": "1 Mbps", "delay": "50 ms"},
        ],
        "flows": [
            {
                "id": "F",
                "from": "S",
                "to": "D",
                "send": "2000 B",
                "tcp": {"sender": "classic", "segment": "1000 B", "initial_window": 2},
            }
        ],
        "stop": {"when": "flows-complete"},
    }
    (written,) = export(run(Scenario.from_dict(document)), "ns2", tmp_path / "one.tr")
    # 1040 bytes take 1.664 ms and 8.32 ms, 40 bytes 0.32 ms and 64 us.
    assert written.read_text().splitlines() == [
        "+ 0 0 2 tcp 1040 ------- 0 0.0 1.0 0 0",
        "- 0 0 2 tcp 1040 ------- 0 0.0 1.0 0 0",
        "+ 0 0 2 tcp 1040 ------- 0 0.0 1.0 1 1",
        "- 0.001664 0 2 tcp 1040 ------- 0 0.0 1.0 1 1",
        "r 0.021664 0 2 tcp 1040 ------- 0 0.0 1.0 0 0",
        "+ 0.021664 2 1 tcp 1040 ------- 0 0.0 1.0 0 0",
        "- 0.021664 2 1 tcp 1040 ------- 0 0.0 1.0 0 0",
        "r 0.023328 0 2 tcp 1040 ------- 0 0.0 1.0 1 1",
        "+ 0.023328 2 1 tcp 1040 ------- 0 0.0 1.0 1 1",
        "- 0.029984 2 1 tcp 1040 ------- 0 0.0 1.0 1 1",
        "r 0.079984 2 1 tcp 1040 ------- 0 0.0 1.0 0 0",
        "+ 0.079984 1 2 ack 40 ------- 0 1.0 0.0 0 2",
        "- 0.079984 1 2 ack 40 ------- 0 1.0 0.0 0 2",
        "r 0.088304 2 1 tcp 1040 ------- 0 0.0 1.0 1 1",
        "+ 0.088304 1 2 ack 40 ------- 0 1.0 0.0 1 3",
        "- 0.088304 1 2 ack 40 ------- 0 1.0 0.0 1 3",
        "r 0.130304 1 2 ack 40 ------- 0 1.0 0.0 0 2",
        "+ 0.130304 2 0 ack 40 ------- 0 1.0 0.0 0 2",
        "- 0.130304 2 0 ack 40 ------- 0 1.0 0.0 0 2",
        "r 0.138624 1 2 ack 40 ------- 0 1.0 0.0 1 3",
        "+ 0.138624 2 0 ack 40 ------- 0 1.0 0.0 1 3",
        "- 0.138624 2 0 ack 40 ------- 0 1.0 0.0 1 3",
        "r 0.150368 2 0 ack 40 ------- 0 1.0 0.0 0 2",
        "r 0.158688 2 0 ack 40 ------- 0 1.0 0.0 1 3",
    ]


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0"),
        (499, "0"),
        (500, "1e-06"),
        (99_000, "9.9e-05"),
        (100_000, "0.0001"),
        (20_064_000, "0.020064"),
        (1_500_000_000, "1.5"),
        (19_999_999_500, "20"),
        (123_456_789_012_345, "123456.789012"),
    ],
)
def test_times_have_the_form_of_ns_2(ns, text):
    assert times(np.array([ns])).to_pylist() == [text]
    assert text == f"{np.floor(ns / 1e9 * 1e6 + 0.5) / 1e6:.15g}"


def test_lines_agree_with_the_summary(lossy, tmp_path):
    lines = lines_of(lossy, tmp_path / "x.tr")
    assert [float(line[1]) for line in lines] == sorted(float(line[1]) for line in lines)
    flow = lossy.summary["flows"]["F1"]
    assert flow["segments_dropped"] > 3
    dropped = [line for line in lines if line[0] == "d" and line[7] == "0"]
    assert len(dropped) == flow["segments_dropped"]
    assert {tuple(line[2:4]) for line in dropped} == {("1", "2")}
    sent = [line for line in lines if line[:1] + line[2:5] == ["+", "0", "1", "tcp"]]
    assert len(sent) == flow["segments_sent"]
    assert len({line[11] for line in sent}) == len(sent)
    again = len(sent) - len({line[10] for line in sent})
    assert again == flow["retransmissions"]
    udp = [line for line in lines if line[0] == "+" and line[4] == "cbr" and line[2] == "3"]
    assert [int(line[10]) for line in udp] == list(range(len(udp)))
    assert {tuple(line[5:10]) for line in udp} == {("500", "-------", "1", "3.0", "2.1")}
    assert {tuple(line[6:10]) for line in sent} == {("-------", "0", "0.0", "2.0")}


def test_every_queue_is_first_in_first_out_line_by_line(lossy, tmp_path):
    queues = {}
    most = 0
    for line in lines_of(lossy, tmp_path / "x.tr"):
        queue = queues.setdefault((line[2], line[3]), [])
        if line[0] == "+":
            queue.append(line[11])
        elif line[0] == "-":
            assert queue.pop(0) == line[11]
        elif line[0] == "d":
            assert queue.pop() == line[11]
        if (line[2], line[3]) == ("1", "2"):
            most = max(most, len(queue))
    assert most == 9  # 8 wait, and the one that is dropped has come


def test_flows_and_links_can_be_chosen(lossy, tmp_path):
    every = lines_of(lossy, tmp_path / "x.tr", first_fid=1)
    one = lines_of(lossy, tmp_path / "y.tr", flows=["U"], links=["B"], first_fid=1)
    assert one == [line for line in every if line[7] == "2" and line[2:4] == ["1", "2"]]
    assert one


def test_a_loss_on_the_way_has_no_reception(tmp_path):
    document = {
        **LOSSY,
        "links": [dict(link) for link in LOSSY["links"]],
        "flows": LOSSY["flows"][:1],
    }
    document["links"][1]["loss"] = {"kind": "packets", "numbers": [5], "at": "exit"}
    lines = lines_of(run(Scenario.from_dict(document)), tmp_path / "x.tr")
    lost = next(line for line in lines if line[0] == "d" and line[10] == "4")
    of_it = [line[0] for line in lines if line[11] == lost[11] and line[2:4] == ["1", "2"]]
    assert of_it == ["+", "-", "d"]


@pytest.mark.slow
def test_half_duplex_links_and_routers(tmp_path):
    scenario = Scenario.load(
        "caltech/test-case-1-fast", [("stop", "{when: time, at_latest: 6 s}"), ("record", "all")]
    )
    results = run(scenario)
    lines = lines_of(results, tmp_path / "x.tr")
    nodes = [*results.model["hosts"], *results.model["routers"]]
    ends = {frozenset(link["ends"]) for link in results.model["links"]}
    # Every packet goes from node to node, each time to where it goes on.
    place = {}
    for line in lines:
        origin, target = int(line[2]), int(line[3])
        assert frozenset((nodes[origin], nodes[target])) in ends
        if line[0] == "+":
            assert place.get(line[11], line[2]) == line[2]
        elif line[0] == "r":
            place[line[11]] = line[3]
    kinds = {line[4] for line in lines}
    assert kinds == {"tcp", "ack", "rtProtoDV"}
    assert {line[10] for line in lines if line[4] == "rtProtoDV"} == {"-1"}


def test_numbers_of_segments_follow_their_first_bytes():
    count = 8
    packets = Packets(*(np.zeros(count, np.int64) for _ in range(6)), np.zeros(count, bool))
    # The third message of a handshake is an ACK of the sender.
    packets.kind[:] = [SYN, SYN_ACK, HANDSHAKE_ACK, DATA, DATA, DATA, ACK, ACK]
    packets.back[:] = [False, True, False, False, False, False, True, True]
    packets.seq[:] = [0, 0, 0, 0, 1000, 1300, 0, 1300]
    flow = {"tcp": {"numbering": "bytes"}}
    assert segment_numbers(packets, [flow]).tolist() == [0, 0, 0, 1, 2, 3, 0, 2]


def test_the_first_segment_of_a_handshake_is_segment_0(tmp_path):
    tcp = {**LOSSY["flows"][0]["tcp"], "handshake": "first-segment", "initial_window": 1}
    document = {**LOSSY, "flows": [{**LOSSY["flows"][0], "tcp": tcp}]}
    lines = lines_of(run(Scenario.from_dict(document)), tmp_path / "x.tr")
    sent = [line for line in lines if line[0] == "+" and line[2] in "02"]
    begin = [" ".join([line[4], line[5], line[10], line[11]]) for line in sent[:5]]
    assert begin == ["tcp 40 0 0", "ack 40 0 1", "tcp 1040 1 2", "ack 40 1 3", "tcp 1040 2 4"]


@pytest.mark.parametrize(
    ("periods", "word"), [("1 s", "cbr"), ("exponential", "exp"), ("pareto", "pareto")]
)
def test_packets_are_called_after_their_source(tmp_path, periods, word):
    span = periods if periods == "1 s" else {"kind": periods, "mean": "100 ms"}
    source = {"kind": "on-off", "rate": "300 kbps", "write": "500 B", "on": span, "off": span}
    document = {**LOSSY, "flows": [{**LOSSY["flows"][1], "udp": {"source": source}}]}
    lines = lines_of(run(Scenario.from_dict(document)), tmp_path / "x.tr")
    assert {line[4] for line in lines} == {word}
