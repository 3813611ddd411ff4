"""Sweeps on Dask: the same table as here, whatever ends, and no engine but this one."""

import functools
import logging
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from dask_cluster import DEADLY, Cluster
from forked import Program
from small import document

from ackclock import AckclockError, InputError
from ackclock.sweep import DaskExecutor, Runs, Study, load
from ackclock.sweep.model import parted
from ackclock.sweep.plan import engine
from ackclock.sweep.store import Store

# Clients of Dask leave sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
# What has a worker report another engine than its own.
ENGINE = """
from ackclock.sweep import cluster, plan
cluster.engine = plan.engine = lambda: "{}"
"""


def client_of(cluster):
    """A client of Dask, which takes long to import, for the tests that need one."""
    from distributed import Client

    return Client(cluster.address, set_as_default=False)


def study(**changed):
    """120 runs of some 20 ms."""
    data = document()
    data["flows"] = [{**flow, "send": "60 MB"} for flow in data["flows"]]
    given = {"grid": {"links.L1.rate": ["80 Mbps", "90 Mbps", "100 Mbps"]}, "replications": 40}
    return Study(data, **{**given, **changed})


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The table as processes on this machine make it."""
    folder = tmp_path_factory.mktemp("here")
    study().run(folder / "s")
    return (folder / "s/results.parquet").read_bytes()


@pytest.fixture
def fresh(tmp_path):
    """A cluster of its own, without workers."""
    place = tmp_path / "cluster"
    place.mkdir()
    found = Cluster(place)
    yield found
    found.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One with two workers, which all tests leave as they found it.

    They have the engine of this process, even if another one is installed meanwhile.
    """
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    for _ in range(2):
        found.worker(ENGINE.format(engine()))
    with client_of(found) as client:
        client.wait_for_workers(2, timeout=60)
        yield found
        found.close()


@pytest.fixture
def third(cluster):
    """Start another worker of this cluster for one test."""
    started = []

    def start(preload=None):
        started.append(cluster.worker(preload))
        return started[-1]

    with client_of(cluster) as client:
        yield start
        for worker in started:
            worker.kill()
            worker.wait()
        wait_for(lambda: len(client.nthreads()) == 2)


@functools.cache
def keys():
    return study().plan(1).keys


def done(folder):
    """How often each key is reported as done."""
    found = Counter()
    log = folder / "log.txt"
    for line in log.read_text().splitlines() if log.exists() else []:
        _, _, what, key, count, *_ = line.split()
        if what == "done":
            found.update(keys()[keys().index(key) :][: int(count)])
    return found


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to it"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_worker_is_killed_and_the_table_has_the_same_bytes(cluster, third, here, tmp_path):
    victims = [third()]

    def kill(state):
        if victims and state.simulated >= 48:
            victims.pop().kill()

    with DaskExecutor(cluster.address) as executor:
        wait_for(lambda: executor.workers == 3)
        study().run(tmp_path / "s", executor=executor, progress=kill)
    assert not victims
    assert (tmp_path / "s/results.parquet").read_bytes() == here
    assert set(done(tmp_path / "s").values()) == {1}
    assert len(done(tmp_path / "s")) == 120


def write_study(folder, **changed):
    import json

    data = study().base.data
    (folder / "base.json").write_text(json.dumps(data))
    grid = {"links.L1.rate": ["80 Mbps", "90 Mbps", "100 Mbps"]}
    given = {"study": data["name"], "base": "base.json", "grid": grid, "replications": 40}
    (folder / "s.yaml").write_text(json.dumps({**given, **changed}))


@pytest.mark.slow
def test_the_program_ends_and_goes_on(cluster, here, tmp_path):
    write_study(tmp_path)
    command = ["sweep", "s.yaml", "--on", cluster.address, "--out", "s"]
    kept = Counter()
    for number in (signal.SIGKILL, signal.SIGINT):
        process = Program(*command, cwd=tmp_path)
        wait_for(lambda before=kept: len(done(tmp_path / "s")) >= len(before) + 20)
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
        assert process.returncode == (-9 if number == signal.SIGKILL else 130)
        assert ("interrupted; keeping" in err) == (number == signal.SIGINT)
        kept = done(tmp_path / "s")
        assert len(kept) < 120
        assert set(kept) <= set(Store(tmp_path / "s").stored(("key",))["key"].to_pylist())
    again = Program(*command, cwd=tmp_path)
    _, err = again.communicate(timeout=60)
    assert again.returncode == 0, err
    assert (tmp_path / "s/results.parquet").read_bytes() == here
    assert set(done(tmp_path / "s").values()) == {1}


@pytest.mark.slow
def test_the_scheduler_ends_and_the_same_command_goes_on_elsewhere(fresh, here, tmp_path):
    fresh.worker()
    write_study(tmp_path)
    command = ["sweep", "s.yaml", "--out", "s", "--on"]
    process = Program(*command, fresh.address, cwd=tmp_path)
    wait_for(lambda: len(done(tmp_path / "s")) >= 20)
    fresh.scheduler.kill()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"the scheduler at {fresh.address} is gone" in err
    assert "Traceback" not in err
    kept = done(tmp_path / "s")
    assert 20 <= len(kept) < 120
    assert not Store(tmp_path / "s").is_busy()
    place = tmp_path / "other"
    place.mkdir()
    other = Cluster(place)
    try:
        other.worker()
        ended = Program(*command, other.address, cwd=tmp_path)
        _, err = ended.communicate(timeout=60)
    finally:
        other.close()
    assert ended.returncode == 0, err
    assert (tmp_path / "s/results.parquet").read_bytes() == here
    assert set(done(tmp_path / "s").values()) == {1}


@pytest.mark.slow
def test_no_run_goes_on_that_nobody_waits_for(fresh, tmp_path):
    """Not when the program is gone, and not when it is interrupted."""
    worker = fresh.worker()
    data = document() | {"stop": {"when": "time", "at_latest": "1000000 s"}}
    data["flows"] = [{**flow, "send": "unlimited"} for flow in data["flows"]]
    (tmp_path / "endless.yaml").write_text(str({"scenario": data}).replace("'", '"'))
    command = ["sweep", "endless.yaml", "--on", fresh.address, "--out", "s"]
    for number in (signal.SIGKILL, signal.SIGINT):
        process = Program(*command, cwd=tmp_path)
        wait_for(lambda: children(worker.pid))
        process.send_signal(number)
        process.wait(20)
        wait_for(lambda: not children(worker.pid))
    assert len(load(tmp_path / "s")) == 0


def children(pid):
    """The processes that a process has started."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    every = [Path(f"/proc/{pid}/task/{t.name}/children") for t in found.parent.parent.iterdir()]
    return [child for file in every if file.exists() for child in file.read_text().split()]


@pytest.mark.slow
def test_a_run_that_ends_its_process_is_a_failed_row(cluster, tmp_path):
    """Here: for lack of memory. Neither the worker nor other runs suffer from it."""
    flows = [{**document()["flows"][0], "id": f"F{i}"} for i in range(14_000)]
    grid = {"size": {"small": {"seed": 1}, "large": {"flows": flows}, "other": {"seed": 2}}}
    small = document() | {"stop": {"when": "time", "at_latest": "100 ms"}}
    with DaskExecutor(cluster.address) as executor:
        results = Study(small, grid=grid).run(executor=executor, memory_limit=64_000_000)
    assert results.table["status"].to_pylist() == ["done", "failed", "done"]
    assert "the limit of memory is 64000000 bytes" in results.table["error"][1].as_py()
    assert [process.poll() for process in cluster.processes[:3]] == [None] * 3


@pytest.mark.slow
def test_a_batch_that_workers_die_of_is_halved_until_the_run_is_known(tmp_path):
    place = tmp_path / "cluster"
    place.mkdir()
    cluster = Cluster(place, allowed_failures=0)
    deadly_key = study(replications=4).plan(1).keys[5]
    try:
        cluster.worker(DEADLY.format(key=deadly_key), nanny=True)
        with DaskExecutor(cluster.address) as executor:
            results = study(replications=4).run(executor=executor)
    finally:
        cluster.close()
    assert results.table["status"].to_pylist() == ["done"] * 5 + ["failed"] + ["done"] * 6
    assert "workers that began with it ended" in results.table["error"][5].as_py()


WITHOUT = "import sys\nsys.modules['ackclock'] = None\n"


@pytest.mark.slow
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("preload", [ENGINE.format("ackclock 0.0.9 abc"), WITHOUT])
def test_another_engine_is_refused(cluster, third, tmp_path, preload, late):
    words = "lacks a part of Ackclock" if preload is WITHOUT else "0.0.9 abc"
    if not late:
        third(preload)
        with client_of(cluster) as client:
            client.wait_for_workers(3, timeout=60)
    with pytest.raises(AckclockError) as caught, DaskExecutor(cluster.address) as executor:
        assert late
        third(preload)
        wait_for(lambda: executor.workers == 3)
        study(replications=200).run(tmp_path / "s", executor=executor)
    assert words in str(caught.value)
    assert engine() in str(caught.value)
    assert not Store(tmp_path / "s").is_busy()


@pytest.mark.parametrize(
    "address",
    ["smoke://here:1", "tcp://", "tcp://here", "here", "tcp://here:99999", "tcp://:1", "", None],
)
def test_addresses_that_are_none(address):
    # Dask is not asked: it would leave half a client behind, which is reported when it goes.
    with pytest.raises(InputError, match="not the address of a scheduler, such as tcp://HOST"):
        DaskExecutor(address)


@pytest.mark.parametrize("address", ["tls://127.0.0.1:9", "inproc://x", "ucx://127.0.0.1:9"])
def test_addresses_that_dask_cannot_use_here(address):
    with pytest.raises(InputError, match=f"'{address}' cannot be used here: .*tcp://HOST:8786"):
        DaskExecutor(address, timeout_s=0.5)


@pytest.mark.parametrize("timeout_s", ["x", -1, None])
def test_a_time_to_wait_is_a_number_above_0(timeout_s):
    with pytest.raises(InputError, match=r"`timeout_s` is .*; needed is a number above 0"):
        DaskExecutor("tcp://127.0.0.1:9", timeout_s=timeout_s)


@pytest.mark.slow
def test_dask_does_not_note_a_lost_connection_besides(caplog):
    noted = logging.getLogger("distributed.batched")
    with pytest.raises(AckclockError):
        DaskExecutor("tcp://127.0.0.1:9", timeout_s=0.1)
    noted.info("closed")
    noted.warning("odd")
    assert caplog.messages == ["odd"]


@pytest.mark.slow
def test_nobody_at_an_address():
    with pytest.raises(AckclockError, match="no Dask scheduler responds"):
        DaskExecutor("tcp://127.0.0.1:9", timeout_s=0.5)


def test_halves_have_all_runs_in_order():
    runs = [Runs("a", 5, ("k5", "k6", "k7")), Runs("b", 1, ("k1",)), Runs("c", 2, ("k2", "k3"))]
    first, second = parted(runs, sum(map(len, runs)) // 2)
    flat = [(one.document, one.first_seed + i, key) for part in (first, second)
            for one in part for i, key in enumerate(one.keys)]  # fmt: skip
    assert flat == [(one.document, one.first_seed + i, k)
                    for one in runs for i, k in enumerate(one.keys)]  # fmt: skip
    assert sum(map(len, first)) == sum(map(len, second)) == 3
