"""`misfeat demo`: what misfeat does, on a table whose hospitals did not record the same."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from misfeat.cli.errors import Debug, warnings_as_notes
from misfeat.cli.options import complete_names


def demo(
    example: Annotated[
        str,
        typer.Argument(
            metavar="[EXAMPLE]",
            help="heart, nhanes (a health survey) or clinics (generated, beside the truth).",
            autocompletion=complete_names("misfeat.demo", "EXAMPLES"),
            show_default=False,
        ),
    ] = "heart",
    out: Annotated[str, typer.Option(help="The folder for the run and its report.")] = (
        "misfeat-demo"
    ),
    show: Annotated[
        bool, typer.Option("--open", help="Open the report in a browser, where there is a screen.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run on four hospitals that did not record the same, and write a report."""
    from misfeat.cli.compilation import compiled_beside
    from misfeat.cli.saved_runs import open_page
    from misfeat.demo import run_demo
    from misfeat.saving.run_folder import REPORT, as_folder

    del debug
    with warnings_as_notes(False), compiled_beside():
        run_demo(out, example)
    if show and _has_screen():
        open_page(as_folder(out) / REPORT)


def _has_screen() -> bool:
    """Whether there is a screen that a browser could show a page on."""
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return named or sys.platform in ("darwin", "win32")
