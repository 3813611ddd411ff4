// A finished run as the page draws it.

const MOST_FLOWS = 40;
const MOST_LANES = 40;

const collect = ({ summary, tables, categories: words }, model, texts) => {
  const end = summary.end_s;
  const flows = model.flows.slice(0, MOST_FLOWS).map((flow) => {
    const figures = summary.flows[flow.id];
    const start = Math.min(figures.start_s ?? flow.start_ns * 1e-9, end);
    const finish = figures.finish_ack_s ?? figures.finish_s ?? figures.stopped_s;
    return {
      id: flow.id,
      label: flow.id,
      about: `${flow.label}, ${flow.from} to ${flow.to}`,
      start,
      stop: Math.max(start, Math.min(finish ?? end, end)),
      curves: {},
    };
  });
  const byFlow = (table, of = (row) => table.flow[row]) =>
    grouped(table.time_s.length, flows.length, (row) => (of(row) < flows.length ? of(row) : -1));
  addWindows(flows, tables, model, byFlow);
  const every = lanesOf(model, summary);
  const worth = worthDrawing(every);
  const rank = (lane) => (worth.has(lane) ? 2 : 0) + lane.utilization;
  const lanes = every
    .filter((lane) => worth.has(lane) || lane.utilization > 0)
    .sort((one, other) => rank(other) - rank(one))
    .slice(0, MOST_LANES)
    .map((lane) => ({ ...lane, shown: worth.has(lane), curves: {} }));
  const numbers = new Map(lanes.map((lane, i) => [`${lane.link} ${lane.direction}`, i]));
  const laneAt = (link, direction) => numbers.get(`${link} ${words.direction[direction]}`) ?? -1;
  const { queue, transmissions: sent, packets } = tables;
  const width = windowOf(end);
  if (queue) {
    const rows = grouped(queue.time_s.length, lanes.length, (row) =>
      laneAt(queue.link[row], queue.direction[row]),
    );
    lanes.forEach((lane, i) => {
      if (rows[i].length)
        lane.curves.queue = curve(rows[i], queue.time_s, (row) => queue.queue_packets[row], true);
    });
  }
  if (sent) {
    const rows = grouped(sent.time_s.length, lanes.length, (row) =>
      laneAt(sent.link[row], sent.direction[row]),
    );
    lanes.forEach((lane, i) => {
      lane.counts = binned(rows[i], sent.time_s, sent.bytes, width, end);
    });
  }
  if (packets) {
    const received = words.packet_event.indexOf("received");
    const data = words.packet_kind.indexOf("data");
    const of = (row) =>
      packets.event[row] === received && packets.kind[row] === data ? packets.flow[row] : -1;
    const rows = byFlow(packets, of);
    flows.forEach((flow, i) => {
      flow.counts = binned(rows[i], packets.time_s, packets.bytes, width, end);
    });
  }
  return {
    name: summary.scenario,
    summary,
    end: end || 1e-9,
    left: model.flows.length - flows.length,
    nodes: model.hosts.length + model.routers.length,
    width,
    flows,
    lanes,
    lacking: {},
    moments: momentsOf(tables, words, flows, model, texts),
    losses: lossesOf(tables, words, laneAt, lanes.length, end),
    changes: changesOf(lanes).filter(({ t }) => t <= end),
    network: networkOf(model, lanes),
    packets: packetsOf(tables, words, model, summary),
    withoutPackets: "no packet was sent.",
  };
};

const addWindows = (flows, { cwnd, rtt, tcp_info: info }, model, byFlow) => {
  const size = (row) => model.flows[cwnd.flow[row]].tcp?.segment_bytes ?? 1;
  if (cwnd) {
    byFlow(cwnd).forEach((rows, i) => {
      if (!rows.length) return;
      flows[i].curves.window = curve(
        rows,
        cwnd.time_s,
        (row) => cwnd.cwnd_bytes[row] / size(row),
        true,
      );
      const threshold = (row) =>
        Number.isFinite(cwnd.ssthresh_bytes[row]) ? cwnd.ssthresh_bytes[row] / size(row) : NaN;
      flows[i].curves.threshold = curve(rows, cwnd.time_s, threshold, true);
    });
  }
  if (rtt) {
    byFlow(rtt).forEach((rows, i) => {
      if (rows.length)
        flows[i].curves.rtt = curve(rows, rtt.time_s, (row) => rtt.rtt_s[row], false);
    });
  }
  if (info) {
    byFlow(info).forEach((rows, i) => {
      if (rows.length)
        flows[i].curves.flight = curve(rows, info.time_s, (row) => info.in_flight[row], true);
    });
  }
};

// Everything in a document that can be handed over instead of copied.
const buffersOf = (value, found = new Set()) => {
  if (ArrayBuffer.isView(value)) found.add(value.buffer);
  else if (value && typeof value === "object")
    for (const inner of Object.values(value)) buffersOf(inner, found);
  return found;
};
