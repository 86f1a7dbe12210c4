"use strict";
/* The partition of a controller as a picture: data in, pixels out. `Replay` holds what `blocks.py` packed and
 * answers what a frame has; the functions below it paint balls and tables on a canvas.
 *
 * A partition is painted straight into pixels, a row of a ball at a time: the cost follows the pixels of the
 * picture, not the number of balls, so five thousand are as quick as fifty. */

const KEPT_FRAMES = 96;

/* What a compressed text of the page holds, as a Response. */
function inflate(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
}

/* The values of a series of which the differences were kept. */
function running(steps) {
  let sum = 0;
  return steps.map((step) => (sum += step));
}

/* The balls of a frame are columns: level, low (the corner of every ball, state axes first), q at the step, n (-1 for a
 * ball that was never visited), mean reward, age (NaN for such a ball) and id, by which nextStates finds them. */
class Replay {
  constructor(data) {
    [this.dS, this.dA] = data.dims;
    this.axes = this.dS + this.dA;
    Object.assign(this, data);
    for (const tree of this.trees) {
      for (const name of ["n", "reward"]) tree[name] = tree[name].map(running);
      tree.q = tree.q.map((steps) => steps.map(running));
    }
    for (const cells of this.policy) cells.action = cells.action.map((axes) => axes.map(running));
    this.optimum = data.optimum && optimumGrids(data.optimum, this.horizon);
    this.seen = new Map();
  }

  get last() {
    return this.episodes.length - 1;
  }

  /* Results for a frame and a step are kept for a while, as a replay comes back to them. */
  _kept(key, compute) {
    if (!this.seen.has(key)) {
      if (this.seen.size >= KEPT_FRAMES * this.horizon) this.seen.delete(this.seen.keys().next().value);
      this.seen.set(key, compute());
    }
    return this.seen.get(key);
  }

  _tree(h) {
    return this.trees[this.trees.length === 1 ? 0 : h];
  }

  balls(frame, h) {
    return this._kept(`balls ${frame} ${h}`, () => {
      const tree = this._tree(h);
      const step = this.trees.length === 1 ? h : 0;
      const id = [];
      tree.first.forEach((first, i) => first <= frame && frame < first + tree.n[i].length && id.push(i));
      const level = Uint8Array.from(id, (i) => tree.level[i]);
      const low = Float32Array.from(id.flatMap((i) => tree.low[i].map((place) => place / 2 ** tree.level[i])));
      const column = (of) => Float32Array.from(id, (i) => of(i, frame - tree.first[i]));
      return {
        count: id.length, axes: this.axes, id, level, low, n: column((i, at) => tree.n[i][at]),
        q: column((i, at) => tree.q[i][step][at] / this.one), reward: column((i, at) => tree.reward[i][at] / 65536),
        age: column((i, at) => this._age(tree, i, at)),
      };
    });
  }

  /* Episodes since a ball was last visited, as fine as the frames; of a single frame by its clock bits. */
  _age({ first, n, reward, clock }, id, frame) {
    if (n[id][frame] < 0) return NaN;
    if (!this.last) return 3 - clock[id];
    let at = frame;
    while (at && n[id][at] === n[id][at - 1] && reward[id][at] === reward[id][at - 1]) at--;
    return this.episodes[first[id] + frame] - this.episodes[first[id] + at];
  }

  /* {low, count} of the next states that a ball has seen, cells of its own level. */
  nextStates(frame, h, id) {
    const tree = this._tree(h);
    const [, ...found] = tree.next[id].findLast(([at]) => at <= frame - tree.first[id]) ?? [0];
    const cells = [];
    for (let i = 0; i < found.length; i += this.dS + 1) {
      cells.push({ low: found.slice(i, i + this.dS).map((place) => place / 2 ** tree.level[id]), count: found[i + this.dS] });
    }
    return cells;
  }

  /* Balls of a frame that are finer or coarser than what was in their place one frame before. */
  changes(frame, h) {
    return this._kept(`changes ${frame} ${h}`, () => {
      const tree = this._tree(h);
      const before = frame ? this.balls(frame - 1, h).id : [];
      const found = { refined: [], merged: [] };
      this.balls(frame, h).id.forEach((id, i) => {
        if (!frame || tree.first[id] !== frame) return;
        const covers = (other) => {
          const up = tree.level[id] - tree.level[other];
          return tree.low[id].every((place, axis) => (up < 0 ? place << -up : place >> up) === tree.low[other][axis]);
        };
        const level = tree.level[before.find(covers)];
        if (level < tree.level[id]) found.refined.push(i);
        else if (level > tree.level[id]) found.merged.push(i);
      });
      return found;
    });
  }

  /* The action that would be played at step h in a state. */
  action(frame, h, state) {
    const { low, side, first, action } = this.policy[h];
    const alive = this._kept(`policy ${frame} ${h}`, () =>
      [...low.keys()].filter((i) => first[i] <= frame && frame < first[i] + action[i][0].length));
    const at = state.map((place) => place * 65536);
    const cell = alive.find((i) => at.every((place, axis) => low[i][axis] <= place && place < low[i][axis] + side[i][axis]));
    return action[cell].map((axis) => axis[frame - first[cell]] / 65536);
  }
}

/* Q*: a Grid per step of every picture, and the episodes at which they were taken. */
function optimumGrids({ episodes, shape, steps }, horizon) {
  const [columns, rows] = [shape.at(-1), shape.at(-2)];
  const values = new Float32Array(steps.length);
  let sum = 0;
  steps.forEach((step, i) => {
    sum = i % columns ? sum + step : step;
    values[i] = sum + (Math.floor(i / columns) % rows ? values[i - columns] : 0);
  });
  const inner = shape.slice(2);
  const size = inner.reduce((a, b) => a * b, 1);
  const scaled = values.map((value) => (value / 65535) * horizon);
  const grid = (picture, h) => new Grid(scaled.subarray((picture * horizon + h) * size, (picture * horizon + h + 1) * size), inner);
  const grids = episodes.map((_, picture) => Array.from({ length: horizon }, (_, h) => grid(picture, h)));
  return { episodes, grids };
}

/* ---- colours ------------------------------------------------------------------------------------------------------- */

const STOPS = {
  /* viridis and PuOr: both keep their order for every kind of colour vision, viridis also in print. */
  viridis: ["#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725"],
  diverging: ["#7f3b08", "#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788", "#2d004b"],
};
const SHADES = 256;

function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/* Those of a colour of the page, as it is in its present scheme. */
function channelsOf(colour) {
  const probe = document.body.appendChild(node("i", { style: `color:${colour}` }));
  const found = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
  probe.remove();
  return found;
}

/* A pixel of an ImageData seen as 32-bit words (little-endian on every machine that runs a browser). */
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function mix(a, b, share) {
  return a.map((value, i) => Math.round(value + (b[i] - value) * share));
}

/* A palette as pixels, and the same shades faded towards the background for the borders of balls. */
function palette(name, background) {
  const stops = STOPS[name].map(channels);
  const fill = new Uint32Array(SHADES);
  const edge = new Uint32Array(SHADES);
  const css = [];
  for (let i = 0; i < SHADES; i++) {
    const at = (i / (SHADES - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const colour = mix(stops[low], stops[low + 1], at - low);
    fill[i] = pixel(colour);
    edge[i] = pixel(mix(colour, background, 0.42));
    css.push(`rgb(${colour.join(" ")})`);
  }
  return { fill, edge, css };
}

/* The shade of a value in [low, high]. */
function shadeOf(value, low, high) {
  const at = high > low ? (value - low) / (high - low) : 0.5;
  return Math.max(0, Math.min(SHADES - 1, Math.round(at * (SHADES - 1))));
}

/* Does the plane cut ball i? `slice` has a coordinate for each axis; the two drawn ones are skipped. */
function cuts(balls, i, side, axisX, axisY, slice) {
  for (let axis = 0; axis < balls.axes; axis++) {
    if (axis === axisX || axis === axisY) continue;
    const low = balls.low[i * balls.axes + axis];
    if (slice[axis] < low || slice[axis] >= low + side) return false;
  }
  return true;
}

function centreOf(balls, i) {
  const half = 2 ** -balls.level[i] / 2;
  return Array.from(balls.low.subarray(i * balls.axes, (i + 1) * balls.axes), (low) => low + half);
}

/* Paint the balls that the plane cuts; shades below 0 take the colour for "no value". Returns how many. */
function paintBalls(context, balls, shades, colours, plane) {
  const { axisX, axisY, slice, borders } = plane;
  const { width, height } = context.canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  let painted = 0;
  for (let i = 0; i < balls.count; i++) {
    const side = 2 ** -balls.level[i];
    if (!cuts(balls, i, side, axisX, axisY, slice)) continue;
    painted++;
    const x = balls.low[i * balls.axes + axisX];
    const y = balls.low[i * balls.axes + axisY];
    const left = Math.round(x * width);
    const right = Math.max(left + 1, Math.round((x + side) * width));
    const top = Math.round((1 - y - side) * height);
    const bottom = Math.max(top + 1, Math.round((1 - y) * height));
    const shade = shades[i];
    const fill = shade < 0 ? colours.none : colours.fill[shade];
    const edge = shade < 0 ? colours.noneEdge : colours.edge[shade];
    const outlined = borders && right - left > 3;
    for (let row = top; row < bottom; row++) {
      pixels.fill(outlined && row === top ? edge : fill, row * width + left, row * width + right);
      if (outlined) pixels[row * width + left] = edge;
    }
  }
  context.putImageData(image, 0, 0);
  return painted;
}

/* A table over [0,1]^axes read between its points. */
class Grid {
  constructor(values, shape) {
    this.values = values;
    this.shape = shape;
    this.strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  }

  at(point) {
    let total = 0;
    const axes = this.shape.length;
    const low = new Array(axes);
    const part = new Array(axes);
    for (let axis = 0; axis < axes; axis++) {
      const place = Math.min(Math.max(point[axis], 0), 1) * (this.shape[axis] - 1);
      low[axis] = Math.min(Math.floor(place), Math.max(this.shape[axis] - 2, 0));
      part[axis] = place - low[axis];
    }
    for (let corner = 0; corner < 1 << axes; corner++) {
      let weight = 1;
      let index = 0;
      for (let axis = 0; axis < axes && weight > 0; axis++) {
        const up = (corner >> axis) & 1;
        weight *= up ? part[axis] : 1 - part[axis];
        index += (low[axis] + (up && low[axis] + 1 < this.shape[axis] ? 1 : 0)) * this.strides[axis];
      }
      if (weight > 0) total += weight * this.values[index];
    }
    return total;
  }

  range() {
    return [Math.min, Math.max].map((further) => this.values.reduce((a, b) => further(a, b)));
  }
}

const GRID_PIXELS = 128;

/* Paint a table over the plane, smooth between its points. */
function paintGrid(context, grid, shade, colours, plane) {
  const small = document.createElement("canvas");
  small.width = small.height = GRID_PIXELS;
  const inner = small.getContext("2d");
  const image = inner.createImageData(GRID_PIXELS, GRID_PIXELS);
  const pixels = new Uint32Array(image.data.buffer);
  const point = [...plane.slice];
  for (let row = 0; row < GRID_PIXELS; row++) {
    point[plane.axisY] = 1 - (row + 0.5) / GRID_PIXELS;
    for (let column = 0; column < GRID_PIXELS; column++) {
      point[plane.axisX] = (column + 0.5) / GRID_PIXELS;
      pixels[row * GRID_PIXELS + column] = colours.fill[shade(grid.at(point))];
    }
  }
  inner.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  context.drawImage(small, 0, 0, context.canvas.width, context.canvas.height);
}
