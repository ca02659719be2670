// Numbers as people write them: the same forms that the command line prints.
"use strict";
const SECONDS = { y: 31_557_600, d: 86_400, h: 3_600, min: 60, s: 1 };

const figures = {
  short(value, digits = 3) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const text = value.toPrecision(digits);
    return text.includes("e") ? text : String(Number(text));
  },
  count(value) {
    return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
  },
  percent(share, digits = 1) {
    return share === null || share === undefined || !Number.isFinite(share) ? "–" : `${(100 * share).toFixed(digits)} %`;
  },
  duration(seconds, digits = 3) {
    if (seconds === null || seconds === undefined) return "–";
    if (!Number.isFinite(seconds)) return "never";
    for (const [unit, size] of Object.entries(SECONDS)) {
      if (Math.abs(seconds) >= size) return `${figures.short(seconds / size, digits)} ${unit}`;
    }
    if (seconds === 0) return "0 s";
    return Math.abs(seconds) < 0.1 ? `${figures.short(1000 * seconds)} ms` : `${figures.short(seconds)} s`;
  },
  // What one more visit is worth at a host, against the price elsewhere.
  cost(host) {
    if (host.price === null) return "the price";
    return host.times === null ? "more than elsewhere" : `${figures.short(host.times)} × the price`;
  },
  rate(perSecond) {
    if (perSecond === null || perSecond === undefined || !Number.isFinite(perSecond)) return "–";
    if (perSecond === 0) return "none";
    if (perSecond * SECONDS.y < 1e-3) return "hardly ever";
    for (const unit of ["s", "min", "h", "d"]) {
      if (perSecond * SECONDS[unit] >= 1) return `${figures.short(perSecond * SECONDS[unit], 4)} / ${unit}`;
    }
    return `${figures.short(perSecond * SECONDS.y, 4)} / y`;
  },
  // A rate that somebody chose, as it was written: in the shortest unit in which it is whole.
  chosen(perSecond) {
    for (const unit of ["s", "min", "h", "d"]) {
      const number = (perSecond ?? 0) * SECONDS[unit];
      const whole = Math.round(number);
      if (whole >= 1 && whole < 1e6 && Math.abs(number - whole) < 1e-9 * whole) return `${figures.count(whole)} / ${unit}`;
    }
    return figures.rate(perSecond);
  },
};

// Elements without markup in strings: text stays text.
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function put(id, text) {
  const place = document.getElementById(id);
  if (place.textContent !== text) place.textContent = text;
}
