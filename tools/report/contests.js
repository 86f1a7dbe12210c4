"use strict";
/* Many algorithms on many problems: the curves of the paper's experiments and the points of a league. A list
 * chooses the problem. */

function onPick(id, show) {
  const list = document.getElementById(id);
  if (!list) return;
  list.addEventListener("change", () => show(Number(list.value)));
  show(0);
}

function algorithmLines(panel, kind) {
  return panel.agents.filter((agent) => agent[kind]).map((agent, j) => ({
    name: agent.name, colour: colourOf(j), dash: dashFor(j), x: agent.episode, y: agent[kind].mean, low: agent[kind].low,
    high: agent[kind].high, half: true,
  }));
}

function papers() {
  data.papers.forEach((panels, i) => {
    onPick(`paper-${i}-problem`, (k) => {
      const panel = panels[k];
      const rules = panel.optimal ? [{ y: panel.optimal, name: "optimum V*", colour: "var(--limit)" }] : [];
      redraw(`paper-${i}-reward`, {
        x: { label: "episode" }, y: { label: "reward per episode" }, series: algorithmLines(panel, "reward"), rules, height: 300,
      });
      redraw(`paper-${i}-leaves`, {
        x: { label: "episode" }, y: { label: "leaves", log: true, format: "integer" }, series: algorithmLines(panel, "leaves"), height: 300,
      });
    });
  });
}

function redraw(id, options) {
  const drawn = window.adambReport.charts[id];
  if (drawn) drawn.set(options);
  else chartAt(id, options);
}

/* The controller is drawn last and largest; rivals share the other colours. */
function leaguePoints(panel) {
  const order = [...panel.agents].sort((a, b) => a.ours - b.ours);
  return order.map((agent, j) => ({
    name: agent.name, colour: agent.ours === 2 ? "var(--c0)" : agent.ours ? "var(--c3)" : ["var(--c5)", "var(--c2)", "var(--c4)", "var(--c1)"][j % 4],
    dash: agent.ours === 2 ? null : DASHES[1 + (j % 5)], x: agent.bytes, y: agent.share, dots: true, thin: agent.ours < 2,
  }));
}

function leagues() {
  data.leagues.forEach((league, i) => {
    onPick(`league-${i}-problem`, (k) => {
      const panel = league.panels[k];
      if (!panel) return;
      const series = leaguePoints(panel);
      const low = Math.min(...series.flatMap((each) => each.y));
      redraw(`league-${i}`, {
        x: { label: "bytes at the peak of the worst seed", log: true, pad: 1.25, format: "bytes", ticks: powers(series.flatMap((each) => each.x)) },
        y: { label: `share of ${panel.unit}`, format: "percent", bottom: Math.max(0, low - 0.05) }, series,
        height: Math.max(320, 17 * series.length + 60),
      });
    });
  });
}

/* Powers of two around values: memory comes in them. */
function powers(values) {
  const ticks = [];
  for (let power = Math.ceil(Math.log2(Math.min(...values) / 1.2)); 2 ** power <= 1.2 * Math.max(...values); power++) ticks.push(2 ** power);
  return ticks;
}
