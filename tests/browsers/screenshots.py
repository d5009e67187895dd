"""Pictures of a page to look at: wide and narrow, light and dark, and on paper.

    python -m tests.browsers.screenshots REPORT.html OUT/ --address "#explorer" "#subgroup=2"

Writes PLACE-WIDTH-COLOURS-first-BROWSER.png (what the window shows at first), ...-whole-... (the
whole page), PLACE-print-SHEET-BROWSER.png and PLACE-print-BROWSER.pdf for the top of the page and
every address, and says what a page said, asked for, and where it is wider than the window.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browsers.launching import EXECUTABLES, launched
from tests.browsers.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browsers.launching import Chromium, Firefox

WINDOWS = {1280: 900, 390: 844}
"""Widths with their heights, in pixels: a laptop's and a phone's."""
COLOURS = ("light", "dark")


def place_of(address: str) -> str:
    """An address as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", address).strip("-") or "top"


def take_pictures(
    browser: Chromium | Firefox, page: Path, folder: Path, address: str = ""
) -> Iterator[Path]:
    """Write pictures of one place of a page in one browser."""
    place = place_of(address)
    for width, height in WINDOWS.items():
        for colours in COLOURS:
            visit = Visit(
                browser, page, address=address, width=width, height=height, colours=colours
            )
            name = f"{place}-{width}-{colours}"
            yield visit.picture(folder / f"{name}-first-{browser.name}.png", whole=False)
            yield visit.picture(folder / f"{name}-whole-{browser.name}.png")
            tell_oddities(visit, f"{name}-{browser.name}")
            visit.close()


def take_prints(
    browser: Chromium | Firefox, page: Path, folder: Path, address: str = ""
) -> Iterator[Path]:
    """Write one place of a page as it is printed: the PDF, and a picture of each sheet."""
    place = place_of(address)
    visit = Visit(browser, page, address=address)
    paper = visit.printed()
    visit.close()
    pdf = folder / f"{place}-print-{browser.name}.pdf"
    pdf.write_bytes(paper.pdf)
    yield pdf
    for number, picture in enumerate(paper.pictures(), 1):
        path = folder / f"{place}-print-{number}-{browser.name}.png"
        picture.save(path)
        yield path


def tell_oddities(visit: Visit, name: str) -> None:
    """Print what no page should do."""
    try:
        visit.was_quiet()
    except AssertionError as error:
        sys.stderr.write(f"{name}: {error}\n")
    if overflow := visit.overflow():
        sys.stderr.write(f"{name}: {overflow} pixels wider than the window\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures of a page in browsers.")
    parser.add_argument("page", type=Path, help="the HTML file")
    parser.add_argument("folder", type=Path, help="where to write pictures")
    parser.add_argument("--address", nargs="*", default=[], help='more places, such as "#explorer"')
    parser.add_argument("--browser", nargs="+", choices=EXECUTABLES, default=list(EXECUTABLES))
    parser.add_argument("--no-print", action="store_true", help="nothing on paper")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.browser:
        with launched(name) as browser:
            for address in ("", *asked.address):
                kinds = (take_pictures,) if asked.no_print else (take_pictures, take_prints)
                for kind in kinds:
                    for path in kind(browser, asked.page.resolve(), asked.folder, address):
                        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
