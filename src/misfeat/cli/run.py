"""`misfeat run`: from a table to its answers."""

from __future__ import annotations

import inspect
import sys
from contextlib import nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any

import typer

from misfeat.cli.errors import say, say_notes, silence, warnings_as_notes
from misfeat.cli.options import OPTIONS
from misfeat.cli.settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from misfeat.selection.selection import Selection
    from misfeat.selector import SubgroupSelector

    Rows = list[dict[str, Any]]


def run(ctx: typer.Context, **options: Any) -> None:
    """Print the best feature sets of every subgroup of a table."""
    answer(_settings(ctx, options))


def _signature() -> inspect.Signature:
    """What typer reads the options from."""
    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    return inspect.Signature([context, *(option.argument() for option in OPTIONS.values())])


run.__signature__ = _signature()  # type: ignore[attr-defined]


def _settings(ctx: typer.Context, options: Mapping[str, Any]) -> RunSettings:
    """What the command line says, else the file, else what is usual."""
    from misfeat.cli.config import read_config
    from misfeat.exceptions import MisfeatError

    said = read_config(options["config"]) if options["config"] else {}
    for name, value in options.items():
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            said[name] = value
    settings = RunSettings(said)
    for name, what in (("table", "TABLE, a file"), ("target", "--target, a column of the table")):
        if not settings[name]:
            raise MisfeatError(f"{what}, is missing; give it here or in a file with --config.")
    return settings


def answer(settings: RunSettings) -> None:
    """Fit, save and print as the settings say.

    The run is saved before anything is printed, and a reader of the answer who goes away takes
    nothing of what was asked to be saved with them.
    """
    from misfeat.selection.folders import check_folder
    from misfeat.show.terminal import worth_rows

    folder = check_folder(settings["out"]) if settings["out"] is not None else None
    selector, costs = settings.selector(), settings.costs()
    _check_costs(costs, settings)
    quiet = settings["quiet"]
    with warnings_as_notes(quiet) as warned, _limited_memory(settings["memory_limit"]):
        selection = selector.fit(settings["table"], settings["target"]).selection_
        cautions = [caution.words for caution in selection.caution_list()]
        notes = [*selection.cohorts.notes, *warned, *cautions]
        worths = worth_rows(selection, costs) if settings["worth"] else []
        if settings["validate"]:
            selection.trusts()
        if folder is not None:
            _save(selector, settings, folder)
        lost = _lost_while_printing(selection, worths, settings["json"])
        if not quiet:
            say_notes(notes)
            _say_where(settings["out"], folder)
    if lost is not None:
        raise lost


def _limited_memory(share: float | None) -> AbstractContextManager[None]:
    """Limit the memory that scores may take, where a share of it was given."""
    if share is None:
        return nullcontext()
    from misfeat.machine.memory import memory_limit

    return memory_limit(share)


def _check_costs(costs: Mapping[str, float], settings: RunSettings) -> None:
    """Refuse the cost of an unknown column before the work, where the file tells its columns.

    A header that does not hold the target was not read as it is meant; the selector judges then.
    """
    from misfeat.cli.columns import header
    from misfeat.exceptions import no_such_column

    names = [name.strip() for name in header(settings["table"])] if costs else []
    known = {*names, *settings.blocks()}
    for column in costs:
        if settings["target"] in names and column.strip() not in known:
            raise no_such_column(column, names, "a feature with a cost", "costs")


def _lost_while_printing(selection: Selection, worths: Rows, as_json: bool) -> OSError | None:
    """Print the answer; what went wrong if it did not reach anyone."""
    try:
        _print(selection, worths, as_json)
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        return error
    return None


def _print(selection: Selection, worths: Rows, as_json: bool) -> None:
    from misfeat.show import terminal

    if as_json:
        for line in terminal.json_lines(selection, worths):
            typer.echo(line)
    else:
        terminal.print_tables(selection, worths=worths)


def _save(selector: SubgroupSelector, settings: RunSettings, folder: Path) -> None:
    """Save a run, the settings that repeat it and its report, all in one."""
    from misfeat.cli.config import as_config
    from misfeat.cli.folder import report_of
    from misfeat.restoring import save_selector
    from misfeat.selection.folders import REPORT, SETTINGS

    beside = {SETTINGS: as_config(settings, folder).encode()}
    try:
        # Of a copy, since a report validates: what is printed and saved does so where asked to.
        page = report_of(copy(selector.selection_), settings).html()
    except BaseException:  # an interrupt, too: the answers took longer than the page
        save_selector(selector, folder, beside)
        raise
    save_selector(selector, folder, {**beside, REPORT: page.encode()})


def _say_where(out: str, folder: Path | None) -> None:
    from misfeat.selection.folders import REPORT

    if folder is not None:
        say(f"Run:    {out}")
        say(f"Report: {folder / REPORT}")
