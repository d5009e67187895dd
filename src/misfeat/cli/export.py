"""`misfeat export`: the answers of a saved run for other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from misfeat.cli.columns import complete_names
from misfeat.cli.errors import Debug, Quiet, in_options, say, say_notes, warnings_as_notes


def _questions() -> list[str]:
    from misfeat.show.export.tables import TITLES

    return list(TITLES)


def export(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="What misfeat run --out saved.")],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="An .xlsx workbook, a .zip of CSV files, a .csv file for one question, or a "
            "folder for CSV files.",
        ),
    ],
    question: Annotated[
        list[str] | None,
        typer.Option(
            help="A question to answer, all if not given. May be repeated.",
            autocompletion=complete_names(_questions),
        ),
    ] = None,
    size: Annotated[int | None, typer.Option(help="Features per set.")] = None,
    top: Annotated[int | None, typer.Option(help="Sets per subgroup.")] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the answers of a saved run as an Excel workbook or as CSV files."""
    from misfeat.cli.folder import saved_settings
    from misfeat.show.export import export_answers
    from misfeat.show.shown import ShownSelection

    del debug
    with warnings_as_notes(quiet) as warned:
        selection = ShownSelection.load(folder)
        selection.verbose = int(not quiet)
        costs = saved_settings(folder).costs()
        written = export_answers(
            selection, file, question or None, size=size, k=top, costs=costs, spell=in_options
        )
    if not quiet:
        say_notes(warned)
        say(f"Answers: {written}")
