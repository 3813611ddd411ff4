"""The plot of what controllers in Python record."""

import numpy as np
from matplotlib.colors import to_hex

import ackclock
from ackclock import Scenario, plots
from ackclock.plots import palette


class Writes(ackclock.CongestionControl):
    def on_ack(self, ack):
        if int(ack.now * 10) > int(getattr(self, "last", 0.0) * 10):
            self.record("tenths", int(ack.now * 10))
            self.record("sign", -1.0 if int(ack.now * 10) % 2 else float("nan"))
        self.last = ack.now


def run(cc):
    return ackclock.run(Scenario.load("own/aimd").set("stop.at_latest", "4 s").set(CC, cc))


CC = "defaults.tcp.cc"


def titled(figure):
    return {text.get_text(): axes for axes in figure.axes for text in axes.texts}


def test_each_variable_has_a_panel_and_each_flow_a_line():
    figure = plots.figure(run(Writes), "variables")
    panels = titled(figure)
    drawn = {to_hex(line.get_color()).upper(): line for line in panels["tenths"].lines}
    first, second = (drawn[color] for color in palette.FLOWS[:2])
    # Each value holds from its time on.
    times, values = (np.asarray(data, float) for data in first.get_data())
    inner = (times > 0.2) & (times < 3.9)
    assert inner.sum() > 20
    assert np.all(np.abs(times[inner] * 10 - values[inner] - 0.5) < 0.8)
    assert min(second.get_xdata()) > 2.0
    assert panels["tenths"].get_ylim()[0] == 0 > panels["sign"].get_ylim()[0]


def test_a_flow_can_be_chosen():
    panels = titled(plots.figure(run(Writes), "variables", flows=["F2"]))
    colors = {to_hex(line.get_color()).upper() for line in panels["tenths"].lines}
    assert palette.FLOWS[1] in colors and palette.FLOWS[0] not in colors


def test_where_nothing_was_recorded_it_says_how():
    figure = plots.figure(run("reno"), "variables")
    assert any("self.record(name, value)" in text for text in titled(figure))
