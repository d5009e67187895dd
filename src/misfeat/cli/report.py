"""`misfeat report`: the page of a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from misfeat.cli.errors import Debug, Quiet, say, say_notes, warnings_as_notes


def report(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="What misfeat run --out saved.")],
    out: Annotated[
        str, typer.Option(help="The file to write; report.html in the run's folder by default.")
    ] = "",
    title: Annotated[str, typer.Option(help="The title of the page.")] = "",
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser, too.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the report of a saved run."""
    from misfeat.cli.browser import open_page
    from misfeat.cli.folder import saved_settings, write_report
    from misfeat.selection.folders import REPORT
    from misfeat.show.shown import ShownSelection

    del debug
    file = Path(out).expanduser() if out else Path(folder).expanduser() / REPORT
    with warnings_as_notes(quiet) as warned:
        selection = ShownSelection.load(folder)
        selection.verbose = int(not quiet)
        said = saved_settings(folder)
        write_report(selection, file, title or said["title"], said.costs())
    if not quiet:
        say_notes(warned)
        say(f"Report: {file}")
    if show:
        open_page(file)
