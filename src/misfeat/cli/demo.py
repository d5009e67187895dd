"""`misfeat demo`: what misfeat does, on a generated table."""

from __future__ import annotations

from typing import Annotated

import typer

from misfeat.cli.errors import Debug, warnings_as_notes


def demo(
    out: Annotated[str, typer.Option(help="The folder for the table and the result.")] = (
        "misfeat-demo"
    ),
    debug: Debug = False,
) -> None:
    """Run the main job on a generated table, and compare predictions with the known truth."""
    from misfeat.demo import run_demo

    del debug
    with warnings_as_notes(False):
        run_demo(out)
