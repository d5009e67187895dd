"""Draw docs/images/report.png: the head of the report of the NHANES demonstration.

    python docs/images/make_report_picture.py

Needs the `browser` extra and Chromium.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from misfeat.demo.survey import fitted_to_survey

SIZE = {"width": 1180, "height": 820}


def main() -> None:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder) / "report.html"
        fitted_to_survey().report(title="Diabetes in NHANES 2017-2018").write_html(page_file)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        page = browser.new_page(viewport=SIZE)
        page.goto(page_file.as_uri())
        page.screenshot(path=Path(__file__).with_name("report.png"))
        browser.close()


if __name__ == "__main__":
    main()
