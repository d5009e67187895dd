"""`misfeat demo`: what misfeat does, on a health survey."""

from __future__ import annotations

from typing import Annotated

import typer

from misfeat.cli.errors import Debug, warnings_as_notes


def demo(
    out: Annotated[str, typer.Option(help="The folder for the run and its report.")] = (
        "misfeat-demo"
    ),
    debug: Debug = False,
) -> None:
    """Answer for a health survey that did not measure everything at every age, with a report."""
    from misfeat.demo import run_demo

    del debug
    with warnings_as_notes(False):
        run_demo(out)
