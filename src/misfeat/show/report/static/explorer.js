// The explorer: a set of features, what it explains in every subgroup, why, and its neighbours in the lattice.

function bytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function floats(base64) {
  const view = new DataView(bytes(base64).buffer);
  return Float32Array.from({ length: view.byteLength / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

function binomial(n, k) {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
}

/** What a score rests on, by the number of its support (misfeat.completion.completer_data). */
const OWN_ROWS = "computed from the subgroup's own rows";
const SUPPORT = [
  "some feature was recorded nowhere",
  "some pair was recorded together nowhere, so how the two interact is not known",
  "every pair with an unrecorded feature was recorded together somewhere",
  "some subgroup recorded all of these features together",
  OWN_ROWS,
];
const BEYOND_BUDGET = "the subgroup recorded these features, but the budget did not reach this set";

/** Scores of sets by size, subgroup and the rank of a set among those of its size. */
class Lattice {
  constructor(data) {
    this.features = data.features;
    this.levels = new Map();
    for (const level of data.lattice.levels) {
      this.levels.set(level.size, {
        count: binomial(data.features.length, level.size),
        score: floats(level.score),
        low: floats(level.low),
        high: floats(level.high),
        predicted: bytes(level.predicted),
        support: bytes(level.support),
      });
    }
    this.largest = Math.max(0, ...this.levels.keys());
  }

  /** The number of a set, members ascending, among the sets of its size. */
  rank(set) {
    return set.reduce((sum, member, i) => sum + binomial(member, i + 1), 0);
  }

  /** What is known of a set in a subgroup. */
  at(subgroup, set) {
    const level = this.levels.get(set.length);
    if (!level) return null;
    const place = subgroup * level.count + this.rank(set);
    const predicted = level.predicted[place] === 1;
    const rests = SUPPORT[level.support[place]];
    return {
      set,
      score: level.score[place],
      low: level.low[place],
      high: level.high[place],
      predicted,
      support: predicted && rests === OWN_ROWS ? BEYOND_BUDGET : rests,
    };
  }

  /** One more than the number of sets of the same size that score higher in the subgroup, of all and of the recorded ones. */
  standing(subgroup, set) {
    const level = this.levels.get(set.length);
    const own = this.at(subgroup, set).score;
    const start = subgroup * level.count;
    const found = { place: 1, of: level.count, recordedPlace: 1, recordedOf: 0 };
    for (let i = start; i < start + level.count; i++) {
      const recorded = level.predicted[i] !== 1;
      found.recordedOf += recorded;
      if (level.score[i] <= own) continue;
      found.place += 1;
      found.recordedPlace += recorded;
    }
    return found;
  }

  without(set) {
    return set.length < 2 ? [] : set.map((member) => set.filter((other) => other !== member));
  }

  withOneMore(set) {
    if (!this.levels.has(set.length + 1)) return [];
    const more = [];
    for (let feature = 0; feature < this.features.length; feature++) {
      if (!set.includes(feature)) more.push([...set, feature].sort((a, b) => a - b));
    }
    return more;
  }

  /** The part of a set that explains most, among those that are held. */
  leastOf(subgroup, set) {
    let best = null;
    const parts = (chosen, from) => {
      if (chosen.length === this.largest) {
        const found = this.at(subgroup, chosen);
        if (found && (!best || found.score > best.score)) best = found;
        return;
      }
      for (let i = from; i < set.length; i++) parts([...chosen, set[i]], i + 1);
    };
    if (this.largest && set.length > this.largest) parts([], 0);
    return best;
  }
}

/** The address of a set in a subgroup. */
function exploredAt(subgroup, set) {
  return `#explore-${subgroup}-${set.join(".")}`;
}

class Explorer {
  constructor(report) {
    this.report = report;
    this.lattice = new Lattice(report);
    this.subgroup = 0;
    this.set = [];
    this.moved = () => {}; // told whenever the reader chose something
    this.subgroupSelect = document.getElementById("explorer-subgroup");
    this.search = document.getElementById("explorer-search");
    this.chips = this.makeChips();
    this.subgroupSelect.addEventListener("change", () => this.chosen(Number(this.subgroupSelect.value), this.set));
    this.search.addEventListener("input", () => this.filterChips());
    document.getElementById("explorer-clear").addEventListener("click", () => this.chosen(this.subgroup, []));
    document.getElementById("explorer-best").addEventListener("click", () => this.chosen(this.subgroup, this.best()));
    this.show(this.best());
  }

  /** Show what the reader chose. */
  chosen(subgroup, set) {
    this.pickSubgroup(subgroup, set);
    this.moved(exploredAt(subgroup, set));
  }

  /** The answer of the subgroup, else its best set. */
  best() {
    const own = this.report.subgroups[this.subgroup];
    const found = own.answer.features.length ? own.answer.features : own.best_sets.length ? own.best_sets[0].features : [];
    return found.slice(0, Math.max(this.lattice.largest, 1));
  }

  makeChips() {
    const place = document.getElementById("explorer-features");
    return this.report.features.map((name, feature) => {
      const chip = make("button", { type: "button", dir: "auto" }, name);
      chip.addEventListener("click", () => this.toggle(feature));
      place.append(chip);
      return chip;
    });
  }

  filterChips() {
    const text = this.search.value.trim().toLowerCase();
    this.chips.forEach((chip, feature) => {
      chip.hidden = !this.report.features[feature].toLowerCase().includes(text);
    });
    this.showLimit();
  }

  pickSubgroup(subgroup, set = this.set) {
    this.subgroup = subgroup;
    this.subgroupSelect.value = String(subgroup);
    this.show(set);
  }

  toggle(feature) {
    const held = this.set.includes(feature);
    const set = held ? this.set.filter((other) => other !== feature) : [...this.set, feature];
    this.chosen(this.subgroup, set.sort((a, b) => a - b));
  }

  show(set) {
    this.set = set;
    this.showChips();
    this.showAnswer();
    this.showForest();
    showWhy(document.getElementById("explorer-why"), this.report, this.subgroup, set);
    if (set.length) document.getElementById("explorer-why").prepend(make("h3", {}, "Why, in ", make("bdi", {}, this.report.subgroups[this.subgroup].subgroup)));
    this.showNeighbours("explorer-less", "One feature less", this.lattice.without(set));
    this.showNeighbours("explorer-more", "One feature more", this.lattice.withOneMore(set));
  }

  showChips() {
    const { missing } = this.report.subgroups[this.subgroup];
    const full = this.isFull();
    this.chips.forEach((chip, feature) => {
      const never = missing.includes(feature);
      const name = this.report.features[feature];
      chip.textContent = never ? `${name}*` : name;
      chip.classList.toggle("never", never);
      chip.setAttribute("aria-pressed", String(this.set.includes(feature)));
      chip.disabled = full && !this.set.includes(feature);
    });
    this.showLimit();
  }

  /** Whether the page holds no set with one feature more. */
  isFull() {
    return this.set.length >= Math.max(this.lattice.largest, 1);
  }

  showLimit() {
    const none = this.chips.every((chip) => chip.hidden) ? "No feature has such a name. " : "";
    const full = this.isFull() ? " Take one away to add another." : "";
    document.getElementById("explorer-limit").textContent = `${none}A star marks what the subgroup never recorded. This page holds the scores of sets of up to ${this.lattice.largest}.${full}`;
  }

  showAnswer() {
    const place = document.getElementById("explorer-answer");
    place.replaceChildren();
    const own = this.report.subgroups[this.subgroup];
    if (!this.set.length) {
      place.append(make("p", {}, "No feature is chosen. Pick one above, or one of those that explain most by themselves, below."));
      return;
    }
    const found = this.lattice.at(this.subgroup, this.set);
    const names = make("p", {}, setOf(this.report, this.set, own.missing), " in ", make("bdi", { class: "name" }, own.subgroup));
    place.append(names);
    if (!found) {
      this.showUnknown(place);
      return;
    }
    const whole = own.whole || 1;
    const [share, low, high] = [found.score / whole, found.low / whole, found.high / whole];
    const standing = this.lattice.standing(this.subgroup, this.set);
    const range = between(low, high);
    place.append(
      make("p", { class: "large" }, `${percent(share, low, high)}`, make("span", { class: "about" }, ` of the uncertainty${range ? ` (${range})` : ""} `), sourceOf(found.predicted)),
      make("p", {}, `${this.placeWords(standing)}; ${scoreWords(found.score, found.low, found.high)} ${this.report.unit}.`),
      make("p", { class: "about" }, `Rests on: ${found.support}.`),
    );
  }

  /** Where a set stands among those of its size, and among those that the subgroup recorded. */
  placeWords(standing) {
    const own = this.report.subgroups[this.subgroup];
    const recorded = !this.set.some((feature) => own.missing.includes(feature));
    const answer = own.answer.features.join() === this.set.join() ? "The answer here. " : "";
    const all = `${standing.place} among all ${standing.of.toLocaleString("en")} sets of ${this.set.length}`;
    if (!recorded || standing.recordedOf === standing.of) return `${answer}Place ${all}`;
    return `${answer}Place ${standing.recordedPlace} among the ${standing.recordedOf.toLocaleString("en")} sets of ${this.set.length} that were recorded, place ${all}`;
  }

  /** A set that the page does not hold: what is known of it all the same, and how to ask. */
  showUnknown(place) {
    const whole = this.report.subgroups[this.subgroup].whole || 1;
    const least = this.lattice.leastOf(this.subgroup, this.set);
    const known = least ? `It explains at least as much as its part ${listed(this.report, least.set)}: ${percent(least.score / whole, least.low / whole, least.high / whole)}. ` : "";
    const names = JSON.stringify(this.set.map((feature) => this.report.features[feature]));
    const name = JSON.stringify(this.report.subgroups[this.subgroup].subgroup);
    const how = this.report.in_python ? make("code", {}, `selection.score_of(${name}, ${names})`) : howToAsk(this.report, this.subgroup, this.set);
    place.append(make("p", {}, `This page holds sets of up to ${this.lattice.largest}, not this one. ${known}To ask for it: `, how));
  }

  /** The same set in every subgroup, as meta-analysts draw it. */
  showForest() {
    const place = document.getElementById("explorer-forest");
    place.replaceChildren();
    const found = this.report.subgroups.map((own, number) => ({ own, number, one: this.set.length ? this.lattice.at(number, this.set) : null }));
    const known = found.filter(({ one, own }) => one && own.whole);
    if (!known.length) return;
    const top = Math.max(...known.map(({ one, own }) => one.high / own.whole), 0.01);
    const most = Math.max(...known.map(({ own }) => own.rows));
    const heads = [
      { label: "Subgroup" },
      { label: "Rows", kind: "number" },
      { label: "Share and interval", drawn: true },
      { label: "Share", kind: "number", interval: true },
      { label: "Source" },
    ];
    const rows = known.map(({ own, number, one }) => {
      const [share, low, high] = [one.score, one.low, one.high].map((value) => value / own.whole);
      const chosen = number === this.subgroup ? "chosen" : "";
      return [
        { node: this.linkTo(number, this.set, make("bdi", {}, own.subgroup)), text: own.subgroup, kind: chosen },
        { node: own.rows.toLocaleString("en"), value: own.rows },
        { node: intervalBar(share, low, high, top, { predicted: one.predicted, weight: own.rows / most, faded: low <= 0 }), text: "" },
        { node: shareWords(share, low, high), value: share, low, high },
        sourceOf(one.predicted),
      ];
    });
    const built = tableOf("set-in-every-subgroup", heads, rows, make("span", { class: "about" }, `Scale: 0 to ${percent(top, 0, 1)}. Squares grow with the rows; hollow: predicted; pale: the interval reaches 0. `));
    place.append(make("h3", {}, "The same set in every subgroup"), built);
  }

  /** A button that leads to a set in a subgroup. */
  linkTo(subgroup, set, shown) {
    const button = make("button", { type: "button", class: "go" }, shown);
    button.addEventListener("click", () => {
      this.chosen(subgroup, set);
      document.getElementById("explorer-answer").focus();
    });
    return button;
  }

  showNeighbours(id, title, sets) {
    const place = document.getElementById(id);
    place.replaceChildren(make("h3", {}, title));
    const own = this.report.subgroups[this.subgroup];
    const whole = own.whole || 1;
    const now = this.set.length ? this.lattice.at(this.subgroup, this.set)?.score ?? null : 0;
    const found = sets.map((set) => this.lattice.at(this.subgroup, set)).filter(Boolean).sort((a, b) => b.score - a.score);
    if (!found.length) {
      place.append(make("p", { class: "about" }, this.set.length ? "None on this page." : "Nothing to leave out."));
      return;
    }
    const heads = [{ label: "Set" }, { label: "Share", kind: "number" }, { label: "Change", kind: "number" }, { label: "Source" }];
    const rows = found.map((one) => {
      const change = now === null ? null : (one.score - now) / whole;
      const points = change === null ? "–" : `${change < 0 ? "−" : "+"}${(100 * Math.abs(change)).toFixed(1)}`;
      return [
        { node: this.linkTo(this.subgroup, one.set, setOf(this.report, one.set, own.missing)), text: one.set.map((feature) => this.report.features[feature]).join(", ") },
        { node: percent(one.score / whole, one.low / whole, one.high / whole), value: one.score / whole },
        { node: points, value: change },
        sourceOf(one.predicted),
      ];
    });
    place.append(tableOf(id, heads, rows));
  }
}
