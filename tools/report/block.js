"use strict";
/* A controller's block of 16-bit words, decoded in the browser.
 *
 * The same walk and the same integers as host_sim/blocks/view.py, which is checked against the core; positions
 * of words come with the page (spec), so that nothing about the layout is typed here. Frames are copies of the
 * used part of a block; a page stores the difference of each to the one before. */

const Q16 = 65536;

/* Bytes of a base64 text. */
function bytesOf(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function inflate(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Words from two planes of bytes: all low ones, then all high ones. */
function wordsOf(planes) {
  const half = planes.length >> 1;
  const words = new Uint16Array(half);
  for (let i = 0; i < half; i++) words[i] = planes[i] | (planes[half + i] << 8);
  return words;
}

/* Frames from their differences; a difference is stored as 2d for d >= 0 and as -2d - 1 below. */
function undoDifferences(words, lengths) {
  const frames = [];
  let at = 0;
  let before = new Uint16Array(0);
  for (const length of lengths) {
    const frame = new Uint16Array(length);
    const common = Math.min(length, before.length);
    for (let i = 0; i < length; i++) {
      const step = words[at + i];
      const difference = (step >> 1) ^ -(step & 1);
      frame[i] = i < common ? before[i] + difference : difference;
    }
    frames.push(frame);
    before = frame;
    at += length;
  }
  return frames;
}

class BlockView {
  constructor(words, spec) {
    this.w = words;
    this.spec = spec;
    const dims = words[spec.H_DIMS];
    this.dS = dims & 15;
    this.dA = (dims >> 4) & 15;
    this.horizon = dims >> 8;
    this.fraction = words[spec.H_SCALE] & 255;
    this.finest = words[spec.H_SCALE] >> 8;
    this.one = 1 << this.fraction;
    this.paper = (words[spec.H_FLAGS] & spec.FLAG_PAPER) !== 0;
    this.shared = words[spec.H_SHARE] !== spec.SHARE_OFF;
    this.chunks = (this.dS + this.dA + 1) >> 1;
    this.trees = this.shared ? 1 : this.horizon;
    this._leaves = [];
    this._q = [];
  }

  counter(name) {
    return this.w[this.spec["H_" + name.toUpperCase()]];
  }

  get episodes() {
    return this.counter("episodes") + 65536 * this.counter("episodes_high");
  }

  get usedBytes() {
    return 2 * this.spec.UNIT_WORDS * (this.counter("fresh") - this.counter("free_n"));
  }

  _step(h) {
    return this.w[this.spec.H_STEPS_AT] + h * this.spec.S_WORDS;
  }

  _root(h) {
    return this._step(this.shared ? 0 : h) + this.spec.S_ROOT;
  }

  _stateBits(chunk) {
    return (this.w[this.spec.H_BITS] >> (4 * chunk)) & 3;
  }

  _actionBits(chunk) {
    return (this.w[this.spec.H_BITS] >> (4 * chunk + 2)) & 3;
  }

  /* The balls of the partition that step h uses, a column for each property. `low` holds the corner of every
   * ball, state axes first. */
  leaves(h) {
    const tree = this.shared ? 0 : h;
    if (!this._leaves[tree]) this._leaves[tree] = this._walk(this._root(h));
    return this._leaves[tree];
  }

  _walk(root) {
    const { w, spec } = this;
    const found = { level: [], state: [], action: [], surplus: [], record: [], parent: [] };
    const add = (level, state, action, surplus, record, parent) => {
      found.level.push(level);
      found.state.push(state);
      found.action.push(action);
      found.surplus.push(surplus & spec.VALUE_MASK);
      found.record.push(record);
      found.parent.push(parent);
    };
    const stack = [[root, 0, 0, 0, 0, 0, 0, 0]];
    for (let budget = w.length; stack.length && budget > 0; budget--) {
      const [slot, level, chunk, sBits, aBits, state, action, above] = stack.pop();
      const word = w[slot];
      let parent = above;
      if (word & spec.TAG) {
        this._addUnvisited(add, word, level, chunk, sBits, aBits, state, action, parent);
        continue;
      }
      let at = word * spec.UNIT_WORDS;
      if (chunk === 0) {
        if (w[at] & spec.TAG) {
          add(level, state, action, w[at], word, parent);
          continue;
        }
        parent = word;
        at = w[at] * spec.UNIT_WORDS;
      }
      const sN = this._stateBits(chunk);
      const aN = this._actionBits(chunk);
      const last = chunk + 1 === this.chunks;
      for (let i = 0; i < 1 << (sN + aN); i++) {
        stack.push([
          at + i, level + (last ? 1 : 0), last ? 0 : chunk + 1, sBits + sN, aBits + aN,
          state | ((i >> aN) << (16 - sBits - sN)), action | ((i & ((1 << aN) - 1)) << (16 - aBits - aN)), parent,
        ]);
      }
    }
    return this._columns(found);
  }

  /* The balls behind a value: one, or all of a level that no routing block tells apart yet. */
  _addUnvisited(add, word, slotLevel, chunk, sBits, aBits, state, action, parent) {
    const level = slotLevel + (chunk ? 1 : 0);
    const sEnd = level * this.dS;
    const aEnd = level * this.dA;
    for (let i = 0; i < 1 << (sEnd - sBits); i++) {
      for (let j = 0; j < 1 << (aEnd - aBits); j++) {
        add(level, state | (i << (16 - sEnd)), action | (j << (16 - aEnd)), word, 0, parent);
      }
    }
  }

  _columns(found) {
    const count = found.level.length;
    const axes = this.dS + this.dA;
    const low = new Float32Array(count * axes);
    const n = new Uint16Array(count);
    for (let i = 0; i < count; i++) {
      this._corner(found.state[i], this.dS, low, i * axes);
      this._corner(found.action[i], this.dA, low, i * axes + this.dS);
      if (found.record[i]) {
        n[i] = this.w[found.record[i] * this.spec.UNIT_WORDS + this.spec.R_N] & this.spec.N_MAX;
      }
    }
    return {
      count, axes, low, n,
      level: Uint8Array.from(found.level),
      state: Uint16Array.from(found.state),
      action: Uint16Array.from(found.action),
      surplus: Uint16Array.from(found.surplus),
      record: Uint16Array.from(found.record),
      parent: Uint16Array.from(found.parent),
    };
  }

  /* Coordinates in [0,1) of an interleaved code. */
  _corner(code, dims, into, at) {
    if (dims === 1) {
      into[at] = code / Q16;
      return;
    }
    for (let axis = 0; axis < dims; axis++) {
      let value = 0;
      let side = 0.5;
      for (let bit = 15 - axis; bit >= 0; bit -= dims) {
        if ((code >> bit) & 1) value += side;
        side /= 2;
      }
      into[at + axis] = value;
    }
  }

  /* Q of every ball at step h. */
  q(h) {
    if (this._q[h]) return this._q[h];
    const { spec } = this;
    const leaves = this.leaves(h);
    const most = Math.min(spec.VALUE_MAX, (this.horizon - h) << this.fraction);
    const known = new Int32Array(this.w[spec.H_FRESH]).fill(-1);
    const q = new Float32Array(leaves.count);
    for (let i = 0; i < leaves.count; i++) {
      const reference = leaves.record[i] || leaves.parent[i];
      let value = most;
      if (reference) {
        if (known[reference] < 0) {
          known[reference] = this._expect(reference, leaves.level[i] - (leaves.record[i] ? 0 : 1), h);
        }
        value = leaves.surplus[i] - spec.SURPLUS_ZERO + known[reference];
        value = value < 0 ? 0 : value > most ? most : value;
      }
      q[i] = value / this.one;
    }
    this._q[h] = q;
    return q;
  }

  reward(record) {
    return this.w[record * this.spec.UNIT_WORDS + this.spec.R_REWARD] / Q16;
  }

  credit(record) {
    return this.w[record * this.spec.UNIT_WORDS + this.spec.R_N] >> this.spec.CREDIT_SHIFT;
  }

  _entries(record) {
    const { w, spec } = this;
    let unit = w[record * spec.UNIT_WORDS + spec.R_COUNTS];
    if (unit & spec.TAG) return [unit];
    const found = [];
    for (let budget = w.length; unit !== 0 && budget > 0; budget--) {
      const at = unit * spec.UNIT_WORDS;
      for (let i = at; i < at + spec.UNIT_WORDS; i++) if (w[i] & spec.TAG) found.push(w[i]);
      unit = w[at] & spec.TAG ? 0 : w[at];
    }
    return found;
  }

  /* [cell, count] of the next states that a record has seen, cells of its level. */
  nextStates(record, level, n) {
    if (!record) return [];
    if (level === 0) return n ? [[0, n]] : [];
    const bits = 15 - this.dS * level;
    const low = (1 << bits) - 1;
    return this._entries(record)
      .map((word) => [(word & this.spec.VALUE_MASK) >> bits, word & low])
      .filter((entry) => entry[1] > 0)
      .sort((a, b) => a[0] - b[0]);
  }

  _expect(record, level, h) {
    const { w, spec } = this;
    if (h + 1 >= this.horizon) return 0;
    if (level === 0) return this._valueAt(h + 1, 0, 0);
    const bits = 15 - this.dS * level;
    const low = (1 << bits) - 1;
    const depth = this.dS * level;
    const entries = this._entries(record);
    const code = (word) => ((word & spec.VALUE_MASK) >> bits) << (bits + 1);
    if (w[record * spec.UNIT_WORDS + spec.R_COUNTS] & spec.TAG) return this._valueAt(h + 1, code(entries[0]), depth);
    let total = 0;
    for (const word of entries) total += word & low;
    if (total === 0) return 0;
    const shift = this.paper ? 0 : 8 - (32 - Math.clz32(total));
    let sum = 0;
    let weights = 0;
    for (const word of entries) {
      const n = shift >= 0 ? (word & low) << shift : (word & low) >> -shift;
      if (n === 0) continue;
      weights += n;
      sum += n * this._valueAt(h + 1, code(word), depth);
    }
    if (this.paper) return Math.floor(sum / total);
    return Math.floor((Math.floor(sum / 256) * spec.RECIPROCAL[weights - 124]) / 16384);
  }

  _valueAt(h, code, bits) {
    const { w, spec } = this;
    let at = this._step(h) + spec.S_V_SLOT;
    for (let depth = 0; depth < bits && !(w[at] & spec.TAG); depth++) {
      at = w[at] * spec.UNIT_WORDS + ((code >> (15 - depth)) & 1);
    }
    return w[at] & spec.TAG ? w[at] & spec.VALUE_MASK : w[at + 2];
  }

  /* What `act` would play at step h in the state with this code: V there, and the code of the action. */
  decision(h, code) {
    const { w, spec } = this;
    let at = this._step(h) + spec.S_V_SLOT;
    for (let depth = 0; depth < 16 && !(w[at] & spec.TAG); depth++) {
      at = w[at] * spec.UNIT_WORDS + ((code >> (15 - depth)) & 1);
    }
    return { value: (w[at] & spec.VALUE_MASK) / this.one, action: w[at + 2] };
  }

  /* The ball that holds a pair of codes: its level, record (0 when never visited) and whether it was split. */
  find(h, state, action) {
    const { w, spec } = this;
    let slot = this._root(h);
    let level = 0;
    let sBits = 0;
    let aBits = 0;
    for (let budget = 4 * spec.PATH_MAX; budget > 0; budget--) {
      if (w[slot] & spec.TAG) return { level, record: 0 };
      const record = w[slot];
      let at = record * spec.UNIT_WORDS;
      if (w[at] & spec.TAG) return { level, record };
      at = w[at] * spec.UNIT_WORDS;
      for (let chunk = 0; chunk < this.chunks; chunk++) {
        const sN = this._stateBits(chunk);
        const aN = this._actionBits(chunk);
        const s = (state >> (16 - sBits - sN)) & ((1 << sN) - 1);
        const a = (action >> (16 - aBits - aN)) & ((1 << aN) - 1);
        sBits += sN;
        aBits += aN;
        slot = at + ((s << aN) | a);
        if (chunk + 1 < this.chunks) {
          if (w[slot] & spec.TAG) return { level: level + 1, record: 0 };
          at = w[slot] * spec.UNIT_WORDS;
        }
      }
      level++;
    }
    return { level, record: 0 };
  }

  /* The interleaved code of a point in [0,1)^dims. */
  codeOf(point) {
    const dims = point.length;
    let code = 0;
    for (let position = 0; position < 16; position++) {
      const axis = position % dims;
      const bit = Math.floor(point[axis] * 2 ** (Math.floor(position / dims) + 1)) & 1;
      code = (code << 1) | bit;
    }
    return code;
  }
}
