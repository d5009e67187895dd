"use strict";
// Making elements, and numbers in the words of the whole report: the digits that uncertainty leaves.

document.documentElement.classList.add("scripted");

/** An element with attributes and children; texts are texts, whatever they hold. */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

function percentDecimals(low, high) {
  if (low === null || high === null || !(high > low)) return 1;
  const width = 100 * (high - low);
  return width >= 2 ? 0 : width >= 0.2 ? 1 : 2;
}

function percent(share, low = null, high = null) {
  if (share === null || Number.isNaN(share)) return "–";
  const digits = percentDecimals(low, high);
  const least = 10 ** -digits;
  if (share > 0 && 100 * share < least / 2) return `under\u00a0${least.toFixed(digits)}\u00a0%`;
  return `${(100 * share).toFixed(digits)}\u00a0%`;
}

function between(low, high) {
  if (low === null || high === null) return "–";
  if (!(low < high)) return "";
  const digits = percentDecimals(low, high);
  return `${(100 * low).toFixed(digits)}–${(100 * high).toFixed(digits)}\u00a0%`;
}

/** A share with its interval, as text. */
function shareWords(share, low, high) {
  const range = between(low, high);
  return range && range !== "–" ? `${percent(share, low, high)} (${range})` : percent(share, low, high);
}

function scoreWords(score, low, high) {
  if (score === null) return "–";
  const width = high - low;
  const digits = width > 0 ? Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(width)))) : 4;
  return score.toFixed(digits);
}

function pWords(p, permutations) {
  if (p === null) return "–";
  const bound = p * (permutations + 1) < 1.000001 ? "≤ " : "";
  return bound + p.toFixed(p < 0.0995 ? 3 : 2);
}

function rowsWords(rows) {
  return `${Math.round(rows).toLocaleString("en")} row${Math.round(rows) === 1 ? "" : "s"}`;
}

/** A term that the glossary explains. */
function term(word, shown = word) {
  const place = document.getElementById(`term-${word.replaceAll(" ", "-")}`);
  return make("a", { class: "term", href: `#${place.id}`, title: place.querySelector("dd").textContent }, shown);
}

/** The features of a set, those that a subgroup never recorded with a star. */
function setOf(report, set, missing = []) {
  const place = make("span", { class: "set" });
  for (const feature of set) {
    const never = missing.includes(feature);
    place.append(make("bdi", { class: never ? "feature never" : "feature" }, report.features[feature] + (never ? "*" : "")));
  }
  return place;
}

/** Names as a person lists them. */
function listed(report, set) {
  const names = set.map((feature) => report.features[feature]);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function sourceOf(predicted) {
  const kind = predicted ? "predicted" : "recorded";
  return make("span", { class: `source ${kind}` }, kind);
}
