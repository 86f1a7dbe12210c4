"use strict";
/* Colours and pixels of partitions. A partition is painted straight into pixels, a row of a ball at a time: the
 * cost follows the pixels of the picture, not the number of balls, so five thousand are as quick as fifty. */

const STOPS = {
  /* viridis and PuOr: both keep their order for every kind of colour vision, viridis also in print. */
  viridis: ["#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725"],
  diverging: ["#7f3b08", "#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788", "#2d004b"],
};
const SHADES = 256;

function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
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
function cuts(leaves, i, side, axisX, axisY, slice) {
  for (let axis = 0; axis < leaves.axes; axis++) {
    if (axis === axisX || axis === axisY) continue;
    const low = leaves.low[i * leaves.axes + axis];
    if (slice[axis] < low || slice[axis] >= low + side) return false;
  }
  return true;
}

/* Paint the balls that the plane cuts; shades below 0 take the colour for "no value". Returns how many. */
function paintBalls(context, leaves, shades, colours, plane) {
  const { axisX, axisY, slice, borders } = plane;
  const { width, height } = context.canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const flat = leaves.axes === 2;
  let painted = 0;
  for (let i = 0; i < leaves.count; i++) {
    const side = 2 ** -leaves.level[i];
    if (!flat && !cuts(leaves, i, side, axisX, axisY, slice)) continue;
    painted++;
    const x = leaves.low[i * leaves.axes + axisX];
    const y = leaves.low[i * leaves.axes + axisY];
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
    let low = Infinity;
    let high = -Infinity;
    for (const value of this.values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
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
