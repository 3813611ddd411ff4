// Records by their flow or link, as curves; nothing here knows the page.

// The rows of each subject, in their order: `of(row)` is its number, or less than 0.
const grouped = (length, count, of) => {
  const sizes = new Uint32Array(count);
  for (let row = 0; row < length; row++) {
    const subject = of(row);
    if (subject >= 0) sizes[subject] += 1;
  }
  const rows = Array.from(sizes, (size) => new Uint32Array(size));
  sizes.fill(0);
  for (let row = 0; row < length; row++) {
    const subject = of(row);
    if (subject >= 0) rows[subject][sizes[subject]++] = row;
  }
  return rows;
};

// A curve of some rows. Of a level only the changes are kept.
const curve = (rows, times, value, level) => {
  const [x, y] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  let count = 0;
  for (const row of rows) {
    const now = value(row);
    if (
      level &&
      count &&
      (now === y[count - 1] || (Number.isNaN(now) && Number.isNaN(y[count - 1])))
    )
      continue;
    x[count] = times[row];
    y[count++] = now;
  }
  return { times: x.slice(0, count), values: y.slice(0, count) };
};

// Bytes in windows of one width.
const binned = (rows, times, bytes, width, end) => {
  const counts = new Float64Array(Math.max(1, Math.ceil(end / width - 1e-9)));
  for (const row of rows) {
    counts[Math.min(counts.length - 1, Math.floor(times[row] / width))] += bytes[row];
  }
  return counts;
};

// Width of the narrowest windows for rates, seconds: a round number, some thousand a run.
const windowOf = (end) => {
  const wanted = Math.max(end, 1e-6) / 3000;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= wanted * 0.999);
};

// The last row whose time is at most `time`; -1 if there is none.
const lastRow = (times, time) => {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};
