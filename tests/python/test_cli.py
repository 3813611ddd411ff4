"""The command line: what it prints, where, and its exit status."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small import document

COMMANDS = [
    "sweep",
    "run", "replicate", "reproduce", "plot", "log", "theory", "list", "validate", "schema",
    "convert",
]  # fmt: skip
KINDS = ["cc", "recovery", "rto", "queue", "routing", "source", "ties", "profile"]


def start(folder, *args):
    """Start the program as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from ackclock.cli.app import main; main()", *map(str, args)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def endless(folder):
    """Return a scenario file that takes hours to simulate."""
    data = document() | {"stop": {"when": "time", "at_latest": "800000 h"}, "record": "none"}
    for flow in data["flows"]:
        flow["send"] = "unlimited"
    path = Path(folder) / "endless.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_examples(ackclock, command):
    done = ackclock(command, "--help")
    assert done.code == 0
    assert f"ackclock {command}" in done.out
    assert "Example" in done.out
    assert done.err == ""


def test_lines_of_help_flow_together_in_groups_of_commands_too(ackclock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "questions are not marked." in ackclock("lab", "check", "--help").out


@pytest.mark.parametrize("args", [["--help"], []])
def test_the_first_screen_names_every_command(ackclock, args):
    done = ackclock(*args)
    assert done.code == 0
    assert all(command in done.out for command in COMMANDS)


SMALL_RENO = """\
hosts: [A, B]
links: [{id: L, between: [A, B], rate: 10 Mbps, delay: 1 ms}]
flows: [{id: F, from: A, to: B, tcp: {cc: reno}}]
stop: {at_latest: 10 ms}
"""


def test_version(ackclock):
    import ackclock as package

    done = ackclock("--version")
    assert (done.code, done.out) == (0, f"ackclock {package.__version__}\n")


def test_run_prints_a_summary_and_writes_a_run_directory(ackclock, small_file, tmp_path):
    done = ackclock("run", small_file, "--no-plots")
    assert (done.code, done.err) == (0, "")
    for expected in (
        "tests/small", "Does it run?", "F1", "Reno", "F2", "FAST", "L1", "forward", "backward",
        "Fairness", "Digest", "packet-hops/s", "runs/tests/small-1/", "Next",
    ):  # fmt: skip
        assert expected in done.out
    assert (tmp_path / "runs" / "tests" / "small-1" / "summary.json").is_file()
    assert "digest" in (tmp_path / "runs" / "tests" / "small-1" / "log.txt").read_text()


def test_without_records_nothing_is_proposed_that_needs_them(ackclock, small_file):
    assert "ackclock report full" in ackclock("run", small_file, "--no-plots", "--out", "full").out
    bare = ["--no-plots", "--set", "record=none", "--out", "bare"]
    assert "ackclock report" not in ackclock("run", small_file, *bare).out
    done = ackclock("table", "bare", "--columns", "flow,rtt_s_p95")
    assert (done.code, "if all were recorded" in done.err) == (2, True)
    assert "0.0" in ackclock("table", "full", "--columns", "rtt_s_p95", "--format", "csv").out


IDLE = """\
hosts: [A, B]
links: [{id: L, between: [A, B], rate: 10 Mbps, delay: 1 ms}]
flows: [{id: F, from: A, to: B, udp: {source: {kind: cbr, rate: 1 Mbps}}}]
stop: {when: time, at_latest: 100 ms}
"""


def test_a_direction_without_packets_has_no_queueing_delay(ackclock, tmp_path):
    (tmp_path / "idle.yaml").write_text(IDLE, encoding="utf-8")
    done = ackclock("run", "idle.yaml", "--no-plots", "--no-chart", "--out", "idle")
    (idle,) = [line for line in done.out.splitlines() if "backward" in line]
    assert "-/-/- ms" in idle
    (busy,) = [line for line in done.out.splitlines() if "forward" in line]
    assert "0/0/0 ms" in busy
    done = ackclock("table", "idle", "--what", "links", "--json")
    rows = {row["direction"]: row for row in json.loads(done.out)["rows"]}
    assert rows["backward"].get("queueing_delay_s_mean") is None
    assert rows["backward"].get("queueing_delay_s_max") is None
    assert rows["forward"]["queueing_delay_s_mean"] == 0


@pytest.mark.slow
def test_a_theory_is_proposed_only_where_one_applies(ackclock, small_file):
    quiet = ["--no-plots", "--no-chart", "--force", "--out", "run"]
    assert "ackclock theory" in ackclock("run", "caltech/test-case-0-fast", *quiet).out
    short = ["--set", "flows.*.tcp.cc=westwood", "--set", "stop.at_latest=100 ms"]
    done = ackclock("run", small_file, *quiet, *short)
    assert "no theory applies" in done.out.replace("\n", " ")
    assert "ackclock theory" not in done.out


@pytest.mark.painted
@pytest.mark.slow
def test_run_draws_plots_and_names_them(ackclock, small_file, tmp_path):
    done = ackclock("run", small_file, "--format", "svg", "--out", "out", "--json")
    assert done.code == 0
    plots = json.loads(done.out)["plots"]
    assert plots
    for plot in plots:
        assert plot.startswith("out/plots/")
        assert "<svg" in (tmp_path / plot).read_text(encoding="utf-8")


def test_run_json_is_one_document_and_nothing_else(ackclock, small_file):
    done = ackclock("run", small_file, "--no-plots", "--json")
    assert done.code == 0
    assert done.err == ""
    report = json.loads(done.out)
    assert report["flows"]["F1"]["bytes_delivered"] >= 200_000
    assert report["run_directory"] == "runs/tests/small-1"
    assert report["plots"] == []
    assert "theory" in report


def test_the_written_scenario_runs_again_to_the_same_digest(ackclock, small_file):
    first = json.loads(ackclock("run", small_file, "--no-plots", "--json").out)
    again = ackclock("run", first["run_directory"], "--no-plots", "--json", "--out", "again")
    assert json.loads(again.out)["digest"] == first["digest"]


def test_other_values_do_not_replace_the_run_they_are_compared_with(ackclock, small_file):
    command = ["run", small_file, "--no-plots", "--json"]
    plain = json.loads(ackclock(*command).out)
    slower = json.loads(ackclock(*command, "--set", "links.*.rate=1 Mbps").out)
    seeded = json.loads(ackclock(*command, "--seed", "5").out)
    places = [report["run_directory"] for report in (plain, slower, seeded)]
    assert places[0] == "runs/tests/small-1"
    assert places[1].startswith("runs/tests/small-1-")
    assert places[2] == "runs/tests/small-5"
    assert slower["flows"]["F1"]["finish_s"] > plain["flows"]["F1"]["finish_s"]


def test_flows_and_links_limit_the_tables(ackclock, small_file):
    done = ackclock("run", small_file, "--no-plots", "--flows", "F2", "--links", "L1")
    assert done.code == 0
    flows = done.out.split("Link")[0]
    assert "F2" in flows
    assert "F1" not in flows


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--flows", "F3"], "unknown flow 'F3'"),
        (["--flows", "F1,f2"], "did you mean 'F2'"),
        (["--links", "l1"], "did you mean 'L1'"),
        (["--set", "flows.F9.send=1 MB"], "there is no 'F9' in 'flows'"),
        (["--set", "flows.F1.send"], "PATH=VALUE"),
        (["--set", "flows.F1.tcp.cc=renno"], "--set flows.F1.tcp.cc=renno"),
        (["--set", "flowz.F1=3"], "flowz"),
        (["--seed", "-1"], "--seed"),
        (["--format", "gif"], "--format"),
        (["--log-level", "loud"], "--log-level"),
        (["--log-file", "no/such/folder/x"], "log file"),
        (["--out", "/dev/null/x"], "not a folder"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_is_a_message_with_status_2_and_writes_nothing(
    ackclock, small_file, tmp_path, args, message
):
    done = ackclock("run", small_file, *args)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


def test_all_errors_of_a_scenario_with_file_and_line(ackclock, tmp_path):
    (tmp_path / "bad.yaml").write_text("name: x\nhosts: [A, A]\nlinkz: []\nseed: -1\n")
    done = ackclock("run", "bad.yaml")
    assert done.code == 2
    for line in (2, 3, 4):
        assert f"bad.yaml:{line}:" in done.err
    as_json = ackclock("run", "bad.yaml", "--json")
    assert as_json.code == 2
    lines = {error["line"] for error in json.loads(as_json.out)["errors"]}
    assert {2, 3, 4} <= lines


def test_an_unknown_scenario_shows_the_nearest(ackclock):
    done = ackclock("run", "caltech/test-case-0-fats")
    assert done.code == 2
    assert "caltech/test-case-0-fast" in done.err


def test_validate(ackclock, small_file, tmp_path):
    done = ackclock("validate", small_file, "caltech/test-case-0-fast")
    assert done.code == 0
    assert "2 flows, 1 link, 2 hosts, 0 routers" in done.out
    (tmp_path / "bad.yaml").write_text("name: x\nlinkz: []\n")
    mixed = ackclock("validate", small_file, "bad.yaml", "missing.yaml")
    assert mixed.code == 2
    assert "valid" in mixed.out
    assert "bad.yaml:2:1: linkz" in mixed.err
    assert "no such file: 'missing.yaml'" in mixed.err
    report = json.loads(ackclock("validate", small_file, "bad.yaml", "--json").out)
    assert [file["valid"] for file in report["files"]] == [True, False]
    assert report["files"][1]["errors"][0]["line"]


def test_schema(ackclock, tmp_path):
    done = ackclock("schema")
    assert done.code == 0
    assert ackclock("schema", "--out", "s.json").out == ""
    assert json.loads((tmp_path / "s.json").read_text()) == json.loads(done.out)
    assert ackclock("schema", "--out", "no/folder/s.json").code == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "scenario", "plot", "record"])
def test_list_shows_every_kind_and_every_entry(ackclock, kind):
    entries = json.loads(ackclock("list", kind, "--json").out)
    assert entries
    table = ackclock("list", kind)
    assert table.code == 0
    for entry in entries:
        assert entry["summary"]
        assert entry["name"] in table.out
        one = ackclock("list", kind, entry["name"])
        assert one.code == 0
        assert entry["name"] in one.out


def test_list_shows_parameters_with_unit_range_and_default(ackclock):
    done = ackclock("list", "cc", "fast")
    assert "alpha" in done.out
    assert "Default" in done.out
    assert "period" in done.out
    assert "References" in done.out


def test_list_of_something_unknown(ackclock):
    assert "did you mean 'fast'" in ackclock("list", "cc", "fats").err
    assert "'ackclock list block link'" in ackclock("list", "link").err
    done = ackclock("list", "queues")
    assert done.code == 2
    assert "did you mean 'queue'" in done.err


def test_each_kind_has_a_title(ackclock):
    kinds = json.loads(ackclock("list", "--json").out)["kinds"]
    shown = ackclock("list").out.splitlines()
    for kind in kinds:
        (line,) = [line for line in shown if line.startswith(f"{kind} ")]
        assert line.split(maxsplit=1)[1].strip() != kind


def test_list_names_the_kinds(ackclock):
    done = ackclock("list")
    assert all(kind in done.out for kind in [*KINDS, "scenario", "plot", "record"])
    kinds = json.loads(ackclock("list", "--json").out)["kinds"]
    assert set(KINDS) <= set(kinds)


@pytest.mark.painted
@pytest.mark.slow
def test_plot_of_a_run(ackclock, small_file, tmp_path):
    ackclock("run", small_file, "--no-plots", "--out", "run")
    chosen = ("--kind", "flow-window,link-queue", "--flows", "F1", "--links", "L1")
    done = ackclock("plot", "run", *chosen, "--format", "pdf")
    assert done.code == 0
    assert len(done.out.splitlines()) == 2
    for line in done.out.splitlines():
        assert (tmp_path / line).read_bytes().startswith(b"%PDF")
    assert "unknown flow" in ackclock("plot", "run", "--flows", "F7").err
    assert "unknown plot" in ackclock("plot", "run", "--kind", "pie").err
    assert "60 to 600 mm" in ackclock("plot", "run", "--width", "7").err
    look = ("--style", "dark", "--transparent", "--width", "88", "--format", "svg")
    assert ackclock("plot", "run", "--kind", "flow-rtt", *look).code == 0
    assert ackclock("plot", "nowhere").code == 2


@pytest.mark.slow
def test_theory(ackclock):
    # On the paper's assumptions, by which it takes a tenth of the time.
    done = ackclock("theory", "caltech/test-case-2-fast", "--assume", "paper")
    assert done.code == 0
    assert all(flow in done.out for flow in ("F1", "F2", "F3"))
    assert "Path RTT" in done.out and "empty path" not in done.out
    report = json.loads(ackclock("theory", "caltech/test-case-2-fast", "--json").out)
    assert len(report["periods"]) >= 5
    paper = ackclock("theory", "caltech/test-case-2-fast", "--assume", "paper", "--json")
    assert json.loads(paper.out)["assumptions"] == "paper"


def test_reproduce_lists_experiments(ackclock):
    done = ackclock("reproduce")
    assert done.code == 0
    assert "caltech" in done.out
    assert "caltech" in json.loads(ackclock("reproduce", "--list", "--json").out)["experiments"]
    assert "did you mean 'caltech'" in ackclock("reproduce", "caltec").err


@pytest.mark.slow
def test_messages_go_to_the_log_file(ackclock, small_file, tmp_path):
    done = ackclock("run", small_file, "--no-plots", "--log-level", "info", "--log-file", "x.log")
    assert done.err == ""
    assert "INFO: digest" in (tmp_path / "x.log").read_text()
    assert "INFO: digest" in ackclock("run", small_file, "--no-plots", "--log-level", "info").err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["schema", "run --help", "list cc"])
def test_a_closed_pipe_is_no_error(tmp_path, command):
    """The status is what a shell reports of a program that SIGPIPE has ended."""
    program = f"{sys.executable} -c 'from ackclock.cli.app import main; main()' {command}"
    # The reader is gone before the first line is written.
    script = f"{{ sleep 0.2; {program}; echo $? >&2; }} | true"
    done = subprocess.run(
        script, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == "141\n"


FULL = "error: No space left on device\n"
START = "import ackclock.cli.app as cli, sys; sys.argv[0] = 'ackclock'; cli.program()"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["list", "list --json", "--help", "validate ns2/tahoe"])
@pytest.mark.parametrize(("output", "code"), [(">&-", 1), ("2>&-", 0), (">/dev/full", 1)])
def test_closed_and_full_outputs_end_without_traceback(tmp_path, command, output, code):
    script = f'{sys.executable} -c "{START}" {command} {output}'
    done = subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code
    closed = "error: the output could not be written: standard output is closed\n"
    assert done.stderr == {">&-": closed, "2>&-": "", ">/dev/full": FULL}[output]


@pytest.mark.slow
def test_a_run_with_closed_output_is_complete(tmp_path, small_file):
    line = f'{sys.executable} -c "{START}" run {small_file} --no-plots --out kept >&-'
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "standard output is closed" in done.stderr
    assert (tmp_path / "kept" / "summary.json").exists()


@pytest.mark.parametrize("option", ["--out", "-o"])
def test_a_name_that_is_too_long_is_bad_input(ackclock, small_file, option):
    done = ackclock("run", small_file, "--no-plots", option, "a" * 300)
    assert done.code == 2
    assert "'aaaaaaaaaaaaaaaaaaaa...' is too long a file name" in done.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run", "--seed 99999999999999999999: a number beyond 64 bits"),
        ("theory", "--seed 99999999999999999999: a number beyond 64 bits"),
        ("replicate", f"from 0 to {2**63 - 1}"),
    ],
)
def test_seeds_beyond_64_bits_are_reported_as_seeds(ackclock, small_file, command, said):
    done = ackclock(command, small_file, "--seed", "99999999999999999999")
    assert done.code == 2
    assert said in done.err
    assert "--set" not in done.err


def test_things_of_one_name_are_listed_by_sender(ackclock):
    lines = ackclock("list", "receiver").out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("delayed")] == [
        "classic",
        "modern",
    ]
    shown = ackclock("list", "receiver", "delayed").out
    assert shown.index("Of the sender: classic") < shown.index("Of the sender: modern")
    both = json.loads(ackclock("list", "receiver", "delayed", "--json").out)
    assert [entry["sender"] for entry in both] == ["classic", "modern"]


def test_homes_of_nobody_are_files_that_do_not_exist(ackclock, tmp_path):
    flow = "{id: F, from: A, to: B, send: {file: ~nobody-at-all/x}}"
    text = SMALL_RENO.replace("flows: [", f"flows: [{flow}, ")
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    done = ackclock("validate", "x.yaml")
    assert done.code == 2
    assert "there is no such file" in done.err
    (tmp_path / "study.yaml").write_text("base: ~nobody-at-all/x.yaml\ngrid: {seed: [1]}\n")
    done = ackclock("sweep", "study.yaml")
    assert done.code == 2
    assert "no such file: '~nobody-at-all/x.yaml'" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_and_keeps_a_marked_part(tmp_path, number):
    process = start(tmp_path, "run", endless(tmp_path), "--no-plots", "--json", "--out", "out")
    while not (tmp_path / "out.partial" / "records").exists():
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.2)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out)["finished"] is False
    assert "interrupted" in err
    assert "Traceback" not in err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["stop_reason"] == "interrupted"
    assert summary["end_s"] > 0


def test_an_export_that_is_terminated_leaves_no_temporary_file(
    ackclock, small_file, tmp_path, monkeypatch
):
    def terminated(results, options):
        yield b"a part"
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("ackclock.export.netem.chunks", terminated)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        done = ackclock("export", small_file, "--format", "netem", "--out", "x/run.sh")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.code == 130
    assert list((tmp_path / "x").iterdir()) == []


def test_a_part_does_not_replace_a_whole(ackclock, small_file, tmp_path, monkeypatch):
    assert ackclock("run", small_file, "--no-plots", "--out", "out").code == 0
    whole = (tmp_path / "out" / "summary.json").read_text()
    run = sys.modules["ackclock"].run

    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["ackclock.run"], "_TURN_S", 1e-6)
    monkeypatch.setattr("ackclock.run", lambda scenario, _, **place: run(scenario, stop, **place))
    before = signal.getsignal(signal.SIGINT)
    try:
        done = ackclock("run", small_file, "--no-plots", "--out", "out")
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.code == 130
    assert "out-partial/" in done.out
    assert (tmp_path / "out" / "summary.json").read_text() == whole
    assert (tmp_path / "out-partial" / "summary.json").is_file()


@pytest.mark.slow
def test_a_run_that_takes_the_place_of_another_says_so(ackclock, small_file, tmp_path):
    command = ("run", small_file, "--no-plots")
    assert "in place of" not in ackclock(*command, "--out", "out").out
    assert "to out/, in place of an earlier run" in ackclock(*command, "--out", "out").out
    other = ackclock(*command, "--set", "flows.F1.send=150 KB", "--out", "out")
    assert other.code == 2
    assert "with other settings" in other.err
    assert "--force" in other.err
    forced = ackclock(*command, "--set", "flows.F1.send=150 KB", "--out", "out", "--force")
    assert "in place of an earlier run" in forced.out
    # The default place belongs to the last run of this name and seed, whatever its settings.
    assert "in place of" not in ackclock(*command).out
    small_file.write_text(small_file.read_text().replace("200 KB", "100 KB"))
    assert "in place of an earlier run" in ackclock(*command).out


@pytest.mark.parametrize("arguments", [["--out", ""], ["--out="], ["--out", "  "]])
def test_an_empty_value_is_not_this_folder(ackclock, tmp_path, arguments):
    done = ackclock("run", "teach/sawtooth", "--no-plots", *arguments)
    assert done.code == 2 and "--out: the value is empty" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_names_that_the_locale_cannot_spell_are_written_and_read(tmp_path):
    script = f'{sys.executable} -c "{START}"'
    environment = {
        **os.environ,
        "LC_ALL": "POSIX",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    for command in (
        "run teach/sawtooth --set 'stop.at_latest=2 s' --no-plots --no-chart --out größe",
        "table größe",
        "report größe -o größe.html",
        "replicate teach/sawtooth --count 2 --workers 1 --out größe.parquet",
    ):
        done = subprocess.run(
            f"{script} {command}",
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"größe", "größe.html", "größe.parquet"}


def test_what_is_wrong_in_all_flows_is_said_once(ackclock):
    done = ackclock("validate", "teach/tail-loss", "--set", "flows.*.tcp.cc=mine.py")
    assert done.code == 2
    assert done.err.count("unknown cc `mine.py`") == 1
    assert "problems" not in done.err
    assert "write `{kind: python, file: mine.py}`" in done.err


def test_a_long_list_of_names_points_to_all_of_them(ackclock, tmp_path):
    (tmp_path / "in.json").write_text(json.dumps(document()))
    assert ackclock("run", tmp_path / "in.json", "--out", tmp_path / "run", "--no-plots").code == 0
    done = ackclock("plot", tmp_path / "run", "--kind", "a")
    assert done.code == 2
    assert " more ('ackclock list plot' shows all)" in done.err


@pytest.mark.parametrize("command", ["report", "log", "step", "theory", "run"])
def test_a_sweep_in_the_place_of_a_run_is_named(ackclock, tmp_path, command):
    (tmp_path / "study.json").write_text("{}")
    done = ackclock(command, tmp_path)
    assert done.code == 2
    assert f"'{tmp_path}' is the folder of a sweep" in done.err
    assert "see 'ackclock table' and 'ackclock plot'" in done.err


def test_a_plot_in_the_place_of_a_run_is_named(ackclock):
    done = ackclock("plot", "some-run", "link-queue")
    assert done.code == 2
    assert "'link-queue' is a plot, not a run directory; write --kind link-queue" in done.err


@pytest.mark.slow
def test_former_spellings_of_options_still_work(ackclock):
    one, other = (ackclock("step", "teach/cubic-bbr", *words, "--count", "1")
                  for words in (["--flow=bbr"], ["--flows", "bbr"]))  # fmt: skip
    assert one.code == other.code == 0 and one.out == other.out
    assert "--flow " not in ackclock("step", "--help").out
    refused = ackclock("grade", "bufferbloat", "nowhere", "--json", "x.json", "--csv", "y.csv")
    assert "--out is for one submission" in refused.err


def test_lists_say_which_labs_are_personal_and_what_can_be_recorded(ackclock):
    personal = {line.split()[0] for line in ackclock("lab", "list").out.splitlines()
                if line.endswith("yes") or line.rstrip().endswith("yes")}  # fmt: skip
    listed = json.loads(ackclock("lab", "list", "--json").out)
    assert personal == {lab["name"] for lab in listed if lab["personal"]} >= {"bufferbloat"}
    assert "window_rules" in ackclock("list", "block", "record").out


def test_a_folder_where_a_file_belongs_and_a_file_where_a_folder_belongs(ackclock, tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(document()))
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "file").touch()
    assert ackclock("run", "one.json", "--no-plots", "--out", "done").code == 0
    for words, said in (
        (["validate", "folder.yaml"], "'folder.yaml' is a folder, not a scenario file"),
        (["plot", "done", "--out", "file"], "'file' is not a folder; choose another place"),
        (["plot", "done", "--out", "file/x"], "'file/x' is not a folder; choose another place"),
        (["export", "done", "--format", "pcapng", "--out", "folder.yaml"], "is a folder; choose"),
    ):
        done = ackclock(*words)
        assert done.code == 2 and said in done.err, (words, done)
