// A run that the worker has collected, ready to be drawn as those of a report.

const FLOW_KEYS = { window: true, threshold: true, rtt: false, flight: true };

const inked = (owners, colors) =>
  owners.map((owner, i) => ({
    ...owner,
    light: colors.light[i % colors.light.length],
    dark: colors.dark[i % colors.dark.length],
  }));

const assembled = (about, page) => {
  const { end, width } = about;
  const bytes = (counts, start, stop) => counts && new Bytes(counts, width, start, stop);
  const flows = inked(about.flows, page.flows).map((flow) => ({
    ...flow,
    key: `flow ${flow.id}`,
    bytes: bytes(flow.counts, flow.start, flow.stop),
    curves: Object.fromEntries(
      Object.entries(flow.curves).map(([name, { times, values }]) => [
        name,
        new Curve(times, values, FLOW_KEYS[name], flow.stop),
      ]),
    ),
  }));
  const lanes = inked(about.lanes, page.links).map((lane, i) => {
    const { queue } = lane.curves;
    return {
      ...lane,
      key: `lane ${lane.id}`,
      dashed: i >= page.links.light.length,
      bytes: bytes(lane.counts, 0, end),
      capacity: bytes(lane.offered, 0, end),
      curves: queue ? { queue: new Curve(queue.times, queue.values, true, end) } : {},
    };
  });
  const losses = about.losses.map((loss) => ({
    ...loss,
    lane: lanes[loss.of],
    title: lossTitle(loss.kind, loss.count),
    lines: [loss.reason],
  }));
  const run = described({ ...about, number: 0, flows, lanes, losses }, page);
  run.packets = about.packets && withLongest(about.packets);
  return run;
};

// Units of the axes, from the highest rate and round-trip time of a run.
const unitsOf = ({ summary }) => {
  const figures = Object.values(summary.flows);
  const most = (read) => Math.max(0, ...figures.map((flow) => read(flow) ?? 0));
  const rates = [
    [1e9, "Gbps"],
    [1e6, "Mbps"],
    [1e3, "kbps"],
    [1, "bps"],
  ];
  const rate = most((flow) => flow.goodput_bps);
  const [size, name] = rates.find(([least]) => rate >= least) ?? rates[1];
  const seconds = most((flow) => flow.rtt_s?.max) >= 10;
  return {
    rate: { name, size },
    rtt: seconds ? { name: "s", size: 1 } : { name: "ms", size: 1e-3 },
  };
};
