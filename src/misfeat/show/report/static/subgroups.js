// The switch at the top: one subgroup, or all of them, in every section.

const subgroupSwitch = document.getElementById("subgroup");

function showSubgroup(subgroup) {
  for (const table of document.querySelectorAll("#worth-table, #trust-table")) {
    table.dataset.subgroup = subgroup;
    refresh(table);
  }
  for (const details of document.querySelectorAll("details.subgroup")) {
    details.hidden = subgroup !== "" && details.dataset.subgroup !== subgroup;
    if (details.dataset.subgroup === subgroup) details.open = true;
  }
  for (const sentence of document.querySelectorAll(".rises li[data-subgroup]")) {
    sentence.hidden = subgroup !== "" && sentence.dataset.subgroup !== subgroup;
  }
  for (const row of document.querySelectorAll(".map tbody tr")) {
    row.classList.toggle("chosen", row.dataset.subgroup === subgroup);
  }
}

subgroupSwitch.addEventListener("change", () => showSubgroup(subgroupSwitch.value));

// On paper nothing can be unfolded, so that everything is.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details.subgroup:not([open])")];
  for (const details of folded) details.open = true;
  for (const table of document.querySelectorAll("table[data-limit]")) {
    table.dataset.printing = table.dataset.whole || "no";
    table.dataset.whole = "yes";
    refresh(table);
  }
});
window.addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
  for (const table of document.querySelectorAll("table[data-limit]")) {
    if (table.dataset.printing === "no") delete table.dataset.whole;
    refresh(table);
  }
});
