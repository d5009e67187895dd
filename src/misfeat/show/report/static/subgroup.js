// The page of one subgroup: best sets, how many are enough, features, why, alternatives.

const LEVEL = 0.05; // p-values up to this one are more than chance

const isPredicted = (one) => one.source === "predicted";

/** A number of a line with its interval. */
const intervalOf = (one, name) => [one[name], one[`${name}_low`], one[`${name}_high`]];

class SubgroupPage {
  constructor(report, number) {
    this.report = report;
    this.number = number;
    this.own = report.subgroups[number];
    this.whole = this.own.whole || 1;
  }

  share(score) {
    return score === null ? null : score / this.whole;
  }

  /** A share with its interval, in words. */
  worded(score, low, high) {
    const [s, l, h] = [score, low, high].map((one) => this.share(one));
    return { node: shareWords(s, l, h), value: s, low: l, high: h };
  }

  /** The same, with a drawing beside it. */
  explained(score, low, high, top, look = {}) {
    const [s, l, h] = [score, low, high].map((one) => this.share(one));
    return [{ node: intervalBar(s, l, h, top, look), text: "" }, this.worded(score, low, high)];
  }

  /** A set that leads to the explorer. */
  set(members) {
    const shown = make("a", { href: exploredAt(this.number, members), title: "Explore this set" }, setOf(this.report, members, this.own.missing));
    return { node: shown, text: members.map((one) => this.report.features[one]).join(", ") };
  }

  render(place) {
    const never = this.own.missing.map((feature) => this.report.features[feature]);
    const back = make("a", { href: "#answer", class: "back" }, "← All subgroups");
    const title = make("h2", { id: "subgroup-title", tabindex: -1 }, make("bdi", {}, this.own.subgroup));
    const about = make("p", { class: "about" }, rowsWords(this.own.rows), ". ", never.length ? make("span", {}, term("never recorded", "Never recorded"), ": ", ...this.names(never), ".") : "Every feature was recorded.");
    const spoken = document.querySelector(`#answer-${this.number} p`) || document.querySelector("#answer .whole");
    const sentence = spoken.cloneNode(true);
    sentence.className = "whole";
    place.replaceChildren(back, title, about, sentence);
    if (!this.own.best_sets.length) return;
    this.sets(place);
    this.why(place);
    this.enough(place);
    this.features(place);
    this.alternatives(place);
    this.worth(place);
  }

  names(names) {
    return names.flatMap((name, i) => [i ? ", " : "", make("bdi", {}, name)]);
  }

  section(place, id, title, ...parts) {
    place.append(make("section", { "aria-labelledby": id }, make("h3", { id }, title), ...parts));
  }

  sets(place) {
    const { best_sets: sets, stability } = this.own;
    const answer = this.answerAmong(sets);
    const shown = answer ? [answer, ...sets] : sets;
    const top = Math.max(...shown.map((one) => Math.max(this.share(one.high), this.share(one.observed) || 0)));
    const again = new Map((stability?.sets || []).map((one) => [one.features.join(), one]));
    const tested = sets.some((one) => one.p_value !== null);
    const seen = sets.some((one) => one.observed !== null && one.chance !== null);
    const heads = [
      { label: "Rank", kind: "number" },
      { label: "Features" },
      { label: "Interval", drawn: true },
      { label: "Share", kind: "number", interval: true },
      ...(seen ? [{ label: "Own rows", kind: "number", note: "What the subgroup's own rows score as they are" }, { label: "of that, chance", kind: "number", note: "What chance alone would give such a set in so many rows; it is taken off" }] : []),
      ...(tested ? [{ label: "p of the set", kind: "number", note: "How often chance alone does as well, over all sets that were searched" }] : []),
      ...(again.size ? [{ label: "Comes out again", kind: "number", note: `Among the best once more, of ${stability.resamples} draws of rows` }] : []),
      { label: "Source" },
      { label: `Score (${this.report.unit})`, kind: "number" },
    ];
    const isAnswer = (one) => one.features.join() === this.own.answer.features.join();
    const rows = shown.map((one) => {
      const repeated = again.get(one.features.join());
      const rank = one === answer ? 0 : sets.indexOf(one) + 1;
      const doubtful = one.p_value !== null && one.p_value > LEVEL;
      return [
        { node: isAnswer(one) ? make("strong", {}, rank ? `${rank}, the answer` : "the answer") : String(rank), value: rank, kind: doubtful ? "doubtful" : "" },
        this.set(one.features),
        ...this.explained(one.score, one.low, one.high, top, { predicted: isPredicted(one), faded: doubtful, chance: this.share(one.chance), seen: this.share(one.observed) }),
        ...(seen ? [{ node: percent(this.share(one.observed), 0, 1), value: this.share(one.observed) }, { node: percent(this.share(one.chance), 0, 1), value: this.share(one.chance) }] : []),
        ...(tested ? [{ node: pWords(one.p_value, this.report.permutations), value: one.p_value }] : []),
        ...(again.size ? [{ node: repeated ? percent(repeated.frequency, 0, 1) : "–", value: repeated?.frequency }] : []),
        sourceOf(isPredicted(one)),
        { node: scoreWords(one.score, one.low, one.high), value: one.score },
      ];
    });
    const first = this.own.answer.features.length ? "The recommended set is the smallest one of recorded features that is enough; the ranks are those of the highest scores. " : "";
    const legend = make("p", { class: "legend" }, first, "Dot and bar: the share with its ", term("interval"), tested ? `; pale: no ` : "", tested ? term("more than chance") : "", seen ? ". Diamond: what the subgroup's " : "", seen ? term("own rows") : "", seen ? " score as they are; dashed line: what of that is chance, which the share no longer holds." : ".");
    this.section(place, "page-sets", this.report.size === 1 ? "The features with the highest scores" : `The sets of ${this.report.size} with the highest scores${this.own.missing.length ? ", unrecorded features included" : ""}`, legend, tableOf(`best-sets-${this.number}`, heads, rows), this.agreement());
  }

  /** The answer, where it is not one of the sets listed. */
  answerAmong(sets) {
    const { enough } = this.own;
    const answer = this.own.answer.features;
    if (!answer.length || sets.some((one) => one.features.join() === answer.join())) return null;
    const step = enough?.steps[answer.length - 1];
    return step && step.features.join() === answer.join() ? { ...step, p_value: null, observed: null, chance: null } : null;
  }

  agreement() {
    const { stability } = this.own;
    if (!stability || stability.index === null) return null;
    const often = stability.sets.filter((one) => one.frequency >= 0.8).length;
    const pooled = this.report.pooled ? " Subgroups lean on each other, so that this is much the same in all of them." : "";
    const [index, low, high] = [stability.index, stability.low, stability.high].map((one) => (one === null ? "–" : one.toFixed(2)));
    return make("p", { class: "about" }, `${stability.resamples} resamples of the rows: ${often} of these ${stability.sets.length} sets ${often === 1 ? "is" : "are"} among the best in at least 80 % of them. Features of the best set agree by ${index} (${low} to ${high}; 1: always the same, 0: as if picked at random).${pooled}`);
  }

  why(place) {
    const { why } = this.own;
    if (!why) return;
    const body = make("div");
    showWhy(body, this.report, this.number, why.features, why.sentences);
    this.section(place, "page-why", `Why: ${listed(this.report, why.features)}`, body);
  }

  enough(place) {
    const { enough } = this.own;
    if (!enough || !enough.steps.length) return;
    const heads = [
      { label: "Features", kind: "number" },
      { label: "Best recorded set" },
      { label: "Share", kind: "number", interval: true },
      { label: "p of this step", kind: "number", note: "Whether one or two further features add more than chance would; a test of its own, so that it may differ a little from that of all sets" },
      { label: "Verdict" },
    ];
    const verdict = (i) => {
      if (i + 1 === enough.answer) return make("strong", {}, enough.settled || enough.answer < enough.size ? "enough" : "the most that was tried");
      if (i + 1 < enough.answer) return "more helps";
      return enough.answer && i + 1 <= enough.size ? "adds next to nothing" : "no evidence that it helps";
    };
    const rows = enough.steps.map((step, i) => [
      { node: String(i + 1), value: i + 1 },
      this.set(step.features),
      this.worded(step.score, step.low, step.high),
      { node: pWords(step.p_value, enough.permutations), value: step.p_value },
      verdict(i),
    ]);
    const parts = make("div", { class: "side-by-side" }, make("figure", {}, sizeCurve(enough.steps, this.whole, enough.answer)), tableOf(`enough-${this.number}`, heads, rows));
    const settled = enough.settled || enough.answer < enough.size;
    const size = `${settled ? "" : "At least "}${enough.answer}${enough.reason ? `: ${enough.reason}` : ""}.`;
    const said = enough.answer ? size : "None: there is no evidence that any feature helps.";
    const legend = make("p", { class: "legend" }, "The best recorded set of every size, which need not hold the one before. A larger set never scores less, so that a share may rise by chance alone; the test says whether it did.");
    this.section(place, "page-enough", "How many features are enough?", make("p", {}, said), legend, parts);
  }

  features(place) {
    const { values } = this.own;
    if (!values.length) return;
    const top = Math.max(...values.flatMap((one) => [one.alone_high, one.adds_high].map((high) => this.share(high) || 0)));
    const heads = [
      { label: "Feature" },
      { label: "By itself", drawn: true },
      { label: "Alone", kind: "number", note: "What it explains by itself", interval: true },
      { label: "Adds", kind: "number", note: "What it explains on top of the best set of the others", interval: true },
      { label: "Part of the answer", kind: "number", interval: true },
      { label: "In best sets", kind: "number", note: "The share of the best sets that hold it" },
      { label: "Source" },
    ];
    const rows = values.map((one) => {
      return [
        { node: setOf(this.report, [one.feature], this.own.missing), text: this.report.features[one.feature] },
        ...this.explained(...intervalOf(one, "alone"), top, { predicted: isPredicted(one) }),
        this.worded(...intervalOf(one, "adds")),
        one.part_of_answer ? this.worded(...one.part_of_answer) : "–",
        { node: percent(one.in_best, 0, 1), value: one.in_best },
        sourceOf(isPredicted(one)),
      ];
    });
    const built = tableOf(`features-${this.number}`, heads, rows);
    const legend = make("p", { class: "legend" }, "What each feature explains by itself, what it ", term("adds"), " to the best set of the others, and its ", term("part of the answer"), ".");
    this.section(place, "page-features", "Features", legend, built);
  }

  alternatives(place) {
    const { alternatives, best_sets: sets } = this.own;
    const answer = this.own.answer.features;
    const best = setOf(this.report, answer.length ? answer : sets[0].features, this.own.missing);
    if (!alternatives.length) {
      this.section(place, "page-alternatives", "Alternatives", make("p", {}, "No other set explains as much as ", best, "."));
      return;
    }
    const heads = [
      { label: "Instead of the answer" },
      { label: "Swap" },
      { label: "Share", kind: "number", interval: true },
      { label: "Difference", kind: "number", note: "In points of the uncertainty about the target", interval: true },
      { label: "Source" },
    ];
    const signed = (value) => {
      const points = Math.round(100 * Math.abs(value));
      return points ? `${value < 0 ? "−" : "+"}${points}` : "0";
    };
    const recordedFirst = [...alternatives].sort((a, b) => isPredicted(a) - isPredicted(b));
    const rows = recordedFirst.map((one) => {
      const [value, low, high] = intervalOf(one, "difference").map((part) => this.share(part));
      return [
        this.set(one.features),
        `${listed(this.report, one.taken)} for ${listed(this.report, one.given_up)}`,
        this.worded(one.score, one.low, one.high),
        { node: `${signed(value)} points (${signed(low)} to ${signed(high)})`, value, low, high },
        sourceOf(isPredicted(one)),
      ];
    });
    const legend = make("p", { class: "legend" }, "Sets that cannot be distinguished from ", best, ": choose by cost or ease.");
    this.section(place, "page-alternatives", "Alternatives", legend, tableOf(`alternatives-${this.number}`, heads, rows));
  }

  worth(place) {
    const { worths } = this.own;
    if (!worths.length) return;
    const top = Math.max(...worths.map((one) => this.share(one.high)), 0.001);
    const heads = [
      { label: "Feature" },
      { label: "Interval", drawn: true },
      { label: "Gain", kind: "number", note: "In points of the uncertainty about the target", interval: true },
      { label: "Rises at all", kind: "number" },
      { label: "Best set with it" },
    ];
    const rows = worths.map((one) => [
      { node: make("bdi", {}, this.report.features[one.feature]), text: this.report.features[one.feature] },
      ...this.explained(one.gain, one.low, one.high, top, { predicted: true }),
      { node: one.probability === null ? "–" : `${percent(one.probability, 0, 1)}${one.clear ? ", clear" : ""}`, value: one.probability },
      this.set(one.best_set),
    ]);
    const legend = make("p", { class: "legend" }, "What the best set would explain more, had this subgroup recorded the feature: ", term("worth collecting"), ".");
    this.section(place, "page-worth", "What it could record", legend, tableOf(`worth-${this.number}`, heads, rows));
  }
}
