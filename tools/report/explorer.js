"use strict";
/* The partition explorer: the balls of every step, replayed over the episodes.
 *
 * Three layers: frames (blocks) are decoded when they are first looked at; `draw` paints what the controls say;
 * the overlay above the picture holds what moves with the cursor, so that hovering never repaints the balls. */

const PLAY_SECONDS = 12;
const KEPT_VIEWS = 48;

const COLOUR_MODES = {
  q: { name: "Q", unit: "Q", format: (v) => FORMAT.number(v) },
  visits: { name: "Visits", unit: "visits", format: (v) => FORMAT.integer(v) },
  age: { name: "Age", unit: "episodes since the last visit", format: (v) => FORMAT.integer(v) },
  error: { name: "Q − Q*", unit: "Q − Q*", format: (v) => FORMAT.number(v) },
};

class Explorer {
  /* source: {label, spec, frames, episodes, optimum: {episodes, grids[picture][h]} or null} */
  constructor(host, source) {
    this.host = host;
    this.source = source;
    this.views = new Map();
    this.ages = [];
    const view = this.view(source.frames.length - 1);
    this.dS = view.dS;
    this.dA = view.dA;
    this.horizon = view.horizon;
    this.axes = view.dS + view.dA;
    this.state = {
      frame: source.frames.length - 1, h: 0, colour: "q", axisX: 0, axisY: view.dS,
      slice: new Array(this.axes).fill(0.5 + 1e-6), policy: true, changes: true, cursor: null, pinned: false,
    };
    this.playing = false;
    this._build();
    this._theme();
    this.draw();
  }

  view(frame) {
    let view = this.views.get(frame);
    if (!view) {
      view = new BlockView(this.source.frames[frame], this.source.spec);
      if (this.views.size >= KEPT_VIEWS) this.views.delete(this.views.keys().next().value);
      this.views.set(frame, view);
    }
    return view;
  }

  axisName(axis) {
    const state = axis < this.dS;
    const number = state ? axis : axis - this.dS;
    const many = (state ? this.dS : this.dA) > 1;
    return (state ? "state" : "action") + (many ? ` ${number + 1}` : "");
  }

  /* ---- controls ------------------------------------------------------------------------------------------ */

  _build() {
    const many = this.source.frames.length > 1;
    this.steps = [];
    const steps = node("div", { class: "steps", role: "radiogroup", "aria-label": "step h" });
    for (let h = 0; h < this.horizon; h++) {
      const thumb = node("canvas", { width: 64, height: 64, "aria-hidden": "true" });
      const button = node("button", {
        type: "button", role: "radio", class: "step", "data-h": h, onclick: () => this.set({ h }),
        onkeydown: (event) => this._stepKey(event, h),
      }, thumb, node("span", {}, `h = ${h}`));
      this.steps.push({ button, context: thumb.getContext("2d") });
      steps.append(button);
    }
    this.canvas = node("canvas", { width: 640, height: 640 });
    this.overlay = node("canvas", { class: "over", width: 640, height: 640 });
    this.stage = node("div", {
      class: "stage", tabindex: 0, role: "application", "aria-label": "partition; arrow keys move from ball to ball",
      onpointermove: (event) => this._pointer(event), onpointerleave: () => this._leave(),
      onclick: (event) => this._pin(event), onkeydown: (event) => this._stageKey(event), onfocus: () => this._focus(),
    }, this.canvas, this.overlay);
    this.xLabel = node("div", { class: "axis-x" });
    this.yLabel = node("div", { class: "axis-y" }, node("span"));
    this.legend = node("canvas", { class: "ramp", width: 256, height: 1, "aria-hidden": "true" });
    this.legendText = node("div", { class: "ramp-text" });
    this.summary = node("p", { class: "frame-text", "aria-live": "off" });
    this.info = node("div", { class: "ball", "aria-live": "polite" });
    const body = node("div", { class: "explorer-body" },
      node("figure", { class: "picture learned" }, node("figcaption", {}, "Learned partition"),
        node("div", { class: "framed" }, this.yLabel, this.stage), this.xLabel),
      node("div", { class: "moving" }, many ? this._transport() : null, this.summary),
      node("div", { class: "side" }, node("div", { class: "ramp-box" }, this.legend, this.legendText), this.info));
    if (this.source.optimum) body.append(this._bestFigure());
    else body.classList.add("alone");
    this.host.replaceChildren(
      node("div", { class: "controls" }, this._colourControl(), this._axisControl(), this._overlayControl()), steps, body);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    document.addEventListener("themechange", () => this.repaint());
  }

  _bestFigure() {
    this.best = node("canvas", { width: 640, height: 640, role: "img", "aria-label": "exact Q*" });
    this.bestNote = node("div", { class: "axis-x" });
    return node("figure", { class: "picture best" }, node("figcaption", {}, "Exact Q*"),
      node("div", { class: "framed" }, node("div", { class: "axis-y" }), node("div", { class: "stage plain" }, this.best)),
      this.bestNote);
  }

  _colourControl() {
    const group = node("fieldset", { class: "segmented" }, node("legend", {}, "Colour"));
    for (const [key, mode] of Object.entries(COLOUR_MODES)) {
      if (key === "error" && !this.source.optimum) continue;
      const name = `colour-${this.source.id}`;
      group.append(node("label", {},
        node("input", { type: "radio", name, value: key, checked: key === this.state.colour, onchange: () => this.set({ colour: key }) }),
        node("span", {}, mode.name)));
    }
    return group;
  }

  _overlayControl() {
    const group = node("fieldset", { class: "checks" }, node("legend", {}, "Show"));
    const names = this.source.frames.length > 1 ? { policy: "policy", changes: "changes" } : { policy: "policy" };
    for (const [key, name] of Object.entries(names)) {
      const box = node("input", { type: "checkbox", name: key, onchange: () => this.set({ [key]: box.checked }) });
      box.checked = this.state[key];
      group.append(node("label", {}, box, ` ${name}`));
    }
    return group;
  }

  /* With more than two axes: which two to draw, and where to cut the others. */
  _axisControl() {
    if (this.axes === 2) return null;
    const choose = (key, label) => {
      const select = node("select", { name: key, onchange: () => this._chooseAxis(key, Number(select.value)) });
      for (let axis = 0; axis < this.axes; axis++) select.append(node("option", { value: axis }, this.axisName(axis)));
      this[`${key}Select`] = select;
      return node("label", {}, `${label} `, select);
    };
    this.slices = node("div", { class: "slices" });
    const group = node("fieldset", { class: "axes" }, node("legend", {}, "Plane"),
      choose("axisX", "across"), choose("axisY", "up"), this.slices);
    this._fillSlices();
    return group;
  }

  _chooseAxis(key, axis) {
    const other = key === "axisX" ? "axisY" : "axisX";
    const change = { [key]: axis };
    if (this.state[other] === axis) change[other] = this.state[key];
    Object.assign(this.state, change);
    this._fillSlices();
    this.repaint();
  }

  _fillSlices() {
    const { axisX, axisY, slice } = this.state;
    this.axisXSelect.value = axisX;
    this.axisYSelect.value = axisY;
    this.slices.replaceChildren();
    for (let axis = 0; axis < this.axes; axis++) {
      if (axis === axisX || axis === axisY) continue;
      const shown = node("output", {}, slice[axis].toFixed(2));
      const range = node("input", {
        type: "range", min: 0, max: 0.999, step: 0.001, value: slice[axis], "data-axis": axis,
        "aria-label": `cut at ${this.axisName(axis)}`,
        oninput: () => {
          slice[axis] = Number(range.value);
          shown.textContent = slice[axis].toFixed(2);
          this.repaint();
        },
      });
      this.slices.append(node("label", {}, `${this.axisName(axis)} = `, shown, range));
    }
  }

  _transport() {
    this.slider = node("input", {
      type: "range", class: "frames", min: 0, max: this.source.frames.length - 1, value: this.state.frame,
      "aria-label": "episode", oninput: () => { this.pause(); this.set({ frame: Number(this.slider.value) }); },
    });
    this.playButton = node("button", { type: "button", class: "play", onclick: () => this.toggle() }, "▶ Play");
    this.when = node("output", { class: "when" });
    return node("div", { class: "transport" }, this.playButton, this.slider, this.when);
  }

  /* ---- playing ------------------------------------------------------------------------------------------- */

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    const last = this.source.frames.length - 1;
    if (this.state.frame >= last) this.set({ frame: 0 });
    this.playing = true;
    this.playButton.textContent = "❚❚ Pause";
    const from = this.state.frame;
    const rate = Math.max(8, this.source.frames.length / PLAY_SECONDS);
    let start = null;
    const tick = (now) => {
      if (!this.playing) return;
      start ??= now;
      const frame = Math.min(last, from + Math.floor(((now - start) / 1000) * rate));
      if (frame !== this.state.frame) this.set({ frame });
      if (frame >= last) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.playButton.textContent = "▶ Play";
    this.draw();
  }

  set(change) {
    Object.assign(this.state, change);
    this.draw();
  }

  /* ---- painting ------------------------------------------------------------------------------------------ */

  _theme() {
    const style = getComputedStyle(document.documentElement);
    const background = channels(style.getPropertyValue("--raster-edge").trim());
    const none = channels(style.getPropertyValue("--raster-none").trim());
    this.colours = {};
    for (const name of Object.keys(STOPS)) {
      this.colours[name] = { ...palette(name, background), none: pixel(none), noneEdge: pixel(mix(none, background, 0.5)) };
    }
  }

  repaint() {
    this._theme();
    this.bestKey = null;
    this.draw();
  }

  optimumPicture() {
    const { optimum, episodes } = this.source;
    if (!optimum) return -1;
    const now = episodes[this.state.frame];
    let picture = 0;
    for (let i = 1; i < optimum.episodes.length; i++) if (optimum.episodes[i] <= now) picture = i;
    return picture;
  }

  grid(h) {
    const picture = this.optimumPicture();
    return picture < 0 ? null : this.source.optimum.grids[picture][h];
  }

  /* The range of the colours of step h: what visited balls of the last frame and Q* reach. */
  domain(h) {
    const key = `${this.state.colour}-${h}`;
    this.domains ??= new Map();
    if (!this.domains.has(key)) this.domains.set(key, this._domain(h));
    return this.domains.get(key);
  }

  _domain(h) {
    const view = this.view(this.source.frames.length - 1);
    const leaves = view.leaves(h);
    const { colour } = this.state;
    if (colour === "visits") return [0, leaves.n.reduce((most, n) => Math.max(most, n), 1)];
    if (colour === "age") return this.source.frames.length > 1 ? [0, this.source.episodes[this.source.episodes.length - 1]] : [0, 3];
    const q = view.q(h);
    let [low, high] = this.source.optimum ? this.source.optimum.grids[this.source.optimum.grids.length - 1][h].range() : [Infinity, -Infinity];
    if (colour === "error") {
      let most = 0.05;
      const error = this._errors(view, h);
      for (let i = 0; i < q.length; i++) if (leaves.record[i]) most = Math.max(most, Math.abs(error[i]));
      return [-most, most];
    }
    for (let i = 0; i < q.length; i++) {
      if (q[i] < low) low = q[i];
      if (leaves.record[i] && q[i] > high) high = q[i];
    }
    return high > low ? [low, high] : [0, this.horizon - h];
  }

  _errors(view, h) {
    const leaves = view.leaves(h);
    const q = view.q(h);
    const grid = this.grid(h);
    const centre = new Array(leaves.axes);
    return q.map((value, i) => {
      const half = 2 ** -leaves.level[i] / 2;
      for (let axis = 0; axis < leaves.axes; axis++) centre[axis] = leaves.low[i * leaves.axes + axis] + half;
      return value - grid.at(centre);
    });
  }

  /* Values by which the balls of step h are coloured; NaN for none. */
  values(h) {
    const { colour, frame } = this.state;
    const view = this.view(frame);
    const leaves = view.leaves(h);
    if (colour === "q") return view.q(h);
    if (colour === "error") return this._errors(view, h);
    if (colour === "visits") return Float32Array.from(leaves.n, (n, i) => (leaves.record[i] ? n : NaN));
    return this.age(frame, h);
  }

  /* Episodes since each ball was last visited, as fine as the frames; of a single block its credit. */
  age(frame, h) {
    const view = this.view(frame);
    const leaves = view.leaves(h);
    if (this.source.frames.length === 1) {
      return Float32Array.from(leaves.record, (record) => (record ? 3 - view.credit(record) : NaN));
    }
    const now = this.source.episodes[frame];
    const last = this._lastVisits(frame, h);
    return Float32Array.from(leaves.record, (record, i) => (record ? now - last.get(ballKey(leaves, i)).episode : NaN));
  }

  /* For every visited ball of step h: the episode of the frame since which its record has not changed. */
  _lastVisits(frame, h) {
    let before = null;
    for (let at = 0; at <= frame; at++) {
      this.ages[at] ??= new Array(this.horizon).fill(null);
      if (this.ages[at][h]) {
        before = this.ages[at][h];
        continue;
      }
      const view = this.view(at);
      const leaves = view.leaves(h);
      const found = new Map();
      for (let i = 0; i < leaves.count; i++) {
        if (!leaves.record[i]) continue;
        const key = ballKey(leaves, i);
        const reward = view.reward(leaves.record[i]);
        const old = before?.get(key);
        const same = old && old.n === leaves.n[i] && old.reward === reward;
        found.set(key, { n: leaves.n[i], reward, episode: same ? old.episode : this.source.episodes[at] });
      }
      if (view.shared) this.ages[at].fill(found);
      this.ages[at][h] = before = found;
    }
    return before;
  }

  _shades(h) {
    const [low, high] = this.domain(h);
    const values = this.values(h);
    const log = this.state.colour === "visits" || (this.state.colour === "age" && this.source.frames.length > 1);
    const shades = new Int16Array(values.length);
    const flip = this.state.colour === "age";
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (Number.isNaN(value)) shades[i] = -1;
      else {
        const shade = log ? shadeOf(Math.log1p(value), Math.log1p(low), Math.log1p(high)) : shadeOf(value, low, high);
        shades[i] = flip ? SHADES - 1 - shade : shade;
      }
    }
    return shades;
  }

  palette() {
    return this.colours[this.state.colour === "error" ? "diverging" : "viridis"];
  }

  draw() {
    const { state } = this;
    const view = this.view(state.frame);
    const plane = { axisX: state.axisX, axisY: state.axisY, slice: state.slice, borders: true };
    this._fit();
    for (let h = 0; h < this.horizon; h++) {
      const shades = this._shades(h);
      paintBalls(this.steps[h].context, view.leaves(h), shades, this.palette(), { ...plane, borders: false });
      if (h === state.h) this.cut = paintBalls(this.canvas.getContext("2d"), view.leaves(h), shades, this.palette(), plane);
      setAll(this.steps[h].button, { "aria-checked": String(h === state.h), tabindex: h === state.h ? 0 : -1 });
    }
    this._paintBest(plane);
    this._legend();
    this._texts(view);
    this._overlays();
    this._describe();
  }

  /* As many pixels as the screen has, within reason. */
  _fit() {
    const size = Math.round(Math.min(900, Math.max(160, this.stage.clientWidth * (devicePixelRatio || 1))));
    for (const canvas of [this.canvas, this.overlay, this.best]) {
      if (canvas && canvas.width !== size) {
        canvas.width = canvas.height = size;
        this.bestKey = null;
      }
    }
  }

  _paintBest(plane) {
    if (!this.best) return;
    const { h, axisX, axisY, slice, colour } = this.state;
    const key = [this.optimumPicture(), h, axisX, axisY, slice.join(), colour, this.best.width].join("|");
    if (key === this.bestKey) return;
    this.bestKey = key;
    const saved = this.state.colour;
    this.state.colour = "q";
    const [low, high] = this.domain(h);
    this.state.colour = saved;
    const context = this.best.getContext("2d");
    paintGrid(context, this.grid(h), (value) => shadeOf(value, low, high), this.colours.viridis, plane);
    if (axisX < this.dS && axisY >= this.dS && this.state.policy) this._strokePolicy(context, this._bestPolicy());
    this.bestNote.textContent = `${FORMAT.number(low)} to ${FORMAT.number(high)}, dark to bright`;
  }

  _legend() {
    const { colour, h } = this.state;
    const mode = COLOUR_MODES[colour];
    const context = this.legend.getContext("2d");
    const { css } = this.palette();
    css.forEach((shade, i) => {
      context.fillStyle = colour === "age" ? css[SHADES - 1 - i] : shade;
      context.fillRect(i, 0, 1, 1);
    });
    const [low, high] = this.domain(h);
    const single = colour === "age" && this.source.frames.length === 1;
    const unit = single ? "age by the controller's own stamp (0 is just visited)" : mode.unit;
    const above = colour === "q" ? "≥ " : "";
    this.legendText.replaceChildren(
      node("span", {}, mode.format(low)), node("span", { class: "unit" }, unit), node("span", {}, above + mode.format(high)));
  }

  _texts(view) {
    const { frame, h } = this.state;
    const episode = this.source.episodes[frame];
    const last = this.source.episodes[this.source.episodes.length - 1];
    const leaves = view.leaves(h);
    let finest = 0;
    for (const level of leaves.level) if (level > finest) finest = level;
    const cut = this.axes > 2 ? `, ${FORMAT.integer(this.cut)} in this plane` : "";
    const shared = view.shared ? ", one partition for all steps" : "";
    let changes = "";
    if (frame > 0) {
      const counted = this.changes(frame, h);
      const since = FORMAT.integer(this.source.episodes[frame - 1]);
      changes = ` Since episode ${since}: ${counted.refined.length} balls are finer, ${counted.merged.length} coarser.`;
    }
    this.summary.textContent =
      `After episode ${FORMAT.integer(episode)}: ${FORMAT.integer(leaves.count)} balls down to level ${finest}${cut}${shared}; ` +
      `${FORMAT.integer(view.usedBytes)} bytes in use.${changes}`;
    this.host.dataset.frame = frame;
    this.host.dataset.balls = leaves.count;
    this.xLabel.textContent = this.axisName(this.state.axisX);
    this.yLabel.firstChild.textContent = this.axisName(this.state.axisY);
    if (this.slider) {
      this.slider.value = frame;
      this.slider.setAttribute("aria-valuetext", `episode ${episode}`);
      this.when.textContent = `episode ${FORMAT.integer(episode)} of ${FORMAT.integer(last)}`;
    }
  }

  /* ---- overlays ------------------------------------------------------------------------------------------ */

  /* Balls of a frame that are finer or coarser than what was in their place one frame before. */
  changes(frame, h) {
    const view = this.view(frame);
    const before = this.view(frame - 1);
    const leaves = view.leaves(h);
    const refined = [];
    const merged = [];
    for (let i = 0; i < leaves.count; i++) {
      const level = before.find(h, leaves.state[i], leaves.action[i]).level;
      if (level < leaves.level[i]) refined.push(i);
      else if (level > leaves.level[i]) merged.push(i);
    }
    return { refined, merged };
  }

  _overlays() {
    const context = this.overlay.getContext("2d");
    const { state } = this;
    context.clearRect(0, 0, this.overlay.width, this.overlay.height);
    const leaves = this.view(state.frame).leaves(state.h);
    if (state.changes && state.frame > 0) {
      const { refined, merged } = this.changes(state.frame, state.h);
      this._outline(context, leaves, refined, "#ff7f0e", []);
      this._outline(context, leaves, merged, "#ffffff", [6, 4]);
    }
    if (state.policy && state.axisX < this.dS && state.axisY >= this.dS) this._strokePolicy(context, this._policy());
    const ball = this.ballAtCursor();
    if (ball >= 0) {
      this._outline(context, leaves, [ball], "#000000", [], 5);
      this._outline(context, leaves, [ball], "#ffffff", [], 2.5);
    }
  }

  _outline(context, leaves, balls, colour, dash, width = 1.5) {
    const size = this.overlay.width;
    const { axisX, axisY, slice } = this.state;
    context.strokeStyle = colour;
    context.lineWidth = width * (devicePixelRatio || 1);
    context.setLineDash(dash);
    context.beginPath();
    for (const i of balls) {
      const side = 2 ** -leaves.level[i];
      if (leaves.axes > 2 && !cuts(leaves, i, side, axisX, axisY, slice)) continue;
      const x = leaves.low[i * leaves.axes + axisX] * size;
      const y = (1 - leaves.low[i * leaves.axes + axisY] - side) * size;
      context.rect(x, y, side * size, side * size);
    }
    context.stroke();
    context.setLineDash([]);
  }

  /* The action that would be played at every state along the horizontal axis, the other axes as cut. */
  _policy() {
    const view = this.view(this.state.frame);
    const { axisX, axisY, slice, h } = this.state;
    const point = slice.slice(0, this.dS);
    const found = [];
    const corner = new Float32Array(this.dA);
    for (let column = 0; column < 256; column++) {
      point[axisX] = (column + 0.5) / 256;
      view._corner(view.decision(h, view.codeOf(point)).action, this.dA, corner, 0);
      found.push(corner[axisY - this.dS]);
    }
    return found;
  }

  _bestPolicy() {
    const { axisX, axisY, slice, h } = this.state;
    const grid = this.grid(h);
    const point = [...slice];
    const found = [];
    for (let column = 0; column < 128; column++) {
      point[axisX] = (column + 0.5) / 128;
      let best = -Infinity;
      let where = 0;
      for (let row = 0; row <= 128; row++) {
        point[axisY] = row / 128;
        const value = grid.at(point);
        if (value > best + 1e-9) {
          best = value;
          where = point[axisY];
        }
      }
      found.push(where);
    }
    return found;
  }

  _strokePolicy(context, actions) {
    const size = context.canvas.width;
    const path = new Path2D();
    actions.forEach((action, i) => {
      const y = (1 - action) * size;
      path[i ? "lineTo" : "moveTo"]((i / actions.length) * size, y);
      path.lineTo(((i + 1) / actions.length) * size, y);
    });
    for (const [colour, width] of [["rgb(0 0 0 / 55%)", 4], ["#ffffff", 1.8]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * (devicePixelRatio || 1);
      context.stroke(path);
    }
  }

  /* ---- the ball under the cursor -------------------------------------------------------------------------- */

  ballAt(x, y) {
    const { axisX, axisY, slice, frame, h } = this.state;
    const leaves = this.view(frame).leaves(h);
    for (let i = 0; i < leaves.count; i++) {
      const side = 2 ** -leaves.level[i];
      const left = leaves.low[i * leaves.axes + axisX];
      const low = leaves.low[i * leaves.axes + axisY];
      if (x < left || x >= left + side || y < low || y >= low + side) continue;
      if (leaves.axes === 2 || cuts(leaves, i, side, axisX, axisY, slice)) return i;
    }
    return -1;
  }

  ballAtCursor() {
    return this.state.cursor ? this.ballAt(...this.state.cursor) : -1;
  }

  _point(event) {
    const box = this.overlay.getBoundingClientRect();
    const inside = (value) => Math.min(Math.max(value, 0), 1 - 1e-6);
    return [inside((event.clientX - box.left) / box.width), inside(1 - (event.clientY - box.top) / box.height)];
  }

  _pointer(event) {
    if (this.state.pinned) return;
    this._moveTo(this._point(event));
  }

  _moveTo(cursor) {
    const before = this.ballAtCursor();
    this.state.cursor = cursor;
    if (this.ballAtCursor() === before && before >= 0) return;
    this._overlays();
    this._describe();
  }

  _pin(event) {
    this.state.pinned = !this.state.pinned;
    if (event.clientX) this._moveTo(this._point(event));
    this._describe();
  }

  _leave() {
    if (this.state.pinned || document.activeElement === this.stage) return;
    this.state.cursor = null;
    this._overlays();
    this._describe();
  }

  _focus() {
    if (!this.state.cursor && this.stage.matches(":focus-visible")) this._moveTo([0.5, 0.5]);
  }

  _stageKey(event) {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === " " && this.playButton) {
      event.preventDefault();
      this.toggle();
    } else if (event.key === "Enter") {
      this._pin({});
    } else if (event.key === "Escape") {
      this.state.pinned = false;
      this.state.cursor = null;
      this.draw();
    }
    if (!move) return;
    event.preventDefault();
    const cursor = this.state.cursor || [0.5, 0.5];
    this._moveTo(this._neighbour(cursor, move));
  }

  /* Just beyond the border of the present ball in a direction. */
  _neighbour(cursor, [dx, dy]) {
    const ball = this.ballAt(...cursor);
    if (ball < 0) return cursor;
    const { axisX, axisY, frame, h } = this.state;
    const leaves = this.view(frame).leaves(h);
    const side = 2 ** -leaves.level[ball];
    const step = (at, low, direction) => {
      if (!direction) return Math.min(Math.max(at, low + side * 1e-3), low + side * (1 - 1e-3));
      const beyond = direction > 0 ? low + side + 2e-5 : low - 2e-5;
      return beyond < 0 || beyond >= 1 ? at : beyond;
    };
    return [
      step(cursor[0], leaves.low[ball * leaves.axes + axisX], dx),
      step(cursor[1], leaves.low[ball * leaves.axes + axisY], dy),
    ];
  }

  _stepKey(event, h) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = h + (move || 0);
    if (!move || next < 0 || next >= this.horizon) return;
    event.preventDefault();
    this.set({ h: next });
    this.steps[next].button.focus();
  }

  /* What is known about the ball under the cursor. */
  describeBall(i) {
    const { frame, h } = this.state;
    const view = this.view(frame);
    const leaves = view.leaves(h);
    const record = leaves.record[i];
    const side = 2 ** -leaves.level[i];
    const box = Array.from({ length: leaves.axes }, (_, axis) => leaves.low[i * leaves.axes + axis]);
    const grid = this.grid(h);
    return {
      level: leaves.level[i], side, box, visited: record !== 0, n: leaves.n[i],
      reward: record ? view.reward(record) : null, q: view.q(h)[i],
      best: grid ? grid.at(box.map((low) => low + side / 2)) : null,
      next: view.nextStates(record, leaves.level[i], leaves.n[i]),
      age: record ? this.age(frame, h)[i] : null,
    };
  }

  _describe() {
    const i = this.ballAtCursor();
    if (i < 0) {
      this.info.replaceChildren(node("p", { class: "hint" },
        "Move over a ball, or tab to the picture and use the arrow keys: what the ball knows appears here. ",
        this.source.frames.length > 1 ? "Space plays." : ""));
      return;
    }
    const ball = this.describeBall(i);
    const digits = Math.max(3, Math.ceil((ball.level * Math.LN2) / Math.LN10) + 1);
    const row = (name, value, key) => [node("dt", {}, name), node("dd", { "data-key": key }, value)];
    const rows = [...row("level", String(ball.level), "level")];
    ball.box.forEach((low, axis) => {
      rows.push(...row(this.axisName(axis), `${trim(low, digits)} to ${trim(low + ball.side, digits)}`, `axis${axis}`));
    });
    rows.push(...row("visits n", ball.visited ? FORMAT.integer(ball.n) : "never visited", "n"));
    if (ball.visited) rows.push(...row("mean reward", ball.reward.toFixed(4), "reward"));
    rows.push(...row("Q", ball.q.toFixed(4), "q"));
    if (ball.best !== null) rows.push(...row("Q* in its middle", ball.best.toFixed(4), "best"));
    if (ball.visited && this.source.frames.length > 1) rows.push(...row("last visited", `${FORMAT.integer(ball.age)} episodes ago`, "age"));
    this.info.replaceChildren(
      node("h4", {}, `Ball at step ${this.state.h}`, this.state.pinned ? node("em", {}, " pinned") : null),
      node("dl", {}, ...rows), this._histogram(ball));
  }

  /* Where the ball led: cells of its own level, most visited first. */
  _histogram(ball) {
    if (!ball.visited) return node("p", { class: "hint" }, "Its Q is inherited from the ball that was split.");
    const total = ball.next.reduce((sum, [, count]) => sum + count, 0);
    const view = this.view(this.state.frame);
    const corner = new Float32Array(this.dS);
    const list = node("ol", { class: "next" });
    const sorted = [...ball.next].sort((a, b) => b[1] - a[1]);
    for (const [cell, count] of sorted.slice(0, 12)) {
      view._corner(cell << (16 - this.dS * ball.level), this.dS, corner, 0);
      const digits = Math.max(2, Math.ceil((ball.level * Math.LN2) / Math.LN10) + 1);
      const place = Array.from(corner, (low) => `${trim(low, digits)}–${trim(low + ball.side, digits)}`).join(", ");
      const share = count / Math.max(total, 1);
      list.append(node("li", { "data-cell": cell, "data-count": count },
        node("span", { class: "bar", style: `width:${(100 * share).toFixed(1)}%` }),
        node("span", {}, place), node("b", {}, `${(100 * share).toFixed(0)} %`)));
    }
    const more = sorted.length > 12 ? node("p", { class: "hint" }, `and ${sorted.length - 12} more cells`) : null;
    return node("div", {}, node("h5", {}, "Next states"), list, more);
  }
}

function ballKey(leaves, i) {
  return (leaves.state[i] * 65536 + leaves.action[i]) * 16 + leaves.level[i];
}

/* A coordinate without needless zeros. */
function trim(value, digits) {
  return String(Number(value.toFixed(digits)));
}
