"""Shards of a sweep, put together again, and results in other places than this machine."""

import json
from collections import Counter
from functools import partial

import pytest
from small import document

from ackclock import InputError
from ackclock.sweep import Study, load
from ackclock.sweep.shards import Shard

STUDY = {
    "study": "tests/parts",
    "base": "small.json",
    "grid": {"links.L1.rate": ["5 Mbps", "10 Mbps", "15 Mbps"]},
    "replications": 5,
}


@pytest.fixture
def sweep(ackclock, tmp_path):
    """Return a function that calls the command in a folder with a study."""
    (tmp_path / "small.json").write_text(json.dumps(document()))
    (tmp_path / "parts.yaml").write_text(json.dumps(STUDY))
    return partial(ackclock, "sweep")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The table of the same study from one program."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.json").write_text(json.dumps(document()))
    (folder / "parts.yaml").write_text(json.dumps(STUDY))
    Study.load(folder / "parts.yaml").run(folder / "s", workers=1)
    return (folder / "s/results.parquet").read_bytes()


@pytest.mark.slow
def test_shards_are_put_together_to_the_same_bytes(sweep, tmp_path, whole):
    folders = [f"sweeps/tests/parts.shard-{i}-of-2" for i in (1, 2)]
    for number, count in ((1, 7), (2, 8)):
        status, out, _ = sweep("parts.yaml", "--shard", f"{number}/2", "--workers", "1", "--json")
        told = json.loads(out)
        assert (status, told["directory"]) == (0, folders[number - 1])
        assert (told["runs"], told["simulated"], told["table"]) == (15, count, None)
        if number == 1:
            status, out, err = sweep("merge", folders[0], "--publish", (tmp_path / "p").as_uri())
            assert status == 1
            assert "8 of 15 runs are in none of these folders" in err
            assert not (tmp_path / "sweeps/tests/parts/results.parquet").exists()
            assert not (tmp_path / "p").exists()
    keys = Counter(key for name in folders for key in load(name).table["key"].to_pylist())
    assert set(keys.values()) == {1}
    assert sweep("merge", *folders)[0] == 0
    assert (tmp_path / "sweeps/tests/parts/results.parquet").read_bytes() == whole
    # What was merged is an ordinary sweep: nothing is left to be done.
    assert json.loads(sweep("parts.yaml", "--json")[1])["simulated"] == 0


@pytest.mark.slow
def test_shards_of_different_studies_are_not_merged(sweep, tmp_path):
    sweep("parts.yaml", "--shard", "1/2", "--workers", "1")
    sweep("parts.yaml", "--set", "flows.F1.send=9 KB", "--out", "b", "--workers", "1")
    for args, words in {
        ("sweeps/tests/parts.shard-1-of-2", "b"): "different studies",
        ("sweeps/tests/parts.shard-1-of-2", "none"): "holds no sweep",
        ("b",): "--out",
        (): "name the folders of the shards",
        ("sweeps/none.shard-1-of-2",): "'sweeps/none.shard-1-of-2' does not exist",
        ("parts.yaml",): "'parts.yaml' is not a folder",
        ("b", "--workers", "1"): "--workers has no meaning with merge",
    }.items():
        status, _, err = sweep("merge", *args)
        assert status == 2
        assert words in err
    assert not (tmp_path / "sweeps/tests/parts").exists()


@pytest.mark.parametrize(
    "args",
    [
        ("--shard", "0/2"),
        ("--shard", "3/2"),
        ("--shard", "half"),
        ("--shard", "1/2", "--plan"),
        ("--on", "tcp://127.0.0.1:9", "--workers", "2"),
        ("--memory-limit", "1 MB"),
        ("--memory-limit", "5 s"),
        ("--publish", "nowhere://x"),
        ("another.yaml",),
    ],
)
def test_bad_options_are_refused(sweep, tmp_path, args):
    status, _, err = sweep("parts.yaml", *args)
    assert status == 2
    assert err
    assert not (tmp_path / "sweeps").exists()


@pytest.mark.parametrize("of", [1, 2, 3, 7, 40])
def test_shards_have_each_run_once(of):
    ranges = [range(10, 15), range(1), range(20, 31)]
    parts = [Shard(i, of).part(ranges) for i in range(1, of + 1)]
    assert [i for part in parts for runs in part for i in runs] == [i for r in ranges for i in r]
    sizes = {sum(map(len, part)) for part in parts}
    assert max(sizes) - min(sizes) <= 1


def test_results_are_published_and_loaded_from_there(sweep, tmp_path, whole):
    url = f"file://{tmp_path}/published ä"
    status, out, _ = sweep("parts.yaml", "--publish", url, "--workers", "1")
    assert status == 0
    assert f"{url}/results.parquet" in out
    assert (tmp_path / "published ä/results.parquet").read_bytes() == whole
    found = load(url)
    assert found.table.equals(load("sweeps/tests/parts").table)
    assert (found.path, len(found.flows())) == (None, 30)
    assert load(url + "/results.parquet").axes == ["links.L1.rate"]
    with pytest.raises(InputError, match="there is no"):
        load(url + "/other")
