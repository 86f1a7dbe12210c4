"use strict";
/* Shared by all pages: light or dark, and tables. A heading sorts its column, and a table of which a part is out of
 * sight says so. Without this script a table is as it was written. */

const NUMBER = /[-+−]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?/i;

/* The key of a cell: its own word on that, else the first number in it, else its text. */
function sortKey(cell) {
  if (!cell) return { text: "", number: NaN };
  const text = (cell.dataset.sort ?? cell.textContent).trim();
  const found = text.match(NUMBER);
  return { text, number: found ? Number(found[0].replace("−", "-").replaceAll(",", "")) : NaN };
}

function sortRows(table, column, descending) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const fixed = rows.filter((row) => row.classList.contains("total"));
  const moving = rows.filter((row) => !row.classList.contains("total"));
  const keys = new Map(moving.map((row) => [row, sortKey(row.cells[column])]));
  const numeric = table.tHead.rows[0].cells[column].classList.contains("number");
  const sign = descending ? -1 : 1;
  moving.sort((one, other) => {
    const a = keys.get(one);
    const b = keys.get(other);
    if (!numeric) return sign * a.text.localeCompare(b.text, "en", { numeric: true });
    if (Number.isNaN(a.number) || Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number);
    return sign * (a.number - b.number);
  });
  body.append(...moving, ...fixed);
}

/* Numbers start with the largest, words with the first of the alphabet; another click turns it round. */
function sortable(table) {
  if (!table.tHead || table.tBodies[0].rows.length < 2) return;
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const name = heading.textContent.trim() || "name";
    const button = node("button", { type: "button", class: "sort", title: `sort by ${name}` }, ...heading.childNodes);
    if (!heading.textContent.trim()) button.setAttribute("aria-label", `sort by ${name}`);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const descending = before ? before === "ascending" : heading.classList.contains("number");
      for (const each of headings) each.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortRows(table, column, descending);
    });
    heading.replaceChildren(button);
  });
}

/* A line below a frame that says how much of it is out of sight, and goes away at its end. */
function scrollHint(frame, count, text) {
  const hint = node("p", { class: "scroll-hint", hidden: true });
  frame.after(hint);
  const update = () => {
    const left = count(frame, frame.getBoundingClientRect());
    hint.hidden = !left;
    hint.textContent = text(left, left === 1 ? "" : "s");
  };
  frame.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(frame);
}

function hiddenColumns(frame, bounds) {
  const wider = frame.scrollWidth - frame.clientWidth > 1;
  const hidden = [...(frame.querySelector("tr")?.cells || [])].filter((cell) => cell.getBoundingClientRect().right > bounds.right + 1);
  frame.classList.toggle("more", wider && hidden.length > 0);
  const region = { tabindex: 0, role: "region", "aria-label": "table, scrolls sideways" };
  if (wider) setAll(frame, region);
  else for (const name of Object.keys(region)) frame.removeAttribute(name);
  return wider ? hidden.length : 0;
}

function hiddenRows(frame, bounds) {
  return [...frame.querySelectorAll("tbody tr")].filter((row) => row.getBoundingClientRect().bottom > bounds.bottom + 2).length;
}

function tables() {
  const move = matchMedia("(pointer: coarse)").matches ? "Swipe" : "Scroll";
  for (const frame of document.querySelectorAll(".scroll")) {
    sortable(frame.querySelector("table"));
    scrollHint(frame, hiddenColumns, (count, s) => `${move} sideways for ${count} more column${s} →`);
  }
  for (const frame of document.querySelectorAll(".long")) {
    scrollHint(frame, hiddenRows, (count, s) => `Scroll in the table for ${count} more row${s} ↓`);
  }
}

/* On the page over many folders a word leaves only the rows that have it. */
function filterRows() {
  const field = document.getElementById("filter");
  if (!field) return;
  const rows = [...document.querySelectorAll("#folders-section tbody tr")];
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
}

/* The button that turns light into dark and back. */
function theme() {
  const button = document.getElementById("theme");
  button.addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    document.dispatchEvent(new Event("themechange"));
  });
}

window.adambReport = { charts: {}, explorers: [], ready: Promise.resolve() };
theme();
tables();
filterRows();
