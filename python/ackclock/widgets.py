"""Sliders that run a scenario again, for notebooks (`pip install 'ackclock[notebook]'`).

>>> from ackclock import widgets
>>> widgets.explore("teach/cubic-bbr", rate=["5 Mbps", "10 Mbps", "20 Mbps"])  # doctest: +SKIP
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import extras
from ackclock.errors import AckclockError, InputError, mapping_of, names_of, one_of, refuse, unknown
from ackclock.plots import registry
from ackclock.run import run
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    from ackclock.results import Results

SHORT = {
    "rate": "links.{link}.rate",
    "delay": "links.{link}.delay",
    "buffer": "links.{link}.queue.limit",
    "queue": "links.{link}.queue",
    "loss": "links.{link}.loss",
    "cc": "flows.*.tcp.cc",
}
"""Words for what is varied most; `{link}` is the bottleneck: the slowest link."""

_RECORD = {"kind": "none", "cwnd": "changes", "events": "changes", "queue": "changes"}
_RECORD |= {"drops": "changes", "rtt": "changes"}


class Explorer:
    """Sliders and menus over values of a scenario, above a picture of the run with these values.

    A notebook shows it. Moving a slider runs the scenario again; what has been run before with the
    same values is shown at once.

    Attributes:
        scenario: The scenario with the values that are chosen.
        results: Its results; None after an error.
        controls: The sliders and menus, by word or path.
        picture: The widget with the plots.
        message: The widget with figures of the run, or with the error.
        box: All of it.
    """

    def __init__(
        self,
        scenario: Scenario | str | Path,
        values: Mapping[str, Sequence[Any]],
        kind: str,
        flows: Sequence[str] | None,
    ) -> None:
        widgets: Any = extras.load("ipywidgets")
        extras.require("matplotlib")
        registry.find(kind)
        given = Scenario.of(scenario)
        for flow in flows or ():
            one_of("flow", flow, given.flows)
        self._base = given.set("record", _RECORD)
        self._kind, self._flows = kind, flows
        link = bottleneck(given)
        self._paths = {name: SHORT.get(name, name).format(link=link) for name in values}
        self._seen: dict[tuple[str, ...], Results] = {}
        self.scenario = self._base
        self.results: Results | None = None
        self.controls: dict[str, Any] = {
            name: self._control(widgets, name, _choices(name, choices))
            for name, choices in values.items()
        }
        self.picture = widgets.Image(format="png", layout=widgets.Layout(max_width="900px"))
        self.message = widgets.HTML()
        for control in self.controls.values():
            control.observe(self._changed, names="value")
        self.box = widgets.VBox([*self.controls.values(), self.message, self.picture])
        self._changed()

    def _control(self, widgets: Any, name: str, choices: list[Any]) -> Any:
        """A menu for words, a slider for quantities."""
        if not choices:
            raise InputError(f"'{name}' has no values to choose from")
        for choice in choices:  # a wrong path or value is reported now, not when it is chosen
            self._base.set(self._paths[name], choice)
        shown = [(_shown(choice), choice) for choice in choices]
        numeric = all(_shown(choice)[:1].isdigit() for choice in choices)
        kind = widgets.SelectionSlider if numeric else widgets.Dropdown
        layout = widgets.Layout(width="480px")
        more = {"continuous_update": False} if numeric else {}
        return kind(
            options=shown,
            value=choices[0],
            description=name,
            tooltip=self._paths[name],
            style={"description_width": "initial"},
            layout=layout,
            **more,
        )

    def _changed(self, change: Any = None) -> None:
        """Run with the values that are chosen, and show what comes out."""
        chosen = {name: control.value for name, control in self.controls.items()}
        key = tuple(map(_shown, chosen.values()))
        try:
            scenario = self._base
            for name, value in chosen.items():
                scenario = scenario.set(self._paths[name], value)
            if key not in self._seen:
                self.message.value = "running ..."
                self._seen[key] = run(scenario)
            self.scenario, self.results = scenario, self._seen[key]
            self.picture.value = self._drawn(self._seen[key])
            self.message.value = _figures(self._seen[key])
        except AckclockError as error:
            self.results = None
            self.message.value = f"<pre>{escape(str(error))}</pre>"

    def _drawn(self, results: Results) -> bytes:
        from ackclock import plots
        from ackclock.plots.saving import style

        figure = plots.figure(results, self._kind, self._flows)
        file = io.BytesIO()
        with style():
            figure.savefig(file, format="png", dpi=1400 / figure.get_size_inches()[0])
        return file.getvalue()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)


def explore(
    scenario: Scenario | str | Path,
    settings: Mapping[str, Sequence[Any]] | None = None,
    *,
    kind: str = "overview",
    flows: Sequence[str] | None = None,
    **short: Sequence[Any],
) -> Explorer:
    """Return sliders over values of a scenario, with a picture of the run below them.

    >>> explore("teach/cubic-bbr", buffer=["20 packets", "80 packets"])  # doctest: +SKIP

    Args:
        scenario: A scenario, a file, or a name of the package.
        settings: Values to choose from, by path: `{"flows.F1.start": ["0 s", "5 s"]}`
        kind: The plot (`ackclock list plot`).
        flows: Flows to draw; default all.
        **short: The same for what is varied most: `rate`, `delay`, `buffer`, `queue` and `loss` of
            the bottleneck, which is the slowest link, and `cc` of all flows.

    Raises:
        InputError: ipywidgets is not installed (says how to install it), an unknown word or flow.
        ScenarioError: a path that leads nowhere, or a value that the scenario cannot be run with.
    """
    for word in short:
        if word not in SHORT:
            raise InputError(unknown("setting", word, SHORT) + "; others go into 'settings'")
    values = mapping_of("settings", settings, "a mapping of paths, as text, to values") | short
    if not values:
        raise InputError("nothing to choose: give values, as in rate=['5 Mbps', '10 Mbps']")
    shown = None if flows is None else names_of("flows", flows, "F1")
    return Explorer(scenario, values, kind, shown)


def bottleneck(scenario: Scenario) -> str:
    """Return the name of the slowest link, the first of several."""
    return min(scenario.model["links"], key=lambda link: link["forward"]["rate_bps"])["id"]


def _choices(name: str, given: object) -> list[Any]:
    """Return the values of a setting, of which one can be given by itself."""
    if isinstance(given, str | Mapping):
        return [given]
    if not isinstance(given, Iterable):
        refuse(name, given, "a list of values, such as ['5 Mbps', '10 Mbps']")
    return list(given)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("kind") or dict(value))
    return str(value)


def _figures(results: Results) -> str:
    """The rates of the flows, and the mean queue where it is longest, in one line."""
    summary = results.summary
    parts = [
        f"<b>{escape(name)}</b> {(flow['goodput_bps'] or 0) / 1e6:.3g} Mbps, "
        f"{flow['segments_dropped']} dropped"
        for name, flow in list(summary["flows"].items())[:8]
    ]
    waits = [way["queueing_delay_s"]["mean"] for link in summary["links"].values()
             for way in link.values()]  # fmt: skip
    longest = max((wait for wait in waits if wait is not None), default=0.0)
    return " &nbsp; ".join([*parts, f"longest mean wait {longest * 1e3:.3g} ms"])
