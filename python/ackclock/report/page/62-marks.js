// Marks of events on the panels, and what they say when the pointer comes near.

const SHAPES = {
  timeout: (path, r) => path.rect(-r * 0.8, -r * 0.8, r * 1.6, r * 1.6),
  undo: (path, r) =>
    polygon(path, [
      [0, -r * 1.2],
      [r * 1.1, 0],
      [0, r * 1.2],
      [-r * 1.1, 0],
    ]),
  reduction: (path, r) =>
    polygon(path, [
      [-r, -r],
      [r, -r],
      [0, r],
    ]),
  recovery: (path, r) => path.arc(0, 0, r * 0.9, 0, 7),
  "fast-retransmit": (path, r) => path.arc(0, 0, r * 0.55, 0, 7),
  probe: (path, r) =>
    polygon(path, [
      [0, -r],
      [r, r * 0.8],
      [-r, r * 0.8],
    ]),
  spurious: (path, r) =>
    polygon(path, [
      [0, -r * 0.8],
      [r * 0.8, 0],
      [0, r * 0.8],
      [-r * 0.8, 0],
    ]),
};

const polygon = (path, corners) => {
  corners.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
};

const drawMarks = (chart, panel, { runs }) => {
  const { ctx, bbox } = chart;
  const { view } = panel;
  const dot = window.devicePixelRatio;
  const x = (time) => chart.valToPos(time, "x", true);
  const shown = (entry) => entry.t >= view.from && entry.t <= view.to && view.visible(entry);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 6 * dot, bbox.width, bbox.height + 6 * dot);
  ctx.clip();
  for (const run of runs) {
    drawWindow(ctx, bbox, x, run, dot);
    ctx.strokeStyle = ink("faint");
    ctx.setLineDash([5 * dot, 4 * dot]);
    ctx.lineWidth = dot;
    for (const change of run.changes.filter(shown)) {
      ctx.beginPath();
      ctx.moveTo(x(change.t), bbox.top);
      ctx.lineTo(x(change.t), bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
    if (panel.key === "window") {
      const marked = run.moments.filter(shown);
      const radius = Math.max(1.8, Math.min(4.5, bbox.width / dot / marked.length / 2)) * dot;
      for (const entry of marked) {
        drawMark(ctx, x(entry.t), chart.valToPos(entry.cwnd[0], "y", true), entry, radius);
      }
    }
    if (panel.key === "queue") {
      for (const entry of run.losses.filter(shown)) drawLoss(ctx, x(entry.t), bbox.top, entry, dot);
    }
  }
  ctx.restore();
};

// The span whose packets the animation shows, as a bar along the top.
const drawWindow = (ctx, bbox, x, { packets }, dot) => {
  if (!packets) return;
  ctx.fillStyle = ink("accent");
  ctx.globalAlpha = 0.5;
  ctx.fillRect(x(packets.from), bbox.top, Math.max(2, x(packets.to) - x(packets.from)), 2 * dot);
  ctx.globalAlpha = 1;
};

const drawMark = (ctx, x, y, { kind, flow }, radius) => {
  const path = new Path2D();
  SHAPES[kind](path, radius);
  ctx.save();
  ctx.translate(x, y);
  ctx.fillStyle = kind === "timeout" ? ink("loss") : colorOf(flow);
  ctx.strokeStyle = ink("card");
  ctx.lineWidth = radius / 2;
  ctx.stroke(path);
  ctx.fill(path);
  ctx.restore();
};

const drawLoss = (ctx, x, y, { kind }, dot) => {
  const path = new Path2D();
  polygon(path, [
    [x - 3 * dot, y + 2 * dot],
    [x + 3 * dot, y + 2 * dot],
    [x, y + 7 * dot],
  ]);
  ctx.fillStyle = ctx.strokeStyle = ink("loss");
  ctx.lineWidth = dot;
  if (kind === "drops") ctx.fill(path);
  else ctx.stroke(path);
};

// What a panel shows near a time, the nearest first.
const near = (panel, runs, time, reach) => {
  const kinds = { window: ["moments", "changes"], queue: ["losses", "changes"] };
  return runs
    .flatMap((run) => (kinds[panel.key] ?? ["changes"]).flatMap((kind) => run[kind]))
    .filter((entry) => Math.abs(entry.t - time) <= reach && panel.view.visible(entry))
    .sort((one, other) => Math.abs(one.t - time) - Math.abs(other.t - time));
};

const eventText = (entry, span) => {
  const owner = entry.flow ?? entry.lane;
  return element(
    "div",
    { class: "event" },
    element(
      "p",
      { class: "event-head" },
      element("time", {}, moment(entry.t, Math.min(span, 1))),
      ...(owner
        ? [
            element(
              "b",
              { class: "owner", style: `--light:${owner.light};--dark:${owner.dark}` },
              owner.label,
            ),
          ]
        : []),
      element("b", {}, entry.title),
    ),
    ...entry.lines.map((line) => element("p", {}, line)),
    ...(entry.why ?? []).map((line) =>
      element("p", { class: "why" }, element("span", {}, "Rule "), line),
    ),
  );
};

const tip = element("div", { class: "tip", role: "tooltip", hidden: "" });

const showTip = (chart, panel, { runs }) => {
  const { left } = chart.cursor;
  const reach = chart.posToVal(left + 6, "x") - chart.posToVal(left, "x");
  const found = near(panel, runs, chart.posToVal(left, "x"), reach);
  tip.hidden = !found.length;
  if (!found.length) return;
  const more = found.length - 2;
  tip.replaceChildren(
    ...found.slice(0, 2).map((entry) => eventText(entry, panel.view.span)),
    ...(more > 0 ? [element("p", { class: "faint" }, `and ${more} more here: zoom in`)] : []),
  );
  const { left: x, top: y, width } = chart.over.getBoundingClientRect();
  const beside = x + left + 16;
  const fits = beside + tip.offsetWidth < window.innerWidth - 8;
  tip.style.left = `${Math.max(8, fits ? beside : x + left - 16 - tip.offsetWidth)}px`;
  tip.style.top = `${Math.max(8, Math.min(y, window.innerHeight - tip.offsetHeight - 8))}px`;
  tip.style.maxWidth = `${Math.min(380, width)}px`;
};

const hideTip = () => {
  tip.hidden = true;
};
