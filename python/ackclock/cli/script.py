"""`ackclock script`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import typer

from ackclock.cli.options import pair
from ackclock.cli.progress import progress_bar
from ackclock.cli.terminal import print_json
from ackclock.errors import InputError

if TYPE_CHECKING:
    from ackclock.script import Result

SUFFIX = ".pkt"
_MANY = 10
"""With fewer scripts, no progress is shown."""
_STYLES = {"passed": "green", "failed": "red", "unsupported": "yellow"}


def script(
    files: list[Path],
    settings: list[str] | None = None,
    defines: list[str] | None = None,
    push: bool = False,
    strict_end: bool = False,
    strict: bool = False,
    as_json: bool = False,
) -> None:
    """Run segment scripts against the modern sender.

    A script plays one end of a connection: it defines which segments arrive, and which must be
    sent, and when. The language is a large subset of packetdrill's. Exit status 1 if a script
    fails, 2 if one cannot be read; a script that uses unsupported features does neither. A script
    that passes only with a rule of an older kernel is marked; set the rule (--set cc.hystart=linux)
    to make it fail.

    [bold]Examples[/bold]

    [cyan]ackclock script tests/scripts[/cyan]           all scripts of a folder

    [cyan]ackclock script lost.pkt --json[/cyan]         what happened, as JSON
    """
    from ackclock.script import SettingError, run_script

    overrides = _overrides(settings)
    refused: dict[str, str] = {}
    applied: set[str] = set()

    def run(path: Path, text: str) -> Result:
        """Run a script with those of the settings that its congestion control has."""
        left, options = overrides, {"push": push, "strict_end": strict_end}
        while True:
            try:
                found = run_script(str(path), text, defines=words, overrides=left, **options)
            except SettingError as error:
                ours = error.unknown and {*error.unknown} <= {*_keys(left)}
                if len(paths) == 1 or not ours:
                    raise
                for key in error.unknown:
                    refused.setdefault(key, str(error))
                left = _without(left, error.unknown)
            else:
                if found.verdict != "unsupported":
                    applied.update(_keys(left))
                return found

    words = dict(pair(define, "--define needs NAME=VALUE") for define in defines or ())
    paths = _scripts(files)
    # All are read before the first one runs: a run says nothing of a folder that is not there.
    texts = [_text(path) for path in paths]
    results: list[Result] = []
    broken: list[str] = []
    state = SimpleNamespace(done=0, total=len(paths))
    with progress_bar(
        lambda at: f"{at.done}/{at.total} scripts", wanted=not as_json and len(paths) >= _MANY
    ) as advance:
        for path, text in zip(paths, texts, strict=True):
            try:
                result = run(path, text)
            except SettingError:
                raise  # it would be the same for each script
            except InputError as error:
                broken.append(str(error))
                if not as_json:
                    typer.echo(f"error: {error}", err=True)
            else:
                results.append(result)
                if not as_json:
                    _show(result)
            state.done += 1
            advance(state)
    counts = Counter(result.verdict for result in results)
    if as_json:
        shown = [result.to_json() for result in results]
        print_json({"scripts": shown, "counts": dict(counts), "errors": broken})
    elif len(paths) > 1:
        _show_counts(counts, len(broken), sum(bool(result.rules_of) for result in results))
    for key, said in refused.items():
        if key not in applied:
            raise InputError(f"--set {key}: no script has this key; {said}")
    if broken:
        raise typer.Exit(2)
    if counts["failed"] or (strict and counts["unsupported"]):
        raise typer.Exit(1)


def _overrides(settings: list[str] | None) -> dict[str, Any]:
    from ackclock._core import scalar

    overrides: dict[str, Any] = {}
    for setting in settings or ():
        name, value = pair(setting, "--set needs NAME=VALUE")
        *path, last = name.removeprefix("tcp.").split(".")
        inner = overrides
        for step in path:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise InputError(f"--set {setting}: '{step}' is set to a value before")
        inner[last] = scalar(value)
    return overrides


def _keys(overrides: dict[str, Any], above: str = "") -> Iterator[str]:
    """Yield the keys that are set, as `--set` spells them."""
    for key, value in overrides.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{above}{key}.")
        else:
            yield above + key


def _without(overrides: dict[str, Any], left_out: Sequence[str], above: str = "") -> dict[str, Any]:
    """Return what is set but for these keys, and for what is empty then."""
    kept = {
        key: _without(value, left_out, f"{above}{key}.") if isinstance(value, dict) else value
        for key, value in overrides.items()
        if above + key not in left_out
    }
    return {key: value for key, value in kept.items() if value != {}}


def _scripts(files: list[Path]) -> list[Path]:
    paths: list[Path] = []
    for file in files:
        if file.is_dir():
            found = sorted(file.rglob(f"*{SUFFIX}"))
            if not found:
                raise InputError(f"'{file}': the folder holds no scripts (*{SUFFIX})")
            paths += found
        elif file.is_file():
            paths.append(file)
        else:
            raise InputError(f"'{file}': no such file or folder")
    return paths


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"'{path}': the file is not text in UTF-8") from None


def _show(result: Result) -> None:
    place = f"{result.file}:{result.line}" if result.line else result.file
    verdict = typer.style(result.verdict, fg=_STYLES[result.verdict])
    if result.verdict == "passed":
        older = f" (with the rules of {result.rules_of})" if result.rules_of else ""
        typer.echo(f"{verdict}: {place}{older}")
    elif result.verdict == "unsupported":
        typer.echo(f"{verdict}: {place}: {result.message}")
    else:
        typer.echo(f"{verdict}: {place}: {result.message}")
        typer.echo(f"    expected: {result.expected}")
        typer.echo(f"    actual:   {result.actual}")
        typer.echo(f"    at {result.time_s:.6f} s; the last events, with their lines:")
        for event in result.recent:
            typer.echo(f"        {event}")
    for line in result.printed:
        typer.echo(f"    {line}")


def _show_counts(counts: Counter[str], broken: int, older: int) -> None:
    parts = [f"{counts[verdict]} {verdict}" for verdict in _STYLES if counts[verdict]]
    if older:
        parts[0] += f" ({older} with the rules of an older kernel)"
    if broken:
        parts.append(f"{broken} not readable")
    typer.echo(", ".join(parts))
