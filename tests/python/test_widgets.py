"""What notebooks show, and sliders that run a scenario again."""

import re
import subprocess
import sys
import xml.dom.minidom

import nbformat
import pytest
from nbclient import NotebookClient

import ackclock
from ackclock import widgets
from ackclock.errors import InputError, ScenarioError
from ackclock.sweep import Study


def small(small_scenario):
    return small_scenario.set("flows.*.send", "50 KB")


def parsed(html):
    """The piece of a page as a tree: an error if tags do not match."""
    return xml.dom.minidom.parseString(html.replace("&nbsp;", " ").replace("<br>", "<br/>"))


def test_a_scenario_shows_flows_and_links(small_scenario):
    html = small_scenario._repr_html_()
    tree = parsed(html)
    assert len(tree.getElementsByTagName("table")) == 2
    for words in ("Does it run?", "Reno (selective)", "10 Mbps", "5 ms", "65.54 kB", "200 kB"):
        assert words in html
    assert "color" not in html  # that of the notebook, light or dark


def test_buffers_are_shown_in_their_own_unit():
    html = ackclock.Scenario.load("teach/cubic-bbr")._repr_html_()
    assert "droptail, 1 BDP" in html


def test_results_show_the_windows_as_a_picture(small_results):
    tree = parsed(small_results._repr_html_())
    (picture,) = tree.getElementsByTagName("svg")
    strokes = [path.getAttribute("stroke") for path in picture.getElementsByTagName("path")]
    assert strokes[0] == "currentColor"
    assert len(strokes) == 3  # axes, two flows
    heights = [float(y) for y in re.findall(r"V([\d.]+)", picture.toxml())]
    assert min(heights) == 2.0  # the largest window reaches the top


def test_a_study_and_its_results_are_tables(small_scenario):
    study = Study(small(small_scenario), grid={"links.L1.rate": ["5 Mbps", "10 Mbps"]})
    assert "2 combinations × 1 replications = 2 runs" in study._repr_html_()
    html = study.run(workers=1)._repr_html_()
    parsed(html)
    assert html.count("<td") == 2 * html.count("<th ")


def test_frames_of_a_run(small_results):
    flows = small_results.frame()
    assert list(flows.flow) == ["F1", "F2"]
    assert flows.bytes_delivered[0] == 200_000
    assert len(small_results.frame("links")) == 2
    assert len(small_results.frame("cwnd")) == small_results.rows("cwnd")
    with pytest.raises(InputError, match=r"unknown table 'cwn'.*'cwnd'"):
        small_results.frame("cwn")


def test_a_frame_of_a_sweep(small_scenario):
    study = Study(small(small_scenario), grid={"links.L1.rate": ["5 Mbps", "10 Mbps"]})
    results = study.run(workers=1)
    assert list(results.frame()["links.L1.rate"]) == ["5 Mbps", "10 Mbps"]
    assert results.frame().shape == (2, results.plain().num_columns)


@pytest.mark.slow
def test_moving_a_slider_runs_the_scenario_again(small_scenario):
    explorer = widgets.explore(
        small(small_scenario), rate=["10 Mbps", "5 Mbps"], cc=["reno", "vegas"], kind="flow-window"
    )
    first, picture = explorer.results, bytes(explorer.picture.value)
    assert picture.startswith(b"\x89PNG")
    assert type(explorer.controls["rate"]).__name__ == "SelectionSlider"
    assert type(explorer.controls["cc"]).__name__ == "Dropdown"
    explorer.controls["rate"].value = "5 Mbps"
    assert explorer.results.model["links"][0]["forward"]["rate_bps"] == 5_000_000
    assert explorer.results.summary["end_s"] > first.summary["end_s"]
    assert bytes(explorer.picture.value) != picture
    explorer.controls["rate"].value = "10 Mbps"
    assert explorer.results is first  # not run again
    assert "<b>F1</b>" in explorer.message.value


@pytest.mark.slow
def test_an_error_is_shown_and_can_be_corrected(small_scenario, monkeypatch):
    explorer = widgets.explore(small(small_scenario), rate=["10 Mbps", "5 Mbps"])
    with monkeypatch.context() as patched:
        patched.setattr(widgets, "run", lambda _: (_ for _ in ()).throw(InputError("a < b")))
        explorer.controls["rate"].value = "5 Mbps"
    assert explorer.results is None
    assert "a &lt; b" in explorer.message.value
    explorer.controls["rate"].value = "10 Mbps"
    assert explorer.results is not None


def test_values_that_cannot_be_run_are_refused_at_once(small_scenario):
    with pytest.raises(ScenarioError, match="5 Mbqs"):
        widgets.explore(small_scenario, rate=["5 Mbqs"])
    with pytest.raises(InputError, match=r"unknown setting 'rat'.*'rate'"):
        widgets.explore(small_scenario, rat=["5 Mbps"])
    with pytest.raises(InputError, match="nothing to choose"):
        widgets.explore(small_scenario)
    with pytest.raises(InputError, match="no values"):
        widgets.explore(small_scenario, rate=[])
    with pytest.raises(InputError, match="unknown flow 'z'"):
        widgets.explore(small_scenario, rate=["5 Mbps"], flows=["z"])


@pytest.mark.slow
def test_sliders_in_a_notebook():
    code = 'from ackclock import widgets\nwidgets.explore("teach/tail-loss", rate=["5 Mbps"])'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    (output,) = notebook.cells[0].outputs
    assert "application/vnd.jupyter.widget-view+json" in output["data"]


MISSING = """
import sys
class Absent:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == {module!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
import ackclock
from ackclock.errors import InputError
results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
try:
    {code}
except InputError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "extra", "code"),
    [
        ("matplotlib", "plots", "from ackclock import plots; plots.figure(results, 'overview')"),
        ("pandas", "notebook", "results.frame()"),
        ("ipywidgets", "notebook",
         "from ackclock import widgets; widgets.explore('teach/tail-loss', rate=['1 Mbps'])"),
        ("scipy", "theory", "from ackclock.metrics.statistics import t_interval as t; t([1, 2])"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_with_what_installs_it(module, extra, code):
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(module=module, code=code)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{module}, which is not installed here" in done.stdout
    assert f"pip install 'ackclock[{extra}]'" in done.stdout
