"""The leaderboard of `ackclock check-cc`."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ackclock import locks
from ackclock.conformance import Card, board
from ackclock.conformance.checks import Check
from ackclock.conformance.scores import Score
from ackclock.errors import InputError


def _card(used, delay, share, failed=0):
    checks = tuple(Check(f"check {i}", "", "", "failed", None) for i in range(failed))
    scores = (
        Score("Utilisation", "%", "", "high", {"Mine": used, "CUBIC": 99.0}),
        Score("Delay", "ms", "", "low", {"Mine": delay, "CUBIC": 20.0}),
        Score("Share", "%", "", 50.0, {"Mine": share, "CUBIC": 50.0}),
    )
    return Card("Mine", "mine.py", checks, scores, (), {})


def test_the_order_is_by_failed_checks_then_by_mean_rank(tmp_path):
    path = tmp_path / "board.jsonl"
    board.enter(path, "fast but rude", _card(99.0, 5.0, 95.0, failed=1), b"a")
    board.enter(path, "slow", _card(60.0, 30.0, 20.0), b"b")
    board.enter(path, "good", _card(97.0, 10.0, 40.0), b"c")
    board.enter(path, "unmeasured", _card(None, None, None), b"d")
    names = [place.entry.name for place in board.places(board.read(path))]
    assert names == ["good", "slow", "unmeasured", "fast but rude"]


def test_the_latest_entry_of_a_name_counts(tmp_path):
    path = tmp_path / "board.jsonl"
    board.enter(path, "ada", _card(60.0, 30.0, 20.0), b"a")
    board.enter(path, "ada", _card(97.0, 10.0, 40.0), b"b")
    (place,) = board.places(board.read(path))
    assert place.entry.scores["Utilisation"] == 97.0
    assert place.rank == 1.0


def test_equal_scores_share_a_rank(tmp_path):
    path = tmp_path / "board.jsonl"
    for name in ("ada", "bob"):
        board.enter(path, name, _card(90.0, 10.0, 40.0), None)
    assert [place.rank for place in board.places(board.read(path))] == [1.5, 1.5]


def test_entries_at_the_same_time_are_all_there(tmp_path):
    path = tmp_path / "board.jsonl"
    card = _card(90.0, 10.0, 40.0)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: board.enter(path, f"student {i}", card, b"x"), range(60)))
    assert len(board.places(board.read(path))) == 60


def test_half_an_entry_of_somebody_else_is_waited_for(tmp_path):
    path = tmp_path / "board.jsonl"
    board.enter(path, "ada", _card(90.0, 10.0, 40.0), None)
    whole = path.read_bytes()
    with ThreadPoolExecutor(2) as pool, path.open("r+b", buffering=0) as file:
        locks.take(file.fileno())
        file.truncate(len(whole) // 2)
        reading = pool.submit(board.read, path)
        entering = pool.submit(board.enter, path, "bob", _card(80.0, 10.0, 40.0), None)
        time.sleep(0.1)
        assert not reading.done()
        assert not entering.done()
        file.seek(0)
        file.write(whole)
        file.close()
        assert reading.result()[0].name == "ada"
        entering.result()
    assert [entry.name for entry in board.read(path)] == ["ada", "bob"]


def test_a_last_line_without_its_end_is_kept(tmp_path):
    path = tmp_path / "board.jsonl"
    board.enter(path, "ada", _card(90.0, 10.0, 40.0), None)
    path.write_bytes(path.read_bytes().rstrip())
    board.enter(path, "bob", _card(80.0, 10.0, 40.0), None)
    assert [entry.name for entry in board.read(path)] == ["ada", "bob"]


@pytest.mark.parametrize("text", ["hello\n", '{"format": "other"}\n', "[1]\n"])
def test_another_file_is_left_alone(text, tmp_path):
    path = tmp_path / "board.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        board.enter(path, "ada", _card(1.0, 1.0, 1.0), None)
    assert path.read_text(encoding="utf-8") == text


def test_a_board_needs_a_name(ackclock):
    done = ackclock("check-cc", "cubic", "--leaderboard", "board.jsonl")
    assert done.code == 2
    assert "--leaderboard needs --name" in done.err
    done = ackclock("check-cc", "cubic", "--leaderboard", "none/board.jsonl", "--name", "ada")
    assert done.code == 2
    assert "there is no folder 'none'" in done.err
