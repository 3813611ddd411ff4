"""The examples in the docstrings of public names run and give what they show."""

import doctest
import importlib
import inspect
import runpy
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "site" / "conf.py"
PACKAGES = runpy.run_path(str(SITE))["PUBLIC"]


def found():
    for package in map(importlib.import_module, PACKAGES):
        for name in package.__all__:
            one = getattr(package, name)
            text = inspect.getdoc(one) if callable(one) else None
            if text and ">>>" in text and "tcp://" not in text:  # needs a scheduler
                yield pytest.param(text, id=f"{package.__name__}.{name}")


@pytest.mark.parametrize("text", list(found()))
def test_an_example_gives_what_it_shows(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(text, {}, "example", None, 0)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_what_users_call_has_examples():
    assert len(list(found())) >= 25
