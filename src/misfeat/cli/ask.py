"""`misfeat ask`: one question to a saved run."""

from __future__ import annotations

from typing import Annotated

import typer

from misfeat.cli.columns import complete_names
from misfeat.cli.errors import Debug, Quiet, in_options, say_notes, warnings_as_notes


def _questions() -> list[str]:
    from misfeat.show.questions import QUESTIONS

    return list(QUESTIONS)


def ask(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="What misfeat run --out saved.")],
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION",
            help="One of top, significance, enough, features, why, alternatives, interactions, "
            "stability, cautions, worth, subgroups and columns.",
            autocompletion=complete_names(_questions),
        ),
    ],
    subgroup: Annotated[
        str, typer.Option(help="One subgroup only, or the value that tells it (va for site=va).")
    ] = "",
    feature: Annotated[
        list[str] | None, typer.Option(help="A feature of the set in question. May be repeated.")
    ] = None,
    size: Annotated[int | None, typer.Option(help="Features per set.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Ask a saved run: does it tell more than chance, why, how many are enough, …"""
    from misfeat.cli.folder import saved_settings
    from misfeat.show.answers import json_answer, print_answer
    from misfeat.show.questions import About
    from misfeat.show.shown import ShownSelection

    del debug
    with warnings_as_notes(quiet) as warned:
        selection = ShownSelection.load(folder)
        costs = saved_settings(folder).costs()
        about = About(subgroup or None, tuple(feature or ()), size, costs)
        selection.verbose = int(not quiet)
        if json:
            for line in json_answer(selection, question, about):
                typer.echo(line)
        else:
            print_answer(selection, question, about, spell=in_options)
    if not quiet:
        say_notes(warned)
