"""The programs that measure a kernel: what of them can be checked without one."""

import importlib
import json
import struct
import sys
from pathlib import Path

import pytest

from ackclock.reproduce import linux
from ackclock.reproduce.linux import oracle, traces

FOLDER = Path(__file__).parents[2] / "validation" / "linux"
MODULES = ("form", "drawn", "scenarios", "kernel", "analysis", "summarise")


@pytest.fixture(scope="module")
def programs():
    """The modules of the folder, which is not a package."""
    before = {name: sys.modules.pop(name, None) for name in MODULES}
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(str(FOLDER))
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


def test_drawn_scenarios_are_enough_to_judge_each_algorithm_by(programs):
    drawn, form = programs["drawn"].ALL, programs["form"]
    assert len({one["name"] for one in drawn}) == len(drawn) == 206
    for cc in form.ALGORITHMS:
        mine = [one for one in drawn if one["flows"][0]["cc"] == cc]
        vectors = [one for one in mine if form.family(one) == "vector"]
        assert len(vectors) > 35
        assert len({json.dumps(one["drop"]) for one in vectors}) > 15
        assert {form.family(one) for one in mine} == {"vector", "micro", "bulk1", "loss", "multi"}
    # The generator's rules and figures are those of one release of Python as of another.
    first = drawn[0]
    assert (first["rate_mbps"], first["rtt_ms"], first["drop"]) == (29, 38, ["0:276"])


def test_the_scenarios_are_those_whose_figures_are_shipped(programs):
    shipped = {entry["name"]: entry for entry in json.loads(oracle.content(linux.PACKAGED))}
    made = {one["name"]: one for one in programs["scenarios"].ALL}
    assert list(made) and set(made) == set(shipped)
    for name, one in made.items():
        assert {key: shipped[name][key] for key in one if key != "buffer_bdp"} == {
            key: value for key, value in one.items() if key != "buffer_bdp"
        }
        assert programs["form"].family(one) == shipped[name]["family"]


def test_timers_are_found_in_the_traces(programs, tmp_path):
    for name in ("v_08_tail1_reno", "v_01_drop1_reno", "x_bbr_idle"):
        (entry,) = (e for e in json.loads(oracle.content(linux.PACKAGED)) if e["name"] == name)
        (tmp_path / f"{name}.csv").write_bytes(traces._packaged()[f"{name}.csv"])
        assert programs["summarise"].timer_driven(entry, tmp_path) == entry["timer_driven"]


def test_tolerances_of_figures(programs):
    figure = programs["summarise"].figure
    assert figure([4.0, None, 2.0, 3.0], (1.0, 0.5)) == {
        "median": 3.0, "min": 2.0, "max": 4.0, "tol": 4.0, "strict": 6.0,
    }  # fmt: skip
    assert figure([8, 8], (1.0, 0.5))["tol"] == 4.0
    assert figure([None], (1.0, 0.0)) is None


def test_a_form_refuses_what_it_does_not_know(programs):
    form = programs["form"]
    with pytest.raises(ValueError, match="no such keys: buffers"):
        form.scenario("x", 10, 40, ["reno"], 5, buffers=3)
    with pytest.raises(ValueError, match="at most 64 times"):
        form.scenario("x", 10, 40, [{"cc": "reno", "writes": "0:1," * 65}], 5)
    assert form.scenario("x", 10, 40, ["reno"], 6, buffer_bdp=0.5)["buffer_pkts"] == 17
    assert form.drawn(7919, 0.02, 11, 277) == [121, 127, 158, 176, 183, 190, 205, 206]


def event(time_us, kind, *, seq=0, ack=0, payload=0, forward=True, flags=16, flow=0):
    """A record of the emulator's log."""
    length = 1500 if payload else 52
    direction = 0 if forward else 1
    return struct.pack(
        "<QQIIHHHBBBBHI",
        time_us * 1000, 0, seq, ack, length, payload, 0, kind, direction, flow, flags, 0, 0,
    )  # fmt: skip


ARRIVED, DROP_TAIL, STARTED, DELIVERED, MARKED = 1, 2, 5, 6, 7
WRAP = 2**32


def raw(programs, log, samples, **source):
    said = {
        "retrans": 0, "min_rtt_us": 40_000, "dsack_dups": 0, "reord_seen": 0, "rwnd_limited_us": 0,
        "sndbuf_limited_us": 0, "snd_mss": 1448, "delivered_ce": 0, "final_cwnd": 12,
        "connect_ns": 0, "established_ns": 40_000_000, "done_ns": 900_000_000, **source,
    }  # fmt: skip
    emulator = {
        "log_full": False, "fwd": {"over_mtu": 0}, "rev": {"over_mtu": 0},
        "late_us": {"p99_le": 16.4, "max": 20.0},
    }  # fmt: skip
    text = "t_ms,cwnd,ssthresh,srtt_us,ca_state,unacked,total_retrans,delivered,bytes_acked\n"
    text += "".join(
        f"{t},{cwnd},9,40000,0,{cwnd},0,{n},{acked}\n" for n, (t, cwnd, acked) in enumerate(samples)
    )
    return programs["kernel"].Raw(
        0, b"".join(log), emulator, [text], [said], [{"eof_ns": 800_000_000}]
    )


def test_figures_of_a_log(programs):
    one = programs["form"].scenario(
        "x", 12, 40, [{"cc": "reno", "size": 5000}], 1.0, warmup=0.0, kind="bulk"
    )
    last = WRAP - 1448
    log = [
        event(0, ARRIVED, seq=last - 1, flags=2),
        event(0, STARTED, seq=last - 1, flags=2),
        event(100_000, ARRIVED, seq=last, payload=1448),
        event(100_000, STARTED, seq=last, payload=1448),
        event(100_001, ARRIVED, seq=0, payload=1448),
        event(100_002, DROP_TAIL, seq=1448, payload=1448),
        event(100_003, MARKED, seq=2896, payload=1448),
        event(100_003, ARRIVED, seq=2896, payload=1448),
        event(101_001, STARTED, seq=0, payload=1448),
        event(102_003, STARTED, seq=2896, payload=1448),
        event(140_000, DELIVERED, ack=0, forward=False),
        event(141_000, DELIVERED, ack=1448, forward=False, flags=17),
        # Sent again, across the wrap and after it.
        event(500_000, ARRIVED, seq=1448, payload=1448),
        event(500_000, STARTED, seq=1448, payload=1448),
        event(600_000, ARRIVED, seq=last, payload=1448),
        event(600_000, STARTED, seq=last, payload=1448),
    ]
    samples = [(100, 10, 0), (110, 12, 1448), (900, 14, 10_000), (1000, 99, 99_999)]
    found = programs["analysis"].analyse(one, 0, raw(programs, log, samples))
    assert found["valid"]
    (flow,) = found["flows"]
    assert (flow["data_pkts_sent"], flow["retransmits_wire"]) == (6, 2)
    assert (flow["drops_tail"], flow["ce_marks"], flow["acks"]) == (1, 1, 1)
    assert flow["goodput_mbps_window"] == 0.1
    assert flow["mean_cwnd_pkts_kernel"] == 12
    assert flow["fct_ms"] == 800.0
    # Five packets of 1 ms and a SYN in a second; two packets wait 1 and 2 ms of the 600 until the
    # last event.
    assert found["utilisation"] == pytest.approx((5 * 1500 + 52) * 8 / 12e6, abs=1e-4)
    assert found["queue_pkts_mean"] == pytest.approx((1.0 + 2.0) / 600, abs=1e-3)
    assert found["queue_pkts_p99"] == 0


def test_a_disturbed_repetition_is_not_valid(programs):
    one = programs["form"].scenario("x", 12, 40, ["reno"], 1.0)
    quiet = raw(programs, [], [])
    analyse = programs["analysis"].analyse
    assert analyse(one, 0, quiet)["valid"]
    assert not analyse(one, 0, raw(programs, [], [], rwnd_limited_us=60_000))["valid"]
    quiet.emulator["late_us"]["max"] = 30_000.0
    assert not analyse(one, 0, quiet)["valid"]


def test_a_packet_trace_is_one_that_can_be_compared(programs, tmp_path):
    one = programs["form"].scenario("mine", 12, 40, [{"cc": "reno", "size": 2896}], 1.0)
    one |= {"kind": "micro"}
    log = [
        event(0, ARRIVED, seq=WRAP - 1, flags=2),
        event(40_000, DELIVERED, ack=0, forward=False, flags=18),
        event(41_000, ARRIVED, seq=0, payload=1448),
        event(41_001, DROP_TAIL, seq=1448, payload=1448),
        event(90_000, DELIVERED, ack=1448, forward=False),
        event(300_000, ARRIVED, seq=1448, payload=1448),
    ]
    left = raw(programs, log, [(50, 10, 0), (60, 10, 0), (70, 11, 1448)])
    folder = tmp_path / "traces"
    folder.mkdir()
    analysis = programs["analysis"]
    rows = list(analysis.packet_trace(one, left))
    (folder / "mine.csv").write_text("\n".join(rows))
    rows = list(analysis.window_trace(one, left, 0))
    assert len(rows) == 4  # each has another count of deliveries
    (folder / "mine.cwnd.csv").write_text("\n".join(rows))
    file = tmp_path / "oracle.json"
    file.write_text(json.dumps([one]))
    (scenario,) = oracle.read(file)
    trace = traces.kernel(scenario, file)
    assert [(p.start, p.again, p.fate) for p in trace.sent] == [
        (0, False, ""), (1448, False, "dropped"), (1448, True, ""),
    ]  # fmt: skip
    assert [(ack.acked, ack.time_ms) for ack in trace.acks] == [(1448, 90.0)]
    assert [window.cwnd for window in trace.windows] == [10, 10, 11]
