"use strict";
/* The partition explorer: the balls of every step, replayed over the episodes. This file has its controls; what it
 * paints and what it tells about a ball are in explorer_paint.js and explorer_ball.js. */

const PLAY_SECONDS = 12;

class Explorer extends BallPanel {
  /* source: {label, spec, frames, episodes, optimum: {episodes, grids[picture][h]} or null} */
  constructor(host, source) {
    super();
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
      slice: this._busiest(view), policy: true, changes: true, cursor: null, pinned: false,
    };
    this.playing = false;
    this._build();
    this._theme();
    this.draw();
    this.fit();
    new ResizeObserver(() => this.fit()).observe(this.stage);
  }

  /* The middle of the ball that was visited most: where a plane through many axes shows something. */
  _busiest(view) {
    const leaves = view.leaves(0);
    let most = 0;
    for (let i = 1; i < leaves.count; i++) if (leaves.n[i] > leaves.n[most]) most = i;
    const half = 2 ** -leaves.level[most] / 2;
    return Array.from({ length: leaves.axes }, (_, axis) => leaves.low[most * leaves.axes + axis] + half);
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
}
