"""How large the report of a large table is, and how soon it is open in a browser.

Thirty features of twenty cohorts, a third of them unrecorded. The completer is the cheapest one, as
the page holds as many numbers whichever predicted them. Needs ``make test-browser``'s environment
and Chromium. Prints a line a run and writes open_report.csv.
"""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

RUNS = 5
OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"


def written_report(folder: str) -> Path:
    data = make_cohorts(n_cohorts=20, n_features=30, n_rows=2000, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=3, completer="gain", n_jobs=-1)
    path = Path(folder) / "report.html"
    selector.fit(data.columns, data.target).report().write_html(path)
    return path


def seconds_to_open(path: Path) -> list[float]:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    seconds = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for _ in range(RUNS):
            page = browser.new_page()
            page.goto(path.as_uri())
            # The explorer answers: every script has run.
            page.locator("#explorer-features button").first.click()
            seconds.append(page.evaluate(OPENED))
            page.close()
        browser.close()
    return seconds


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written_report(folder)
        megabytes = path.stat().st_size / 1e6
        rows = [(f"{megabytes:.2f}", f"{one:.2f}") for one in seconds_to_open(path)]
    place = Path(__file__).with_suffix(".csv")
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("megabytes", "seconds to open"))
        writer.writerows(rows)
    for row in rows:
        print(f"{row[0]} MB, open after {row[1]} s")


if __name__ == "__main__":
    main()
