// The switch at the top: one cohort, or all of them, in every section.

const cohortSwitch = document.getElementById("cohort");

function showCohort(cohort) {
  for (const table of document.querySelectorAll("#worth-table, #trust-table")) {
    table.dataset.cohort = cohort;
    refresh(table);
  }
  for (const details of document.querySelectorAll("details.cohort")) {
    details.hidden = cohort !== "" && details.dataset.cohort !== cohort;
    if (details.dataset.cohort === cohort) details.open = true;
  }
  for (const sentence of document.querySelectorAll(".rises li[data-cohort]")) {
    sentence.hidden = cohort !== "" && sentence.dataset.cohort !== cohort;
  }
  for (const row of document.querySelectorAll(".map tbody tr")) {
    row.classList.toggle("chosen", row.dataset.cohort === cohort);
  }
}

cohortSwitch.addEventListener("change", () => showCohort(cohortSwitch.value));

// On paper nothing can be unfolded, so that everything is.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details.cohort:not([open])")];
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
