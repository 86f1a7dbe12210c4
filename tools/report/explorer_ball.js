"use strict";
/* The ball under the cursor: found by mouse, finger or arrow keys, and described in words and numbers. */

class BallPanel extends PartitionPainter {
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
    const row = (name, value, key, exact) => [node("dt", {}, name), node("dd", { "data-key": key, "data-exact": exact }, value)];
    const rows = [...row("level", String(ball.level), "level")];
    ball.box.forEach((low, axis) => {
      rows.push(...row(this.axisName(axis), `${trim(low, digits)} to ${trim(low + ball.side, digits)}`, `axis${axis}`));
    });
    rows.push(...row("visits n", ball.visited ? FORMAT.integer(ball.n) : "never visited", "n"));
    if (ball.visited) rows.push(...row("mean reward", ball.reward.toFixed(4), "reward", ball.reward));
    rows.push(...row("Q", ball.q.toFixed(4), "q", ball.q));
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

/* A coordinate without needless zeros. */
function trim(value, digits) {
  return String(Number(value.toFixed(digits)));
}
