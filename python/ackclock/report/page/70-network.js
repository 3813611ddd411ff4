// The network: links coloured by load, queues, and the packets of the animated span.

const WIDE = 460;
const NODE = 15;
const SVG = "http://www.w3.org/2000/svg";

const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

class Picture {
  constructor(run, view) {
    Object.assign(this, { run, view });
    this.countLosses();
    this.place(run.network);
    this.svg = drawn("svg", {
      viewBox: `0 0 ${WIDE} ${this.tall}`,
      role: "img",
      "aria-label": `Network of ${run.nodes} nodes; links are coloured by their load`,
    });
    this.lanes = this.edges.flatMap((edge) => edge.ways);
    for (const edge of this.edges) this.svg.append(...edge.ways.map((way) => way.line));
    for (const edge of this.edges) if (edge.label) this.svg.append(edge.label);
    for (const node of this.nodes) this.svg.append(this.drawNode(node));
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.caption = element("p", { class: "faint caption" });
    this.element = element(
      "figure",
      { class: "network" },
      element("div", { class: "picture" }, this.svg, this.canvas),
      element("figcaption", {}, this.caption),
    );
  }

  place({ nodes, edges }) {
    const [sideways, above] = [48, 40];
    const most = (name) => Math.max(...nodes.map((node) => node[name]), 1e-9);
    const scale = Math.min((WIDE - 2 * sideways) / most("x"), 300);
    this.crowded = nodes.length > 24;
    this.radius = this.crowded ? 6 : NODE;
    const shift = (WIDE - most("x") * scale) / 2;
    this.nodes = nodes.map((node) => ({
      ...node,
      x: shift + node.x * scale,
      y: above + node.y * scale,
    }));
    this.tall = Math.max(130, most("y") * scale + 2 * above);
    if (this.tall === 130) for (const node of this.nodes) node.y += 65 - above;
    this.edgeOf = [];
    this.edges = edges.map((edge) => {
      for (const link of edge.links) this.edgeOf[link] = edge.name;
      return this.placeEdge(edge, this.run.network);
    });
    const byName = Object.fromEntries(this.edges.map((edge) => [edge.name, edge]));
    this.edgeOf = this.edgeOf.map((name) => byName[name]);
  }

  placeEdge(edge, { edges }) {
    const [from, to] = edge.ends.map((end) => this.nodes[end]);
    const long = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const along = [(to.x - from.x) / long, (to.y - from.y) / long];
    const aside = [-along[1], along[0]];
    const own = edge.lanes.map((lane) => this.run.lanes[lane]);
    const way = (back) => {
      const names = edge.half ? ["both"] : [back ? "backward" : "forward"];
      const side = back ? -1 : 1;
      const off = edge.half ? 0 : 3.5;
      const at = (node) => [node.x + side * off * aside[0], node.y + side * off * aside[1]];
      const [begin, end] = back ? [at(to), at(from)] : [at(from), at(to)];
      const near = Math.min(this.radius + 2, long / 3);
      const clear = (point, sign) => point.map((part, i) => part + sign * side * near * along[i]);
      return {
        lanes: own.filter((lane) => names.includes(lane.direction)),
        begin: clear(begin, 1),
        end: clear(end, -1),
        along: along.map((part) => side * part),
        aside: aside.map((part) => side * part),
        long,
        line: drawn("line", { x1: begin[0], y1: begin[1], x2: end[0], y2: end[1], class: "link" }),
      };
    };
    const ways = edge.half ? [way(false)] : [way(false), way(true)];
    for (const one of ways) one.line.append(drawn("title", {}, edge.name));
    const placed = { ...edge, ways, from, to };
    // Along a level link a name needs as much room as the link has.
    const roomy = Math.abs(aside[0]) > 0.3 || 5 * (edge.name.length + 4) < long + 20;
    const inner = from.router && to.router && roomy;
    const fits = inner || Math.abs(aside[0]) > 0.3 || long > 140;
    const few = edges.length <= (inner ? 30 : 6);
    if (fits && few && edge.links.length === 1) placed.label = this.labelOf(placed, along, aside);
    return placed;
  }

  labelOf({ name, words, from, to, ways }, along, aside) {
    // Above the link, or to the right of an upright one; nearer to its second end.
    const usual = aside[1] > 0.3 || (Math.abs(aside[1]) <= 0.3 && aside[0] < 0) ? -1 : 1;
    // Not where the queue of a direction and the count of its losses are, if there is another side.
    const taken = (side) =>
      ways.some((way) => {
        const here = way.aside[0] * aside[0] + way.aside[1] * aside[1] > 0 ? 1 : -1;
        return here === side && way.lanes.some((lane) => this.lost.get(lane).times.length);
      });
    const up = taken(usual) && !taken(-usual) ? -usual : usual;
    const share = from.router && to.router ? 0.5 : to.router ? 0.38 : 0.62;
    const steep = Math.abs(aside[0]);
    const off = up * ((taken(up) ? 46 : 12) + 5 * steep);
    const x = from.x + share * (to.x - from.x) + off * aside[0];
    const y = from.y + share * (to.y - from.y) + off * aside[1];
    const anchor = steep < 0.3 ? "middle" : off * aside[0] > 0 ? "start" : "end";
    const text = drawn("text", { x, y: y + 3, "text-anchor": anchor, class: "link-name" });
    this.percent ??= new Map();
    const percent = drawn("tspan", { class: "percent" });
    text.append(name, " ", percent, drawn("title", {}, words.join(", ")));
    this.percent.set(ways, percent);
    return text;
  }

  drawNode({ name, router, count, x, y }) {
    const r = this.radius;
    const shape = router
      ? drawn("circle", { cx: x, cy: y, r })
      : drawn("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: r / 3 });
    const within = count > 1 ? String(count) : name;
    const fits = within.length <= 3;
    const text = (words, down) => drawn("text", { x, y: y + down, "text-anchor": "middle" }, words);
    const title = drawn("title", {}, count > 1 ? `${count} hosts: ${name}` : name);
    const group = drawn("g", { class: router ? "router" : "host" }, shape, title);
    if (!this.crowded && fits) group.append(text(within, 4));
    if (!this.crowded && (!fits || count > 1)) group.append(text(name, r + 12));
    return group;
  }

  countLosses() {
    this.lost = new Map(this.run.lanes.map((lane) => [lane, { times: [], counts: [] }]));
    for (const { lane, kind, t, title } of this.run.losses) {
      if (kind !== "drops") continue;
      const { times, counts } = this.lost.get(lane);
      times.push(t);
      counts.push((counts.at(-1) ?? 0) + Number.parseInt(title, 10));
    }
  }

  // Load of a way at a time, or over the whole run.
  load(way, time) {
    const share = (lane) => {
      if (time === null) return lane.utilization;
      return (lane.bytes && loadAround(lane, time, this.view.bins(this.run.width))) || 0;
    };
    return Math.min(1, Math.max(0, ...way.lanes.map(share)));
  }

  draw() {
    const { time } = this.view;
    for (const edge of this.edges) {
      let busiest = 0;
      for (const way of edge.ways) {
        const load = this.load(way, time);
        busiest = Math.max(busiest, load);
        way.line.style.setProperty("--load", `${(100 * load).toFixed(1)}%`);
        way.line.setAttribute("stroke-width", (2 + 3.5 * load).toFixed(2));
      }
      const percent = this.percent?.get(edge.ways);
      if (percent) percent.textContent = `${Math.round(100 * busiest)} %`;
    }
    const window = this.view.bins(this.run.width) * this.run.width;
    this.caption.textContent =
      time === null
        ? `Load ${this.run.warmup ? "after the warm-up" : "over the whole run"}`
        : `Load in ${duration(window)} at ${moment(time, Math.min(1, this.view.span))}`;
    this.paint(time);
  }

  paint(time) {
    const { canvas } = this;
    const scale = (this.svg.clientWidth / WIDE) * window.devicePixelRatio;
    if (!scale) return;
    canvas.width = WIDE * scale;
    canvas.height = this.tall * scale;
    const ctx = canvas.getContext("2d");
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    const colors = this.run.flows.map(colorOf);
    const { packets } = this.run;
    const within = packets && time !== null && time >= packets.from && time <= packets.to;
    const waiting = new Map();
    if (within) this.paintPackets(ctx, time, colors, waiting);
    for (const way of this.lanes) this.paintQueue(ctx, way, time, within ? waiting : null, colors);
  }

  paintPackets(ctx, time, colors, waiting) {
    const { packets } = this.run;
    const fall = (this.speed ?? 0.01) * 0.7;
    const painted = { waiting: 0, moving: 0, falling: 0 };
    this.painted = painted;
    const begin = lastUpTo(packets.came, time - packets.longest - fall) + 1;
    for (let i = begin; i < packets.came.length && packets.came[i] <= time; i++) {
      const edge = this.edgeOf[packets.link[i]];
      const way = edge.ways[packets.back[i] && !edge.half ? 1 : 0];
      const back = edge.half && packets.back[i];
      const [start, arrival, dropped] = [packets.start[i], packets.arrival[i], packets.dropped[i]];
      const packet = { color: colors[packets.flow[i]] ?? ink("faint"), look: packets.look[i] };
      if (time >= dropped) {
        const done = (time - dropped) / fall;
        const share = Number.isNaN(start) ? null : 1;
        if (done >= 1 || still.matches) continue;
        painted.falling += 1;
        paintFalling(ctx, way, back, share, done, packet);
      } else if (Number.isNaN(start) || time < start) {
        if (!waiting.has(way)) waiting.set(way, []);
        waiting.get(way).push(packet);
        painted.waiting += 1;
      } else {
        const end = Number.isNaN(arrival) ? dropped : arrival;
        if (!(time < end)) continue;
        painted.moving += 1;
        paintDot(ctx, ...spot(way, back, (time - start) / (end - start)), packet);
      }
    }
  }

  paintQueue(ctx, way, time, waiting, colors) {
    const [lane] = way.lanes;
    if (way.lanes.length !== 1 || !lane.curves.queue || this.view.hidden.has(lane.key)) return;
    const { limit } = lane;
    const room = limit && lane.most > limit / 4 ? limit : lane.most;
    const { x, y, angle, long, tall } = queuePlace(way);
    const each = long / room;
    const queue = waiting?.get(way) ?? [];
    const count = waiting ? queue.length : lane.curves.queue.at(time ?? -1) || 0;
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(angle);
    ctx.fillStyle = ink("grid");
    ctx.fillRect(0, -tall / 2, long, tall);
    const gap = each > 3 ? 0.7 : 0;
    for (let i = 0; i < Math.min(count, room); i++) {
      ctx.fillStyle = queue[i]?.color ?? colorOf(lane);
      if (!waiting) {
        ctx.fillRect(0, -tall / 2, count * each, tall);
        break;
      }
      ctx.fillRect(i * each, -tall / 2, Math.max(each - gap, 0.6), tall);
    }
    ctx.restore();
    this.paintCounts(ctx, way, lane, count, time);
  }

  paintCounts(ctx, way, lane, count, time) {
    const { x, y, angle, long } = queuePlace(way);
    const { times, counts } = this.lost.get(lane);
    // Those of the whole run are in its figures, as the load is: without the warm-up.
    const lost = time === null ? lane.lost : (counts[lastUpTo(times, time)] ?? 0);
    const [dx, dy] = way.aside.map((part) => part * 14);
    const middle = [x + (Math.cos(angle) * long) / 2 + dx, y + (Math.sin(angle) * long) / 2 + dy];
    const waiting = time === null ? "" : `${Math.round(count)}`;
    const loss = lost ? `${lost.toLocaleString("en")} lost` : "";
    const words = [waiting, loss].filter(Boolean).join(" · ");
    ctx.font = "600 9.5px system-ui, sans-serif";
    ctx.fillStyle = ink(lost ? "loss" : "faint");
    const wide = ctx.measureText(words).width;
    const share = Math.abs(way.aside[0]) < 0.5 ? 0.5 : dx > 0 ? 0 : 1;
    const begin = Math.max(2, Math.min(middle[0] - share * wide, WIDE - wide - 2));
    ctx.fillText(words, begin, middle[1] + 3);
  }
}

// Where a packet is on its way, by the share of the way that it has made.
const spot = ({ begin, end }, back, share) => {
  const part = back ? 1 - share : share;
  return [begin[0] + part * (end[0] - begin[0]), begin[1] + part * (end[1] - begin[1])];
};

// A queue lies beside the first part of its link, its head at the node.
const queuePlace = ({ begin, along, aside, long }) => ({
  x: begin[0] + 3 * along[0] + 10 * aside[0],
  y: begin[1] + 3 * along[1] + 10 * aside[1],
  angle: Math.atan2(along[1], along[0]),
  long: Math.max(10, Math.min(90, 0.5 * long - NODE)),
  tall: 8,
});

const paintDot = (ctx, x, y, { color, look }) => {
  const kind = look % 3;
  ctx.beginPath();
  ctx.arc(x, y, [3.6, 2, 2.6][kind], 0, 7);
  ctx.fillStyle = color;
  ctx.fill();
  ctx.lineWidth = look > 2 ? 1.8 : 0.8;
  ctx.strokeStyle = look > 2 ? ink("ink") : ink("card");
  ctx.stroke();
};

const paintFalling = (ctx, way, back, share, done, packet) => {
  const place = queuePlace(way);
  const end = [
    place.x + Math.cos(place.angle) * place.long,
    place.y + Math.sin(place.angle) * place.long,
  ];
  const [x, y] = share === null ? end : spot(way, back, share);
  ctx.globalAlpha = 1 - done;
  paintDot(ctx, x, y + 55 * done * done, { color: ink("loss"), look: packet.look });
  ctx.globalAlpha = 1;
};

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
