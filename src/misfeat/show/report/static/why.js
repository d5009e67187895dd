// Why a set is informative: its cells, from rows by cell and class.

const MOST_LISTED = 12;
const WELL_FILLED = 5; // rows; cells with fewer come last

/** The interval of a share of so many rows (Wilson). */
function wilson(share, rows, z) {
  if (z === null || !rows) return [null, null];
  const centre = share + (z * z) / (2 * rows);
  const reach = z * Math.sqrt((share * (1 - share)) / rows + (z * z) / (4 * rows * rows));
  const scale = 1 + (z * z) / rows;
  return [Math.max(0, (centre - reach) / scale), Math.min(1, (centre + reach) / scale)];
}

/** The cells of a set in a subgroup, those that add most first; null where the page does not hold them. */
function cellsOf(report, subgroup, set) {
  const lines = report.cells.tables[`${subgroup}:${set.join(",")}`];
  if (!lines) return null;
  const n = set.length;
  const classes = report.classes.length;
  const totals = new Array(classes).fill(0);
  for (const line of lines) for (let c = 0; c < classes; c++) totals[c] += line[n + c];
  const all = totals.reduce((a, b) => a + b, 0);
  const cells = lines.map((line) => {
    const counts = line.slice(n);
    const rows = counts.reduce((a, b) => a + b, 0);
    let contribution = 0;
    const shares = counts.map((count, c) => {
      const share = rows ? count / rows : 0;
      const overall = all ? totals[c] / all : 0;
      const told = count > 0 ? (count / all) * Math.log(share / overall) : 0;
      contribution += told;
      const [low, high] = wilson(share, rows, report.z);
      return { share, low, high, overall, told };
    });
    return { values: line.slice(0, n).map((label) => report.cells.labels[label]), rows, shares, contribution };
  });
  const filled = (cell) => Number(cell.rows >= WELL_FILLED);
  return cells.filter((cell) => cell.rows > 0).sort((a, b) => filled(b) - filled(a) || b.contribution - a.contribution);
}

/** The class that is drawn at first: the last one, "yes" of no and yes, in every subgroup. */
function firstClass(report) {
  return report.classes.length - 1;
}

function whyTable(report, subgroup, set, cells, predicted) {
  const total = cells.reduce((sum, cell) => sum + cell.contribution, 0) || 1;
  const few = report.classes.length <= 4;
  const classes = few ? report.classes.map((_, c) => c) : [];
  const heads = [
    ...set.map((feature) => ({ label: report.features[feature] })),
    { label: "Rows", kind: "number" },
    ...classes.map((c) => ({ label: `${report.target} = ${report.classes[c]}`, kind: "number", note: `Overall ${percent(cells[0].shares[c].overall, 0, 1)}` })),
    ...(few ? [] : [{ label: "Most about" }, { label: "Share", kind: "number" }, { label: "Overall", kind: "number" }]),
    { label: set.length > 1 ? "Part of what the set explains" : "Part of what it explains", kind: "number" },
  ];
  const shared = (cell, c) => {
    const one = cell.shares[c];
    const range = predicted || one.low === null ? "" : ` (${between(one.low, one.high)})`;
    return { node: percent(one.share, 0, 1) + range, value: one.share };
  };
  const rows = cells.slice(0, MOST_LISTED).map((cell) => {
    const most = cell.shares.reduce((best, one, c) => (one.told > cell.shares[best].told ? c : best), 0);
    return [
      ...cell.values.map((value) => make("bdi", {}, value)),
      { node: Math.round(cell.rows).toLocaleString("en"), value: cell.rows },
      ...classes.map((c) => shared(cell, c)),
      ...(few ? [] : [make("bdi", {}, report.classes[most]), shared(cell, most), { node: percent(cell.shares[most].overall, 0, 1), value: cell.shares[most].overall }]),
      { node: percent(cell.contribution / total, 0, 1), value: cell.contribution / total },
    ];
  });
  const more = cells.length - MOST_LISTED;
  const gaps = cells.some((cell) => cell.values.includes("missing")) ? "A missing value counts as a value of its own. " : "";
  const small = cells.some((cell) => cell.rows < WELL_FILLED) && cells.length > 1 ? `Combinations of values that explain most first, those of fewer than ${WELL_FILLED} rows last. ` : "";
  const overall = few ? `Overall: ${classes.map((c) => `${percent(cells[0].shares[c].overall, 0, 1)} ${report.classes[c]}`).join(", ")}. ` : "";
  return tableOf(`why-${subgroup}-${set.join("-")}`, heads, rows, make("span", { class: "about" }, overall + gaps + small + (more > 0 ? `${more} more cells are not listed. ` : "")));
}

/** How to ask for what the page does not hold, in the words of who made it. */
function howToAsk(report, subgroup, set) {
  const names = set.map((feature) => report.features[feature]);
  const name = report.subgroups[subgroup].subgroup;
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const words = report.in_python
    ? `selection.why(${JSON.stringify(name)}, ${JSON.stringify(names)})`
    : `misfeat ask DIR why --subgroup ${quoted(name)} ${names.map((one) => `--feature ${quoted(one)}`).join(" ")}`;
  return make("code", {}, words);
}

/** Why a set is informative in a subgroup: cells, and a map of two features; else its features one by one. */
function showWhy(place, report, subgroup, set, sentences = []) {
  place.replaceChildren();
  if (!set.length) return;
  const cells = cellsOf(report, subgroup, set);
  const predicted = set.some((feature) => report.subgroups[subgroup].missing.includes(feature));
  if (sentences.length) place.append(make("ul", { class: "sentences" }, ...sentences.map((one) => make("li", { dir: "auto" }, one))));
  if (!cells || !cells.length) {
    place.append(make("p", {}, "This page does not hold the cells of this set. Whoever made it can show them: ", howToAsk(report, subgroup, set)));
    const single = set.map((feature) => [feature]).filter((one) => set.length > 1 && cellsOf(report, subgroup, one));
    for (const one of single) {
      const never = report.subgroups[subgroup].missing.includes(one[0]);
      const words = never ? " (never recorded here; its rows are those that are expected)" : "";
      place.append(make("h4", {}, "By itself: ", make("bdi", {}, report.features[one[0]]), words), whyTable(report, subgroup, one, cellsOf(report, subgroup, one), never));
    }
    return;
  }
  if (predicted) place.append(make("p", { class: "about" }, "Predicted: rows are those that are expected, had the subgroup recorded the set."));
  place.append(whyTable(report, subgroup, set, cells, predicted));
  if (set.length === 2) place.append(classMap(report, set, cells));
}

function classMap(report, set, cells) {
  const place = make("div", { class: "cross-map" });
  const show = (klass) => place.replaceChildren(crossMap(report, set, cells, klass));
  show(firstClass(report));
  if (report.classes.length < 3) return place;
  const select = make("select", {}, ...report.classes.map((name, c) => make("option", { value: c }, name)));
  select.value = String(firstClass(report));
  select.addEventListener("change", () => show(Number(select.value)));
  return make("div", {}, make("p", { class: "tools" }, make("label", {}, "Share of ", select)), place);
}
