"""All commands together, and `misfeat demo`: the answers for a table that comes with it."""

import os
import sys
from typing import Annotated

import typer

from misfeat.cli.background_compilation import compiled_beside
from misfeat.cli.doctor import doctor
from misfeat.cli.errors import OneLineErrors, warnings_as_notes, with_debug
from misfeat.cli.run import run
from misfeat.cli.saved_runs import ask, compare, export, open_page, plan, report
from misfeat.cli.site import site
from misfeat.saving.run_folder import REPORT, as_folder


def demo(out: str = "misfeat-demo", show: bool = False) -> None:
    """Run on four hospitals that did not record the same, and write a report."""
    from misfeat.demo import run_demo

    with warnings_as_notes(False), compiled_beside():
        run_demo(out)
    if show and _has_screen():
        open_page(as_folder(out) / REPORT)


def _has_screen() -> bool:
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return named or sys.platform in ("darwin", "win32")


app = typer.Typer(
    name="misfeat",
    cls=OneLineErrors,
    help="The feature sets that explain a target best, for every subgroup of a table.",
    epilog="Exit codes: 0 fine, 1 internal error, 2 bad input, 130 interrupted.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (run, report, ask, plan, export, compare, demo):
    app.command()(with_debug(command))
app.add_typer(site, name="site")
app.command()(doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        from misfeat.version import __version__

        typer.echo(f"misfeat {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    del version
