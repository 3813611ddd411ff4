"""Segment scripts: those that come with the sources, and the runner's verdicts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ackclock.cli.app import application
from ackclock.errors import AckclockError
from ackclock.script import run_script
from ackclock.script.model import ScriptError

FOLDER = Path(__file__).parents[1] / "scripts"
SCRIPTS = sorted(FOLDER.rglob("*.pkt"))
OPEN = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
  +.1 < . 1:1(0) ack 1 win 1000
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 2000) = 2000
"""


def run(text, **options):
    return run_script("test.pkt", text, **options)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_own_scripts_pass(path):
    result = run_script(path.name, path.read_text(encoding="utf-8"))
    told = f"{result.line}: {result.message}: {result.expected} / {result.actual}"
    assert (result.verdict, result.rules_of) == ("passed", ""), told


def test_there_are_many_and_each_names_its_source():
    assert len(SCRIPTS) >= 60
    for path in SCRIPTS:
        assert "// Source: " in path.read_text(encoding="utf-8"), path


def test_segments_are_joined():
    for lines in (
        "+0 > P. 1:2001(2000) ack 1",
        "+0 > . 1:1001(1000) ack 1\n+0 > P. 1001:2001(1000) ack 1",
    ):
        assert run(OPEN + lines).verdict == "passed"
    strict = run("--strict_segments\n" + OPEN + "+0 > P. 1:2001(2000) ack 1")
    assert (strict.verdict, strict.message) == ("failed", "wrong payload length")


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ("+0 > P. 1:1501(1500) ack 1", "wrong payload length"),
        ("+0 > P. 2:2002(2000) ack 1", "wrong sequence number"),
        ("+0 > P. 1:2001(2000) ack 2", "wrong ack number"),
        ("+0 > F. 1:2001(2000) ack 1", "wrong flags"),
        ("+0 > P. 1:2001(2000) ack 1 <nop,nop,sack 1:2>", "wrong options"),
        ("+.1 > P. 1:2001(2000) ack 1", "the segment left at the wrong time"),
        ("+0 %{ assert tcpi_snd_cwnd == 11 }%", "assertion failed: tcpi_snd_cwnd == 11"),
    ],
)
def test_failures_name_line_field_and_segments(expected, message):
    result = run(OPEN + expected)
    assert (result.verdict, result.line) == ("failed", 9)
    assert result.message.startswith(message)
    assert result.expected and result.actual


def test_a_call_takes_time():
    """Data of an earlier call is acknowledged later after a later one than if it came at once."""
    calls = "+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [1000], [4]) = 0\n" * 10
    rest = "+.1 < . 1:1(0) ack 2001 win 1000\n+0 %{ print(tcpi_min_rtt, tcpi_rtt) }%"
    lines = "+0 > P. 1:2001(2000) ack 1\n"
    assert run(OPEN + lines + rest).printed == ["100000 100000"]
    assert run(OPEN + lines + calls + rest).printed == ["100000 100001"]


def test_scripts_of_older_kernels_pass_with_their_rules_and_it_is_said():
    """Up to Linux 6.13 a round of HyStart began at 16 segments: the first delays went unseen."""
    text = "`sysctl -q net.ipv4.tcp_congestion_control=cubic`\n" + OPEN.replace("2000", "90000")
    acks = "".join(f"+.05 < . 1:1(0) ack {k * 2000 + 1} win 1000\n" for k in range(1, 15))
    text += acks + "+0 %{ assert tcpi_snd_ssthresh == TCP_INFINITE_SSTHRESH }%"
    result = run(text)
    assert (result.verdict, result.rules_of) == ("passed", "linux-6.13")
    assert run(text, overrides={"cc": {"hystart": "linux"}}).verdict == "failed"
    assert run(text.replace("=cubic", "=reno")).rules_of == ""
    assert run(text + "\n+0 %{ assert tcpi_snd_cwnd == 1 }%").verdict == "failed"


def test_reduction_as_ns3_counts_what_arrives_twice():
    """Three of ten segments arrive after a hole: ceil(5 * 3 / 10) = 2 may leave, the retransmission
    among them. ns-3.44 counts four, of a pipe of six: floor(5 * 4 / 6) = 3."""
    text = "`sysctl -q net.ipv4.tcp_congestion_control=reno`\n" + OPEN.replace("2000", "20000")
    text += "+.1 < . 1:1(0) ack 1 win 1000 <nop,nop,sack 1001:4001>\n"
    text += "+0 %{ print(tcpi_snd_ssthresh, tcpi_snd_cwnd, tcpi_unacked) }%"
    like = {"detect": "dupthresh"}
    assert run(text, overrides=like).printed == ["5 8 11"]
    assert run(text, overrides=like | {"reduce": "ns-3"}).printed == ["5 9 12"]


def test_the_pipe_falls_to_the_threshold_at_once_also_by_the_timer_of_reordering():
    text = "`sysctl -q net.ipv4.tcp_congestion_control=reno`\n" + OPEN.replace("2000", "20000")
    text += "+.1 < . 1:1(0) ack 1 win 1000 <nop,nop,sack 1001:2001>\n"
    text += "+.03 %{ print(tcpi_ca_state, tcpi_snd_cwnd, tcpi_snd_ssthresh) }%"
    assert run(text, overrides={"reduce": "pipe"}).printed == ["3 5 5"]
    assert run(text).printed == ["3 10 5"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("+0 < . 1:501(500) ack 1 win 9\n+0 read(4, ..., 10) = 9", "wrong result of read()"),
        ("+0 ioctl(4, SIOCINQ, [1]) = 0", "wrong value of SIOCINQ"),
        ("+0...0.5 read(4, ..., 10) = 10", "the call did not return"),
        (
            "+0...0.5 read(4, ..., 10) = 10\n+.1 < . 1:501(500) ack 1 win 9",
            "the call returned at the wrong time",
        ),
        (
            "+0 < . 1:501(500) ack 1 win 9\n+0 read(4, ..., 10) = -1 EAGAIN (none)",
            "read() finds data",
        ),
        (
            "+0 < R. 1:1(0) ack 1 win 9\n+0 < . 1:1(0) ack 1 win 9",
            "a segment that was not expected",
        ),
    ],
)
def test_calls_that_return_something_else_fail(lines, message):
    result = run(OPEN + "+0 > P. 1:2001(2000) ack 1\n" + lines, strict_end=True)
    assert (result.verdict, result.message.partition(";")[0]) == ("failed", message)


def test_timestamps_count_from_the_first_of_the_script():
    """With a tick they are compared: 1.3 s after the first, 1300 ms more."""
    text = OPEN.replace("nop,nop,sackOK", "sackOK,TS val 7 ecr 0")
    text = text.replace(
        "sackOK,TS val 7 ecr 0,nop,wscale 8", "sackOK,TS val 5000 ecr 7,nop,wscale 8"
    )
    text = text.replace("win 1000\n", "win 1000 <nop,nop,TS val 9 ecr 5000>\n")
    text = "--tcp_ts_tick_usecs=1000\n" + text.replace("+0 write", "+1.2 write")
    line = "+0 > P. 1:2001(2000) ack 1 <nop,nop,TS val {} ecr 9>"
    text = text.replace("mss 1000", "mss 1012")
    assert run(text + line.format(6300)).verdict == "passed"
    assert run(text + line.format(6400)).message == "wrong options"


def test_nothing_sent_is_a_failure():
    result = run(OPEN + "+0 > P. 1:2001(2000) ack 1\n+0 > . 2001:2001(0) ack 7")
    assert (result.verdict, result.line) == ("failed", 10)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("+0 read(4, ..., 10) = 10", "read()"),
        ("+0 < R. 5:5(0) ack 1 win 10", "RST"),
        ("+0 ioctl(4, SIOCOUTQ, [0]) = 0", "SIOCOUTQ"),
        ("+0 `ip link set dev tun0 down`", "ip link"),
        ("+0 `sysctl -q net.ipv4.tcp_unheard_of=1`", "tcp_unheard_of"),
        ("+0 %{ assert tcpi_unheard_of == 1 }%", "tcpi_unheard_of"),
        ("+0 %{ import os }%", "import os"),
        ("+0 %{ assert __import__('os') }%", "__import__"),
        ('+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, "hybla", 5) = 0', "after the first data"),
        ("+0 > [ect0] icmp unreachable", "icmp"),
    ],
)
def test_what_is_not_understood_is_neither_passed_nor_failed(line, what):
    result = run(OPEN + line)
    assert (result.verdict, result.line) == ("unsupported", 9)
    assert what in result.message


def test_a_repeated_syn_and_keys_of_encryption_are_not_supported():
    connect = (
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n"
    )
    result = run(f"{connect}+0 > S 0:0(0) <...>\n+1 > S 0:0(0) <...>")
    assert (result.verdict, result.line) == ("unsupported", 4)
    assert run(f"--psp_udp_port=1000\n{connect}").verdict == "unsupported"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("0 socket(...) =", "test.pkt:1:"),
        ("0 < S 0:5(4) win 1", "test.pkt:1"),
        ("0 < S 0:0(0)", "test.pkt:1"),
        ("\n\n+0 %{ assert ( }%", "test.pkt:3"),
        ("--unheard=1\n0 listen(3, 1) = 0", "test.pkt:1"),
        ("/* open", "test.pkt:1:1"),
        ("0 < S 0:0(0) win 1 <what 5>", "test.pkt:1"),
        ("", "test.pkt"),
    ],
)
def test_bad_scripts_name_the_place(text, place):
    with pytest.raises(ScriptError) as caught:
        run(text)
    assert str(caught.value).startswith(place)


@pytest.mark.slow
def test_any_part_of_a_script_is_read_without_a_crash():
    for path in SCRIPTS[::7]:
        text = path.read_text(encoding="utf-8")
        for cut in range(0, len(text), 23):
            for part in (text[:cut], text[cut:], text[:cut] + "(" + text[cut:]):
                try:
                    run(part)
                except AckclockError as error:
                    assert str(error)


def test_command(tmp_path):
    good, bad = tmp_path / "good.pkt", tmp_path / "bad.pkt"
    good.write_text(OPEN + "+0 > P. 1:2001(2000) ack 1\n+0 %{ print(tcpi_snd_cwnd) }%")
    bad.write_text(OPEN + "+0 > P. 1:2001(2000) ack 5")
    runner = CliRunner()
    app = application(["script", "list"])
    result = runner.invoke(app, ["script", str(tmp_path), "--json"])
    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert answer["counts"] == {"failed": 1, "passed": 1}
    assert [s["verdict"] for s in answer["scripts"]] == ["failed", "passed"]
    assert answer["scripts"][1]["printed"] == ["10"]
    result = runner.invoke(app, ["script", str(good), "--set", "initial_window=1"])
    assert result.exit_code == 1
    assert "> P. 1:2001(2000) ack 1" in result.stdout
    good.write_text("nonsense")
    assert runner.invoke(app, ["script", str(good)]).exit_code == 2


RENO = "`sysctl -q net.ipv4.tcp_congestion_control=reno`\n"


def test_a_setting_applies_where_the_congestion_control_has_the_key(ackclock, tmp_path):
    sends = OPEN + "+0 > P. 1:2001(2000) ack 1"
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "cubic.pkt").write_text(f"\ufeff{sends}", encoding="utf-8")
    (folder / "reno.pkt").write_text(RENO + sends, encoding="utf-8")
    hystart = ("--set", "cc.hystart=linux")
    done = ackclock("script", "scripts", *hystart, "--set", "initial_window=1")
    assert (done.code, done.err) == (1, "") and "2 failed" in done.out
    done = ackclock("script", "scripts", *hystart)
    assert (done.code, done.err) == (0, "") and "2 passed" in done.out
    done = ackclock("script", folder / "reno.pkt", *hystart)
    assert done.code == 2
    assert "reno.pkt, with the congestion control 'reno': cc.hystart: unknown key" in done.err
    done = ackclock("script", "scripts", "--set", "cc.hystrat=linux")
    assert done.code == 2 and done.err.count("unknown key") == 1
    assert done.err.startswith("error: --set cc.hystrat: no script has this key; ")
    for wrong in ("rto.min=3 kg", "cc.kind=reno"):
        done = ackclock("script", "scripts", "--set", wrong)
        assert done.code == 2 and done.err.startswith(
            f"error: {Path('scripts', 'cubic.pkt')}, with"
        )


def test_an_operation_that_snippets_lack_is_named(tmp_path):
    assert run(f"{OPEN}+0 > P. 1:2001(2000) ack 1\n+0 %{{ assert 9 ** 9 > 1 }}%").message == (
        "'9 ** 9' in a snippet"
    )
