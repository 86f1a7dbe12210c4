"use strict";
/* Fills the page: charts from the options in it, the seeds that are chosen, the explorer from the recorded frames. */

const COLOURS = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)"];
const DASHES = [null, "9 3", "3 3", "12 3 3 3", "2 5", "14 5"];

/* Colours come round after six; the dashes then start one later, so that no two lines look alike. */
function look(i) {
  const round = Math.floor(i / COLOURS.length);
  return { colour: COLOURS[i % COLOURS.length], dash: DASHES[(i + round) % DASHES.length] };
}

/* Draw a chart in its place, or draw it again with other options; the axis across is of episodes unless given. */
function chartAt(id, options) {
  const { charts } = window.adambReport;
  const series = options.series.map((each) => ("look" in each ? { ...look(each.look), ...each } : each));
  if (charts[id]) charts[id].set({ ...options, series });
  else charts[id] = new LineChart(document.getElementById(id), { x: { label: "episode" }, ...options, series });
}

/* A list or buttons that choose which charts are shown; those of the first entry are shown at first. */
function onPick(chooser) {
  const panels = JSON.parse(chooser.dataset.json);
  const show = (value) => Object.entries(panels[value]).forEach(([id, options]) => chartAt(id, options));
  chooser.addEventListener("change", (event) => show(event.target.value));
  show(chooser.querySelector("option, input").value);
}

/* Episodes evenly or on a logarithmic scale. */
function onScale(chooser) {
  const chart = window.adambReport.charts[chooser.dataset.scale];
  chooser.addEventListener("change", (event) => chart.set({ x: { label: "episode", log: event.target.value === "log" } }));
}

/* ---- the seeds of a run, and of a combination of a sweep -------------------------------------------------------------- */

/* Mark the chosen row among the buttons of a run or a sweep. */
function markChosen(buttons, row) {
  for (const button of buttons) {
    const chosen = Number(button.dataset.row) === row;
    button.closest("tr").classList.toggle("chosen", chosen);
    button.setAttribute("aria-pressed", String(chosen));
  }
}

function onSeed(buttons, show) {
  for (const button of buttons) button.addEventListener("click", () => show(Number(button.dataset.row)));
}

/* The faint curves of all seeds and the one that is chosen; at first the one that ended lowest: that is the one to
 * ask about. */
function seedChart(host, options) {
  const buttons = document.querySelectorAll(`.seed[data-chart="${host.id}"]`);
  const seeds = options.series.filter((each) => each.faint);
  const show = (row) => {
    const chosen = { ...seeds[row], ...look(1), faint: false, name: `seed ${seeds[row].seed}` };
    chartAt(host.id, { ...options, series: [...options.series, chosen] });
    markChosen(buttons, row);
  };
  onSeed(buttons, show);
  const last = seeds.map((each) => each.y.at(-1));
  show(last.indexOf(Math.min(...last)));
}

/* The seeds of one combination of a sweep as a table of their own, below the table of combinations. */
function showSweepSeeds(sweeps, i, row) {
  const { name, seed, reward, bytes } = sweeps[i][row];
  const heading = (text) => node("th", { class: "number" }, text);
  const cell = (text) => node("td", { class: "number" }, text);
  const rows = seed.map((value, k) => node("tr", {}, cell(String(value)), cell(reward[k] === null ? "" : reward[k].toFixed(3)),
    cell(bytes[k] === null ? "" : FORMAT.integer(bytes[k]))));
  const table = node("table", {}, node("thead", {}, node("tr", {}, heading("seed"), heading("reward"), heading("peak bytes"))), node("tbody", {}, ...rows));
  const panel = document.getElementById(`sweep-seeds-${i}`);
  panel.replaceChildren(node("h4", {}, `Seed by seed: ${name}`), node("div", { class: "long" }, table));
  panel.hidden = false;
  sortable(table);
  markChosen(document.querySelectorAll(`.seed[data-sweep="${i}"]`), row);
}

/* ---- the explorer ------------------------------------------------------------------------------------------ */

async function explorers() {
  const host = document.getElementById("explorer");
  if (!host) return;
  const picker = document.getElementById("explorer-run");
  const open = async (i) => {
    host.setAttribute("aria-busy", "true");
    const replay = new Replay(await inflate(document.getElementById(`replay-${i}`).textContent).json());
    window.adambReport.explorers = [new Explorer(host, replay)];
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

for (const host of document.querySelectorAll("div[data-json]")) {
  const options = JSON.parse(host.dataset.json);
  if (options.series.some((each) => each.faint)) seedChart(host, options);
  else chartAt(host.id, options);
}
document.querySelectorAll("[data-json]:is(select, fieldset)").forEach(onPick);
document.querySelectorAll("[data-scale]").forEach(onScale);
const { sweeps } = JSON.parse(document.getElementById("data").textContent);
sweeps.forEach((_, i) => onSeed(document.querySelectorAll(`.seed[data-sweep="${i}"]`), (row) => showSweepSeeds(sweeps, i, row)));
window.adambReport.ready = explorers();
