"use strict";
/* The playground: the C core and a world, both WebAssembly, played a bounded while in every frame and drawn between. */

const FRAME_MS = 12; /* of the 16 that a frame has, for playing and drawing */
const SLOW_MS = 250; /* from one drawing of what costs more, the chart and the digest, to the next */
const WINDOW = 50;
const POINTS = 400;
const EVENTS = 20;
const BALL_WORDS = 8;
/* Their colours, in the order in which the core counts them. */
const OWNERS = { header: "l0", records: "l2", routing: "l3", counts: "l4", values: "l5", "held episodes": "l8", "sharing test": "l6", free: "l7" };
const DARK = ["routing", "counts", "held episodes", "sharing test", "free"];

function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
}

/* The corner of the cell whose first bits are those of an interleaved code. */
function cornerOf(code, dims, bits) {
  const found = new Array(dims).fill(0);
  const side = new Array(dims).fill(1);
  for (let i = 0; i < bits; i++) {
    side[i % dims] /= 2;
    if ((code >> (15 - i)) & 1) found[i % dims] += side[i % dims];
  }
  return found;
}

/* One controller in its world; what the explorer asks of a replay is answered from the block as it is now. */
class Live {
  constructor(core, data, problem, seed, bytes) {
    Object.assign(this, { core, problem, word: data.words, last: 0, horizon: problem.horizon, names: problem.axes, episodes: [0] });
    [this.dS, this.dA] = problem.dims;
    this.axes = this.dS + this.dA;
    core.release();
    const [structure, arrays, links, [array, byte]] = problem.worlds[seed];
    const world = this._put(bytesOf(structure));
    const copies = arrays.map((each) => this._put(bytesOf(each)));
    for (const [place, index] of links) this._at(Uint32Array, world + place, 1)[0] = copies[index];
    this.knob = this._at(Float64Array, (array < 0 ? world : copies[array]) + byte, 1);
    core.open(core[problem.step](), world, this.dS, this.dA, this.horizon, problem.numbers);
    core.draws(this._put(bytesOf(data.ziggurat)), this._put(bytesOf(data.streams[seed])),
      ...[problem.beta, problem.start].map((given) => (given ? this._numbers(given) : 0)));
    this.least = core.least();
    this.code = core.begin(bytes, data.seeds[seed]);
    this.w = this._at(Uint16Array, core.block(), bytes / 2);
    this.now = this._at(Float64Array, core.numbers(), 13);
    this.point = core.reserve(8 * this.dS);
    this.saved = { at: core.reserve(16 + bytes), length: 0 };
    this.one = 1 << (this.w[this.word.scale] & 0xff);
    this._grid();
    this.changed();
  }

  _at(Kind, place, length) {
    return new Kind(this.core.memory.buffer, place, length);
  }

  _put(bytes) {
    const at = this.core.reserve(bytes.length);
    this._at(Uint8Array, at, bytes.length).set(bytes);
    return at;
  }

  _numbers(values) {
    return this._put(new Uint8Array(Float64Array.from(values).buffer));
  }

  changed() {
    this.seen = [];
    this.episodes[0] = this.w[this.word.episodes] + 65536 * this.w[this.word.episodes + 1];
    this.shared = [this.w[this.word.share] !== 0];
    this.bytes = [8 * (this.w[this.word.fresh] - this.w[this.word.free_n])];
  }

  /* ---- the optimum, a step a frame ---- */

  _grid() {
    const [nodes, actions] = this.dS === 1 ? [65, 65] : [17, 33];
    this.lines = [nodes, actions].map((length) => this._at(Float64Array, this.core.reserve(8 * length), length));
    const { quantiles, numbers } = this.problem;
    const count = numbers ? quantiles.length / numbers : 1;
    const q = this.core.grid(nodes, actions, count, ...this.lines.map((each) => each.byteOffset), this._numbers(quantiles));
    const shape = [...new Array(this.dS).fill(nodes), actions];
    const size = shape.reduce((a, b) => a * b, 1);
    const grids = Array.from({ length: this.horizon }, (_, h) => new Grid(this._at(Float64Array, q + 8 * h * size, size), shape));
    this.optimum = { name: "Q*, solved here on a grid", episodes: [0], grids: [grids] };
    this.moved();
  }

  /* A node lies where the world has its peak, if it has one there. */
  moved() {
    for (const values of this.lines) {
      const last = values.length - 1;
      const peak = Math.round(this.knob[0] * last);
      values.forEach((_, i) => (values[i] = i / last));
      if (peak > 0 && peak < last) values[peak] = this.knob[0];
    }
    this.unsolved = this.horizon - 1;
  }

  /* Whether the optimum is new. */
  solveStep() {
    if (this.unsolved < 0) return false;
    this.core.solve(this.unsolved--);
    if (this.unsolved >= 0) return false;
    const fixed = Array.from(this.lines[1], (_, action) => this.core.worth(action));
    this.best = { optimum: this.core.worth(-1), fixed: Math.max(...fixed) };
    return true;
  }

  /* ---- as a replay of one frame ---- */

  balls(frame, h) {
    this.seen[h] ??= this._balls(h);
    return this.seen[h];
  }

  _balls(h) {
    const count = this.core.balls(h);
    const rows = this._at(Uint16Array, this.core.rows(), BALL_WORDS * count);
    const column = (Kind, of) => Kind.from({ length: count }, (_, i) => of(rows.subarray(BALL_WORDS * i, BALL_WORDS * (i + 1))));
    const places = column(Array, ([level, state, action]) =>
      [...cornerOf(state, this.dS, this.dS * level), ...cornerOf(action, this.dA, this.dA * level)]);
    return {
      count, axes: this.axes, id: [...Array(count).keys()], low: Float32Array.from(places.flat()),
      level: column(Uint8Array, ([level]) => level), n: column(Int32Array, (row) => (row[7] ? row[3] : -1)),
      q: column(Float32Array, (row) => row[4] / this.one), reward: column(Float32Array, (row) => row[5] / 65536),
      age: column(Float32Array, (row) => (row[7] ? 3 - row[6] : NaN)), record: column(Uint16Array, (row) => row[7]),
    };
  }

  nextStates(frame, h, id) {
    const { record, level, n } = this.balls(frame, h);
    if (!record[id]) return [];
    if (level[id] === 0) return n[id] ? [{ low: new Array(this.dS).fill(0), count: n[id] }] : [];
    const head = this.w[4 * record[id] + 3];
    const bits = 15 - this.dS * level[id];
    return [...(head & 0x8000 ? [head] : head ? this.w.subarray(4 * head, 4 * head + 4) : [])]
      .filter((entry) => entry & 0x8000 && entry & ((1 << bits) - 1))
      .map((entry) => ({ low: cornerOf((entry & 0x7fff) >> bits << (bits + 1), this.dS, 15 - bits), count: entry & ((1 << bits) - 1) }));
  }

  action(frame, h, state) {
    this._at(Float64Array, this.point, this.dS).set(state);
    return cornerOf(this.core.policy(h, this.point), this.dA, 16);
  }

  /* ---- bytes ---- */

  owners() {
    const sizes = [this.w[this.word.pool_at], ...this._at(Int32Array, this.core.owners(), 6)].map((units) => 8 * units);
    const free = this.w.byteLength - sizes.reduce((a, b) => a + b, 0);
    return Object.keys(OWNERS).map((name, i) => [name, [...sizes, free][i]]);
  }

  errorText(code) {
    const bytes = this._at(Uint8Array, this.core.error_text(code));
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }
}

/* Means over the last episodes, thinned out as they become many. */
class Curve {
  constructor() {
    Object.assign(this, { x: [], y: [], recent: [], every: 1 });
  }

  add(episode, reward) {
    this.recent.push(reward);
    if (this.recent.length > WINDOW) this.recent.shift();
    if (episode % this.every) return;
    this.x.push(episode);
    this.y.push(this.mean());
    if (this.x.length < POINTS) return;
    this.every *= 2;
    for (const name of ["x", "y"]) this[name] = this[name].filter((_, i) => i % 2);
  }

  mean() {
    return this.recent.reduce((a, b) => a + b, 0) / this.recent.length;
  }
}

class Playground {
  constructor(core, data) {
    Object.assign(this, { core, data, running: false, due: 0, drawing: 0, wait: 0, shown: {} });
    const ids = ["problem", "budget", "seed", "speed", "knob", "run", "step", "episode", "again", "save", "flip", "cut", "restore"];
    this.on = Object.fromEntries(ids.map((id) => [id, document.getElementById(id)]));
    this._fill("problem", data.problems.map(({ name }) => [name, name]), data.first);
    this._fill("budget", data.budgets.map((size) => [size, FORMAT.bytes(size)]), 4096);
    this._fill("seed", data.seeds.map((seed) => [seed, String(seed)]), 0);
    this.on.speed.value = "100";
    for (const id of ["problem", "budget", "seed"]) this.on[id].addEventListener("change", () => this.open());
    const clicks = {
      run: () => this.run(!this.running), step: () => this.playSome(1), episode: () => this.playEpisodes(100), again: () => this.open(),
      save: () => this.save(), flip: () => this.flip(), cut: () => this.cut(), restore: () => this.restore(),
    };
    for (const [id, act] of Object.entries(clicks)) this.on[id].addEventListener("click", act);
    this.on.knob.addEventListener("input", () => this.move(Number(this.on.knob.value)));
    this.on.knob.addEventListener("change", () => this.tell(`${this.live.problem.knob.label}: now ${this.on.knob.value}.`));
    document.getElementById("download").addEventListener("click", (event) => this.download(event.target));
    this.open();
    requestAnimationFrame((now) => this.frame(now));
  }

  _fill(id, options, chosen) {
    this.on[id].replaceChildren(...options.map(([value, text]) => node("option", { value, selected: value === chosen }, text)));
  }

  show(id, text) {
    if (this.shown[id] === text) return;
    this.shown[id] = text;
    document.getElementById(id).textContent = text;
  }

  tell(text) {
    const list = document.getElementById("events");
    list.prepend(node("li", {}, `Episode ${FORMAT.integer(this.played)}: ${text}`));
    while (list.children.length > EVENTS) list.lastChild.remove();
  }

  /* ---- a controller from its first episode ---- */

  open() {
    this.run(false);
    const [name, seed] = [this.on.problem.value, this.data.seeds.indexOf(Number(this.on.seed.value))];
    const problem = this.data.problems.find((each) => each.name === name);
    this.live = new Live(this.core, this.data, problem, seed, Number(this.on.budget.value));
    const { live } = this;
    document.getElementById("events").replaceChildren();
    for (const option of this.on.budget.options) option.disabled = Number(option.value) < live.least;
    if (live.code < 0) {
      this.on.budget.value = this.data.budgets.find((size) => size >= live.least);
      this.open();
      this.tell(`this problem needs a block of at least ${live.least} bytes.`);
      return;
    }
    while (!live.solveStep());
    Object.assign(this, { curve: new Curve(), marks: [], played: 0, passes: 0, dead: false, touched: false, split: null });
    this.bests = { x: [0, 0], optimum: [live.best.optimum, live.best.optimum], fixed: [live.best.fixed, live.best.fixed] };
    setAll(this.on.knob, { min: problem.knob.low, max: problem.knob.high, step: 0.005 });
    this.on.knob.value = live.knob[0];
    this.show("knob-name", problem.knob.label);
    this.show("about", problem.about);
    this.show("split", "No ball has split yet.");
    this.explorer = new Explorer(document.getElementById("explorer"), live);
    document.getElementById("reward").replaceChildren();
    this.chart = new LineChart(document.getElementById("reward"), this._chart());
    this._commands(name, seed);
    this.draw(true);
  }

  _commands(name, seed) {
    const budget = this.on.budget.value;
    this.show("port-c", `adamb port ${name} --runtime c --budget ${budget} --out controller`);
    this.show("port-micropython", `adamb port ${name} --board pico --budget ${budget} --out pico-port`);
    this.same = (episodes) => `adamb run ${name} --budget ${budget} --seeds ${this.data.seeds[seed]}..${this.data.seeds[seed]} --episodes ${episodes} --json -`;
  }

  /* ---- playing ---- */

  run(on) {
    this.running = on && !this.dead;
    this.due = 0;
    this.on.run.textContent = this.running ? "❚❚ Pause" : "▶ Run";
    this.explorer?.info.setAttribute("aria-live", this.running ? "off" : "polite");
  }

  /* Whether one more step could be played; a slice of the scrub goes with each, as on a board. */
  playStep() {
    const code = this.core.step();
    if (code < 0) return this._stop(`the core refused a call: ${this.live.errorText(code)}.`);
    const { now } = this.live;
    if (now[11] >= 0) this.split = { episode: this.played, h: (this.core.next_h() + this.live.horizon - 1) % this.live.horizon, now: Array.from(now) };
    if (code === 1) this.curve.add(++this.played, now[10]); /* the block's own count goes back with a snapshot */
    const scrubbed = this.core.scrub();
    if (scrubbed < 0) return this._stop("the scrub has found damage; restore the snapshot, or start again.");
    this.passes += scrubbed;
    return true;
  }

  _stop(why) {
    this.run(false);
    this.dead = true;
    this.tell(why);
    return false;
  }

  playSome(steps) {
    for (let i = 0; i < steps && !this.dead && this.playStep(); i++);
    this.draw(true);
  }

  playEpisodes(count) {
    this.playSome(count * this.live.horizon - this.core.next_h());
  }

  frame(now) {
    if (this.running) {
      this.due += (Number(this.on.speed.value) * (now - (this.before ?? now))) / 1000;
      const until = performance.now() + Math.max(2, FRAME_MS - this.drawing);
      let played = 0;
      for (; this.due >= 1 && this.running && (played & 15 || performance.now() < until); played++, this.due--) this.playStep();
      this.due = this.due % 1 || 0; /* what did not fit into the frame is not made up for */
      if (played && --this.wait <= 0) this.draw(false);
    }
    this.before = now;
    if (this.live.solveStep()) this._solved();
    requestAnimationFrame((next) => this.frame(next));
  }

  /* ---- what a person does to it ---- */

  move(value) {
    this.touched = true;
    this.live.knob[0] = value;
    this.live.moved();
    this.show("knob-value", value.toFixed(2));
  }

  /* What can be earned has changed. */
  _solved() {
    const { optimum, fixed } = this.live.best;
    this.bests.x.push(this.played, this.played);
    this.bests.optimum.push(this.bests.optimum.at(-1), optimum);
    this.bests.fixed.push(this.bests.fixed.at(-1), fixed);
    this.explorer.bestKey = null;
    this.draw(true);
  }

  flip() {
    const used = 4 * this.live.w[this.live.word.fresh];
    const [word, bit] = [Math.floor(Math.random() * used), Math.floor(Math.random() * 16)];
    this.touched = true;
    this.live.w[word] ^= 1 << bit;
    this.tell(`bit ${bit} of word ${word} is flipped. ` + (this.core.check() < 0
      ? "The check notices. The scrub, a slice in every step, looks for it."
      : "The check does not notice: the word may have this value, and learning goes on."));
    this.draw(true);
  }

  save() {
    const length = this.core.save(this.live.saved.at);
    if (length < 0) return this.tell(`not saved: ${this.live.errorText(length)}.`);
    this.live.saved.length = length;
    return this.tell(`a snapshot of ${FORMAT.integer(length)} bytes is saved, with its checksum.`);
  }

  cut() {
    this.touched = true;
    this.live.w.fill(0);
    this.marks.push({ x: this.played, name: "power cut" });
    this._stop("the power is cut: the block is gone. Restore the snapshot, or start again.");
    this.draw(true);
  }

  restore() {
    const { at, length } = this.live.saved;
    if (!length) return this.tell("there is no snapshot; save one first.");
    const code = this.core.restore(at, length);
    this.touched = true;
    this.dead = code < 0;
    this.live.changed();
    this.tell(code < 0 ? `not restored: ${this.live.errorText(code)}.` : "it is what it was when the snapshot was saved.");
    return this.draw(true);
  }

  download(link) {
    if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([this.live.w.slice()], { type: "application/octet-stream" }));
  }

  /* ---- drawing ---- */

  draw(all) {
    const { live } = this;
    const began = performance.now();
    live.changed();
    this.explorer.refresh();
    this.drawing = performance.now() - began;
    this.wait = Math.ceil(this.drawing / FRAME_MS); /* what takes longer than a frame is not drawn in each */
    this.show("knob-value", live.knob[0].toFixed(2));
    this.show("when", `episode ${FORMAT.integer(live.episodes[0])}, step ${this.core.next_h()}`);
    if (this.split) this.show("split", this._why(this.split));
    if (!all && performance.now() - (this.slow ?? 0) < SLOW_MS) return;
    this.slow = performance.now();
    this._ledger();
    this.chart.set(this._chart());
    this._digest();
  }

  _why({ episode, h, now }) {
    const { live } = this;
    const [level, n] = [now[11], now[12]];
    const thresholds = live.w.subarray(live.word.words);
    const enough = n + (level ? thresholds[level - 1] : 0) >= thresholds[level];
    const point = [...now.slice(0, live.dS), ...now.slice(3, 3 + live.dA)];
    const places = point.map((place, axis) => `${live.names[axis]} ${place.toFixed(2)}`).join(", ");
    const why = enough
      ? `with ${n} samples of its own and those of the ball above it had the ${thresholds[level]} that its size asks for`
      : `${n} samples told its reward more exactly than its size deserves`;
    return `The last one split in episode ${FORMAT.integer(episode + 1)}, step ${h}, around ${places}, because ${why}.`;
  }

  _ledger() {
    const { live } = this;
    const owners = live.owners().filter(([, size]) => size > 0);
    const part = ([name, size]) => {
      const share = (100 * size) / live.w.byteLength;
      return node("span", { class: DARK.includes(name) ? "dark" : null, style: `width:${share}%;background:var(--${OWNERS[name]})`, title: `${name}: ${FORMAT.integer(size)} bytes` },
        share > 9 ? name : "");
    };
    const bar = document.getElementById("ledger");
    bar.replaceChildren(...owners.map(part));
    bar.setAttribute("aria-label", owners.map(([name, size]) => `${name} ${FORMAT.integer(size)} bytes`).join(", "));
    document.getElementById("owners").replaceChildren(...owners.map(([name, size]) =>
      node("span", {}, node("i", { class: "swatch", style: `background:var(--${OWNERS[name]})` }), ` ${name} ${FORMAT.integer(size)}`)));
    const count = (name) => FORMAT.integer(live.w[live.word[name]]);
    this.show("memory", `${FORMAT.integer(live.bytes[0])} of ${FORMAT.integer(live.w.byteLength)} bytes in use; ${count("splits")} balls are split, ` +
      `${count("refused")} splits were refused, ${count("reclaims")} pieces reclaimed, ${count("restarts")} restarts, ${FORMAT.integer(this.passes)} passes of the scrub.`);
  }

  _chart() {
    const { x, optimum, fixed } = this.bests;
    const ends = [...x, Math.max(this.played, 1)];
    const level = (name, values, look) => ({ name, x: ends, y: [...values, values.at(-1)], thin: true, ...look });
    return {
      x: { label: "episode" }, y: { label: "reward per episode" }, height: 280, marks: this.marks,
      series: [
        { name: `reward, mean of ${WINDOW} episodes`, colour: "var(--c0)", x: this.curve.x, y: this.curve.y },
        level("optimum V*", optimum, { colour: "var(--limit)", dash: "6 4" }),
        level("best static action", fixed, { colour: "var(--c2)", dash: "2 5" }),
      ],
    };
  }

  async _digest() {
    const { live } = this;
    const episodes = live.episodes[0];
    const known = this.core.next_h() === 0 && episodes > 0 && !this.touched;
    const found = await crypto.subtle?.digest("SHA-256", live.w.slice());
    if (live !== this.live || !found) return;
    this.show("digest", Array.from(new Uint8Array(found, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join(""));
    document.getElementById("digest").dataset.episodes = episodes;
    this.show("same", known ? `The same digest as that of: ${this.same(episodes)}` : "");
  }
}

async function playground() {
  const [wasm, data] = await Promise.all(["wasm", "worlds"].map((id) => inflate(document.getElementById(id).textContent)));
  const { instance } = await WebAssembly.instantiate(await wasm.arrayBuffer());
  window.adambReport.playground = new Playground(instance.exports, await data.json());
}

window.adambReport.ready = playground();
