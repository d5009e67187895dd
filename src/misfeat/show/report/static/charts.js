// Small drawings: an interval, a curve of sizes, a map of two features.

const BAR = { width: 160, height: 16, edge: 6 };

/** A share with its interval on a common scale; the square grows with the rows, hollow where predicted. */
function intervalBar(share, low, high, top, { predicted = false, faded = false, weight = null, chance = null, seen = null } = {}) {
  const at = (value) => BAR.edge + (Math.max(0, Math.min(value, top)) / (top || 1)) * (BAR.width - 2 * BAR.edge);
  const middle = BAR.height / 2;
  const drawn = draw("svg", { class: `interval${predicted ? " predicted" : ""}${faded ? " faded" : ""}`, width: BAR.width, height: BAR.height, viewBox: `0 0 ${BAR.width} ${BAR.height}`, "aria-hidden": "true" });
  drawn.append(draw("line", { class: "axis", x1: BAR.edge, y1: middle, x2: BAR.width - BAR.edge, y2: middle }));
  if (chance && seen) {
    const own = at(seen);
    drawn.append(draw("line", { class: "chance", x1: at(chance), y1: 1, x2: at(chance), y2: BAR.height - 1 }));
    drawn.append(draw("path", { class: "seen", d: `M${own - 4} ${middle}l4-4 4 4-4 4z` }));
  }
  if (low < high) drawn.append(draw("line", { class: "range", x1: at(low), y1: middle, x2: at(high), y2: middle }));
  const half = weight === null ? 3.5 : 2.5 + 4 * Math.sqrt(weight);
  drawn.append(
    weight === null
      ? draw("circle", { cx: at(share), cy: middle, r: half })
      : draw("rect", { class: "point", x: at(share) - half, y: middle - half, width: 2 * half, height: 2 * half }),
  );
  return drawn;
}

/** Round numbers for an axis from 0. */
function ticks(top) {
  const rough = top / 4;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) || power;
  const found = [];
  for (let value = 0; value <= top * 1.0001; value += step) found.push(value);
  return found;
}

/** The best share by size, with intervals, and where it is enough. */
function sizeCurve(steps, whole, enough) {
  const width = 420, height = 210, left = 46, bottom = 34, edge = 14;
  const shares = steps.map((step) => [step.score / whole, step.low / whole, step.high / whole]);
  const top = Math.max(...shares.map(([, , high]) => high), 0.01);
  const x = (size) => left + ((size - 0.5) / steps.length) * (width - left - edge);
  const y = (share) => height - bottom - (share / top) * (height - bottom - edge);
  const drawn = draw("svg", { class: "curve", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "The best share by the number of features; the table beside it has the numbers." });
  for (const tick of ticks(top)) {
    drawn.append(draw("line", { class: "axis", x1: left, x2: width - edge, y1: y(tick), y2: y(tick) }));
    const label = draw("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" });
    label.textContent = percent(tick, 0, 1);
    drawn.append(label);
  }
  drawn.append(draw("polyline", { class: "line", points: shares.map(([share], i) => `${x(i + 1)},${y(share)}`).join(" ") }));
  shares.forEach(([share, low, high], i) => {
    const beyond = i + 1 > enough ? " beyond" : "";
    if (low < high) drawn.append(draw("line", { class: `range${beyond}`, x1: x(i + 1), x2: x(i + 1), y1: y(low), y2: y(high) }));
    drawn.append(draw("circle", { class: `point${beyond}${i + 1 === enough ? " enough" : ""}`, cx: x(i + 1), cy: y(share), r: i + 1 === enough ? 6 : 4.5 }));
    const label = draw("text", { x: x(i + 1), y: height - bottom + 16, "text-anchor": "middle" });
    label.textContent = i + 1;
    drawn.append(label);
  });
  const caption = draw("text", { class: "axis-name", x: (left + width - edge) / 2, y: height - 4, "text-anchor": "middle" });
  caption.textContent = "features in the set";
  drawn.append(caption);
  return drawn;
}

/** Two features crossed: the share of one class in every cell, with its rows. */
function crossMap(report, set, cells, klass) {
  const [down, across] = set;
  const order = (feature, values) => {
    const known = report.levels[feature] || [];
    const place = (value) => (known.includes(value) ? known.indexOf(value) : known.length);
    return [...new Set(values)].sort((a, b) => place(a) - place(b));
  };
  const rows = order(down, cells.map((cell) => cell.values[0]));
  const columns = order(across, cells.map((cell) => cell.values[1]));
  const at = new Map(cells.map((cell) => [JSON.stringify(cell.values), cell]));
  const head = make("tr", {}, make("td", { class: "corner" }), ...columns.map((value) => make("th", { scope: "col" }, make("bdi", {}, value))));
  const body = rows.map((value) => {
    const line = make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, value)));
    for (const other of columns) {
      const cell = at.get(JSON.stringify([value, other]));
      if (!cell) line.append(make("td", { class: "empty" }, "no rows"));
      else {
        const share = cell.shares[klass].share;
        const shade = cell.rows >= WELL_FILLED ? `shade${Math.min(9, Math.floor(10 * share))}` : "faded";
        line.append(make("td", { class: shade }, percent(share, 0, 1), make("span", { class: "small" }, rowsWords(cell.rows))));
      }
    }
    return line;
  });
  const caption = make("caption", {}, make("span", {}, "Down: ", make("bdi", { class: "name" }, report.features[down]), ". Across: ", make("bdi", { class: "name" }, report.features[across]), ". Share of ", make("bdi", { class: "name" }, `${report.target} = ${report.classes[klass]}`), `, and rows; pale: fewer than ${WELL_FILLED}.`));
  const table = make("table", { class: "map cross" }, caption, make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "scroll", role: "region", "aria-label": "Two features crossed", tabindex: 0 }, table);
}
