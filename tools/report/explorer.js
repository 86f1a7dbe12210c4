"use strict";
/* The partition explorer: the balls of every step, replayed over the episodes. Balls are coloured by what the
 * controls say; the overlay above the picture holds what moves, so that hovering repaints no balls. */

const PLAY_SECONDS = 12;

const COLOUR_MODES = {
  q: { name: "Q", column: "q", unit: "Q", format: (v) => FORMAT.number(v) },
  visits: { name: "Visits", column: "n", unit: "visits", format: (v) => FORMAT.integer(v) },
  age: { name: "Age", column: "age", unit: "episodes since the last visit", format: (v) => FORMAT.integer(v) },
  error: { name: "Q − Q*", unit: "Q − Q*", format: (v) => FORMAT.number(v) },
};

class Explorer {
  constructor(host, replay) {
    this.host = host;
    this.replay = replay;
    this.domains = new Map();
    this.state = {
      frame: replay.last, h: 0, colour: "q", axisX: 0, axisY: replay.dS, slice: this._busiest(), policy: true, changes: true,
      cursor: null, pinned: false,
    };
    this.playing = false;
    this._build();
    this._theme();
    this.draw();
    this.fit();
    new ResizeObserver(() => this.fit()).observe(this.stage);
  }

  /* The middle of the ball that was visited most: where a plane through many axes shows something. */
  _busiest() {
    const balls = this.replay.balls(this.replay.last, 0);
    return centreOf(balls, balls.n.indexOf(Math.max(...balls.n)));
  }

  /* ---- controls ------------------------------------------------------------------------------------------ */

  _build() {
    this.thumbs = Array.from({ length: this.replay.horizon }, () => node("canvas", { width: 64, height: 64, "aria-hidden": "true" }));
    const steps = node("div", { class: "steps", role: "radiogroup", "aria-label": "step h" }, ...this.thumbs.map((thumb, h) =>
      node("label", { class: "step", "data-h": h },
        node("input", { type: "radio", name: "step", checked: h === 0, onchange: () => this.set({ h }) }), thumb, `h = ${h}`)));
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
      node("div", { class: "moving" }, this.replay.last ? this._transport() : null, this.summary),
      node("div", { class: "side" }, node("div", { class: "ramp-box" }, this.legend, this.legendText), this.info));
    if (this.replay.optimum) body.append(this._bestFigure());
    else body.classList.add("alone");
    this.host.replaceChildren(
      node("div", { class: "controls" }, this._colourControl(), this._axisControl(), this._overlayControl()), steps, body);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    document.addEventListener("themechange", () => this.repaint());
  }

  _bestFigure() {
    this.best = node("canvas", { width: 640, height: 640, role: "img", "aria-label": "exact Q*" });
    this.bestNote = node("div", { class: "axis-x" });
    return node("figure", { class: "picture best" }, node("figcaption", {}, this.replay.optimum.name ?? "Exact Q*"),
      node("div", { class: "framed" }, node("div", { class: "axis-y" }), node("div", { class: "stage plain" }, this.best)),
      this.bestNote);
  }

  _colourControl() {
    const group = node("fieldset", { class: "segmented" }, node("legend", {}, "Colour"));
    for (const [key, mode] of Object.entries(COLOUR_MODES)) {
      if (key === "error" && !this.replay.optimum) continue;
      group.append(node("label", {},
        node("input", { type: "radio", name: "colour", value: key, checked: key === this.state.colour, onchange: () => this.set({ colour: key }) }),
        node("span", {}, mode.name)));
    }
    return group;
  }

  _overlayControl() {
    const group = node("fieldset", { class: "checks" }, node("legend", {}, "Show"));
    const names = this.replay.last ? { policy: "policy", changes: "changes" } : { policy: "policy" };
    for (const [key, name] of Object.entries(names)) {
      const box = node("input", { type: "checkbox", name: key, onchange: () => this.set({ [key]: box.checked }) });
      box.checked = this.state[key];
      group.append(node("label", {}, box, ` ${name}`));
    }
    return group;
  }

  /* With more than two axes: which two to draw, and where to cut the others. */
  _axisControl() {
    if (this.replay.axes === 2) return null;
    const choose = (key, label) => {
      const select = node("select", { name: key, onchange: () => this._chooseAxis(key, Number(select.value)) });
      for (let axis = 0; axis < this.replay.axes; axis++) select.append(node("option", { value: axis }, this.axisName(axis)));
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
    for (let axis = 0; axis < this.replay.axes; axis++) {
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
      type: "range", class: "frames", min: 0, max: this.replay.last, value: this.state.frame,
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
    const last = this.replay.last;
    if (this.state.frame >= last) this.set({ frame: 0 });
    this.playing = true;
    this.playButton.textContent = "❚❚ Pause";
    const from = this.state.frame;
    const rate = Math.max(8, (this.replay.last + 1) / PLAY_SECONDS);
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

  axisName(axis) {
    if (this.replay.names) return this.replay.names[axis];
    const state = axis < this.replay.dS;
    const number = state ? axis : axis - this.replay.dS;
    const many = (state ? this.replay.dS : this.replay.dA) > 1;
    return (state ? "state" : "action") + (many ? ` ${number + 1}` : "");
  }

  /* A stretch of an axis, in its unit where the problem declares one. */
  axisSpan(axis, low, side, digits) {
    const [zero, full, unit] = this.replay.ranges?.[axis] ?? [0, 1, ""];
    const [from, to] = [low, low + side].map((at) => trim(zero + (full - zero) * at, digits));
    return `${from} to ${to} ${unit}`.trimEnd();
  }

  /* ---- colours and pictures ------------------------------------------------------------------------------------------ */

  _theme() {
    const background = channelsOf("var(--raster-edge)");
    const none = channelsOf("var(--raster-none)");
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

  /* The replay has other frames now. */
  refresh() {
    this.domains.clear();
    this.legendKey = null;
    this.draw();
  }

  optimumPicture() {
    const now = this.replay.episodes[this.state.frame];
    return Math.max(0, this.replay.optimum?.episodes.findLastIndex((episode) => episode <= now));
  }

  /* Q* of step h as it was at this frame; null where none is known. */
  grid(h) {
    return this.replay.optimum ? this.replay.optimum.grids[this.optimumPicture()][h] : null;
  }

  /* The range of the colours of step h: what Q* reaches, where it is known, else visited balls of the last frame. */
  domain(h, colour = this.state.colour) {
    const key = `${colour}-${h}`;
    if (!this.domains.has(key)) this.domains.set(key, this._domain(h, colour));
    return this.domains.get(key);
  }

  _domain(h, colour) {
    const { last, optimum, episodes, horizon } = this.replay;
    const balls = this.replay.balls(last, h);
    const greatestOf = (values, start) => values.reduce((a, b) => Math.max(a, b), start);
    if (colour === "visits") return [0, greatestOf(balls.n, 1)];
    if (colour === "age") return last ? [0, episodes[last]] : [0, 3];
    if (colour === "error") {
      const reach = greatestOf(this._errors(balls, h).map((value, i) => (balls.n[i] < 0 ? 0 : Math.abs(value))), 0.05);
      return [-reach, reach];
    }
    const [low, high] = optimum
      ? optimum.grids.at(-1)[h].range()
      : [-greatestOf(balls.q.map((q) => -q), -Infinity), greatestOf(balls.q.filter((_, i) => balls.n[i] >= 0), -Infinity)];
    return high > low ? [low, high] : [0, horizon - h];
  }

  _errors(balls, h) {
    const grid = this.grid(h);
    return balls.q.map((value, i) => value - grid.at(centreOf(balls, i)));
  }

  /* By which the balls of step h are painted; -1 for those without a value. */
  _shades(balls, h) {
    const [low, high] = this.domain(h);
    const values = this.state.colour === "error" ? this._errors(balls, h) : balls[COLOUR_MODES[this.state.colour].column];
    const log = this.state.colour === "visits" || (this.state.colour === "age" && this.replay.last > 0);
    const shades = new Int16Array(values.length);
    const flip = this.state.colour === "age";
    const of = (value) => (log ? Math.log1p(value) : value);
    values.forEach((value, i) => {
      const shade = shadeOf(of(value), of(low), of(high));
      shades[i] = Number.isNaN(value) || (log && value < 0) ? -1 : flip ? SHADES - 1 - shade : shade;
    });
    return shades;
  }

  palette() {
    return this.colours[this.state.colour === "error" ? "diverging" : "viridis"];
  }

  draw() {
    if (!this.canvas.isConnected) return; /* another explorer has its place */
    const { state } = this;
    const plane = { axisX: state.axisX, axisY: state.axisY, slice: state.slice, borders: true };
    for (let h = 0; h < this.replay.horizon; h++) {
      const balls = this.replay.balls(state.frame, h);
      const shades = this._shades(balls, h);
      paintBalls(this.thumbs[h].getContext("2d"), balls, shades, this.palette(), { ...plane, borders: false });
      if (h === state.h) this.cut = paintBalls(this.canvas.getContext("2d"), balls, shades, this.palette(), plane);
    }
    this._paintBest(plane);
    this._legend();
    this._texts();
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
    const { h, axisX, axisY, slice } = this.state;
    const key = [this.optimumPicture(), h, axisX, axisY, slice.join(), this.best.width].join("|");
    if (key === this.bestKey) return;
    this.bestKey = key;
    const [low, high] = this.domain(h, "q");
    const context = this.best.getContext("2d");
    paintGrid(context, this.grid(h), (value) => shadeOf(value, low, high), this.colours.viridis, plane);
    if (axisX < this.replay.dS && axisY >= this.replay.dS && this.state.policy) this._strokePolicy(context, this._bestPolicy());
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
    const single = colour === "age" && !this.replay.last;
    const unit = single ? "age by the controller's own clock bits (0 is just visited)" : mode.unit;
    const open = colour === "q";
    this.legendText.replaceChildren(
      node("span", {}, (open ? "≤ " : "") + mode.format(low)), node("span", { class: "unit" }, unit), node("span", {}, (open ? "≥ " : "") + mode.format(high)));
  }

  _texts() {
    const { frame, h } = this.state;
    const { episodes, last, axes, shared, bytes } = this.replay;
    const balls = this.replay.balls(frame, h);
    const cut = axes > 2 ? `, ${FORMAT.integer(this.cut)} in this plane` : "";
    const common = shared[frame] ? ", one partition for all steps" : "";
    let changes = "";
    if (frame > 0) {
      const { refined, merged } = this.replay.changes(frame, h);
      const since = FORMAT.integer(episodes[frame - 1]);
      changes = ` Since episode ${since}: ${refined.length} balls are finer, ${merged.length} coarser.`;
    }
    this.summary.textContent =
      `After episode ${FORMAT.integer(episodes[frame])}: ${FORMAT.integer(balls.count)} balls down to level ` +
      `${Math.max(0, ...balls.level)}${cut}${common}; ${FORMAT.integer(bytes[frame])} bytes in use.${changes}`;
    this.host.dataset.frame = frame;
    this.host.dataset.balls = balls.count;
    this.xLabel.textContent = this.axisName(this.state.axisX);
    this.yLabel.firstChild.textContent = this.axisName(this.state.axisY);
    if (this.slider) {
      this.slider.value = frame;
      this.slider.setAttribute("aria-valuetext", `episode ${episodes[frame]}`);
      this.when.textContent = `episode ${FORMAT.integer(episodes[frame])} of ${FORMAT.integer(episodes[last])}`;
    }
  }

  /* ---- overlays ------------------------------------------------------------------------------------------ */

  _overlays() {
    const context = this.overlay.getContext("2d");
    const { state } = this;
    context.clearRect(0, 0, this.overlay.width, this.overlay.height);
    const balls = this.replay.balls(state.frame, state.h);
    if (state.changes && state.frame > 0) {
      const { refined, merged } = this.replay.changes(state.frame, state.h);
      this._outline(context, balls, refined, "#ff7f0e", []);
      this._outline(context, balls, merged, "#ffffff", [6, 4]);
    }
    if (state.policy && state.axisX < this.replay.dS && state.axisY >= this.replay.dS) this._strokePolicy(context, this._policy());
    const ball = this.ballAtCursor();
    if (ball >= 0) {
      this._outline(context, balls, [ball], "#000000", [], 5);
      this._outline(context, balls, [ball], "#ffffff", [], 2.5);
    }
  }

  _outline(context, balls, chosen, colour, dash, width = 1.5) {
    const size = this.overlay.width;
    const { axisX, axisY, slice } = this.state;
    context.strokeStyle = colour;
    context.lineWidth = width * (devicePixelRatio || 1);
    context.setLineDash(dash);
    context.beginPath();
    for (const i of chosen) {
      const side = 2 ** -balls.level[i];
      if (!cuts(balls, i, side, axisX, axisY, slice)) continue;
      const x = balls.low[i * balls.axes + axisX] * size;
      const y = (1 - balls.low[i * balls.axes + axisY] - side) * size;
      context.rect(x, y, side * size, side * size);
    }
    context.stroke();
    context.setLineDash([]);
  }

  /* The action that would be played at every state along the horizontal axis, the other axes as cut. */
  _policy() {
    const { frame, h, axisX, axisY, slice } = this.state;
    const state = slice.slice(0, this.replay.dS);
    return Array.from({ length: 256 }, (_, column) => {
      state[axisX] = (column + 0.5) / 256;
      return this.replay.action(frame, h, state)[axisY - this.replay.dS];
    });
  }

  _bestPolicy() {
    const { axisX, axisY, slice, h } = this.state;
    const grid = this.grid(h);
    const point = [...slice];
    return Array.from({ length: 128 }, (_, column) => {
      point[axisX] = (column + 0.5) / 128;
      let [best, where] = [-Infinity, 0];
      for (let row = 0; row <= 128; row++) {
        point[axisY] = row / 128;
        const value = grid.at(point);
        if (value > best + 1e-9) [best, where] = [value, point[axisY]];
      }
      return where;
    });
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

  /* ---- the ball under the cursor: found by mouse, finger or arrow keys, described in words and numbers ---------------- */

  ballAt(x, y) {
    const { axisX, axisY, slice, frame, h } = this.state;
    const balls = this.replay.balls(frame, h);
    const point = Object.assign([...slice], { [axisX]: x, [axisY]: y });
    for (let i = 0; i < balls.count; i++) if (cuts(balls, i, 2 ** -balls.level[i], -1, -1, point)) return i;
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
    const balls = this.replay.balls(frame, h);
    const side = 2 ** -balls.level[ball];
    const step = (at, low, direction) => {
      if (!direction) return Math.min(Math.max(at, low + side * 1e-3), low + side * (1 - 1e-3));
      const beyond = direction > 0 ? low + side + 2e-5 : low - 2e-5;
      return beyond < 0 || beyond >= 1 ? at : beyond;
    };
    return [
      step(cursor[0], balls.low[ball * balls.axes + axisX], dx),
      step(cursor[1], balls.low[ball * balls.axes + axisY], dy),
    ];
  }

  _describe() {
    const i = this.ballAtCursor();
    const { frame, h, pinned } = this.state;
    const { replay } = this;
    if (i < 0) {
      this.info.replaceChildren(node("p", { class: "hint" },
        "Move over a ball, or tab to the picture and use the arrow keys: what the ball knows appears here. ",
        replay.last ? "Space plays." : ""));
      return;
    }
    const balls = replay.balls(frame, h);
    const [level, n, q, reward] = ["level", "n", "q", "reward"].map((name) => balls[name][i]);
    const [side, digits, visited] = [2 ** -level, Math.max(3, digitsOf(level)), n >= 0];
    const best = this.grid(h)?.at(centreOf(balls, i));
    const rows = node("dl");
    const row = (key, name, value, exact) => rows.append(node("dt", {}, name), node("dd", { "data-key": key, "data-exact": exact }, value));
    row("level", "level", String(level));
    balls.low.subarray(i * balls.axes, (i + 1) * balls.axes).forEach((low, axis) =>
      row(`axis${axis}`, this.axisName(axis), this.axisSpan(axis, low, side, digits)));
    row("n", "visits n", visited ? FORMAT.integer(n) : "never visited");
    if (visited) row("reward", "mean reward", reward.toFixed(4), reward);
    row("q", "Q", q.toFixed(4), q);
    if (best !== undefined) row("best", "Q* in its middle", best.toFixed(4));
    if (visited && replay.last) row("age", "last visited", `${FORMAT.integer(balls.age[i])} episodes ago`);
    this.info.replaceChildren(node("h4", {}, `Ball at step ${h}`, pinned ? node("em", {}, " pinned") : null), rows,
      visited ? this._histogram(replay.nextStates(frame, h, balls.id[i]), level)
        : node("p", { class: "hint" }, "Its Q is inherited from the ball that was split."));
  }

  /* Next states of the ball: cells of its own level, most visited first. */
  _histogram(cells, level) {
    const total = cells.reduce((sum, { count }) => sum + count, 0);
    const digits = Math.max(2, digitsOf(level));
    const list = node("ol", { class: "next" });
    const sorted = [...cells].sort((a, b) => b.count - a.count);
    for (const { low, count } of sorted.slice(0, 12)) {
      const place = low.map((start) => `${trim(start, digits)}–${trim(start + 2 ** -level, digits)}`).join(", ");
      const share = (100 * count) / Math.max(total, 1);
      list.append(node("li", { "data-low": low.join(" "), "data-count": count },
        node("span", { class: "bar", style: `width:${share.toFixed(1)}%` }),
        node("span", {}, place), node("b", {}, `${share.toFixed(0)} %`)));
    }
    const more = sorted.length > 12 ? node("p", { class: "hint" }, `and ${sorted.length - 12} more cells`) : null;
    return node("div", {}, node("h5", {}, "Next states"), list, more);
  }
}

/* Digits that distinguish the cells of a level. */
function digitsOf(level) {
  return Math.ceil((level * Math.LN2) / Math.LN10) + 1;
}

/* A coordinate without needless zeros. */
function trim(value, digits) {
  return String(Number(value.toFixed(digits)));
}
