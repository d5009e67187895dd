"use strict";
// Tables that sort by a click on a head, filter by text and subgroup, and start short.

document.documentElement.classList.add("scripted");

/** What a cell sorts by: its number where it has one, else its text. */
function sortKey(row, column, numeric) {
  const cell = row.cells[column];
  if (!numeric) return cell.textContent.trim();
  const value = cell.dataset.value;
  return value === undefined || value === "" ? Number.NEGATIVE_INFINITY : Number(value);
}

const collator = new Intl.Collator(undefined, { numeric: true });

function sortTable(head) {
  const table = head.closest("table");
  const numeric = head.dataset.kind === "number";
  // Numbers are first sorted from the highest, text from A.
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const order = head.getAttribute("aria-sort") === first ? other : first;
  for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = Array.from(table.tBodies[0].rows, (row) => [sortKey(row, head.cellIndex, numeric), row]);
  rows.sort(([a], [b]) => sign * (numeric ? (a === b ? 0 : a < b ? -1 : 1) : collator.compare(a, b)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
  refresh(table);
}

/** Show the rows that the filter and the chosen subgroup let through, the first ones where many. */
function refresh(table) {
  const text = (table.dataset.text || "").toLowerCase();
  const subgroup = table.dataset.subgroup || "";
  const limit = table.dataset.limit && !table.dataset.whole ? Number(table.dataset.limit) : Infinity;
  let passed = 0;
  for (const row of table.tBodies[0].rows) {
    const fits =
      (!text || row.textContent.toLowerCase().includes(text)) &&
      (!subgroup || row.dataset.subgroup === undefined || row.dataset.subgroup === subgroup);
    row.hidden = !fits || passed >= limit;
    passed += fits;
  }
  const shown = Math.min(passed, limit);
  for (const place of document.querySelectorAll(`[data-shown="${table.id}"]`)) {
    place.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
  }
  for (const button of document.querySelectorAll(`[data-all="${table.id}"]`)) {
    button.hidden = passed <= limit;
    button.textContent = `Show all ${passed}`;
  }
}

for (const button of document.querySelectorAll("button.sort")) {
  button.addEventListener("click", () => sortTable(button.closest("th")));
}
for (const input of document.querySelectorAll("input[data-filter]")) {
  const table = document.getElementById(input.dataset.filter);
  input.addEventListener("input", () => {
    table.dataset.text = input.value.trim();
    refresh(table);
  });
}
for (const button of document.querySelectorAll("button[data-all]")) {
  const table = document.getElementById(button.dataset.all);
  button.addEventListener("click", () => {
    table.dataset.whole = "yes";
    refresh(table);
  });
  refresh(table);
}
