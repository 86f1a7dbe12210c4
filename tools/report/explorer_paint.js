"use strict";
/* What the explorer draws: frames (blocks) are decoded when they are first looked at, balls are coloured by what
 * the controls say, and the overlay above the picture holds what moves, so that hovering repaints no balls. */

const KEPT_VIEWS = 48;

const COLOUR_MODES = {
  q: { name: "Q", unit: "Q", format: (v) => FORMAT.number(v) },
  visits: { name: "Visits", unit: "visits", format: (v) => FORMAT.integer(v) },
  age: { name: "Age", unit: "episodes since the last visit", format: (v) => FORMAT.integer(v) },
  error: { name: "Q − Q*", unit: "Q − Q*", format: (v) => FORMAT.number(v) },
};

class PartitionPainter {
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

  /* ---- colours and pictures ------------------------------------------------------------------------------------------ */

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
    this.bestKey = this.legendKey = null;
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
    const key = `${h}-${this.optimumPicture()}`;
    view.errors ??= new Map();
    if (!view.errors.has(key)) view.errors.set(key, this._findErrors(view, h));
    return view.errors.get(key);
  }

  _findErrors(view, h) {
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

  /* As many pixels as the screen has, within reason; called when the size of the picture changes. */
  fit() {
    const size = Math.round(Math.min(900, Math.max(160, this.stage.clientWidth * (devicePixelRatio || 1))));
    if (this.canvas.width === size) return;
    for (const canvas of [this.canvas, this.overlay, this.best]) if (canvas) canvas.width = canvas.height = size;
    this.bestKey = null;
    this.draw();
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
    if (this.legendKey === `${colour}-${h}`) return;
    this.legendKey = `${colour}-${h}`;
    const context = this.legend.getContext("2d");
    const { css } = this.palette();
    css.forEach((shade, i) => {
      context.fillStyle = colour === "age" ? css[SHADES - 1 - i] : shade;
      context.fillRect(i, 0, 1, 1);
    });
    const [low, high] = this.domain(h);
    const single = colour === "age" && this.source.frames.length === 1;
    const unit = single ? "age by the controller's own stamp (0 is just visited)" : mode.unit;
    const open = colour === "q";
    this.legendText.replaceChildren(
      node("span", {}, (open ? "≤ " : "") + mode.format(low)), node("span", { class: "unit" }, unit), node("span", {}, (open ? "≥ " : "") + mode.format(high)));
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
    view.changes ??= [];
    view.changes[h] ??= this._findChanges(view, this.view(frame - 1), h);
    return view.changes[h];
  }

  _findChanges(view, before, h) {
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
}

function ballKey(leaves, i) {
  return (leaves.state[i] * 65536 + leaves.action[i]) * 16 + leaves.level[i];
}
