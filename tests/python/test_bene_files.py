"""Real files through the simulated network: what arrives, and what is said about it."""

import copy
import hashlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ackclock import Results, Scenario, received_files, run
from ackclock.canonical import to_yaml
from ackclock.cli.app import application
from ackclock.errors import InputError, ScenarioError
from ackclock.received_files import reassemble

SENDERS = {
    "classic": {"sender": "classic", "recovery": "newreno", "segment": "1000 B"},
    "selective-repeat": {"segment": "700 B"},
}


def content(size, seed=460):
    """Bytes of a file that nobody has to own."""
    return random.Random(seed).randbytes(size)


def document(sender="classic", **flow):
    return {
        "name": "tests/file",
        "hosts": ["A", "B"],
        "links": [
            {
                "id": "L1",
                "between": ["A", "B"],
                "rate": "10 Mbps",
                "delay": "10 ms",
                "loss": {"kind": "bernoulli", "p": 0.05},
            }
        ],
        "flows": [
            {"id": "F1", "from": "A", "to": "B", "send": {"file": "data/a.bin"}}
            | {"tcp": SENDERS[sender]}
            | flow
        ],
        "stop": {"when": "flows-complete", "at_latest": "600 s"},
        "seed": 3,
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a scenario and its file; the current folder is another one."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.bin").write_bytes(content(51452))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return tmp_path


def write(folder, **changes):
    path = folder / "file.yaml"
    path.write_text(to_yaml(document(**changes)), encoding="utf-8")
    return path


@pytest.mark.parametrize("sender", SENDERS)
def test_a_file_arrives_as_it_was_sent(sender, folder):
    scenario = Scenario.load(write(folder, sender=sender))
    assert scenario.model["flows"][0]["send_bytes"] == 51452
    results = run(scenario)
    assert results.summary["flows"]["F1"]["retransmissions"] > 0
    sent = hashlib.sha256(content(51452)).hexdigest()
    assert results.summary["flows"]["F1"]["file"] == {
        "path": "data/a.bin",
        "bytes": 51452,
        "bytes_received": 51452,
        "complete": True,
        "sha256_sent": sent,
        "sha256_received": sent,
        "identical": True,
    }
    place = results.save(folder / "out")
    assert (place / "received" / "F1" / "a.bin").read_bytes() == content(51452)
    # A saved run can be opened, saved again and replaced.
    again = Results.load(place)
    assert again.received == {"F1/a.bin": content(51452)}
    again.save(folder / "second")
    assert (folder / "second" / "received" / "F1" / "a.bin").read_bytes() == content(51452)
    results.save(place)


def test_each_flow_has_a_copy_of_its_own(folder):
    flows = [
        {"id": name, "from": "A", "to": "B", "send": {"file": "data/a.bin"}, "tcp": {}}
        for name in ("F/1", "F")
    ]
    path = folder / "two.yaml"
    path.write_text(to_yaml({**document(), "flows": flows}), encoding="utf-8")
    results = run(Scenario.load(path))
    assert sorted(results.received) == ["F%2F1/a.bin", "F/a.bin"]
    assert set(results.received.values()) == {content(51452)}


@pytest.mark.parametrize(
    "record", ["none", {"packets": "off"}, {"kind": "none", "cwnd": "changes"}]
)
def test_packets_are_recorded_whatever_the_scenario_says(record, folder):
    path = folder / "quiet.yaml"
    path.write_text(to_yaml({**document(), "record": record}), encoding="utf-8")
    scenario = Scenario.load(path)
    assert scenario.model["record"]["packets"] == "changes"
    assert run(scenario).summary["flows"]["F1"]["file"]["identical"]


def test_without_files_nothing_is_added(small_scenario, small_results, tmp_path):
    assert small_scenario.files == ()
    assert all("file" not in flow for flow in small_results.summary["flows"].values())
    assert not (small_results.save(tmp_path / "out") / "received").exists()


# What goes wrong


def test_a_corrupted_packet_is_found_and_the_copy_kept(folder, monkeypatch):
    """One packet of the record carries other bytes than those that were sent."""

    def corrupted(sent):
        def carried(offset, length):
            piece = bytearray(sent[offset : offset + length])
            if offset <= 20_000 < offset + length:
                piece[20_000 - offset] ^= 1
            return bytes(piece)

        return carried

    monkeypatch.setattr(received_files, "_slices", corrupted)
    done = CliRunner().invoke(
        application(), ["run", str(write(folder)), "--no-plots", "--out", str(folder / "out")]
    )
    assert done.exit_code == 1
    assert "DIFFERS" in done.output
    summary = json.loads((folder / "out" / "summary.json").read_text())
    verdict = summary["flows"]["F1"]["file"]
    assert (verdict["identical"], verdict["complete"]) == (False, True)
    assert verdict["sha256_sent"] != verdict["sha256_received"]
    received = (folder / "out" / "received" / "F1" / "a.bin").read_bytes()
    assert [i for i, byte in enumerate(content(51452)) if received[i] != byte] == [20_000]


@pytest.mark.parametrize("change", ["lost", "moved", "short"])
def test_an_altered_record_is_found(change, folder, monkeypatch):
    true = received_files.arrivals

    def altered(results, flow):
        packets = true(results, flow)
        wanted = [packet for packet in packets if packet[0] == 20_000]
        assert wanted
        if change == "lost":
            return [packet for packet in packets if packet[0] != 20_000]
        seq, length = (20_400, 1000) if change == "moved" else (20_000, 600)
        return [(seq, length) if packet[0] == 20_000 else packet for packet in packets]

    monkeypatch.setattr(received_files, "arrivals", altered)
    verdict = run(Scenario.load(write(folder))).summary["flows"]["F1"]["file"]
    assert not verdict["identical"]
    assert not verdict["complete"]
    assert verdict["bytes_received"] == (20_600 if change == "short" else 20_000)


def test_an_unfinished_transfer_is_said_to_be_unfinished(folder):
    path = write(folder)
    arguments = ["run", str(path), "--no-plots", "--set", "stop.at_latest=0.05 s"]
    done = CliRunner().invoke(application(), [*arguments, "--out", str(folder / "out")])
    assert done.exit_code == 1
    assert "UNFINISHED" in done.output
    verdict = json.loads((folder / "out" / "summary.json").read_text())["flows"]["F1"]["file"]
    assert (verdict["identical"], verdict["complete"]) == (False, False)
    part = (folder / "out" / "received" / "F1" / "a.bin").read_bytes()
    assert 0 < len(part) == verdict["bytes_received"] < 51452
    assert content(51452).startswith(part)


def test_data_that_the_receiver_has_discarded_have_not_arrived(folder):
    """The 13th segment comes after the retransmission of the 12th, too old for the receiver, and
    its own retransmission is lost: those that were sent later wait for it."""
    link = {
        "id": "L1", "between": ["A", "B"], "rate": "12 Mbps", "delay": "50 ms",
        "loss": {
            "kind": "script", "at": "entry",
            "drop": [{"flow": "F1", "data": [12], "retransmissions": [2]}],
        },
        "jitter": {"kind": "script", "hold": [{"flow": "F1", "data": [13], "by": "130 ms"}]},
    }  # fmt: skip
    network = {**document(tcp={"preset": "linux-reno"}), "links": [link]}
    file = folder / "data" / "twenty.bin"
    file.write_bytes(content(20 * 1448))
    network["flows"][0]["send"] = {"file": str(file)}
    results = run(Scenario.from_dict(network).set("stop.at_latest", "500 ms"))
    flow = results.summary["flows"]["F1"]
    assert flow["bytes_delivered"] == flow["file"]["bytes_received"] == 12 * 1448
    assert not flow["file"]["complete"]


def test_a_timer_that_is_never_set_leaves_a_transfer_unfinished():
    """The 2016 report's timer: a lost last segment then has no timer, and the run stalls."""
    name = "bene/reliability-text-fixed"
    stalled = Scenario.load(
        name,
        [
            ("links.L1.forward", {"loss": {"kind": "packets", "numbers": [10], "at": "entry"}}),
            ("links.L1.loss", "none"),
            ("flows.F1.tcp.timer_restart", "on-send"),
        ],
    )
    summary = run(stalled).summary
    assert summary["stop_reason"] == "stalled"
    assert not summary["finished"]
    assert summary["flows"]["F1"]["finish_s"] is None
    assert summary["flows"]["F1"]["bytes_delivered"] == 9000
    assert run(stalled.set("flows.F1.tcp.timer_restart", "on-ack")).summary["finished"]


@pytest.mark.parametrize(
    ("send", "message"),
    [
        ({"file": "data/b.bin"}, "no such file"),
        ({"file": "data"}, "a folder, not a file"),
        ({"file": "data/empty"}, "the file is empty"),
        ({"file": ""}, "not the path of a file"),
        ({"file": 7}, "not the path of a file"),
        ({"file": "data/a.bin", "size": "1 B"}, "'size' has no effect with 'file'"),
        ({"file": "/dev/null"}, "not a regular file"),
    ],
)
def test_a_file_that_cannot_be_sent_is_an_error_at_its_place(send, message, folder):
    (folder / "data" / "empty").touch()
    path = write(folder, send=send)
    with pytest.raises(ScenarioError, match=message) as caught:
        Scenario.load(path)
    (problem,) = caught.value.problems
    assert problem.path == "flows.F1.send.file"
    assert problem.line == next(
        number for number, line in enumerate(path.read_text().splitlines(), 1) if "file:" in line
    )


def test_a_file_larger_than_sequence_numbers_reach_is_an_error(folder):
    with (folder / "data" / "large").open("wb") as stream:
        stream.truncate(2**32)  # takes no room on the disk
    with pytest.raises(ScenarioError, match="larger than 4 GiB"):
        Scenario.load(write(folder, send={"file": "data/large"}))


def test_udp_cannot_send_a_file(folder):
    data = document()
    data["flows"][0].pop("tcp")
    data["flows"][0]["udp"] = {"source": {"kind": "cbr", "rate": "1 Mbps", "write": "1000 B"}}
    path = folder / "udp.yaml"
    path.write_text(to_yaml(data), encoding="utf-8")
    with pytest.raises(ScenarioError, match="a file needs tcp"):
        Scenario.load(path)


def test_all_files_that_are_missing_are_errors_together(folder):
    data = copy.deepcopy(document(send={"file": "no"}))
    data["links"][0]["rate"] = {"kind": "table", "file": "no.csv"}
    data["flows"][0]["tcp"]["cc"] = {"kind": "python", "file": "no.py"}
    path = folder / "bad.yaml"
    path.write_text(to_yaml(data), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    values = [problem.value for problem in caught.value.problems]
    assert sorted(values) == ["no", "no.csv", "no.py"]


def test_other_errors_are_told_as_well(folder):
    data = {**document(send={"file": "no"}), "stop": {"when": "never"}}
    path = folder / "bad.yaml"
    path.write_text(to_yaml(data), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    assert {problem.path for problem in caught.value.problems} >= {
        "flows.F1.send.file",
        "stop.when",
    }


def test_a_path_set_from_outside_starts_in_the_current_folder(folder):
    path = write(folder)
    with pytest.raises(ScenarioError, match="no such file"):
        Scenario.load(path, [("flows.F1.send", "{file: data/a.bin}")])
    scenario = Scenario.load(path, [("flows.F1.send", "{file: ../data/a.bin}")])
    assert scenario.files[0].size == 51452
    by_key = Scenario.load("bene/reliability-text-fixed", [("flows.F1.send.file", "../data/a.bin")])
    assert by_key.model["flows"][0]["send_bytes"] == 51452


def test_a_file_that_changes_after_the_check_is_an_error(folder):
    scenario = Scenario.load(write(folder))
    (folder / "data" / "a.bin").write_bytes(b"short")
    with pytest.raises(InputError, match="has changed"):
        run(scenario)
    (folder / "data" / "a.bin").unlink()
    with pytest.raises(InputError, match="cannot read"):
        run(scenario)


def test_the_schema_for_editors_knows_files():
    done = CliRunner().invoke(application(), ["schema"])
    send = json.loads(done.output)["definitions"]["flow"]["properties"]["send"]
    assert any("file" in kind.get("properties", {}) for kind in send["anyOf"])


# Reassembly


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=40), st.integers(1, 60))
def test_what_is_put_together_is_the_file_up_to_the_first_gap(packets, size):
    sent = bytes(range(size))
    received = reassemble(packets, lambda offset, length: sent[offset : offset + length])
    have = {at for offset, length in packets for at in range(offset, min(offset + length, size))}
    gap = next(at for at in range(size + 1) if at not in have)
    assert received == sent[:gap]
