// Puts panels, network and player of some runs together.

const makePanels = (view, columns, units) => {
  const runs = columns.flat();
  const wanted = PANELS.filter(
    ({ key, of }) =>
      runs.some((run) => run.lacking[key]) ||
      runs.some((run) =>
        run[of].some(
          (owner) => owner.curves[key] || (owner.bytes && ["rate", "load"].includes(key)),
        ),
      ),
  );
  return wanted.map((about, i) => new Panel(about, columns, view, units, i === wanted.length - 1));
};

const keys = (view, player) => ({
  " ": () => player.toggle(),
  n: () => player.step(true),
  p: () => player.step(false),
  "+": () => view.zoom(0.5),
  "=": () => view.zoom(0.5),
  "-": () => view.zoom(2),
  0: () => view.reset(),
  Escape: () => view.reset(),
  ArrowLeft: (fast) => view.follow((view.time ?? view.from) - view.span * (fast ? 0.1 : 0.01)),
  ArrowRight: (fast) => view.follow((view.time ?? view.from) + view.span * (fast ? 0.1 : 0.01)),
  t: switchTheme,
});

const setTheme = (theme) => {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("recolor"));
};

const switchTheme = () =>
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

// The look of the system, until the button says otherwise.
const addThemes = () => {
  const preferred = window.matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = preferred.matches ? "dark" : "light";
  preferred.addEventListener("change", () => setTheme(preferred.matches ? "dark" : "light"));
  document.getElementById("theme").onclick = switchTheme;
};

// Fills a part of the page with runs. What it hears of the document ends with `signal`.
const makeStage = (stage, runs, units, signal) => {
  const view = new View(runs);
  const pictures = runs.map((run) => new Picture(run, view));
  const player = new Player(view, pictures);
  const networks = element("div", { class: "cells" });
  pictures.forEach((picture, i) => {
    const name = runs.length > 1 ? [element("h3", { class: "run" }, runs[i].name)] : [];
    networks.append(element("div", { class: "cell" }, ...name, picture.element));
  });
  const scale = element("p", { class: "scale" }, "0 %", element("i"), "100 % load");
  const side = element(
    "aside",
    { class: "card", "aria-label": "Network" },
    networks,
    scale,
    player.element,
    player.event,
  );
  const box = element("div", {
    class: "card panels",
    tabindex: "0",
    role: "region",
    "aria-label": "Panels over time",
  });
  stage.replaceChildren(box, side);

  let panels = [];
  const draw = () => {
    for (const panel of panels) panel.draw();
    reach.value = `${moment(view.from, view.span)} to ${moment(view.to, view.span)}`;
    back.disabled = view.span >= view.end;
  };
  const build = (columns) => {
    for (const { chart } of panels.flatMap((panel) => panel.cells)) chart?.destroy();
    panels = makePanels(view, columns, units);
    const heads = columns.map((some) =>
      element("div", { class: "cell" }, some.map((run) => run.name).join(" · ")),
    );
    const names =
      columns.length > 1 ? [element("div", { class: "cells run-names" }, ...heads)] : [];
    box.replaceChildren(bar, ...names, ...panels.map((panel) => panel.element), below);
    box.style.setProperty("--columns", columns.length);
    draw();
  };
  const reach = element("output", { class: "now" });
  const back = element("button", { type: "button", onclick: () => view.reset() }, "Whole run");
  const layouts = element("button", { type: "button", "aria-pressed": "false" }, "Overlay");
  layouts.onclick = () => {
    const above = layouts.getAttribute("aria-pressed") === "false";
    layouts.setAttribute("aria-pressed", above);
    build(above ? [runs] : runs.map((run) => [run]));
  };
  const hint =
    "Drag to zoom, double click or Esc for the whole run; ← → move, + − zoom, n p events, space plays; under the blue bar packets move";
  const bar = element("div", { class: "bar" }, reach, back, ...(runs.length > 1 ? [layouts] : []));
  const below = element(
    "footer",
    { class: "faint" },
    element("span", {}, runs.map((run) => run.others).find(Boolean) || "", element("span", { class: "hint" }, hint)),
    "Time, s",
  );

  view.on("span", draw);
  view.on("shown", draw);
  view.on("time", () => {
    for (const panel of panels) panel.point();
    for (const picture of pictures) picture.draw();
  });
  view.on("span", () => pictures.forEach((picture) => picture.draw()));
  const recolor = () => {
    for (const { chart } of panels.flatMap((panel) => panel.cells)) chart?.redraw(false);
    for (const picture of pictures) picture.draw();
  };
  document.addEventListener("recolor", recolor, { signal });
  document.body.append(tip);
  stage.style.setProperty("--runs", runs.length);
  stage.dataset.runs = runs.length;
  build(runs.map((run) => [run]));
  for (const picture of pictures) picture.draw();
  const resize = () => {
    for (const panel of panels) panel.resize();
    draw();
    for (const picture of pictures) picture.draw();
  };
  let width = box.clientWidth;
  const watch = new ResizeObserver(() => {
    if (box.clientWidth === width) return;
    width = box.clientWidth;
    resize();
  });
  watch.observe(box);
  signal?.addEventListener("abort", () => {
    watch.disconnect();
    player.stop();
    for (const { chart } of panels.flatMap((panel) => panel.cells)) chart?.destroy();
  });

  const table = keys(view, player);
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    if (target.matches("input, select, textarea")) return;
    if (event.key === " " && target.matches("button, summary, a")) return;
    const act = table[event.key];
    if (!act) return;
    event.preventDefault();
    act(event.shiftKey);
  };
  document.addEventListener("keydown", press, { signal });
  addPrinting(resize, signal);
  addProbe(() => panels, pictures);
};

// What tests ask: the page draws on canvases, which cannot be read.
const addProbe = (panels, pictures) => {
  const charts = (panel) => panel.cells.map((cell) => cell.chart).filter(Boolean);
  window.ackclockReport = {
    spans: () =>
      panels()
        .flatMap(charts)
        .map(({ scales: { x } }) => [x.min, x.max]),
    heights: () => panels().map((panel) => charts(panel).map(({ scales: { y } }) => y.max)),
    points: (key) => charts(panels().find((panel) => panel.key === key))[0].data[0].length,
    painted: () => pictures[0].painted,
  };
};

// On paper: light, the whole run, no controls.
const addPrinting = (resize, signal) => {
  let before = null;
  const begin = () => {
    before = document.documentElement.dataset.theme;
    document.body.classList.add("paper");
    setTheme("light");
    resize();
  };
  const end = () => {
    document.body.classList.remove("paper");
    setTheme(before);
    resize();
  };
  addEventListener("beforeprint", begin, { signal });
  addEventListener("afterprint", end, { signal });
};
