"use strict";
/* Fills the page: charts from the data, the explorer from the recorded frames, the theme. */

const COLOURS = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)"];
const DASHES = [null, "9 3", "3 3", "12 3 3 3", "2 5", "14 5"];

const data = JSON.parse(document.getElementById("data").textContent);
window.adambReport = { data, charts: {}, explorers: [], ready: null };

function colourOf(i) {
  return COLOURS[i % COLOURS.length];
}

/* Colours come round after six; the dashes then start one later, so that no two lines look alike. */
function dashFor(i) {
  return DASHES[(i + Math.floor(i / COLOURS.length)) % DASHES.length];
}

function dashOf(i) {
  return data.runs.length > 1 ? dashFor(i) : null;
}

function chartAt(id, options) {
  const host = document.getElementById(id);
  if (!host) return null;
  const chart = new LineChart(host, options);
  window.adambReport.charts[id] = chart;
  return chart;
}

/* ---- learning --------------------------------------------------------------------------------------------- */

function learningSeries(share) {
  const series = [];
  const several = data.runs.length > 1;
  data.runs.forEach((run, i) => {
    const { curve } = run;
    if (!curve || (share && !curve.optimal)) return;
    const scale = (values) => (share ? values.map((value, k) => value / Math.max(curve.optimal[k], 1e-9)) : values);
    const half = curve.reward_ci95 || null;
    series.push({
      name: several ? run.label : "reward", colour: colourOf(i), dash: dashOf(i), x: curve.episode, y: scale(curve.reward),
      low: half && scale(curve.reward.map((value, k) => value - half[k])),
      high: half && scale(curve.reward.map((value, k) => value + half[k])), half: true,
    });
    const repeated = data.runs.slice(0, i).some((other) => sameCurve(other.curve, curve));
    if (!share && curve.optimal && !repeated) {
      series.push({
        name: several && !data.runs.every((other) => sameCurve(other.curve, curve)) ? `V* of ${run.label}` : "optimum V*",
        colour: "var(--limit)", dash: "6 4", x: curve.episode, y: curve.optimal, thin: true,
      });
    }
  });
  return series;
}

function sameCurve(a, b) {
  return a && b && a.optimal && b.optimal && Math.abs(a.optimal.at(-1) - b.optimal.at(-1)) < 1e-4;
}

/* What agents earn that do not learn, once for each problem. */
function referenceRules(share) {
  const rules = [];
  const several = new Set(data.runs.map((run) => run.problem)).size > 1;
  const shown = new Set();
  for (const run of data.runs) {
    if (!run.lines || shown.has(run.problem) || (share && !run.optimal)) continue;
    shown.add(run.problem);
    for (const [agent, reward] of Object.entries(run.lines.references)) {
      const name = several ? `${agent}, ${run.problem}` : agent;
      const y = share ? reward / run.optimal : reward;
      rules.push({ y, name, colour: agent === "random" ? "var(--c5)" : "var(--c4)", dash: agent === "random" ? "1 4" : "10 3 2 3" });
    }
  }
  return rules;
}

function learning() {
  const chart = chartAt("learning", {
    x: { label: "episode" }, y: { label: "reward per episode", format: "number" }, series: learningSeries(false),
    rules: referenceRules(false), height: 330,
  });
  if (!chart) return;
  onChoice("learning-unit", (value) => {
    const share = value === "share";
    chart.set({
      series: learningSeries(share), rules: share ? [{ y: 1, name: "optimum V*", colour: "var(--limit)" }, ...referenceRules(true)] : referenceRules(false),
      y: { label: share ? "share of the optimum" : "reward per episode", format: share ? "percent" : "number" },
    });
  });
  onChoice("learning-scale", (value) => chart.set({ x: { label: "episode", log: value === "log" } }));
}

function onChoice(name, action) {
  for (const input of document.querySelectorAll(`input[name="${name}"]`)) {
    input.addEventListener("change", () => input.checked && action(input.value));
  }
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

function memory() {
  const series = [];
  const rules = [];
  const several = data.runs.length > 1;
  let top = 0;
  data.runs.forEach((run, i) => {
    const { bytes } = run;
    if (!bytes || !bytes.episode.length) return;
    top = Math.max(top, ...bytes.max, run.cap || 0);
    series.push({
      name: several ? run.label : "worst seed", colour: colourOf(i), dash: dashOf(i), x: bytes.episode, y: bytes.max, step: true,
    });
    if (!several) {
      series.push({ name: "mean of the seeds", colour: "var(--c5)", dash: "3 3", x: bytes.episode, y: bytes.mean, thin: true });
      if (run.bounds) {
        series.push({ name: "most in use", colour: "var(--c3)", dash: "2 4", x: run.bounds.episodes, y: run.bounds.bytes, thin: true });
      }
    }
    if (run.cap && !rules.some((rule) => rule.y === run.cap)) {
      rules.push({ y: run.cap, name: `cap ${FORMAT.bytes(run.cap)}`, colour: "var(--limit)" });
    }
  });
  if (!series.length) return;
  const chart = chartAt("memory", {
    x: { label: "episode" }, y: { label: "bytes in use", format: "bytes", top: 1.15 * top }, series, rules, height: 300,
  });
  if (chart) onChoice("memory-scale", (value) => chart.set({ x: { label: "episode", log: value === "log" } }));
}

const OWNER_COLOURS = {
  header: "var(--l0)", thresholds: "var(--l0)", steps: "var(--l1)", padding: "var(--l1)", records: "var(--l2)", routing: "var(--l3)",
  counts: "var(--l4)", values: "var(--l5)", "sharing test": "var(--l6)", free: "var(--l7)", unclaimed: "var(--bad)", tail: "var(--l7)",
};

/* The bytes of every owner over the episodes, stacked. */
function ledgerHistory() {
  data.runs.forEach((run, i) => {
    const host = document.getElementById(`ledger-history-${i}`);
    if (!host || !run.ledger_history) return;
    const { episodes, owners, bytes } = run.ledger_history;
    const base = new Array(episodes.length).fill(0);
    const series = owners.map((owner, k) => {
      const low = [...base];
      bytes[k].forEach((value, j) => (base[j] += value));
      return {
        title: owner, colour: OWNER_COLOURS[owner], x: episodes, y: bytes[k], low, high: [...base],
      };
    });
    new StackChart(host, { series, cap: run.cap });
  });
}

/* A LineChart whose bands are the values; lines would show only their upper ends. */
class StackChart extends LineChart {
  constructor(host, { series, cap }) {
    const total = Math.max(...series.at(-1).high);
    super(host, {
      x: { label: "episode" }, y: { label: "bytes in use", format: "bytes", top: 1.08 * Math.max(total, cap || 0) }, height: 240, series,
      rules: cap ? [{ y: cap, name: `cap ${FORMAT.bytes(cap)}`, colour: "var(--limit)" }] : [],
    });
  }

  _band(each) {
    const band = super._band(each);
    band.setAttribute("class", "stack");
    return band;
  }

  _line() {
    return svgNode("g");
  }
}

/* ---- timeline ---------------------------------------------------------------------------------------------- */

function timeline() {
  data.runs.forEach((run, i) => {
    const { timeline: line } = run;
    if (!line || !document.getElementById(`timeline-${i}`)) return;
    const events = [
      ["reclaims", "reclaimed pieces", "var(--c0)", null], ["refused", "refused splits", "var(--limit)", "6 3"],
      ["no_room", "samples without room", "var(--c3)", "2 3"],
    ].filter(([key]) => line[key].some((value) => value > 0));
    const marks = line.restarts_at.map((x) => ({ x, name: "restart" }));
    if (line.drift_at) marks.push({ x: line.drift_at, name: "the environment changes" });
    chartAt(`timeline-${i}`, {
      x: { label: "episode" }, y: { label: "split balls", format: "integer" }, height: 210, marks,
      series: [{ name: "split balls", colour: "var(--c2)", x: line.episodes, y: line.splits, step: true }],
    });
    if (events.length) {
      chartAt(`events-${i}`, {
        x: { label: "episode" }, y: { label: "so far", format: "integer" }, height: 210, marks,
        series: events.map(([key, name, colour, dash]) => ({ name, colour, dash, x: line.episodes, y: line[key], step: true })),
      });
    }
  });
}

/* ---- cost -------------------------------------------------------------------------------------------------- */

function costs() {
  data.latency.forEach((measured, i) => {
    for (const kind of ["act", "observe"]) {
      const { curves } = measured;
      if (!curves) continue;
      const series = [
        { name: "mean", colour: "var(--c0)", x: curves.episode, y: curves[`${kind}_mean`] },
        { name: "worst call", colour: "var(--c1)", dash: "5 2", x: curves.episode, y: curves[`${kind}_max`], thin: true },
      ];
      const rules = [];
      if (curves[`bound_${kind}`]) {
        series.push({ name: "upper bound", colour: "var(--limit)", dash: "6 4", x: curves.episode, y: curves[`bound_${kind}`], step: true });
      } else if (measured.bounds[kind]) {
        rules.push({ y: measured.bounds[kind], name: "upper bound", colour: "var(--limit)" });
      }
      chartAt(`cost-${kind}-${i}`, {
        x: { label: "episode", log: true }, y: { label: `${measured.unit} per ${kind}`, log: kind === "observe", format: "integer" },
        series, rules, height: 250,
      });
    }
  });
}

function profiles() {
  data.profiles.forEach((profile, i) => {
    // the modes are compared, so they have one scale
    const all = Object.values(profile.tracks).flatMap((track) => [...track.bound, ...track.runs.flatMap((each) => each.bytes)]);
    const scale = { top: 1.4 * Math.max(...all), bottom: 0.8 * Math.min(...all.filter((value) => value > 0)) };
    for (const [mode, track] of Object.entries(profile.tracks)) {
      const series = track.runs.map((each, k) => ({
        name: `${each.name}, worst seed`, colour: colourOf(k), dash: k ? "9 3" : null, x: each.episode, y: each.bytes,
      }));
      series.push({ name: "upper bound", colour: "var(--limit)", dash: "6 4", x: track.episode, y: track.bound, thin: true });
      chartAt(`profile-${i}-${mode}`, {
        x: { label: "episode", log: true }, y: { label: "bytes in use", log: true, format: "integer", ...scale }, series, height: 280,
      });
    }
  });
}

function sweeps() {
  data.sweeps.forEach((sweep, i) => {
    sweep.panels.forEach((panel, k) => {
      const series = panel.agents.map((agent, j) => ({
        name: agent.name, colour: colourOf(j), dash: dashFor(j), x: agent.budget, y: agent.reward, low: agent.low,
        high: agent.high, half: true,
      }));
      const rules = panel.optimal ? [{ y: panel.optimal, name: "optimum V*", colour: "var(--limit)" }] : [];
      chartAt(`sweep-${i}-${k}`, {
        x: { label: "cap", log: true, format: "bytes", ticks: [...new Set(series.flatMap((each) => each.x))] },
        y: { label: "reward per episode" }, series, rules, height: 250,
      });
    });
  });
}

/* ---- the explorer ------------------------------------------------------------------------------------------ */

async function loadExplorer(info) {
  const planes = await inflate(document.getElementById(info.blob).textContent);
  const source = { ...info, spec: data.spec, frames: undoDifferences(wordsOf(planes), info.lengths), optimum: null };
  if (info.optimum) {
    const words = wordsOf(await inflate(document.getElementById(info.optimum.blob).textContent));
    const [pictures, horizon, ...shape] = info.optimum.shape;
    const size = shape.reduce((a, b) => a * b, 1);
    const grids = [];
    for (let picture = 0; picture < pictures; picture++) {
      grids.push([]);
      for (let h = 0; h < horizon; h++) {
        const start = (picture * horizon + h) * size;
        grids[picture].push(new Grid(Float32Array.from(words.subarray(start, start + size), (word) => (word / 65535) * horizon), shape));
      }
    }
    source.optimum = { episodes: info.optimum.episodes, grids };
  }
  return source;
}

async function explorers() {
  const host = document.getElementById("explorer");
  if (!host) return;
  const picker = document.getElementById("explorer-run");
  const open = async (i) => {
    host.setAttribute("aria-busy", "true");
    const explorer = new Explorer(host, await loadExplorer(data.explorers[i]));
    window.adambReport.explorers = [explorer];
    host.removeAttribute("aria-busy");
  };
  picker?.addEventListener("change", () => open(Number(picker.value)));
  try {
    await open(0);
  } catch (error) {
    host.replaceChildren(node("p", { class: "hint" }, `The recorded frames could not be read: ${error.message}`));
    throw error;
  }
}

theme();
tables();
learning();
seedCharts();
memory();
ledgerHistory();
timeline();
costs();
profiles();
sweeps();
sweepSeeds();
papers();
leagues();
window.adambReport.ready = explorers();
