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

// What a direction of a link is like from each time on.
const statesOf = (link, way) => {
  const states = [{ t: 0, rate: link[way].rate_bps, delay: link[way].delay_ns, up: true }];
  for (const change of link.changes ?? []) {
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

// Every transmitter: the whole link if it is half duplex, else one direction of it.
const lanesOf = (model, summary) =>
  model.links.flatMap((link, number) => {
    const half = link.duplex === "half";
    return (half ? ["both"] : ["forward", "backward"]).map((direction, place) => {
      const way = half ? "forward" : direction;
      const states = statesOf(link, way);
      const figures = summary.links[link.id][direction];
      const { queue_limit: limit, queue_packets: queue, queue_bytes: bytes } = figures;
      const size = Math.max(1, (bytes?.max ?? 0) / Math.max(1, queue?.max ?? 0));
      return {
        link: number,
        direction,
        id: `${link.id} ${direction}`,
        label: half ? link.id : `${link.id} → ${link.ends[1 - place]}`,
        states,
        rates: states.map((state) => [state.t, state.rate]),
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

// Senders at the left, receivers at the right, each column in the order of its neighbours.
const placesOf = (names, pairs, model) => {
  const near = new Map(names.map((name) => [name, []]));
  for (const [one, other] of pairs) {
    near.get(one).push(other);
    near.get(other).push(one);
  }
  const known = new Set(names);
  const sources = [...new Set(model.flows.map((flow) => flow.from))].filter((name) =>
    known.has(name),
  );
  const first = sources.find((name) => names.includes(name)) ?? names[0];
  // A chain of routers decides the columns: by distance from the first sender.
  const far = distances(near, [first]);
  const hosts = new Set(model.hosts);
  const targets = new Set(model.flows.map((flow) => flow.to));
  const column = new Map();
  for (const name of names) {
    const away = far.get(name) ?? 0;
    if (!hosts.has(name) || near.get(name).length !== 1) column.set(name, away);
    else {
      const router = far.get(near.get(name)[0]) ?? 0;
      column.set(name, sources.includes(name) && !targets.has(name) ? router - 1 : router + 1);
    }
  }
  const columns = new Map();
  for (const name of names) {
    const key = column.get(name);
    if (!columns.has(key)) columns.set(key, []);
    columns.get(key).push(name);
  }
  const tallest = Math.max(...[...columns.values()].map((members) => members.length));
  const places = new Map();
  for (const key of [...columns.keys()].sort((one, other) => one - other)) {
    const members = columns.get(key);
    const wanted = (name) => {
      const left = near
        .get(name)
        .filter((other) => places.has(other))
        .map((other) => places.get(other)[1]);
      return left.length ? left.reduce((sum, y) => sum + y, 0) / left.length : (tallest - 1) / 2;
    };
    const order = members
      .map((name, i) => [wanted(name), i, name])
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    order.forEach(([, , name], i) => places.set(name, [key, i + (tallest - members.length) / 2]));
  }
  // Columns that lie between routers and hold hosts alone would hide the links: out of the row.
  const least = Math.min(...[...places.values()].map(([x]) => x));
  for (const place of places.values()) place[0] -= least;
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
  const [wide, tall] = [0, 1].map((axis) =>
    Math.max(...[...places.values()].map((place) => place[axis]), 1e-9),
  );
  const squeeze = Math.min(1, (0.62 * Math.max(wide, 1)) / tall);
  const index = new Map(names.map((name, i) => [name, i]));
  const routers = new Set(model.routers);
  return {
    nodes: names.map((name) => {
      const [x, y] = places.get(name);
      return { name, router: routers.has(name), count: 1, x, y: y * squeeze };
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
