// Which view is shown: all subgroups, or the page of one, by the address; and what is folded.

const report = JSON.parse(document.getElementById("report-data").textContent);
const subgroupSwitch = document.getElementById("subgroup");
const overview = document.getElementById("overview");
const oneSubgroup = document.getElementById("one-subgroup");
const explorer = new Explorer(report);

/** The subgroup that an address names; null where it names none. */
function subgroupIn(hash) {
  const found = /^#subgroup-(\d+)$/.exec(hash);
  return found && Number(found[1]) < report.subgroups.length ? Number(found[1]) : null;
}

/** The set that an address names, and its subgroup; null where it names none that there is. */
function exploredIn(hash) {
  const found = /^#explore-(\d+)-([\d.]*)$/.exec(hash);
  if (!found || Number(found[1]) >= report.subgroups.length) return null;
  const set = [...new Set(found[2].split(".").filter(Boolean).map(Number))].sort((a, b) => a - b);
  return set.every((feature) => feature < report.features.length) ? { subgroup: Number(found[1]), set } : null;
}

function showView(hash, moveFocus = true) {
  const number = subgroupIn(hash);
  const explored = exploredIn(hash);
  const wasOne = !oneSubgroup.hidden;
  overview.hidden = number !== null;
  oneSubgroup.hidden = number === null;
  subgroupSwitch.value = number === null ? "" : String(number);
  for (const row of document.querySelectorAll(".map tbody tr")) {
    row.classList.toggle("chosen", number !== null && row.dataset.subgroup === String(number));
  }
  if (number !== null) {
    new SubgroupPage(report, number).render(oneSubgroup);
    explorer.pickSubgroup(number);
    window.scrollTo(0, 0);
    if (moveFocus) document.getElementById("subgroup-title").focus({ preventScroll: true });
  } else if (explored) {
    explorer.pickSubgroup(explored.subgroup, explored.set);
    document.getElementById("explorer").scrollIntoView();
    if (moveFocus) document.getElementById("explorer-answer").focus({ preventScroll: true });
  } else if (wasOne && hash.length > 1) {
    document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  }
}

// A frame in a notebook has no address of its own: the view is set first, and the address where it can be.
function go(hash) {
  try {
    if (location.hash !== hash) history.pushState(null, "", hash);
  } catch {
    // no address to change
  }
  showView(hash);
}

// What is explored can be passed on by its address.
explorer.moved = (hash) => {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // no address to change
  }
};

window.addEventListener("popstate", () => showView(location.hash));
window.addEventListener("hashchange", () => showView(location.hash));
subgroupSwitch.addEventListener("change", () => go(subgroupSwitch.value === "" ? "#answer" : `#subgroup-${subgroupSwitch.value}`));
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const hash = link.getAttribute("href");
  if (subgroupIn(hash) !== null || !oneSubgroup.hidden) {
    event.preventDefault();
    go(hash);
  }
});

/** Lists and maps that start short. */
function shorten(list) {
  const items = [...list.children];
  const most = Number(list.dataset.most);
  if (items.length <= most + 2) return;
  for (const item of items.slice(most)) item.hidden = true;
  const more = make("button", { type: "button" }, `Show all ${items.length} subgroups`);
  more.addEventListener("click", () => {
    for (const item of items) item.hidden = false;
    more.remove();
  });
  list.after(more);
}
for (const list of document.querySelectorAll("ul.answers")) shorten(list);

const map = document.getElementById("feature-map");
const allFeatures = document.getElementById("all-features");
if (allFeatures) {
  map.classList.add("short");
  allFeatures.addEventListener("click", () => {
    map.classList.remove("short");
    allFeatures.remove();
  });
}

// On paper nothing can be unfolded, so that everything is.
function unfold() {
  for (const item of document.querySelectorAll("ul.answers > li")) item.hidden = false;
  for (const table of document.querySelectorAll("table[data-limit]")) {
    table.dataset.printing = table.dataset.whole || "no";
    table.dataset.whole = "yes";
    refresh(table);
  }
}
window.addEventListener("beforeprint", unfold);
window.addEventListener("afterprint", () => {
  for (const table of document.querySelectorAll("table[data-limit]")) {
    if (table.dataset.printing === "no") delete table.dataset.whole;
    refresh(table);
  }
});

showView(location.hash, false);
