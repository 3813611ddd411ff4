"""The log of a run, in Python and on the command line."""

import itertools
import json
import sys

import lab_runs
import modern_runs
import pytest

from ackclock.cli.app import main
from ackclock.errors import InputError
from ackclock.log import KINDS, entries, lines


def text(run, **options):
    return list(lines(entries(run, **options)))


def test_the_timer_reads_like_the_trace_of_the_report():
    """Snippet 1 of Elison and Eklund, Reliable Transport, BYU CS 460, 2016."""
    assert text(lab_runs.timer(), kinds=["rto"])[:11] == [
        "0.000000  F1  timer started with 3 s",
        "0.020800  F1  RTT sample 20.8 ms: RTO 3 s -> 1.0208 s",
        "0.020800  F1  timer started with 1.0208 s",
        "0.021600  F1  RTT sample 21.6 ms: RTO 1.0208 s -> 1.0209 s",
        "0.021600  F1  timer started with 1.0209 s",
        "1.042500  F1  timer expired: RTO doubled to 2.0418 s",
        "1.042500  F1  timer started with 2.0418 s",
        "1.063300  F1  RTT sample 20.8 ms: RTO 2.0418 s -> 1.0208875 s",
        "1.063300  F1  timer started with 1.0208875 s",
        "1.084900  F1  RTT sample 21.6 ms: RTO 1.0208875 s -> 1.020976562 s",
        "1.084900  F1  timer started with 1.020976562 s",
    ]


def test_a_span_knows_what_was_before():
    (line,) = text(lab_runs.timer(), kinds=["rto"], from_s=1.0633, to_s=1.0633)[:1]
    assert line.endswith("RTO 2.0418 s -> 1.0208875 s")


def test_a_fixed_timer_stays():
    tcp = {"cc": {"kind": "fixed", "window": 3}, "recovery": "timeout", "rto": "fixed"}
    loss = {"forward": {"loss": {"kind": "packets", "numbers": [1], "at": "entry"}}}
    run = lab_runs.run(lab_runs.scenario(1, "10 kB", tcp, loss))
    assert "timer expired: RTO stays 1 s" in [e.text for e in entries(run, ["rto"])]


def test_events_and_drops_are_told_unasked_in_the_order_of_time():
    log = entries(lab_runs.timer())
    assert {entry.kind for entry in log} == {"events", "drops"}
    assert [e.time_s for e in log] == sorted(e.time_s for e in log)
    said = [entry.text for entry in log]
    assert said[0] == "flow starts, 10000 B to send"
    assert "segment 2 (byte 2000) dropped at L1 forward: loss" in said
    assert "timeout: segment 2 (byte 2000) is presumed lost" in said
    assert said[-2:] == [
        "flow finished: all data have arrived",
        "flow finished: all data are acknowledged",
    ]


def test_a_timeout_of_a_syn_concerns_no_data():
    loss = {"forward": {"loss": {"kind": "packets", "numbers": [1], "at": "entry"}}}
    run = lab_runs.run(lab_runs.scenario(1, "10 kB", {"sender": "modern", "cc": "reno"}, loss))
    assert run.summary["flows"]["F1"]["timeouts"] == 1
    timeouts = [entry.text for entry in entries(run) if "timeout" in entry.text]
    assert timeouts == ["timeout: the SYN is presumed lost"]


def test_an_overflow_and_its_repair():
    said = [e.text for e in entries(lab_runs.tahoe(), flows=["F1"], from_s=0.18, to_s=0.3)]
    assert said[0] == "segment 128 (byte 128000) dropped at L1 forward: queue full"
    assert said[-1] == "fast retransmit of segment 128 (byte 128000)"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_line_for_each_record(kind, small_results):
    run = small_results if kind == "rto" else lab_runs.tahoe(1)
    log = entries(run, [kind])
    assert len(log) == run.table(kind).num_rows
    assert all(entry.text for entry in log)


def test_packets_are_told_from_both_ends(small_results):
    said = text(lab_runs.tahoe(1), kinds=["packets"])
    assert said[0] == "0.000000  F1  n1 sends segment 0 (byte 0), 1000 B"
    assert said[1] == "0.010800  F1  n2 receives segment 0 (byte 0), 1000 B"
    assert said[2] == "0.010800  F1  n2 sends ACK 1000, 0 B"
    numbered = [entry.text for entry in entries(small_results, ["packets"])]
    assert numbered[0] == "A sends packet 0, 1500 B"
    assert any("sends ACK of packet 0" in line for line in numbered)


def test_times_have_the_digits_they_need():
    log = entries(lab_runs.window(1), ["packets"], to_s=0.03)
    assert next(lines(log)).startswith("0.000000 ")
    end = entries(lab_runs.window(1), ["events"])
    assert list(lines(end))[-1].startswith("10.711616 ")
    assert list(lines([])) == []


def test_unknown_names_and_missing_tables_are_errors():
    run = lab_runs.timer()
    with pytest.raises(InputError, match="unknown kind of log 'rt'"):
        entries(run, ["rt"])
    with pytest.raises(InputError, match="unknown flow 'F9'"):
        entries(run, flows=["F9"])
    bare = lab_runs.run(lab_runs.scenario(1, "10 kB", record="none"))
    with pytest.raises(InputError, match="has recorded nothing of events, drops"):
        entries(bare)
    with pytest.raises(InputError, match="'rto' was not recorded"):
        entries(bare, ["rto"])


# The command


@pytest.fixture
def ackclock(tmp_path, monkeypatch, capsys):
    """Return a function that calls the program in a folder with a run of the timer."""
    monkeypatch.chdir(tmp_path)
    lab_runs.timer().save("timer")
    lab_runs.tahoe().save("tahoe")

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["ackclock", *args])
        with pytest.raises(SystemExit) as caught:
            main()
        return (caught.value.code or 0, *capsys.readouterr())

    return call


def test_log_on_the_command_line(ackclock):
    code, out, err = ackclock("log", "timer", "--kind", "rto", "--to", "21 ms")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "0.000000  F1  timer started with 3 s",
        "0.020800  F1  RTT sample 20.8 ms: RTO 3 s -> 1.0208 s",
        "0.020800  F1  timer started with 1.0208 s",
    ]


def test_log_as_json(ackclock):
    code, out, _ = ackclock("log", "timer", "--kind", "rto,drops", "--from", "0.02", "--json")
    rows = json.loads(out)
    assert code == 0
    assert rows[0] == {
        "table": "rto",
        "text": "RTT sample 20.8 ms: RTO 3 s -> 1.0208 s",
        "time_s": 0.0208,
        "flow": "F1",
        "event": "sample",
        "rtt_s": 0.0208,
        "rto_s": 1.0208,
    }
    assert rows[1]["rtt_s"] is None


def test_a_log_of_nothing_says_so(ackclock):
    code, out, err = ackclock("log", "timer", "--kind", "drops", "--from", "1.1")
    assert (code, out) == (0, "")
    assert "nothing of this kind" in err


@pytest.mark.parametrize("span", [("--from", "3", "--to", "2"), ("--from", "5000")])
def test_a_span_outside_of_the_run_is_bad_input(ackclock, span):
    code, out, err = ackclock("log", "timer", *span)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: nothing of the run is between {span[1]} s and ")


@pytest.mark.parametrize("time", ["3q", "-1", "one"])
def test_times_that_are_none(ackclock, time):
    code, _, err = ackclock("log", "timer", f"--from={time}")
    assert code == 2
    assert "is not a time" in " ".join(err.split())


@pytest.mark.slow
def test_options_of_plots_on_the_command_line(ackclock, tmp_path):
    arguments = ["--kind", "sequence,receiver-rate", "--modulo", "50", "--together", "--sliding"]
    code, out, err = ackclock("plot", "tahoe", *arguments, "--bin", "50 ms", "--to", "1", "--json")
    assert (code, err) == (0, "")
    names = [path.rsplit("/")[-1] for path in json.loads(out)["plots"]]
    assert names == ["sequence.png", "receiver-rate.png"]
    code, _, err = ackclock("plot", "tahoe", "--kind", "topology", "--modulo", "50")
    assert code == 2
    assert "it applies to sequence" in err


@pytest.fixture(scope="module")
def modern():
    return modern_runs.simulated()


def test_each_change_of_a_modern_window_names_its_rule(modern):
    table = modern.table("window_rules").to_pylist()
    told = text(modern, kinds=["window_rules"])
    assert len(told) == len(table)
    assert told[0] == "0.000000000  F  window 14480 B: initial window"
    assert told[1].endswith("F  window 14480 -> 15928 B: slow start")
    (first, *_) = (line for line in told if "recovery starts" in line)
    assert ", ssthresh none -> " in first
    assert first.endswith("loss: recovery starts with ssthresh from CUBIC")


def test_the_rules_explain_the_recorded_windows(modern):
    """What the rules leave behind at each time is what `cwnd` has, and nothing is left out."""
    rules, windows = {}, {}
    for row in modern.table("window_rules").to_pylist():
        rules[row["time_s"]] = row["cwnd_bytes"], row["ssthresh_bytes"]
    for row in modern.table("cwnd").to_pylist():
        windows[row["time_s"]] = row["cwnd_bytes"], row["ssthresh_bytes"]
    assert len(rules) > 100
    assert {time: windows.get(time) for time in rules} == rules
    rows = modern.table("window_rules").to_pylist()
    for before, after in itertools.pairwise(rows):
        assert after["cwnd_before_bytes"] == before["cwnd_bytes"]
        assert after["ssthresh_before_bytes"] == before["ssthresh_bytes"]


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({"send": "300 kB", "late": True}, {"timeout", "undo-timestamps"}),
        ({"send": "300 kB", "late": True, "tcp": {"timestamps": False}}, {"undo-frto"}),
        ({"tcp": {"cc": "bbr"}}, {"bbr-startup", "bbr-drain", "bbr-probe-bw"}),
        ({"tcp": {"ecn": True}, "queue": modern_runs.ECN}, {"ecn-reduction", "prr"}),
        ({"tcp": {"reduce": "pipe"}}, {"recovery-entry", "pipe"}),
        ({"tcp": {"cc": {"kind": "cubic", "hystart": "linux"}}}, {"slow-start-exit"}),
        ({"tcp": {"cc": "fast"}}, {"own-rule"}),
        ({"tcp": {"cc": "vegas"}}, {"own-rule", "congestion-avoidance"}),
    ],
)
def test_rules_of_other_kinds_are_named(options, rules):
    run = modern_runs.simulated(**options)
    assert rules <= set(run.table("window_rules")["rule"].to_pylist())


@pytest.mark.parametrize("cc", ["reno", "cubic", "aimd", "aiad", "vegas", "fast", "fixed"])
def test_what_is_called_growth_grows(cc):
    run = modern_runs.simulated(tcp={"cc": cc})
    rows = run.table("window_rules").to_pylist()
    growth = {"slow-start", "congestion-avoidance"}
    assert all(b["cwnd_bytes"] > b["cwnd_before_bytes"] for b in rows if b["rule"] in growth)
    if cc in ("fast", "fixed"):
        assert not growth & {row["rule"] for row in rows}


def test_why_explains_windows_on_the_command_line(modern, tmp_path, capsys, monkeypatch):
    def call(*args):
        monkeypatch.setattr(sys, "argv", ["ackclock", *args])
        with pytest.raises(SystemExit) as caught:
            main()
        shown = capsys.readouterr()
        return caught.value.code or 0, shown.out, shown.err

    modern.save(tmp_path / "run")
    code, out, _ = call("log", str(tmp_path / "run"), "--why", "--to", "0.1")
    assert code == 0
    assert "flow starts" in out
    assert ": slow start\n" in out
    lab_runs.timer().save(tmp_path / "classic")
    code, _, err = call("log", str(tmp_path / "classic"), "--why")
    assert code == 2
    assert "sender: modern" in err
    code, _, err = call("log", str(tmp_path / "classic"), "--why", "--flows", "F1")
    assert code == 2
    assert "the flow 'F1' does not report why" in err
