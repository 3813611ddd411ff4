// What the flows of a run got: a sentence, and a row each.

const rateText = (bps) => {
  const [size, name] = [
    [1e9, "Gbps"],
    [1e6, "Mbps"],
    [1e3, "kbps"],
  ].find(([least]) => bps >= least) ?? [1, "bps"];
  return `${number(bps / size, 3)} ${name}`;
};

// What a flow is called: its algorithm, or its name where others have the same.
const nameOf = (flow, all) => {
  const { label } = flow.figures;
  const alone = all.filter((other) => other.figures.label === label).length === 1;
  return alone && label ? label : `flow ${flow.id}`;
};

const verdict = (rows) => {
  const words = sentenceOf(rows);
  return words[0].toUpperCase() + words.slice(1);
};

const sentenceOf = (every) => {
  // A phone call is not meant to get as much as a download.
  const tcp = every.filter((row) => row.figures.transport === "tcp");
  const rows = tcp.length ? tcp : every;
  const ranked = [...rows].sort((one, other) => other.rate - one.rate);
  const [first, last] = [ranked[0], ranked.at(-1)];
  if (!first.rate) return "Nothing has arrived yet.";
  const [winner, loser] = [first, last].map((row) => nameOf(row, rows));
  if (rows.length === 1) return `${winner} gets ${rateText(first.rate)}.`;
  if (!last.rate) return `${winner} gets ${rateText(first.rate)}, ${loser} gets nothing.`;
  const factor = first.rate / last.rate;
  if (factor < 1.1) {
    const both = `${winner} and ${loser} share the link evenly.`;
    return rows.length === 2 ? both : "All flows get about the same.";
  }
  const times = factor < 10 ? factor.toFixed(1) : number(factor, 2);
  return `${winner} gets ${times} times as much as ${loser}.`;
};

const MOST_ROWS = 12;

const showFigures = (place, run, note) => {
  const rows = run.flows.map((flow) => {
    const figures = run.summary.flows[flow.id];
    return { ...flow, figures, rate: figures.goodput_bps ?? 0 };
  });
  const all = rows.reduce((sum, row) => sum + row.rate, 0) || 1;
  const most = Math.max(...rows.map((row) => row.rate), 1);
  const cell = (text, options = {}) => element("td", options, text);
  const body = rows.slice(0, MOST_ROWS).map((row) => {
    const { figures } = row;
    const style = `--light:${row.light};--dark:${row.dark};width:${((100 * row.rate) / most).toFixed(1)}%`;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, element("b", { class: "owner", style }, row.id)),
      cell(figures.label ?? ""),
      element(
        "td",
        { class: "share" },
        element("span", { class: "track" }, element("i", { class: "bar-of", style })),
        `${rateText(row.rate)}, ${Math.round((100 * row.rate) / all)} %`,
      ),
      cell(figures.rtt_s?.mean ? duration(figures.rtt_s.mean) : "–"),
      cell(figures.segments_dropped === undefined ? "–" : number(figures.segments_dropped, 6)),
      cell(figures.retransmissions === undefined ? "–" : number(figures.retransmissions, 6)),
    );
  });
  const heads = ["Flow", "Algorithm", "Goodput", "Mean RTT", "Lost", "Retransmitted"];
  place.replaceChildren(
    element("h2", { id: "verdict" }, verdict(rows)),
    element(
      "div",
      { class: "wide" },
      element(
        "table",
        { class: "results" },
        element(
          "thead",
          {},
          element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head))),
        ),
        element("tbody", {}, ...body),
      ),
    ),
    ...(rows.length > MOST_ROWS
      ? [
          element(
            "p",
            { class: "faint" },
            `The first ${MOST_ROWS} of ${run.summary ? Object.keys(run.summary.flows).length : rows.length} flows.`,
          ),
        ]
      : []),
    element(
      "p",
      { class: "faint digest" },
      note,
      " Digest ",
      element("code", { id: "digest" }, run.summary.digest),
      ", as ‘ackclock run’ gives it.",
    ),
  );
};
