// Packets of a short span around the first loss, for the animation.

const USUAL = 24000;
const BEFORE = 0.3;

const packetsOf = (tables, words, model, summary) => {
  const { transmissions: sent, drops, waiting, packets: seen } = tables;
  if (!sent?.time_s.length) return null;
  const total = sent.time_s.length;
  const firstLoss = drops?.time_s.length ? drops.time_s[0] : null;
  const at = Math.max(0, lastRow(sent.time_s, firstLoss ?? 0));
  const begin = Math.max(
    0,
    Math.min(Math.round(at - (firstLoss === null ? 0 : BEFORE * USUAL)), total - USUAL),
  );
  const last = Math.min(total - 1, begin + USUAL);
  const [from, to] = [
    begin ? sent.time_s[begin] : 0,
    last === total - 1 ? summary.end_s : sent.time_s[last],
  ];

  const visits = [];
  const byPacket = new Map();
  // A packet that is on its way when the span begins started at most the longest way before.
  let row = begin;
  while (row > 0 && sent.time_s[row] > from - 2 && begin - row < USUAL) row--;
  for (; row < total && sent.entered_s[row] <= to + 2 && sent.time_s[row] <= to + 2; row++) {
    if (sent.entered_s[row] > to || sent.arrival_s[row] < from) continue;
    const visit = {
      came: sent.entered_s[row],
      start: sent.time_s[row],
      arrival: sent.arrival_s[row] > summary.end_s ? NaN : sent.arrival_s[row],
      dropped: NaN,
      ...sharedBy(sent, row, words),
    };
    byPacket.set(`${visit.id} ${visit.link}`, visit);
    visits.push(visit);
  }
  drops?.time_s.forEach((time, row) => {
    if (drops.link[row] < 0 || drops.entered_s[row] > to || time < from) return;
    const onWay = byPacket.get(`${drops.packet_id[row]} ${drops.link[row]}`);
    if (onWay && onWay.arrival === drops.entered_s[row]) {
      [onWay.dropped, onWay.arrival] = [onWay.arrival, NaN];
      return;
    }
    visits.push({
      came: drops.entered_s[row],
      start: NaN,
      arrival: NaN,
      dropped: time,
      ...sharedBy(drops, row, words),
    });
  });
  waiting?.time_s.forEach((time, row) => {
    if (time > to) return;
    visits.push({
      came: time,
      start: NaN,
      arrival: NaN,
      dropped: NaN,
      ...sharedBy(waiting, row, words),
    });
  });
  const again = new Set();
  seen?.time_s.forEach((time, row) => {
    if (seen.retransmission[row] && time <= to) again.add(seen.packet_id[row]);
  });
  visits.sort((one, other) => one.came - other.came || one.id - other.id);
  const column = (name) => Float64Array.from(visits, (visit) => visit[name]);
  return {
    cut: false,
    from,
    to,
    ...Object.fromEntries(
      ["came", "start", "arrival", "dropped", "link", "back", "flow"].map((name) => [
        name,
        column(name),
      ]),
    ),
    look: Float64Array.from(visits, ({ id, kind }) => kind + (again.has(id) ? 3 : 0)),
  };
};

const sharedBy = (table, row, words) => {
  const direction = words.direction[table.direction[row]];
  return {
    id: table.packet_id[row],
    link: table.link[row],
    back: direction === "backward" || (direction === "both" && table.reverse[row]) ? 1 : 0,
    flow: table.flow[row],
    kind: Math.min(2, table.kind[row]),
  };
};
