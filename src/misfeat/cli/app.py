"""All commands together."""

from typing import Annotated

import typer

from misfeat.cli.demo import demo
from misfeat.cli.doctor import doctor
from misfeat.cli.errors import OneLineErrors, with_debug
from misfeat.cli.run import run
from misfeat.cli.saved_runs import ask, compare, export, plan, report
from misfeat.cli.site import site

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
