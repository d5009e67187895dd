"""`misfeat run`: from a table to its answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misfeat.cli.columns import complete_choice, complete_column
from misfeat.cli.errors import Debug, Quiet, say, say_notes, silence, warnings_as_notes
from misfeat.cli.settings import KINDS, RunSettings

if TYPE_CHECKING:
    from pathlib import Path

    from misfeat.selector import SubgroupSelector

USUAL = RunSettings()
TABLE, COHORTS, PREDICTING, SHOWING = "Table", "Subgroups and columns", "Predictions", "Output"


def _columns(help_text: str, panel: str) -> Any:
    return typer.Option(help=help_text, autocompletion=complete_column, rich_help_panel=panel)


def _choice(name: str, help_text: str, panel: str) -> Any:
    return typer.Option(help=help_text, autocompletion=complete_choice(name), rich_help_panel=panel)


def _option(help_text: str, panel: str) -> Any:
    return typer.Option(help=help_text, rich_help_panel=panel)


def run(
    ctx: typer.Context,
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="A CSV, TSV or Parquet file, folder or glob."),
    ] = None,
    target: Annotated[str | None, _columns("The column to tell about.", TABLE)] = None,
    by: Annotated[
        list[str] | None,
        _columns("A column that defines subgroups; COL:40,65 cuts it. May be repeated.", TABLE),
    ] = None,
    config: Annotated[
        str | None,
        _option("A TOML file with any of these options; the command line wins over it.", TABLE),
    ] = None,
    size: Annotated[int, _option("Features in a set.", TABLE)] = USUAL.size,
    top: Annotated[int, _option("Sets to show for each subgroup.", TABLE)] = USUAL.top,
    measure: Annotated[
        str, _choice("measure", "'mutual_info', or 'r2' for numeric columns.", TABLE)
    ] = USUAL.measure,
    include: Annotated[
        list[str] | None, _columns("A feature that every set must hold. May be repeated.", COHORTS)
    ] = None,
    exclude: Annotated[
        list[str] | None, _columns("A feature that no set may hold. May be repeated.", COHORTS)
    ] = None,
    block: Annotated[
        list[str] | None,
        _option("Features that enter sets together, NAME=COL,COL. May be repeated.", COHORTS),
    ] = None,
    bins: Annotated[
        list[str] | None,
        _option("Bins of numeric columns, 5 if not given; COL=3 or COL=40,65 for one.", COHORTS),
    ] = None,
    binning: Annotated[
        str, _choice("binning", "Bins as full ('quantile') or as wide ('uniform').", COHORTS)
    ] = USUAL.binning,
    max_categories: Annotated[
        int, _option("Up to so many distinct values are taken as they are.", COHORTS)
    ] = USUAL.max_categories,
    missing: Annotated[
        list[str] | None,
        _option("A value that means missing, as '?' or COL=0. May be repeated.", COHORTS),
    ] = None,
    missing_threshold: Annotated[
        float, _option("Missing in this share of a subgroup: never recorded there.", COHORTS)
    ] = USUAL.missing_threshold,
    sporadic: Annotated[
        str, _choice("sporadic", "Other missing values: 'category' or 'available'.", COHORTS)
    ] = USUAL.sporadic,
    min_rows: Annotated[
        int, _option("Subgroups with fewer rows count as small.", COHORTS)
    ] = USUAL.min_rows,
    small_groups: Annotated[
        str, _choice("small_groups", "Small subgroups: 'merge' or 'drop'.", COHORTS)
    ] = USUAL.small_groups,
    missing_groups: Annotated[
        str, _choice("missing_groups", "Rows without a group value: 'own' or 'drop'.", COHORTS)
    ] = USUAL.missing_groups,
    completer: Annotated[
        str,
        _choice("completer", "How scores are predicted; docs/completion.md has all.", PREDICTING),
    ] = USUAL.completer,
    confidence: Annotated[
        float, _option("How often the truth is to lie in a prediction's interval.", PREDICTING)
    ] = USUAL.confidence,
    budget: Annotated[
        float, _option("Compute this share of the scores, and predict the others.", PREDICTING)
    ] = USUAL.budget,
    sampler: Annotated[
        str, _choice("sampler", "How that share is chosen.", PREDICTING)
    ] = USUAL.sampler,
    seed: Annotated[int | None, _option("Repeats what is drawn at random.", PREDICTING)] = None,
    device: Annotated[
        str, _choice("device", "For completers that learn.", PREDICTING)
    ] = USUAL.device,
    jobs: Annotated[int, _option("Threads; -1 for all.", PREDICTING)] = USUAL.jobs,
    memory_limit: Annotated[
        float, _option("The share of the free memory that scores may take.", PREDICTING)
    ] = USUAL.memory_limit,
    worth: Annotated[
        bool, _option("Show what unrecorded features are worth collecting.", SHOWING)
    ] = USUAL.worth,
    cost: Annotated[
        list[str] | None,
        _columns("What recording a feature costs, COL=5 (else 1). May be repeated.", SHOWING),
    ] = None,
    validate: Annotated[
        bool,
        typer.Option(
            "--validate", help="Say how far to trust predictions.", rich_help_panel=SHOWING
        ),
    ] = USUAL.validate,
    out: Annotated[
        str | None, _option("Save the run, its settings and its report here.", SHOWING)
    ] = None,
    title: Annotated[str | None, _option("The title of the report.", SHOWING)] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON lines instead of tables.", rich_help_panel=SHOWING),
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Print the best feature sets of every subgroup of a table."""
    # Typer reads the options from the signature; what was given is asked of the context.
    del table, target, by, size, top, measure, include, exclude, block, bins, binning, missing
    del max_categories, missing_threshold, sporadic, min_rows, small_groups, missing_groups
    del completer, confidence, budget, sampler, seed, device, jobs, memory_limit, worth, cost
    del validate, out, title, json, quiet, debug
    answer(_settings(ctx, config))


def _settings(ctx: typer.Context, config: str | None) -> RunSettings:
    """What the command line says, else the file, else what is usual."""
    from misfeat.cli.config import read_config
    from misfeat.exceptions import MisfeatError

    said = read_config(config) if config else {}
    for name in KINDS:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            said[name] = ctx.params[name]
    settings = RunSettings(**said)
    for name, what in (("table", "TABLE, a file"), ("target", "--target, a column of the table")):
        if not getattr(settings, name):
            raise MisfeatError(f"{what}, is missing; give it here or in a file with --config.")
    return settings


def answer(settings: RunSettings) -> None:
    """Fit, save and print as the settings say.

    The run is saved before anything is printed, and a reader of the answer who goes away takes
    nothing of what was asked to be saved with them.
    """
    from misfeat.cli.folder import check_folder
    from misfeat.selection.cautions import cautions

    folder = check_folder(settings.out) if settings.out is not None else None
    selector, costs = settings.selector(), settings.costs()
    _check_costs(costs, settings)
    with warnings_as_notes(settings.quiet) as warned:
        selector.fit(settings.table, settings.target)
        notes = [*selector.cohorts_.notes, *warned, *cautions(selector)]
        worths = _worths(selector, costs, notes) if settings.worth else []
        if settings.validate:
            selector.validate()
        if folder is not None:
            _save(selector, settings, folder)
        lost = _lost_while_printing(selector, settings, worths)
        if not settings.quiet:
            say_notes(notes)
        if folder is not None:
            _report(selector, settings, folder)
    if lost is not None:
        raise lost


def _check_costs(costs: dict[str, Any], settings: RunSettings) -> None:
    """Refuse the cost of an unknown column before the work, where the file tells its columns.

    A header that does not hold the target was not read as it is meant; the selector judges then.
    """
    from misfeat.cli.columns import header
    from misfeat.exceptions import no_such_column

    names = [name.strip() for name in header(str(settings.table))] if costs else []
    known = {*names, *(settings.parameters()["blocks"] or {})}
    for column in costs:
        if settings.target in names and column.strip() not in known:
            raise no_such_column(column, names, "a feature with a cost")


def _lost_while_printing(
    selector: SubgroupSelector, settings: RunSettings, worths: list[dict[str, Any]]
) -> OSError | None:
    """Print the answer; what went wrong if it did not reach anyone."""
    try:
        _print(selector, settings, worths)
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        return error
    return None


def _print(selector: SubgroupSelector, settings: RunSettings, worths: list[dict[str, Any]]) -> None:
    from misfeat.show import terminal

    if settings.json:
        for line in terminal.json_lines(selector, worths):
            typer.echo(line)
    else:
        terminal.print_tables(selector, worths=worths)


def _worths(
    selector: SubgroupSelector, costs: dict[str, Any], notes: list[str]
) -> list[dict[str, Any]]:
    """What unrecorded features are worth; a note where that asks for too much memory."""
    from misfeat.exceptions import MemoryLimitError
    from misfeat.show.terminal import worth_rows

    try:
        return worth_rows(selector, costs)
    except MemoryLimitError as error:
        notes.append(f"What is worth collecting is not shown. {error}")
        return []


def _save(selector: SubgroupSelector, settings: RunSettings, folder: Path) -> None:
    from misfeat.cli.config import as_config
    from misfeat.cli.folder import save_run

    save_run(selector, as_config(settings, folder), folder)


def _report(selector: SubgroupSelector, settings: RunSettings, folder: Path) -> None:
    from misfeat.cli.folder import write_report
    from misfeat.selection.saving import REPORT

    if not settings.quiet:
        say(f"Run:    {settings.out}")
    write_report(selector, folder / REPORT, settings.title, settings.costs())
    if not settings.quiet:
        say(f"Report: {folder / REPORT}")
