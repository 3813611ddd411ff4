// Sliders for what matters most: rate and buffer of the bottleneck, losses, algorithms. They change the text.

const LOSSES = [0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
const ALGORITHMS = ["cubic", "reno", "bbr", "vegas"];
const MOST_CHOICES = 4;

const amount = (text) => {
  const found = /^\s*([\d.]+)\s*([A-Za-zµ/]+)\s*$/.exec(String(text ?? ""));
  return found && { value: Number(found[1]), unit: found[2] };
};

// Where the rate, buffer and losses of the bottleneck are written: of the dumbbell, or of the slowest link.
const bottleneckOf = (outline, run) => {
  if (outline.get(["topology", "bottleneck"])) return ["topology", "bottleneck"];
  const slowest = run?.lanes.reduce((least, lane) =>
    lane.rate < least.rate ? lane : least,
  );
  const names = Array.from({ length: outline.count(["links"]) }, (_, i) =>
    outline.value(["links", i, "id"]),
  );
  const place = names.indexOf(slowest?.id.split(" ")[0]);
  return place < 0 ? null : ["links", place];
};

class Controls {
  // `read` gives the present text and its outline, `onchange` takes the new text.
  constructor(read, onchange) {
    Object.assign(this, { read, onchange, ranges: {} });
    this.element = element("div", { class: "controls" });
  }

  // A new scenario has ranges of its own.
  forget() {
    this.ranges = {};
  }

  show(run) {
    // A slider that is being moved stays under the hand.
    const { activeElement: held } = document;
    if (this.element.contains(held) && held.matches("input")) return;
    ({ text: this.text, outline: this.outline } = this.read());
    const base = bottleneckOf(this.outline, run);
    const found = base ? [this.rate(base), this.buffer(base), this.loss(base)] : [];
    this.element.replaceChildren(...[...found, ...this.algorithms()].filter(Boolean));
    if (held.id) this.element.querySelector(`#${CSS.escape(held.id)}`)?.focus();
  }

  change(path, value) {
    const { text, outline } = this.read();
    if (outline.rows.size) this.onchange(withValue(text, outline, path, value));
  }

  // The first of some places where a value is written.
  written(places) {
    return places.find((path) => amount(this.outline.value(path)));
  }

  slider(id, title, options, shown, change) {
    const value = element("output", {}, shown(options.value));
    const input = element("input", {
      type: "range",
      id,
      ...options,
      oninput: () => {
        value.value = shown(Number(input.value));
        change(Number(input.value));
      },
    });
    return element("label", { class: "control" }, element("span", {}, title), input, value);
  }

  // A quantity on a logarithmic scale around what was written first.
  scaled(id, title, path, least) {
    const now = amount(this.outline.value(path));
    const range = (this.ranges[path.join()] ??= { middle: Math.log2(now.value), unit: now.unit });
    const least2 = Math.max(range.middle - 5, Math.log2(least(now.unit)));
    const text = (power) => `${number(2 ** power, power < 7 ? 2 : 3)} ${now.unit}`;
    const options = {
      min: least2,
      max: range.middle + 5,
      step: "any",
      value: Math.log2(now.value),
    };
    return this.slider(id, title, options, text, (power) =>
      this.change(path, text(power).replaceAll(",", "")),
    );
  }

  rate(base) {
    const path = this.written([
      [...base, "rate"],
      ["defaults", "link", "rate"],
    ]);
    return path && this.scaled("rate", "Bottleneck", path, () => 0.01);
  }

  buffer(base) {
    const inner = ["queue", "limit"];
    const path = this.written([
      [...base, "forward", ...inner],
      [...base, ...inner],
      ["defaults", "link", ...inner],
    ]);
    return path && this.scaled("buffer", "Buffer", path, (unit) => (unit === "packets" ? 1 : 0.05));
  }

  loss(base) {
    const inside = this.outline.get([...base, "forward", "loss"])
      ? [...base, "forward", "loss"]
      : [...base, "loss"];
    const kind = this.outline.value([...inside, "kind"]) ?? this.outline.value(inside);
    if (kind && kind !== "none" && kind !== "bernoulli") return null;
    const now = Number(this.outline.value([...inside, "p"]) ?? 0);
    const place = LOSSES.findIndex((share) => share >= now);
    const text = (at) => `${number(LOSSES[at] * 100, 2)} %`;
    const options = { min: 0, max: LOSSES.length - 1, step: 1, value: Math.max(0, place) };
    return this.slider("loss", "Random loss", options, text, (at) => {
      this.change(inside, LOSSES[at] ? `{kind: bernoulli, p: ${LOSSES[at]}}` : "none");
    });
  }

  algorithms() {
    const count = this.outline.count(["flows"]);
    return Array.from({ length: Math.min(count, MOST_CHOICES) }, (_, i) =>
      this.algorithm(["flows", i]),
    ).filter(Boolean);
  }

  algorithm(flow) {
    if (this.outline.get([...flow, "udp"])) return null;
    const { outline } = this;
    const id = String(outline.value([...flow, "id"]) ?? flow[1] + 1);
    const own = [...flow, "tcp"];
    const written =
      outline.value([...own, "cc", "kind"]) ??
      outline.value([...own, "cc"]) ??
      outline.value([...own, "preset"]) ??
      outline.value(own);
    const inherited = outline.get(own) || outline.get(["defaults", "tcp"]) ? "as written" : "cubic";
    const now = String(written ?? inherited).replace(/^linux-/, "");
    const begin = outline.get(own) && offsetOf(this.text, outline.get(own).place);
    const bracketed = begin !== undefined && this.text[begin] === "{";
    const simple = begin === undefined || bracketed || outline.value(own) !== undefined;
    const names = ALGORITHMS.includes(now) ? ALGORITHMS : [now, ...ALGORITHMS];
    const select = element(
      "select",
      {
        id: `cc-${id}`,
        disabled: !simple,
        onchange: () => this.change(own, `{cc: ${select.value}}`),
      },
      ...names.map((name) =>
        element("option", { value: name, selected: name === now && "" }, name),
      ),
    );
    return element(
      "label",
      { class: "control" },
      element("span", {}, `Flow ${id}`),
      select,
      element("output"),
    );
  }
}
