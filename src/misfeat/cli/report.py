"""`misfeat report`: the page of a saved run."""

from __future__ import annotations

from typing import Annotated

import typer

from misfeat.cli.errors import Debug, Quiet, say, say_notes, warnings_as_notes
from misfeat.machine.paths import as_path


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
    from misfeat.cli.folder import report_of, saved_settings
    from misfeat.selection.folders import MANIFEST, REPORT, add_part, read_parts
    from misfeat.show.shown import ShownSelection

    del debug
    place = as_path(folder, "folder", what="folder")
    file = as_path(out, "out") if out else place / REPORT
    with warnings_as_notes(quiet) as warned:
        manifest = read_parts(place, [MANIFEST]).get(MANIFEST, b"")
        selection = ShownSelection.load(folder)
        selection.verbose = int(not quiet)
        page = report_of(selection, saved_settings(folder), title)
        if out:
            page.write_html(file)
        else:
            add_part(place, REPORT, page.html().encode(), manifest)
    if not quiet:
        say_notes(warned)
        say(f"Report: {file}")
    if show:
        open_page(file)
