"""The demonstration, heart disease in four hospitals: fit, write a run and its report, answer."""

import sys
from shlex import quote
from typing import Any

import tomli_w

from misfeat.cohorts.column_coding import Coding
from misfeat.datasets import load_heart
from misfeat.runtime.progress import progress_shown
from misfeat.saved_selector import save_selector
from misfeat.saving.run_folder import REPORT, SETTINGS, check_folder
from misfeat.selector import SubgroupSelector
from misfeat.show.answer_with_map import first_screen
from misfeat.show.terminal import new_console, plain_text, print_lines, print_sentences, print_trust

TITLE = "Heart disease in four hospitals"
INTRODUCTION = (
    "Heart disease in {rows:,} patients of four hospitals (UCI, CC BY 4.0), which did not record "
    "the same: which of {features} features explain it best in each, and what would be worth "
    "recording?"
)


def fitted(verbose: int = 0) -> SubgroupSelector:
    """Score every set of three features, which explain more than two on rows left out."""
    data = load_heart(readable=True)
    # A feature that a hospital recorded for less than half of its patients counts as not recorded
    # there, and a cholesterol of 0 means that it was not measured.
    coding = Coding(missing_threshold=0.5, missing_values={"cholesterol": [0]})
    more: dict[str, Any] = {"n_jobs": -1, "random_state": 0, "verbose": verbose}
    selector = SubgroupSelector(data.groups, size=3, k=5, coding=coding, **more)
    return selector.fit(data.columns, data.target)


def run_demo(path: str) -> None:
    """Fit, write a run and its report to a folder, print the answer and how to ask more."""
    folder = check_folder(path)
    console, verbose = new_console(), sys.stderr.isatty()
    with progress_shown(verbose):
        selector = fitted(int(verbose))
        screen = first_screen(selector.selection_)
    selection = selector.selection_
    rows, features = selection.cohorts.weights.sum(), len(selection.feature_names)
    text = INTRODUCTION.format(rows=rows, features=features)
    try:
        print_lines(console, plain_text(text, style="italic"))
        console.print()
        print_sentences(screen, console)
    finally:  # a reader who goes away does not take the run along
        with progress_shown(verbose):
            report = selector.report(title=TITLE)  # which validates, too
            settings = "# misfeat report reads this.\n" + tomli_w.dumps({"title": TITLE})
            parts = {SETTINGS: settings.encode(), REPORT: report.html().encode()}
            save_selector(selector, folder, parts)
    print_trust(screen, console, validation=selection.validation)
    for line in (
        "",
        f"Run:    {folder}",
        f"Report: {folder / REPORT} (open it in a browser)",
        f"More:   misfeat ask {quote(str(folder))} QUESTION, such as top, enough or features.",
    ):
        console.print(plain_text(line), soft_wrap=True)  # paths are never broken
