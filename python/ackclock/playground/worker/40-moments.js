// What happened: events of flows with their rules, losses and marks at links.

const MOST_MOMENTS = 3000;

const momentsOf = (tables, words, flows, model, texts) => {
  const { events, window_rules: rules } = tables;
  if (!events) return [];
  const kinds = Object.keys(texts.marks);
  const found = new Map();
  events.time_s.forEach((time, row) => {
    const kind = words.flow_event[events.event[row]];
    const weight = kinds.indexOf(kind);
    const flow = events.flow[row];
    if (weight < 0 || !flows[flow]) return;
    const key = `${time} ${flow}`;
    const known = found.get(key);
    const entry = known ?? { t: time, of: flow, kinds: new Map(), weight };
    entry.kinds.set(kind, (entry.kinds.get(kind) ?? 0) + 1);
    entry.weight = Math.min(entry.weight, weight);
    if (!known) found.set(key, entry);
  });
  const why = new Map();
  rules?.time_s.forEach((time, row) => {
    const key = `${time} ${rules.flow[row]}`;
    if (!found.has(key)) return;
    const flow = model.flows[rules.flow[row]];
    const rule = texts.rules[words.window_rule[rules.rule[row]]];
    if (!rule) return;
    const lines = why.get(key) ?? why.set(key, new Set()).get(key);
    const cc = flow.tcp.cc;
    const factor = texts.factors[cc.kind]?.find(({ name }) => typeof cc[name] === "number");
    const parts = [rule.text.replace("{cc}", flow.label), rule.source];
    if (rule.cuts && factor)
      parts.push(`${flow.label}: ${factor.name} ${cc[factor.name]}`, factor.source);
    lines.add(parts.filter(Boolean).join(". "));
  });
  const entries = [...found].map(([key, entry]) => {
    const { window, threshold } = flows[entry.of].curves;
    return {
      t: entry.t,
      of: entry.of,
      kind: kinds[entry.weight],
      count: 1,
      cwnd: around(window, entry.t),
      ssthresh: around(threshold, entry.t),
      text: [...entry.kinds]
        .map(([kind, count]) => texts.marks[kind] + (count > 1 ? ` × ${count}` : ""))
        .slice(1),
      why: [...(why.get(key) ?? [])],
    };
  });
  return thinned(entries.sort((one, other) => one.t - other.t));
};

// Of very many the first of each of some thousand spans.
const thinned = (entries) => {
  if (entries.length <= MOST_MOMENTS) return entries;
  const end = entries.at(-1).t;
  const kept = new Map();
  for (const entry of entries) {
    const key = `${Math.floor((entry.t / end) * 1000)} ${entry.of}`;
    if (kept.has(key)) kept.get(key).count += 1;
    else kept.set(key, entry);
  }
  return [...kept.values()];
};

// The value before a time and from then on; null for none.
const around = (series, time) => {
  if (!series?.times.length) return [null, null];
  let after = lastRow(series.times, time);
  let before = after;
  while (before >= 0 && series.times[before] >= time) before--;
  return [Math.max(0, before), Math.max(0, after)].map((row) => {
    const value = series.values[row];
    return Number.isFinite(value) ? Math.round(value * 1000) / 1000 : null;
  });
};

const lossesOf = (tables, words, laneAt, count, end) =>
  ["drops", "marks"].flatMap((kind) => {
    const table = tables[kind];
    if (!table?.time_s.length) return [];
    const rows = grouped(table.time_s.length, count, (row) =>
      laneAt(table.link[row], table.direction[row]),
    );
    return rows.flatMap((own, of) => {
      const bins = new Map();
      for (const row of own) {
        const reason = words.drop_reason[table.reason[row]].replaceAll("-", " ");
        const place =
          own.length > MOST_MOMENTS ? Math.floor((table.time_s[row] / end) * 3000) : row;
        const key = `${place} ${reason}`;
        if (bins.has(key)) bins.get(key).count += 1;
        else bins.set(key, { t: table.time_s[row], of, kind, count: 1, reason });
      }
      return [...bins.values()].sort((one, other) => one.t - other.t);
    });
  });
