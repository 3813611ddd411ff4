// Curves, and what is left of them on a screen of so many columns of pixels.

// The last place whose value is at most `wanted`; -1 if there is none.
const lastUpTo = (values, wanted) => {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

// The median of the distances between neighbours; 0 for fewer than two.
const usualStep = (times) => {
  const steps = Float64Array.from(times.slice(1), (time, i) => time - times[i]).sort();
  return steps.length ? steps[steps.length >> 1] : 0;
};

// Points of a curve. With `hold` a value holds until the next one, up to `stop`.
class Curve {
  constructor(times, values, hold, stop = Infinity) {
    Object.assign(this, { times, values, hold, stop });
  }

  at(time) {
    const place = lastUpTo(this.times, time);
    return place < 0 || time > this.stop ? NaN : this.values[place];
  }

  // The points within a span; single measurements are not joined where there is none for long.
  within(from, to, columns) {
    const [x, y] = this.cut(from, to, columns);
    if (this.hold) return [x, y];
    this.apart ??= usualStep(this.times);
    const gap = Math.max(8 * this.apart, 0.015 * (to - from));
    const [times, values] = [[], []];
    for (let i = 0; i < x.length; i++) {
      if (i && x[i] - x[i - 1] > gap) {
        // At both ends: uPlot leaves out what lies between neighbours without a value.
        times.push(x[i - 1] + gap / 1e6, x[i] - gap / 1e6);
        values.push(NaN, NaN);
      }
      times.push(x[i]);
      values.push(y[i]);
    }
    return [times, values];
  }

  // Of many points, first, least, greatest and last of each column.
  cut(from, to, columns) {
    const { times, values } = this;
    const first = Math.max(0, lastUpTo(times, from));
    const last = Math.min(times.length - 1, lastUpTo(times, to) + 1);
    if (last - first < 4 * columns) {
      return [times.slice(first, last + 1), values.slice(first, last + 1)];
    }
    const [x, y] = [[], []];
    const width = (to - from) / columns;
    let place = first;
    for (let column = -1; column <= columns && place <= last; column++) {
      const begin = place;
      const end = from + (column + 1) * width;
      let [low, high] = [place, place];
      for (; place <= last && times[place] < end; place++) {
        if (values[place] < values[low]) low = place;
        if (values[place] > values[high]) high = place;
      }
      if (place === begin) continue;
      [begin, Math.min(low, high), Math.max(low, high), place - 1].forEach((kept, quarter) => {
        x.push(end - width + (quarter * width) / 4);
        y.push(values[kept]);
      });
    }
    return [x, y];
  }
}

// Bytes in narrow windows, shown as rates in wider ones.
class Bytes {
  constructor(counts, width, start, end) {
    Object.assign(this, { counts, width, start, end });
  }

  // The rate in windows of `bins` bins each that reach into a span, bit/s.
  rates(bins, from, to) {
    const { counts, width, start, end } = this;
    const [times, values] = [[], []];
    const first = Math.max(from - bins * width, start);
    const begin = Math.max(0, Math.floor(first / width / bins)) * bins;
    for (let at = begin; at < counts.length && at * width < to; at += bins) {
      let sum = 0;
      for (let i = at; i < Math.min(at + bins, counts.length); i++) sum += counts[i];
      times.push(at * width);
      values.push((sum * 8) / Math.min(bins * width, counts.length * width - at * width));
    }
    return new Curve(times, values, true, Math.min(end, counts.length * width));
  }

  // The rate in the window around a time, bit/s.
  around(time, bins) {
    const begin = Math.floor(time / this.width / bins) * bins * this.width;
    return this.rates(bins, begin + this.width, begin + this.width * 1.5).at(time);
  }
}

// One x for all curves of a panel, as uPlot wants it, and the values of each curve there.
const joined = (curves, from, to, columns) => {
  const parts = curves.map((curve) => curve && curve.within(from, to, columns));
  const every = [from, to];
  for (const part of parts) if (part) for (const time of part[0]) every.push(time);
  const x = Float64Array.from(every)
    .sort()
    .filter((time, i, all) => i === 0 || time !== all[i - 1]);
  const values = parts.map((part, number) => {
    if (!part) return new Array(x.length).fill(null);
    const [times, own] = part;
    const { hold, stop } = curves[number];
    let place = -1;
    return Array.from(x, (time) => {
      const before = place;
      while (place + 1 < times.length && times[place + 1] <= time) place++;
      if (time > stop || place < 0 || Number.isNaN(own[place])) return null;
      return hold || place !== before ? own[place] : undefined;
    });
  });
  return [x, ...values];
};
