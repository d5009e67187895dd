"""Draw docs/images/report.png: the first screen of the report of the demonstration.

    python docs/images/make_report_picture.py

Needs Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from misfeat.demo import TITLE, fitted

WIDTH, HEIGHT = 1280, 860


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not installed.")
    picture = Path(__file__).with_name("report.png")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        fitted().report(title=TITLE).write_html(page)
        command = [chromium, "--headless", "--disable-gpu", "--hide-scrollbars"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        command += [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, check=True)  # noqa: S603


if __name__ == "__main__":
    main()
