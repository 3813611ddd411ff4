"""Figure: next hops over time."""

from __future__ import annotations

from matplotlib.figure import Figure

from . import flow_strip, palette, text
from .paths import Hop
from .sheet import Sheet
from .view import View

_ROW_MM = 3.6
_MOST_ROWS = 40
_SIZE = 6.0


def draw(view: View) -> Figure:
    """For each router and destination a bar over time, coloured by the link that is the next hop.

    If any entry changes, only those that change are drawn, and a note counts the others.
    """
    view.need("routes")
    wanted = {view.flow(name)[end] for name in view.flows for end in ("from", "to")}
    rows: dict[tuple[str, str], list[Hop]] = {}
    for hop in view.hops:
        if hop.host in wanted:
            rows.setdefault((hop.router, hop.host), []).append(hop)
    changing = {key: found for key, found in rows.items() if len({h.link for h in found}) > 1}
    shown = dict(list((changing or rows).items())[:_MOST_ROWS])

    names = [f"{router} to {host}" for router, host in shown]
    widest = max((text.width_mm(name, 6.5) for name in names), default=0.0)
    sheet = Sheet(view, left_mm=max(11.5, widest + 5.0))
    flow_strip.add(view, sheet)
    panel = sheet.add(max(1, len(shown)) * _ROW_MM)
    panel.title = "Next hop"
    if not shown:
        panel.empty("no route was recorded")
        return sheet.finish()
    axes = panel.axes
    axes.set_ylim(len(shown), 0)
    axes.set_yticks([i + 0.5 for i in range(len(shown))], names)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    links: dict[str, None] = {}
    for row, found in enumerate(shown.values()):
        for hop in found:
            links[hop.link] = None
            color = view.link_color.get(hop.link) or palette.FAINT_INK
            start, length = hop.start_s / panel.second, (hop.stop_s - hop.start_s) / panel.second
            look = {"height": 0.78, "color": color, "ec": palette.GROUND, "lw": 0.5}
            axes.barh(row + 0.5, length, left=start, **look)
            room = (hop.stop_s - hop.start_s) / view.end_s * panel.width_mm
            if text.width_mm(hop.link, _SIZE) + 1.0 <= room:
                at, ink = (start + length / 2, row + 0.5), palette.text_on(color)
                words = axes.text(*at, hop.link, size=_SIZE, color=ink, parse_math=False)
                words.set(ha="center", va="center_baseline")
    for link in (name for name in view.link_color if name in links):
        panel.entry(link, view.link_color[link], width=3.0)
    hidden = len(rows) - len(shown)
    if hidden:
        what = "that never change" if len(shown) == len(changing) else "in all"
        panel.note(f"{hidden} more routes {what} are not drawn.")
    return sheet.finish()
