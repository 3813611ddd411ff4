// Nodes with places, edges, and the transmitters of links.

const number = (value) => String(Number(value.toPrecision(4)));

const unitOf = (value, units) => {
  const [size, unit] = units.find(([least]) => value >= least) ?? units.at(-1);
  return `${number(value / size)} ${unit}`;
};

const rateWords = (bps) =>
  bps && bps % 1000 && bps % 2 ** 10 === 0
    ? unitOf(bps, [
        [2 ** 30, "Gibps"],
        [2 ** 20, "Mibps"],
        [2 ** 10, "Kibps"],
      ])
    : unitOf(bps, [
        [1e9, "Gbps"],
        [1e6, "Mbps"],
        [1e3, "kbps"],
        [1, "bps"],
      ]);

const delayWords = (ns) =>
  unitOf(ns, [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ]);

// The steps of a table of rates within a run, those of its repetitions among them.
const stepsOf = (rule, end) => {
  const steps = [];
  for (let base = 0; base < end * 1e9; base += rule.repeat_ns ?? Infinity) {
    for (const step of rule.steps) steps.push({ ...step, at_ns: base + step.at_ns });
  }
  return steps.map((step) => ({ ...step, direction: "both" }));
};

// What a direction of a link is like from each time on.
const statesOf = (link, way, end) => {
  const states = [{ t: 0, rate: link[way].rate_bps, delay: link[way].delay_ns, up: true }];
  const { rate: rule } = link[way];
  const steps = rule?.kind === "table" ? stepsOf(rule, end) : [];
  if (steps.length) states[0].rate = steps.shift().rate_bps;
  const changes = [...(link.changes ?? []), ...steps];
  for (const change of changes.sort((one, other) => one.at_ns - other.at_ns)) {
    if (change.direction !== "both" && change.direction !== way) continue;
    const last = states.at(-1);
    states.push({
      t: change.at_ns * 1e-9,
      rate: change.rate_bps ?? last.rate,
      delay: change.delay_ns ?? last.delay,
      up: change.state ? change.state === "up" : last.up,
    });
  }
  return states;
};

// Bytes that a direction of a link could carry in each window of a run; null for one that never changes.
const offeredOf = (link, way, states, end) => {
  const { rate: rule } = link[way];
  if (states.length < 2 && !rule) return null;
  const width = windowOf(end);
  const counts = new Float64Array(Math.max(1, Math.ceil(end / width - 1e-9)));
  const up = (time) => states.findLast(({ t }) => t <= time).up;
  if (rule?.kind === "mahimahi") {
    const round = rule.opportunities.at(-1) / 1000;
    for (let base = 0; base < end; base += round) {
      for (const ms of rule.opportunities) {
        const time = base + ms / 1000;
        if (time < end && up(time)) counts[Math.floor(time / width)] += 1504;
      }
    }
    return counts;
  }
  states.forEach((state, i) => {
    const until = Math.min(states[i + 1]?.t ?? end, end);
    for (let at = Math.floor(state.t / width); state.up && at * width < until; at++) {
      const span = Math.min((at + 1) * width, until) - Math.max(at * width, state.t);
      if (at < counts.length) counts[at] += (state.rate / 8) * span;
    }
  });
  return counts;
};

// Every transmitter: the whole link if it is half duplex, else one direction of it.
const lanesOf = (model, summary) =>
  model.links.flatMap((link, number) => {
    const half = link.duplex === "half";
    return (half ? ["both"] : ["forward", "backward"]).map((direction, place) => {
      const way = half ? "forward" : direction;
      const states = statesOf(link, way, summary.end_s);
      const figures = summary.links[link.id][direction];
      const { queue_limit: limit, queue_packets: queue, queue_bytes: bytes } = figures;
      const size = Math.max(1, (bytes?.max ?? 0) / Math.max(1, queue?.max ?? 0));
      return {
        link: number,
        direction,
        id: `${link.id} ${direction}`,
        label: half ? link.id : `${link.id} → ${link.ends[1 - place]}`,
        states,
        rate: states[0].rate,
        offered: offeredOf(link, way, states, summary.end_s),
        utilization: figures.utilization ?? 0,
        most: queue?.max ?? 0,
        mean: queue?.mean ?? 0,
        lost: figures.packets_dropped ?? 0,
        limit: limit?.packets ?? (limit?.bytes ? limit.bytes / size : null),
      };
    });
  });

// Those with something to see: the ones that lose packets or have a queue, else the busiest.
const worthDrawing = (lanes) => {
  const fullest = Math.max(...lanes.map((lane) => (lane.most > 5 ? lane.mean : 0)));
  const ranked = [...lanes].sort((one, other) => other.lost - one.lost || other.mean - one.mean);
  const chosen = ranked.filter((lane) => lane.lost || (lane.most > 5 && lane.mean >= fullest / 20));
  if (chosen.length) return new Set(chosen.slice(0, 6));
  return new Set([...lanes].sort((one, other) => other.utilization - one.utilization).slice(0, 1));
};

const changesOf = (lanes) => {
  const found = lanes.flatMap(({ label, states }) =>
    states.slice(1).flatMap((state, i) => {
      const before = states[i];
      const words = [];
      if (state.up !== before.up) words.push(state.up ? "up" : "down");
      if (state.rate !== before.rate) words.push(rateWords(state.rate));
      if (state.delay !== before.delay) words.push(delayWords(state.delay));
      return words.length ? [{ t: state.t, text: `${label}: ${words.join(", ")}` }] : [];
    }),
  );
  return found.sort((one, other) => one.t - other.t).slice(0, 3000);
};

// How many links each node is away from a set of nodes.
const distances = (near, from) => {
  const far = new Map(from.map((name) => [name, 0]));
  for (const name of far.keys()) {
    for (const other of near.get(name)) if (!far.has(other)) far.set(other, far.get(name) + 1);
  }
  return far;
};

// A row of routers by their distance from the first sender. Hosts fan out at its ends; between them senders
// stand above their router, receivers below.
const placesOf = (names, pairs, model) => {
  const near = new Map(names.map((name) => [name, new Set()]));
  for (const [one, other] of pairs) {
    near.get(one).add(other);
    near.get(other).add(one);
  }
  const inner = names.filter((name) => near.get(name).size !== 1);
  const core = new Set(inner.length ? inner : names);
  const senders = new Set(model.flows.map((flow) => flow.from));
  const sender = names.find((name) => senders.has(name)) ?? names[0];
  const start = core.has(sender) ? sender : [...near.get(sender)][0];
  const inside = new Map(
    [...core].map((name) => [name, [...near.get(name)].filter((other) => core.has(other))]),
  );
  const far = distances(inside, [start]);
  const columns = [];
  for (const name of core) (columns[far.get(name) ?? 0] ??= []).push(name);
  const leavesOf = (name) => [...near.get(name)].filter((other) => !core.has(other));
  const places = new Map();
  const fan = (members, x, middle) =>
    members.forEach((name, i) => places.set(name, [x, middle + i - (members.length - 1) / 2]));
  const stack = (members, x, y, step) =>
    members.forEach((name, i) =>
      places.set(name, [
        x + 0.45 * (i % 2 ? 1 : -1) * (members.length > 1),
        y + step * (1 + Math.floor(i / 2)),
      ]),
    );
  columns.forEach((members, column) => {
    const tall = Math.max(
      1,
      ...members.map((name) => leavesOf(name).length / (columns.length > 1 ? 1 : 2)),
    );
    members.forEach((name, i) => {
      const y = (i - (members.length - 1) / 2) * tall;
      const leaves = leavesOf(name);
      const [above, below] = [true, false].map((sends) =>
        leaves.filter((leaf) => senders.has(leaf) === sends),
      );
      places.set(name, [column, y]);
      if (columns.length === 1) {
        fan(above, -1, y);
        fan(below, 1, y);
      } else if (column === 0) fan(leaves, -1, y);
      else if (column === columns.length - 1) fan(leaves, column + 1, y);
      else {
        stack(above, column, y, -1);
        stack(below, column, y, 1);
      }
    });
  });
  const every = [...places.values()];
  const [left, top] = [0, 1].map((axis) => Math.min(...every.map((place) => place[axis])));
  const [right, bottom] = [0, 1].map((axis) => Math.max(...every.map((place) => place[axis])));
  // Rows stand closer the more there are.
  const step =
    Math.min(0.9, Math.max(0.3, 3 / (bottom - top + 1))) * Math.max(1, (right - left) / 3);
  for (const place of every) {
    place[0] -= left;
    place[1] = (place[1] - top) * step;
  }
  return places;
};

const MOST_NODES = 40;

const networkOf = (model, lanes) => {
  // Of very many hosts the first are drawn.
  const every = [...model.hosts, ...model.routers];
  const drawn = new Set(
    every.length > MOST_NODES ? [...model.hosts.slice(0, 24), ...model.routers] : every,
  );
  const links = model.links
    .map((link, number) => ({ ...link, number }))
    .filter((link) => link.ends.every((end) => drawn.has(end)));
  const names = every.filter((name) => drawn.has(name));
  const places = placesOf(
    names,
    links.map((link) => link.ends),
    model,
  );
  const index = new Map(names.map((name, i) => [name, i]));
  const routers = new Set(model.routers);
  return {
    nodes: names.map((name) => {
      const [x, y] = places.get(name);
      return { name, router: routers.has(name), count: 1, x, y };
    }),
    edges: links.map((link) => ({
      name: link.id,
      ends: link.ends.map((end) => index.get(end)),
      words: [rateWords(link.forward.rate_bps), delayWords(link.forward.delay_ns)],
      links: [link.number],
      half: link.duplex === "half",
      lanes: lanes.flatMap((lane, number) => (lane.link === link.number ? [number] : [])),
    })),
  };
};
