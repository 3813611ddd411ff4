"""A panic of the engine is an error like others: neither the end of a notebook nor a traceback."""

from __future__ import annotations

import pytest

from ackclock import _core, errors
from ackclock.cli import app

SCENARIO = """{"hosts": ["A", "B"],
  "links": [{"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "1 ms"}],
  "flows": [{"id": "F", "from": "A", "to": "B", "send": "10 kB"}]}"""


def panics() -> None:
    """A limit of time below zero, which the package never asks for."""
    _core.rows([(SCENARIO, 1, ["key"])], "{}", time_limit_s=-1.0)


def test_a_panic_is_an_exception_that_says_what_to_do(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(errors.EngineFault, match=r"(?s)panicked at .*report"):
        panics()
    assert capfd.readouterr().err == ""
    # The interpreter and the engine go on.
    assert b'"done"' in _core.rows([(SCENARIO, 1, ["key"])], "{}")[0]


def test_the_command_line_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "application", lambda _: panics)
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 1
    assert "a fault of the engine: panicked at" in capsys.readouterr().err
