"use strict";
/* Tables: a heading sorts its column, and a table that shows only a part of itself says so. Without this script a
 * table is as it was written. */

const NUMBER = /[-+−]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?/i;

/* What a cell is sorted by: its own word on that, else the first number in it, else its text. */
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

/* How many columns are to the right of what is seen, as a line below the table that goes away at its end. */
function scrollHint(frame) {
  const hint = node("p", { class: "scroll-hint", hidden: true });
  frame.after(hint);
  const update = () => {
    const wider = frame.scrollWidth - frame.clientWidth > 1;
    const right = frame.getBoundingClientRect().right + 1;
    const hidden = [...(frame.querySelector("tr")?.cells || [])].filter((cell) => cell.getBoundingClientRect().right > right);
    const touch = matchMedia("(pointer: coarse)").matches;
    frame.classList.toggle("more", wider && hidden.length > 0);
    hint.hidden = !wider || !hidden.length;
    hint.textContent = `${touch ? "Swipe" : "Scroll"} sideways for ${hidden.length} more column${hidden.length === 1 ? "" : "s"} →`;
    if (wider) setAll(frame, { tabindex: 0, role: "region", "aria-label": "table, scrolls sideways" });
    else for (const name of ["tabindex", "role", "aria-label"]) frame.removeAttribute(name);
  };
  frame.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(frame);
}

/* The same for the rows of a table that scrolls in itself. */
function rowsHint(frame) {
  const hint = node("p", { class: "scroll-hint", hidden: true });
  frame.after(hint);
  const update = () => {
    const bottom = frame.getBoundingClientRect().bottom + 2;
    const below = [...frame.querySelectorAll("tbody tr")].filter((row) => row.getBoundingClientRect().bottom > bottom);
    hint.hidden = !below.length;
    hint.textContent = `Scroll in the table for ${below.length} more row${below.length === 1 ? "" : "s"} ↓`;
  };
  frame.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(frame);
}

function tables() {
  for (const frame of document.querySelectorAll(".scroll")) {
    sortable(frame.querySelector("table"));
    scrollHint(frame);
  }
  for (const frame of document.querySelectorAll(".long")) rowsHint(frame);
}
