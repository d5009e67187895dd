// The explorer: a subgroup and a set of features, its score, its neighbours, and the other subgroups.

const MOST_HOLDING = 10;

class Explorer {
  constructor(data) {
    this.lattice = new Lattice(data);
    this.unit = data.unit;
    this.size = data.size;
    this.subgroup = 0;
    this.set = [];
    this.subgroupSelect = document.getElementById("explorer-subgroup");
    this.search = document.getElementById("explorer-search");
    this.chips = this.makeChips();
    this.subgroupSelect.addEventListener("change", () => this.pickSubgroup(Number(this.subgroupSelect.value)));
    this.search.addEventListener("input", () => this.filterChips());
    document.getElementById("explorer-clear").addEventListener("click", () => this.show([]));
    subgroupSwitch.addEventListener("change", () => {
      if (subgroupSwitch.value !== "") this.pickSubgroup(Number(subgroupSwitch.value));
    });
    this.pickSubgroup(0);
  }

  makeChips() {
    const place = document.getElementById("explorer-features");
    return this.lattice.features.map((name, feature) => {
      const chip = element("button", name);
      chip.type = "button";
      chip.dir = "auto";
      chip.addEventListener("click", () => this.toggle(feature));
      place.append(chip);
      return chip;
    });
  }

  filterChips() {
    const text = this.search.value.trim().toLowerCase();
    this.chips.forEach((chip, feature) => {
      chip.hidden = !this.lattice.features[feature].toLowerCase().includes(text);
    });
  }

  pickSubgroup(subgroup) {
    this.subgroup = subgroup;
    this.subgroupSelect.value = String(subgroup);
    this.show(this.set);
  }

  toggle(feature) {
    const held = this.set.includes(feature);
    const set = held ? this.set.filter((other) => other !== feature) : [...this.set, feature];
    this.show(set.sort((a, b) => a - b));
  }

  show(set) {
    this.set = set;
    this.showChips();
    this.showAnswer();
    const at = (other) => this.lattice.at(this.subgroup, other);
    const better = (a, b) => b.score - a.score;
    const own = set.length ? at(set).score : 0;
    this.fill("explorer-parents", this.lattice.without(set).map(at).sort(better), own);
    this.fill("explorer-children", this.lattice.withOneMore(set).map(at).sort(better), own);
    this.showSubgroups();
    this.showHolding();
  }

  showChips() {
    const missing = new Set(this.lattice.subgroups[this.subgroup].missing);
    const full = this.set.length >= this.lattice.largest;
    this.chips.forEach((chip, feature) => {
      const name = this.lattice.features[feature];
      const chosen = this.set.includes(feature);
      chip.textContent = missing.has(name) ? `${name}*` : name;
      chip.classList.toggle("never", missing.has(name));
      chip.setAttribute("aria-pressed", String(chosen));
      chip.disabled = full && !chosen;
    });
    document.getElementById("explorer-limit").textContent =
      `A star marks what the subgroup never recorded. This page holds sets of up to ${this.lattice.largest}.`;
  }

  showAnswer() {
    const place = document.getElementById("explorer-answer");
    place.replaceChildren();
    const subgroup = this.lattice.subgroups[this.subgroup];
    if (!this.set.length) {
      place.append(element("p", "No feature is chosen. Pick one above, or one of those that tell most by themselves."));
      return;
    }
    const found = this.lattice.at(this.subgroup, this.set);
    const standing = this.lattice.standing(this.subgroup, this.set);
    const share = subgroup.ceiling ? (100 * found.score) / subgroup.ceiling : 0;
    const line = element("p");
    line.append(this.names(this.set), " ", element("span", found.predicted ? "predicted" : "recorded", `source ${found.predicted ? "predicted" : "recorded"}`));
    place.append(line, element("p", `${found.score.toFixed(4)} ${this.unit}`, "large"));
    if (found.predicted) place.append(element("p", `between ${found.low.toFixed(4)} and ${found.high.toFixed(4)}`));
    place.append(
      element("p", `${share.toFixed(0)} % of the highest possible score; place ${standing.place} among the ${standing.of} sets of ${this.set.length}.`),
      element("p", `Rests on: ${found.support}.`, "about"),
    );
  }

  names(set) {
    const missing = new Set(this.lattice.subgroups[this.subgroup].missing);
    const place = element("span", "", "set");
    for (const feature of set) {
      const name = this.lattice.features[feature];
      const never = missing.has(name);
      place.append(element("bdi", never ? `${name}*` : name, never ? "feature never" : "feature"));
    }
    return place;
  }

  /** A table of sets to go to, with the score and what is gained or lost on the way. */
  fill(id, found, own) {
    const heads = ["Set", "Score"].concat(own === null ? [] : ["Change"], ["Source"]);
    const rows = found.map((one) => {
      const go = element("button", "", "go");
      go.type = "button";
      go.append(this.names(one.set));
      go.addEventListener("click", () => {
        this.show(one.set);
        document.getElementById("explorer-answer").focus();
      });
      const change = own === null ? [] : [signed(one.score - own)];
      return [go, one.score.toFixed(4), ...change, source(one)];
    });
    fillTable(id, heads, rows);
  }

  showSubgroups() {
    const rows = this.set.length
      ? this.lattice.subgroups.map((subgroup, number) => {
          const found = this.lattice.at(number, this.set);
          const go = element("button", "", "go");
          go.type = "button";
          go.append(element("bdi", subgroup.subgroup));
          go.addEventListener("click", () => {
            this.pickSubgroup(number);
            document.getElementById("explorer-answer").focus();
          });
          const share = subgroup.ceiling ? (100 * found.score) / subgroup.ceiling : 0;
          return [go, found.score.toFixed(4), `${share.toFixed(0)} %`, source(found)];
        })
      : [];
    fillTable("explorer-subgroups", ["Subgroup", "Score", "of the possible", "Source"], rows);
  }

  showHolding() {
    const size = Math.min(this.size, this.lattice.largest);
    document.getElementById("explorer-holding-title").textContent =
      `Best sets of ${size}${this.set.length ? " that hold it" : ""}`;
    const some = this.set.length < size && size > 0;
    this.fill("explorer-holding", some ? this.lattice.holding(this.subgroup, this.set, size, MOST_HOLDING) : [], null);
  }
}

function element(tag, text = "", kind = "") {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function signed(change) {
  return `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(4)}`;
}

function source(found) {
  const kind = found.predicted ? "predicted" : "recorded";
  return element("span", kind, `source ${kind}`);
}

function fillTable(id, heads, rows) {
  const table = document.getElementById(id);
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  heads.forEach((text, column) => {
    const cell = element("th", text, column > 0 && column < heads.length - 1 ? "number" : "");
    cell.scope = "col";
    head.append(cell);
  });
  const body = table.createTBody();
  for (const values of rows) {
    const row = body.insertRow();
    values.forEach((value, column) => {
      const cell = row.insertCell();
      if (column > 0 && column < values.length - 1) cell.className = "number";
      cell.append(value);
    });
  }
  if (!rows.length) {
    const cell = body.insertRow().insertCell();
    cell.colSpan = heads.length;
    cell.textContent = "–";
  }
}

const latticeData = JSON.parse(document.getElementById("lattice-data").textContent);
if (latticeData.lattice.levels.length) new Explorer(latticeData);
else document.getElementById("explorer").hidden = true;
