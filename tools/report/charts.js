"use strict";
/* Line charts and ranges as SVG, drawn at the size they have on the screen so that text stays readable.
 *
 * A chart is focusable: the arrow keys move the same crosshair as the mouse. Every line has a name beside it or
 * in the legend and a dash of its own, so nothing depends on colour alone. */

const SVG = "http://www.w3.org/2000/svg";

function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  setAll(made, attributes);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svgNode(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  setAll(made, attributes);
  made.append(...children);
  return made;
}

function setAll(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
}

const FORMAT = {
  integer: (value) => Math.round(value).toLocaleString("en"),
  number: (value) => {
    const size = Math.abs(value);
    return size >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
  },
  percent: (value) => `${Number((100 * value).toPrecision(3))} %`,
  bytes: (value) => {
    let size = value;
    for (const unit of ["B", "KiB", "MiB"]) {
      if (size < 1024 || unit === "MiB") return `${Number(size.toPrecision(3))} ${unit}`;
      size /= 1024;
    }
    return "";
  },
};

const PLAIN = {
  ...FORMAT,
  bytes: (value) => `${Math.round(value).toLocaleString("en")} bytes`,
};

function linearTicks(low, high, count, binary) {
  const span = Math.max(high - low, 1e-12);
  const raw = span / Math.max(count, 1);
  let step = binary ? 2 ** Math.ceil(Math.log2(raw)) : 10 ** Math.floor(Math.log10(raw));
  if (!binary) step *= [1, 2, 5, 10].find((factor) => step * factor >= raw * 0.999);
  const ticks = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) ticks.push(value || 0);
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  const fine = high / low < 300;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of fine ? [1, 2, 5] : [1]) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  }
  return ticks;
}

/* The right ends of lines, pushed apart around their middle where they meet. */
function spread(labels, gap, low, high) {
  const sorted = [...labels].sort((a, b) => a.at - b.at);
  for (let round = 0; round < 8; round++) {
    for (let i = 1; i < sorted.length; i++) {
      const overlap = gap - (sorted[i].at - sorted[i - 1].at);
      if (overlap > 0) {
        sorted[i].at += overlap / 2;
        sorted[i - 1].at -= overlap / 2;
      }
    }
    for (const label of sorted) label.at = Math.min(Math.max(label.at, low), high);
  }
  return sorted;
}

class LineChart {
  /* options: x {label, log, pad, format, ticks}, y {label, format, log, top, bottom}, series [{name, colour, dash, x, y,
   * low, high, step, dots, thin, faint, stacked}], rules [{y, name, colour, dash}], marks [{x, name}], height. */
  constructor(host, options) {
    this.host = host;
    this.options = options;
    host.classList.add("chart");
    host.tabIndex = 0;
    host.setAttribute("role", "group");
    this.legend = node("p", { class: "legend", "aria-hidden": "true" });
    this.frame = node("div", { class: "plot" });
    this.tip = node("div", { class: "tip", hidden: true });
    host.append(this.legend, this.frame);
    this.frame.append(this.tip);
    host.addEventListener("keydown", (event) => this._key(event));
    host.addEventListener("blur", () => this._hide());
    // a finger that is lifted leaves what it pointed at; a tap elsewhere ends it
    document.addEventListener("pointerdown", (event) => host.contains(event.target) || this._hide());
    new ResizeObserver(() => this.draw()).observe(this.frame);
    this.draw();
  }

  set(options) {
    this.options = { ...this.options, ...options };
    this.draw();
  }

  draw() {
    const width = Math.round(this.frame.clientWidth);
    if (width < 50) return;
    const { options } = this;
    const series = options.series.filter((each) => each.x.length);
    const height = Math.min(options.height || 300, Math.max(190, width * 0.62));
    const named = [...series, ...(options.rules || [])].filter((each) => each.name);
    const beside = width > 620;
    const longest = Math.max(0, ...named.map((each) => each.name.length));
    this._domains(series);
    const widest = Math.max(...this.rows.map((value) => FORMAT[options.y.format || "number"](value).length));
    const margin = { top: 12, right: beside ? Math.min(260, 14 + 7.1 * longest) : 14, bottom: 42, left: 34 + 7 * widest };
    this.box = { width, height, margin, right: width - margin.right, bottom: height - margin.bottom };
    this._scales();
    const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
    this._axes(svg);
    const clip = `clip-${(LineChart.made = (LineChart.made || 0) + 1)}`;
    svg.append(
      svgNode("clipPath", { id: clip },
        svgNode("rect", {
          x: margin.left, y: margin.top - 2, width: this.box.right - margin.left, height: this.box.bottom - margin.top + 4,
        })),
    );
    const body = svgNode("g", { "clip-path": `url(#${clip})` });
    for (const each of series) if (each.low) body.append(this._band(each));
    for (const rule of options.rules || []) body.append(this._rule(rule));
    (options.marks || []).forEach((mark, i) => body.append(this._mark(mark, i)));
    for (const each of series) if (!each.stacked) body.append(this._line(each), ...(each.dots ? this._dots(each) : []));
    svg.append(body);
    if (beside) this._names(svg, named);
    this.legend.hidden = beside;
    this.legend.replaceChildren(...(beside ? [] : named.map((each) => this._key_of(each))));
    this.cross = svgNode("line", { class: "cross", y1: margin.top, y2: this.box.bottom, visibility: "hidden" });
    svg.append(this.cross);
    svg.addEventListener("pointerdown", (event) => this._hover(event));
    svg.addEventListener("pointermove", (event) => this._hover(event));
    svg.addEventListener("pointerleave", (event) => event.pointerType === "touch" || this._hide());
    this.frame.querySelector("svg")?.remove();
    this.frame.prepend(svg);
    this.series = series;
  }

  /* The ranges of the axes, and the ticks of the vertical one. */
  _domains(series) {
    const { x, y } = this.options;
    const xs = series.flatMap((each) => [each.x[0], each.x[each.x.length - 1]]);
    const pad = x.pad || 1;
    const low = x.log ? Math.max(1, Math.min(...xs) / pad) : Math.min(0, ...xs);
    const high = Math.max(...xs, low + 1) * pad;
    const values = series.flatMap((each) => [...each.y, ...(each.high || []), ...(each.low || [])]);
    const all = [...values, ...(this.options.rules || []).map((rule) => rule.y)].filter((v) => Number.isFinite(v));
    const top = y.top ?? (y.log ? 1.4 : 1.06) * Math.max(...all, y.log ? 1 : 1e-9);
    const lines = series.flatMap((each) => each.y).filter((v) => Number.isFinite(v));
    const bottom = y.bottom ?? (y.log ? 0.8 * Math.min(...all.filter((v) => v > 0)) : Math.min(0, ...lines));
    this.domain = { low, high, bottom, top };
    this.rows = y.log ? logTicks(bottom, top) : linearTicks(bottom, top, 6, y.format === "bytes");
    if (y.format === "integer") this.rows = this.rows.filter(Number.isInteger); /* half a piece has no label */
  }

  _scales() {
    const { x, y } = this.options;
    const { low, high, bottom, top } = this.domain;
    const { margin, right, bottom: end } = this.box;
    const scale = (value, from, to, log, start, stop) => {
      const at = log ? Math.log(Math.max(value, 1e-12) / from) / Math.log(to / from) : (value - from) / (to - from);
      return start + at * (stop - start);
    };
    this.atX = (value) => scale(value, low, high, x.log, margin.left, right);
    this.atY = (value) => scale(value, bottom, top, y.log, end, margin.top);
    this.fromX = (at) => {
      const part = Math.min(1, Math.max(0, (at - margin.left) / (right - margin.left)));
      return x.log ? low * (high / low) ** part : low + part * (high - low);
    };
  }

  _axes(svg) {
    const { x, y } = this.options;
    const { margin, right, bottom, width } = this.box;
    const format = FORMAT[y.format || "number"];
    for (const value of this.rows) {
      const at = this.atY(value);
      svg.append(
        svgNode("line", { class: "grid", x1: margin.left, x2: right, y1: at, y2: at }),
        svgNode("text", { class: "tick", x: margin.left - 8, y: at + 4, "text-anchor": "end" }, format(value)),
      );
    }
    const columns = x.ticks || (x.log
      ? logTicks(this.domain.low, this.domain.high)
      : linearTicks(this.domain.low, this.domain.high, Math.max(2, width / 130)));
    for (const value of columns) {
      const at = this.atX(value);
      svg.append(
        svgNode("line", { class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 4 }),
        svgNode("text", { class: "tick", x: at, y: bottom + 18, "text-anchor": "middle" }, FORMAT[x.format || "integer"](value)),
      );
    }
    svg.append(
      svgNode("line", { class: "axis", x1: margin.left, x2: right, y1: bottom, y2: bottom }),
      svgNode("text", { class: "label", x: (margin.left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, x.label),
      svgNode("text", {
        class: "label", x: 0, y: 0, "text-anchor": "middle",
        transform: `translate(13 ${(margin.top + bottom) / 2}) rotate(-90)`,
      }, y.label),
    );
  }

  _points(each, values) {
    const points = [];
    for (let i = 0; i < each.x.length; i++) {
      if (!Number.isFinite(values[i])) continue;
      if (this.options.x.log && each.x[i] < 1) continue;
      if (each.step && points.length) points.push([this.atX(each.x[i]), points[points.length - 1][1]]);
      points.push([this.atX(each.x[i]), this.atY(values[i])]);
    }
    return points;
  }

  _line(each) {
    const path = this._points(each, each.y).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
    return svgNode("path", {
      d: path.length ? `M${path.join("L")}` : "", class: `line ${each.faint ? "faint" : each.thin ? "thin" : ""}`,
      style: `stroke:${each.colour}`, "stroke-dasharray": each.dash || null,
    });
  }

  _dots(each) {
    return this._points(each, each.y).map(([cx, cy]) => svgNode("circle", { class: "dot", cx, cy, r: each.thin ? 3.5 : 5.5, style: `fill:${each.colour}` }));
  }

  _band(each) {
    const upper = this._points(each, each.high);
    const lower = this._points(each, each.low).reverse();
    const path = [...upper, ...lower].map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
    return svgNode("path", { d: path.length ? `M${path.join("L")}Z` : "", class: each.stacked ? "stack" : "band", style: `fill:${each.colour}` });
  }

  _rule(rule) {
    const at = this.atY(rule.y);
    return svgNode("line", {
      class: "line rule", x1: this.box.margin.left, x2: this.box.right, y1: at, y2: at,
      style: `stroke:${rule.colour}`, "stroke-dasharray": rule.dash || "7 4",
    });
  }

  /* A vertical line; names of neighbours stand on different rows and on the side that has room. */
  _mark(mark, i) {
    const at = this.atX(mark.x);
    const late = at > (this.box.margin.left + this.box.right) / 2;
    return svgNode("g", { class: "mark" },
      svgNode("line", { x1: at, x2: at, y1: this.box.margin.top, y2: this.box.bottom }),
      svgNode("text", {
        x: at + (late ? -5 : 5), y: this.box.margin.top + 11 + 15 * (i % 3), "text-anchor": late ? "end" : "start",
      }, mark.name),
    );
  }

  _names(svg, named) {
    const labels = named.map((each) => {
      const last = each.x ? each.y[each.y.length - 1] : each.y;
      return { at: this.atY(Math.min(Math.max(last, this.domain.bottom), this.domain.top)), each };
    });
    for (const { at, each } of spread(labels, 15, this.box.margin.top + 4, this.box.bottom)) {
      svg.append(svgNode("text", { class: "name", x: this.box.right + 8, y: at + 4, style: `fill:${each.colour}` }, each.name));
    }
  }

  _key_of(each) {
    const sample = svgNode("svg", { width: 26, height: 10 },
      svgNode("line", {
        x1: 1, x2: 25, y1: 5, y2: 5, class: "line", style: `stroke:${each.colour}`,
        "stroke-dasharray": each.dash || (each.x ? null : "7 4"),
      }));
    return node("span", {}, sample, ` ${each.name}`);
  }

  _hover(event) {
    const bounds = this.frame.getBoundingClientRect();
    this._show(this.fromX(event.clientX - bounds.left));
  }

  _key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: 20, PageDown: -20 }[event.key];
    if (event.key === "Escape") this._hide();
    if (!step || !this.series.length) return;
    event.preventDefault();
    const xs = this.series[0].x;
    this.index = Math.min(xs.length - 1, Math.max(0, (this.index ?? xs.length - 1) + step));
    this._show(xs[this.index]);
  }

  _show(x) {
    const format = PLAIN[this.options.y.format || "number"];
    const rows = [];
    let shown = x;
    for (const each of this.series.filter((line) => line.name || line.title)) {
      let nearest = 0;
      for (let i = 1; i < each.x.length; i++) if (Math.abs(each.x[i] - x) < Math.abs(each.x[nearest] - x)) nearest = i;
      if (!rows.length) shown = each.x[nearest];
      const half = each.low ? (each.high[nearest] - each.low[nearest]) / 2 : 0;
      const band = half && each.half ? ` ± ${format(half)}` : "";
      if (Number.isFinite(each.y[nearest])) {
        rows.push(node("div", {}, node("i", { style: `background:${each.colour}` }), `${each.name || each.title}: `,
          node("b", {}, format(each.y[nearest]) + band)));
      }
    }
    const at = this.atX(shown);
    setAll(this.cross, { x1: at, x2: at, visibility: "visible" });
    this.tip.replaceChildren(node("div", { class: "when" }, `${this.options.x.label} ${FORMAT[this.options.x.format || "integer"](shown)}`), ...rows);
    this.tip.hidden = false;
    const left = at + 14 + this.tip.offsetWidth > this.box.width ? at - 14 - this.tip.offsetWidth : at + 14;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${this.box.margin.top + 4}px`;
    this.host.setAttribute("aria-description", this.tip.innerText.replaceAll("\n", ", "));
  }

  _hide() {
    this.tip.hidden = true;
    this.cross?.setAttribute("visibility", "hidden");
  }
}
