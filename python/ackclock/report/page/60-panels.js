// Panels: one quantity each, all with the same span of time.

const PANELS = [
  { key: "rate", title: "Receive rate", of: "flows" },
  { key: "window", title: "Congestion window", unit: "segments", of: "flows" },
  { key: "rtt", title: "Round-trip time", of: "flows", log: true },
  { key: "queue", title: "Queues", unit: "packets", of: "lanes", log: true },
  { key: "flight", title: "In flight", unit: "segments", of: "flows" },
  { key: "load", title: "Load of links", unit: "%", of: "lanes" },
];
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const LEFT = 58;

// The curve of a flow or link in a panel, in the unit of the panel.
const curveOf = (panel, owner, run, view, unit) => {
  if (panel.key === "rate" || panel.key === "load") {
    if (!owner.bytes) return null;
    const span = [view.bins(run.width), view.from, view.to];
    const found = owner.bytes.rates(...span);
    if (panel.key === "rate") found.values = found.values.map((value) => value / unit.size);
    else {
      const capacity = owner.capacity?.rates(...span).values;
      found.values = found.values.map(
        (value, i) => 100 * loadOf(value, capacity ? capacity[i] : owner.rate),
      );
    }
    return found;
  }
  return owner.curves[panel.key] ?? null;
};

// At most 1: what is being sent when a link becomes slower keeps the rate at which it began.
const loadOf = (rate, capacity) => (capacity > 0 ? Math.min(1, rate / capacity) : 0);

// The load of a lane in the window around a time.
const loadAround = (lane, time, bins) =>
  loadOf(lane.bytes.around(time, bins), lane.capacity?.around(time, bins) ?? lane.rate);

class Panel {
  constructor(about, columns, view, units, last) {
    Object.assign(this, { ...about, view, last, logarithmic: false });
    this.scale = units[about.key] ?? { name: about.unit, size: 1 };
    const switchTo = about.log && {
      type: "button",
      class: "quiet",
      "aria-pressed": "false",
      onclick: ({ target }) => this.setLogarithmic(!this.logarithmic, target),
    };
    this.cells = columns.map((runs) => this.makeCell(runs));
    this.element = element(
      "section",
      { class: "panel", id: `panel-${about.key}`, "aria-label": about.title },
      element(
        "header",
        {},
        element("h3", {}, about.title),
        element("span", { class: "unit" }, this.scale.name),
        ...(switchTo ? [element("button", switchTo, "log")] : []),
        ...(columns.length === 1 ? [this.cells[0].legend.element] : []),
      ),
      element("div", { class: "cells" }, ...this.cells.map((cell) => cell.element)),
    );
  }

  makeCell(runs) {
    const entries = runs.flatMap((run) =>
      run[this.of]
        .filter(
          (owner) => owner.curves[this.key] || (owner.bytes && ["rate", "load"].includes(this.key)),
        )
        .map((owner) => ({
          run,
          owner,
          dash: runs.length > 1 ? DASHES[run.number % DASHES.length] : [],
        })),
    );
    const legend = makeLegend(entries, runs, this.view);
    const plot = element("div", { class: "plot" });
    const lacking = runs.map((run) => run.lacking[this.key]).filter(Boolean);
    if (!entries.length) {
      const why = lacking.length
        ? `Not recorded: ‘${lacking[0]}’. Run it again with --set record.${lacking[0]}=changes`
        : "Nothing to show.";
      plot.append(element("p", { class: "empty" }, why));
    }
    return {
      runs,
      entries,
      legend,
      plot,
      element: element("div", { class: "cell" }, legend.element, plot),
    };
  }

  get empty() {
    return this.cells.every((cell) => !cell.entries.length);
  }

  setLogarithmic(wanted, button) {
    this.logarithmic = wanted;
    button.setAttribute("aria-pressed", wanted);
    for (const cell of this.cells) {
      cell.chart?.destroy();
      cell.chart = null;
    }
    this.draw();
  }

  // Draw the span anew, with one scale for all cells.
  draw() {
    let [low, high] = [Infinity, 0];
    for (const cell of this.cells) {
      if (!cell.entries.length) continue;
      cell.data = this.sample(cell);
      for (const values of cell.data.slice(1)) {
        for (const value of values) {
          if (value > high) high = value;
          if (value < low && value !== null) low = value;
        }
      }
    }
    const range = this.range(low, high);
    for (const cell of this.cells) {
      if (!cell.entries.length || !cell.plot.clientWidth) continue;
      cell.chart ??= this.makeChart(cell);
      cell.chart.batch((chart) => {
        chart.setData(cell.data, false);
        chart.setScale("x", { min: this.view.from, max: this.view.to });
        chart.setScale("y", range);
      });
    }
    this.point();
  }

  range(low, high) {
    if (!(high > 0)) return { min: this.logarithmic ? 0.1 : 0, max: 1 };
    if (this.logarithmic && this.key === "rtt") return { min: low / 1.2, max: high * 1.2 };
    const near = this.key === "rtt" && low > 0.5 * high && high > low;
    const room = (high - low) * 0.1;
    return near ? { min: low - room, max: high + room } : { min: 0, max: high * 1.12 };
  }

  sample(cell) {
    const { view } = this;
    const columns = Math.max(100, Math.min(1500, cell.plot.clientWidth - LEFT));
    const curves = cell.entries.map(({ owner, run }) =>
      view.hidden.has(owner.key)
        ? null
        : this.scaledCurve(curveOf(this, owner, run, view, this.scale)),
    );
    if (this.key === "window") {
      for (const { owner } of cell.entries) {
        curves.push(view.hidden.has(owner.key) ? null : (owner.curves.threshold ?? null));
      }
    }
    const data = joined(curves, view.from, view.to, columns);
    if (this.key === "window") this.dropThresholds(data, cell.entries.length);
    return data;
  }

  // A threshold far above all windows would leave little room for them.
  dropThresholds(data, windows) {
    const most = (columns) =>
      Math.max(...columns.map((column) => Math.max(0, ...column.filter(Boolean))));
    const highest = most(data.slice(1, windows + 1)) * 1.3;
    for (const column of data.slice(windows + 1)) {
      column.forEach((value, i) => {
        if (value > highest) column[i] = null;
      });
    }
  }

  scaledCurve(curve) {
    if (!curve || this.scale.size === 1 || this.key === "rate") return curve;
    curve.scaled ??= curve.values.map((value) => value / this.scale.size);
    return new Curve(curve.times, curve.scaled, curve.hold, curve.stop);
  }

  makeChart(cell) {
    const { view, last } = this;
    const paths = this.key === "rtt" ? uPlot.paths.linear() : uPlot.paths.stepped({ align: 1 });
    const line = (owner, more) => ({
      stroke: () => colorOf(owner),
      width: cell.entries.length > 10 || this.key === "rtt" ? 1 : 1.5,
      points: { show: false },
      paths,
      ...more,
    });
    const series = cell.entries.map(({ owner, dash }) => line(owner, { dash }));
    if (this.key === "window") {
      series.push(...cell.entries.map(({ owner }) => line(owner, { dash: [1, 3], width: 1 })));
    }
    const axis = {
      stroke: () => ink("faint"),
      font: "11px system-ui, sans-serif",
      grid: { stroke: () => ink("grid"), width: 1 },
      ticks: { show: false },
    };
    const distribution = this.logarithmic ? (this.key === "rtt" ? 3 : 4) : 1;
    return new uPlot(
      {
        width: cell.plot.clientWidth,
        height: this.height(),
        padding: [6, 12, last ? 0 : 6, 0],
        legend: { show: false },
        series: [{}, ...series],
        scales: {
          x: { time: false, auto: false, range: (_, min, max) => [min, max] },
          y: { auto: false, distr: distribution, range: (_, min, max) => [min, max] },
        },
        axes: [
          {
            ...axis,
            size: last ? 30 : 0,
            space: 70,
            values: (_, splits) =>
              last ? splits.map((split) => number(split, 9)) : splits.map(() => ""),
          },
          {
            ...axis,
            size: LEFT,
            space: 20,
            values: (_, splits) => splits.map((split) => (split === null ? "" : number(split, 5))),
          },
        ],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => view.reset() },
        },
        hooks: {
          setCursor: [(chart) => this.moved(chart, cell)],
          setSelect: [(chart) => this.selected(chart)],
          draw: [(chart) => drawMarks(chart, this, cell)],
        },
      },
      cell.data,
      cell.plot,
    );
  }

  height() {
    const tall = Math.max(96, Math.min(190, (window.innerHeight - 250) / 6 - 26));
    const paper = document.body.classList.contains("paper");
    return Math.round(paper ? 84 : tall) + (this.last ? 26 : 0);
  }

  moved(chart, cell) {
    const { left, event } = chart.cursor;
    if (left < 0 || !event) {
      hideTip();
      return;
    }
    this.view.look(chart.posToVal(left, "x"));
    showTip(chart, this, cell);
  }

  selected(chart) {
    const { left, width } = chart.select;
    if (width > 4) this.view.show(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"));
    chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  // Show the cursor and the values at the time that is looked at.
  point() {
    const { time } = this.view;
    for (const cell of this.cells) {
      if (time === null) continue;
      cell.chart?.setCursor({ left: cell.chart.valToPos(time, "x"), top: 0 }, false);
      cell.entries.forEach((entry, i) => cell.legend.show(i, this.valueAt(entry, time)));
    }
  }

  valueAt({ owner, run }, time) {
    if (this.key === "rate" || this.key === "load") {
      const bins = this.view.bins(run.width);
      if (this.key === "load") return 100 * loadAround(owner, time, bins);
      return owner.bytes.around(time, bins) / this.scale.size;
    }
    return owner.curves[this.key].at(time) / this.scale.size;
  }

  resize() {
    for (const { chart, plot } of this.cells) {
      chart?.setSize({ width: plot.clientWidth, height: this.height() });
    }
  }
}
