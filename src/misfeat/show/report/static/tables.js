// Tables that sort by a click on a head, filter by text and subgroup, start short, and download as CSV.

/** What a cell sorts by: its number where it has one, else its text. */
function sortKey(row, column, numeric) {
  const cell = row.cells[column];
  if (!cell) return numeric ? Number.NEGATIVE_INFINITY : "";
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

/** Show the rows that the filter lets through, the first ones where there are many. */
function refresh(table) {
  const text = (table.dataset.text || "").toLowerCase();
  const limit = table.dataset.limit && !table.dataset.whole ? Number(table.dataset.limit) : Infinity;
  let passed = 0;
  for (const row of table.tBodies[0].rows) {
    const fits = !text || row.textContent.toLowerCase().includes(text);
    row.hidden = !fits || passed >= limit;
    passed += fits;
  }
  const shown = Math.min(passed, limit);
  for (const place of document.querySelectorAll(`[data-shown="${table.id}"]`)) {
    place.textContent = passed ? `${shown} of ${table.tBodies[0].rows.length} rows` : "None fits.";
  }
  for (const button of document.querySelectorAll(`[data-all="${table.id}"]`)) {
    button.hidden = passed <= limit;
    button.textContent = `Show all ${passed}`;
  }
}

/** Text that a spreadsheet takes for text: never for a formula. */
function inert(text) {
  return /^[\s"']*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
}

function csvCell(cell) {
  const value = cell.dataset.value;
  if (value !== undefined && value !== "") return value;
  const text = inert(cell.dataset.text ?? cell.textContent.replace(/\s+/g, " ").trim());
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The whole table, as it is sorted, numbers in full; drawings are left out, intervals have columns. */
function csvOf(table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  const line = (row, isHead) =>
    Array.from(row.cells)
      .flatMap((cell, column) => {
        const { drawn, interval } = heads[column]?.dataset ?? {};
        if (drawn !== undefined) return [];
        const own = csvCell(cell);
        if (interval === undefined) return [own];
        return isHead ? [own, "low", "high"] : [own, cell.dataset.low ?? "", cell.dataset.high ?? ""];
      })
      .join(",");
  const rows = Array.from(table.tBodies[0].rows, (row) => line(row, false));
  return [line(table.tHead.rows[0], true), ...rows].join("\r\n") + "\r\n";
}

function downloadCsv(table) {
  const link = make("a", { download: `${table.dataset.name || table.id}.csv` });
  link.href = URL.createObjectURL(new Blob(["\ufeff", csvOf(table)], { type: "text/csv" }));
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A table from heads and rows of cells; a cell is a node or text, or {node, value, text}. */
function tableOf(name, heads, rows, note = "") {
  const head = make("tr");
  for (const one of heads) {
    const label = one.drawn ? one.label : make("button", { type: "button", class: "sort", title: one.note }, one.label);
    const cell = make("th", { scope: "col", "data-kind": one.kind || "text", class: one.kind === "number" ? "number" : null, "data-drawn": one.drawn, "data-interval": one.interval }, label);
    if (!one.drawn) label.addEventListener("click", () => sortTable(cell));
    head.append(cell);
  }
  const body = make("tbody");
  for (const cells of rows) {
    const row = make("tr");
    cells.forEach((cell, column) => {
      const { node, value, low, high, text, kind } = cell !== null && typeof cell === "object" && !(cell instanceof Node) ? cell : { node: cell };
      const number = heads[column].kind === "number";
      row.append(make("td", { class: [number ? "number" : "", kind || ""].join(" ").trim() || null, "data-value": value, "data-low": low, "data-high": high, "data-text": text }, node ?? "–"));
    });
    body.append(row);
  }
  const table = make("table", { id: `made-${name}`, "data-name": name }, make("thead", {}, head), body);
  const button = make("button", { type: "button", class: "csv" }, "Download as CSV");
  button.addEventListener("click", () => downloadCsv(table));
  const scroll = make("div", { class: "scroll", role: "region", "aria-label": name.replaceAll("-", " "), tabindex: 0 }, table);
  return make("div", { class: "made" }, scroll, make("p", { class: "tools" }, note, button));
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
for (const button of document.querySelectorAll("button.all[data-all]")) {
  const table = document.getElementById(button.dataset.all);
  button.addEventListener("click", () => {
    table.dataset.whole = "yes";
    refresh(table);
  });
  refresh(table);
}
for (const button of document.querySelectorAll("button[data-csv]")) {
  button.addEventListener("click", () => downloadCsv(document.getElementById(button.dataset.csv)));
}
