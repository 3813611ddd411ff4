// Numbers and times as people read them.

const number = (value, digits = 4) => {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) >= 10 ** digits) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(digits)));
};

// A time with as many decimals as the span on the screen needs.
const moment = (time, span) => {
  const decimals = Math.max(0, Math.min(9, 4 - Math.floor(Math.log10(span))));
  return `${time.toFixed(decimals)} s`;
};

const duration = (seconds) => {
  const units = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  const [size, unit] = units.find(([least]) => seconds >= least) ?? units.at(-1);
  return `${number(seconds / size, 3)} ${unit}`;
};

// A step of 1, 2 or 5 times a power of ten that is at least this wide.
const roundStep = (least) => {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((factor) => factor * power >= least * 0.999) * power;
};

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
