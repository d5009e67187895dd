"""`misfeat demo`: what misfeat does, on a health survey."""

from __future__ import annotations

from typing import Annotated

import typer

from misfeat.cli.errors import Debug, warnings_as_notes


def demo(
    out: Annotated[str, typer.Option(help="The folder for the run and its report.")] = (
        "misfeat-demo"
    ),
    show: Annotated[
        bool, typer.Option("--open", help="Open the report in a browser, where there is a screen.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run on a health survey that did not measure everything at every age, and write a report."""
    from misfeat.cli.browser import has_screen, open_page
    from misfeat.demo import run_demo
    from misfeat.selection.folders import REPORT, as_folder

    del debug
    with warnings_as_notes(False):
        run_demo(out)
    if show and has_screen():
        open_page(as_folder(out) / REPORT)
