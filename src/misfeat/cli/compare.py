"""`misfeat compare`: two saved runs, side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from misfeat.cli.errors import Debug, Quiet, in_options, say, say_notes, warnings_as_notes


def compare(
    first: Annotated[
        str, typer.Argument(metavar="RUN", help="What misfeat run --out saved, the earlier run.")
    ],
    second: Annotated[str, typer.Argument(metavar="RUN", help="The run to hold against it.")],
    subgroup: Annotated[
        str, typer.Option(help="One subgroup only, or the value that tells it (va for site=va).")
    ] = "",
    size: Annotated[
        int | None, typer.Option(help="Features of the best sets; the smaller one of the runs.")
    ] = None,
    html: Annotated[str, typer.Option(metavar="FILE", help="Write a page, too.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare two saved runs: which answers changed by more than their uncertainty."""
    from misfeat.show.comparison import compare as compared
    from misfeat.show.comparison.terminal import comparison_as_json, print_comparison

    del debug
    with warnings_as_notes(quiet) as warned:
        found = compared(first, second, size=size, subgroup=subgroup or None)
        if html:
            found.write_html(html)
        if json:
            for line in comparison_as_json(found):
                typer.echo(line)
        else:
            print_comparison(found, spell=in_options)
    if not quiet:
        say_notes(warned)
        if html:
            say(f"Page: {html}")
