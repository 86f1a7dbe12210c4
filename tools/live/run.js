"use strict";
/* Asks for the state of the run and draws it, until the run has ended or the server is gone. */

const EVERY = 500;
const charts = {};

function clock(seconds) {
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60].map((n) => String(n).padStart(2, "0"));
  return (parts[0] === "00" ? parts.slice(1) : parts).join(":");
}

function show(id, options) {
  if (charts[id]) charts[id].set(options);
  else charts[id] = new LineChart(document.getElementById(id), options);
}

function card(question, short, text, status = "note") {
  return node("article", { class: `card ${status}` }, node("h3", {}, question), node("p", { class: "short" }, short), node("p", {}, text));
}

function cards(state) {
  const { curve } = state;
  const reward = curve.reward.at(-1);
  const best = curve.optimal ? curve.optimal.at(-1) : null;
  const share = best ? `${FORMAT.percent(reward / best)} of the optimum` : FORMAT.number(reward);
  const over = state.cap && state.peak > state.cap;
  const memory = state.cap ? `${FORMAT.bytes(state.used)} of ${FORMAT.bytes(state.cap)}` : FORMAT.bytes(state.used);
  const counters = Object.entries(state.counters).map(([name, value]) => `${name.replace("_", " ")} ${FORMAT.number(value)}`);
  return [
    card("How far is it?", `${FORMAT.integer(state.done)} of ${FORMAT.integer(state.episodes)}`,
      state.ended ? `It took ${clock(state.elapsed)}.` : `${clock(state.elapsed)} so far, about ${clock(state.left)} left.`),
    card("Does it learn?", share, `Reward ${FORMAT.number(reward)} an episode in the last ${curve.window}, mean of ${state.seeds} seeds.`),
    card("Does it fit?", memory, `The peak of the worst seed is ${PLAIN.bytes(state.peak)}.`, over ? "bad" : state.cap ? "ok" : "note"),
    card("What happened?", counters[0] || "nothing is counted", counters.slice(1).join(", ")),
  ];
}

function learningSeries(curve) {
  const half = curve.reward_ci95;
  const series = [{
    name: "reward", colour: "var(--c0)", x: curve.episode, y: curve.reward, half: true,
    low: half && curve.reward.map((value, k) => value - half[k]), high: half && curve.reward.map((value, k) => value + half[k]),
  }];
  if (curve.optimal) series.push({ name: "optimum V*", colour: "var(--limit)", dash: "6 4", x: curve.episode, y: curve.optimal, thin: true });
  return series;
}

function draw(state) {
  const status = state.ended ? `The run has ${state.ended === "finished" ? "finished" : "been stopped"}` : "The run is under way";
  document.getElementById("status").textContent = state.done ? status : "Waiting for the first episode";
  document.getElementById("what").textContent = state.title;
  document.getElementById("head").className = `verdict ${state.ended === "finished" ? "ok" : "note"}`;
  if (!state.done) return;
  const part = (100 * state.done) / state.episodes;
  document.querySelector(".progress i").style.width = `${part}%`;
  document.querySelector(".progress").setAttribute("aria-valuenow", part.toFixed(0));
  document.getElementById("cards").replaceChildren(...cards(state));
  show("learning", { x: { label: "episode" }, y: { label: "reward per episode" }, series: learningSeries(state.curve), height: 320 });
  const memory = { name: "worst seed", colour: "var(--c0)", x: state.memory.map((row) => row[0]), y: state.memory.map((row) => row[1]), step: true };
  const rules = state.cap ? [{ y: state.cap, name: `cap ${FORMAT.bytes(state.cap)}`, colour: "var(--limit)" }] : [];
  show("memory", { x: { label: "episode" }, y: { label: "bytes in use", format: "bytes" }, series: [memory], rules, height: 240 });
}

async function follow() {
  let state = null;
  while (!state || !state.ended) {
    try {
      state = await (await fetch("state.json", { cache: "no-store" })).json();
    } catch {
      document.getElementById("status").textContent = "The run is gone";
      document.getElementById("footer").textContent = "Nothing answers any more; what is shown is the last that was known.";
      return;
    }
    draw(state);
    await new Promise((done) => setTimeout(done, EVERY));
  }
  document.getElementById("footer").textContent = "This page stays as it is until it is closed.";
}

window.adambLive = { charts, ended: follow() };
