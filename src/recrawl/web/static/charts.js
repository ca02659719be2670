// Pictures: lines over time by uPlot, and the control's curve over the states of the buffer.
"use strict";

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// A chart that is drawn anew when the colours or the width change.
class LineChart {
  constructor(id, options) {
    this.place = document.getElementById(id);
    this.options = options;
    this.data = null;
    this.plot = null;
    new ResizeObserver(() => this.fit()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
  }

  show(data) {
    this.data = data;
    if (this.plot) this.plot.setData(data);
    else this.rebuild();
  }

  fit() {
    const width = this.place.clientWidth;
    if (this.plot && width && width !== this.plot.width) this.plot.setSize({ width, height: this.height(width) });
  }

  height(width) {
    return width < 500 ? 200 : 240;
  }

  rebuild() {
    if (!this.data || !this.place.clientWidth) return;
    if (this.plot) this.plot.destroy();
    const width = this.place.clientWidth;
    const axis = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") }, font: "12px system-ui, sans-serif" };
    const chosen = this.options(colour);
    // Where nobody points, the legend tells the latest figures, or those that the chart is about.
    const rest = chosen.rest ?? ((data) => data[0].length - 1);
    const tell = (plot) => {
      if (plot.cursor.idx === null || plot.cursor.idx === undefined) plot.setLegend({ idx: rest(plot.data) });
    };
    this.plot = new uPlot(
      {
        width,
        height: this.height(width),
        cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        legend: { live: true },
        hooks: { setCursor: [tell], setData: [tell], ready: [tell] },
        ...chosen,
        axes: (chosen.axes ?? [{}, {}]).map((own) => ({ ...axis, ...own })),
      },
      this.data,
      this.place,
    );
  }
}

// The curve is a staircase: robots to aim for at 0, 1, ..., K pages in the buffer.
class CurvePicture {
  constructor(id) {
    this.place = document.getElementById(id);
    this.key = "";
    this.spent = new Map();
  }

  show(curve, { then = null, point = null } = {}) {
    const key = JSON.stringify([curve, then]);
    if (key !== this.key) this.draw(curve, then ?? curve.best, then ? "then" : "best");
    this.key = key;
    if (point) this.visit(point.buffer, point.robots);
  }

  draw(curve, other, kind) {
    const K = curve.capacity;
    const N = curve.robots;
    const [left, top, width, height] = [30, 26, 474, 224];
    this.x = (q) => left + (width * (q + 0.5)) / (K + 1);
    this.y = (r) => top + height - (height * (r + 0.5)) / (N + 1);
    this.cell = { width: width / (K + 1), height: height / (N + 1) };
    const svg = drawn("svg", { viewBox: "0 0 510 292", "aria-hidden": "true" });
    for (const r of this.ticks(N)) {
      svg.append(drawn("line", { class: "grid", x1: left, x2: left + width, y1: this.y(r), y2: this.y(r) }));
      svg.append(drawn("text", { x: left - 8, y: this.y(r) + 4, "text-anchor": "end" }, String(r)));
    }
    for (const q of this.ticks(K)) {
      svg.append(drawn("text", { x: this.x(q), y: top + height + 17, "text-anchor": "middle" }, String(q)));
    }
    svg.append(drawn("text", { x: left + width, y: top + height + 36, "text-anchor": "end" }, "pages in the buffer"));
    svg.append(drawn("text", { x: 0, y: 14 }, "robots active"));
    this.shades = drawn("g");
    svg.append(this.shades);
    svg.append(drawn("path", { class: "curve", d: this.stairs(curve.targets) }));
    if (other) svg.append(drawn("path", { class: `curve ${kind}`, d: this.stairs(other.targets) }));
    this.ring = drawn("circle", { class: "point", r: 7, visibility: "hidden" });
    svg.append(this.ring);
    this.place.replaceChildren(svg);
    this.spent.clear();
  }

  ticks(most) {
    const step = Math.max(1, Math.ceil(most / 8));
    return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
  }

  stairs(targets) {
    const half = this.cell.width / 2;
    return targets.map((r, q) => `${q ? "L" : "M"}${this.x(q) - half} ${this.y(r)}H${this.x(q) + half}`).join("");
  }

  visit(buffer, robots) {
    const key = `${buffer} ${robots}`;
    let state = this.spent.get(key);
    if (!state) {
      const rect = drawn("rect", {
        class: "shade",
        x: this.x(buffer) - this.cell.width / 2,
        y: this.y(robots) - this.cell.height / 2,
        width: this.cell.width,
        height: this.cell.height,
      });
      this.shades.append(rect);
      state = { seconds: 0, rect };
      this.spent.set(key, state);
    }
    state.seconds += 1;
    const most = Math.max(...[...this.spent.values()].map((seen) => seen.seconds));
    for (const seen of this.spent.values()) {
      seen.rect.setAttribute("opacity", (0.08 + 0.4 * (seen.seconds / most)).toFixed(3));
    }
    this.ring.setAttribute("visibility", "visible");
    this.ring.setAttribute("cx", this.x(buffer));
    this.ring.setAttribute("cy", this.y(robots));
  }
}
