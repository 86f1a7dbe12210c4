"use strict";
/* The curves of all seeds, faint, with the mean and the seed that was chosen in the table. */

function seedSeries(run, chosen) {
  const { lines, curve } = run;
  const series = lines.reward.map((y) => ({ colour: "var(--c5)", faint: true, x: lines.episode, y }));
  if (curve) series.push({ name: "mean of the seeds", colour: "var(--c0)", x: curve.episode, y: curve.reward });
  if (chosen !== null) {
    const y = lines.reward[chosen];
    series.push({ name: `seed ${lines.seeds[chosen]}`, colour: "var(--c1)", dash: "9 3", x: lines.episode, y });
  }
  return series;
}

function worstSeed(lines) {
  const last = lines.reward.map((row) => row.at(-1));
  return last.indexOf(Math.min(...last));
}

function chooseSeed(run, i, chart, row) {
  chart.set({ series: seedSeries(run, row) });
  for (const button of document.querySelectorAll(`.seed[data-run="${i}"]`)) {
    const chosen = Number(button.dataset.row) === row;
    button.closest("tr").classList.toggle("chosen", chosen);
    button.setAttribute("aria-pressed", String(chosen));
  }
}

/* At first the seed is drawn that ended lowest: that is the one to ask about. */
function seedCharts() {
  data.runs.forEach((run, i) => {
    if (!run.lines || !run.lines.reward.length || !document.getElementById(`seeds-${i}`)) return;
    const rules = run.optimal ? [{ y: run.optimal, name: "optimum V*", colour: "var(--limit)" }] : [];
    const chart = chartAt(`seeds-${i}`, {
      x: { label: "episode" }, y: { label: "reward per episode", format: "number" }, series: seedSeries(run, null), rules, height: 260,
    });
    for (const button of document.querySelectorAll(`.seed[data-run="${i}"]`)) {
      button.addEventListener("click", () => chooseSeed(run, i, chart, Number(button.dataset.row)));
    }
    chooseSeed(run, i, chart, worstSeed(run.lines));
  });
}

/* The seeds of one combination of a sweep as a table of their own, below the table of combinations. */
function showSweepSeeds(i, row) {
  const { name, seed, reward, bytes } = data.sweeps[i].seeds[row];
  const heading = (text) => node("th", { class: "number" }, text);
  const cell = (text) => node("td", { class: "number" }, text);
  const rows = seed.map((value, k) => node("tr", {}, cell(String(value)), cell(reward[k] === null ? "" : reward[k].toFixed(3)),
    cell(bytes[k] === null ? "" : FORMAT.integer(bytes[k]))));
  const table = node("table", {}, node("thead", {}, node("tr", {}, heading("seed"), heading("reward"), heading("peak bytes"))), node("tbody", {}, ...rows));
  const panel = document.getElementById(`sweep-seeds-${i}`);
  panel.replaceChildren(node("h4", {}, `Seed by seed: ${name}`), node("div", { class: "long" }, table));
  panel.hidden = false;
  sortable(table);
  for (const button of document.querySelectorAll(`.seed[data-sweep="${i}"]`)) {
    const chosen = Number(button.dataset.row) === row;
    button.closest("tr").classList.toggle("chosen", chosen);
    button.setAttribute("aria-pressed", String(chosen));
  }
}

function sweepSeeds() {
  for (const button of document.querySelectorAll(".seed[data-sweep]")) {
    button.addEventListener("click", () => showSweepSeeds(Number(button.dataset.sweep), Number(button.dataset.row)));
  }
}
