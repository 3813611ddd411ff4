// The runs of the page, ready to be drawn.

// What a burst of losses or marks is called.
const lossTitle = (kind, count) =>
  `${count} ${count === 1 ? "packet" : "packets"} ${kind === "drops" ? "dropped" : "marked"}`;

// A run whose moments and changes have their words, and its events.
const described = (run, page) => {
  const moments = run.moments.map((entry) => ({
    ...entry,
    flow: run.flows[entry.of],
    title: page.marks[entry.kind] + (entry.count > 1 ? ` (1 of ${entry.count} nearby)` : ""),
    lines: [
      `cwnd ${changeOf(entry.cwnd)}, ssthresh ${changeOf(entry.ssthresh)} (segments)`,
      ...entry.text,
    ],
  }));
  const changes = run.changes.map(({ t, text }) => ({
    t,
    title: text,
    lines: [],
    kind: "change",
  }));
  return withEvents({ ...run, moments, changes });
};

const makeRun = (about, arrays, page) => {
  const curve = ({ t, v }, hold, stop) =>
    new Curve(
      scaled(integers(arrays, t), about.tick),
      scaled(integers(arrays, v.at), v.unit),
      hold,
      stop,
    );
  const { curves } = about;
  const flows = about.flows.map((flow) => ({ ...flow, key: `flow ${flow.id}`, curves: {} }));
  const lanes = about.lanes.map((lane) => ({ ...lane, key: `lane ${lane.id}`, curves: {} }));
  for (const name of ["window", "threshold", "rtt", "flight"]) {
    for (const entry of curves[name] ?? []) {
      const flow = flows[entry.of];
      flow.curves[name] = curve(entry, name !== "rtt", flow.stop);
    }
  }
  for (const entry of curves.queue ?? []) {
    lanes[entry.of].curves.queue = curve(entry, true, about.end);
  }
  for (const [name, owners] of Object.entries({ rate: flows, load: lanes })) {
    for (const { of, bytes } of curves[name] ?? []) {
      const owner = owners[of];
      owner.bytes = new Bytes(
        integers(arrays, bytes),
        about.width,
        owner.start ?? 0,
        owner.stop ?? about.end,
      );
    }
  }
  for (const { of, bytes } of curves.capacity) {
    lanes[of].capacity = new Bytes(integers(arrays, bytes), about.width, 0, about.end);
  }
  const losses = about.losses.flatMap((entry) => {
    const [times, counts, reasons] = [entry.t, entry.count, entry.reason].map((at) =>
      integers(arrays, at),
    );
    return Array.from(times, (time, i) => ({
      t: time * about.tick,
      lane: lanes[entry.of],
      kind: entry.kind,
      title: lossTitle(entry.kind, counts[i]),
      lines: [entry.reasons[reasons[i]]],
    }));
  });
  const run = described({ ...about, flows, lanes, losses }, page);
  run.packets = about.packets && makePackets(about.packets, arrays);
  return run;
};

// What one steps through: events of flows, the first loss of each burst, changes of the network.
const withEvents = (run) => {
  const bursts = run.losses.filter((loss, i) => {
    const before = run.losses[i - 1];
    return before?.lane !== loss.lane || loss.t - before.t > run.end / 500;
  });
  const events = [...run.moments, ...bursts, ...run.changes];
  return { ...run, events: events.sort((one, other) => one.t - other.t) };
};

const changeOf = (values) => {
  const words = values.map((value) => (value === null ? "none" : number(value)));
  return words[0] === words[1] ? words[0] : words.join(" → ");
};

// Visits of packets to links, in the order in which they came; times in seconds, NaN for never.
const makePackets = (about, arrays) => {
  const columns = Object.fromEntries(
    Object.entries(about.columns).map(([name, at]) => [name, integers(arrays, at)]),
  );
  const { unit } = about;
  const came = columns.came.map((tick) => about.from + tick * unit);
  const after = (base, ticks) =>
    base.map((time, i) => (ticks[i] < 0 ? NaN : time + ticks[i] * unit));
  const start = after(came, columns.wait);
  const dropped = after(came, columns.gone);
  const arrival = after(start, columns.way);
  const { link, back, flow, look } = columns;
  const { cut, from, to } = about;
  return withLongest({ cut, from, to, came, start, arrival, dropped, link, back, flow, look });
};

// How long a packet is at a link, at most.
const withLongest = (packets) => {
  const { came, arrival, dropped, to } = packets;
  let longest = 0;
  came.forEach((time, i) => {
    const gone = [dropped[i], arrival[i], to].find((end) => !Number.isNaN(end));
    longest = Math.max(longest, gone - time);
  });
  return { ...packets, longest };
};
