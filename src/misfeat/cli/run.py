"""`misfeat run`: from a table to its answers."""

import inspect
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from copy import copy
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from misfeat.cli.background_compilation import compiled_beside
from misfeat.cli.errors import in_options, say, say_notes, silence, warnings_as_notes
from misfeat.cli.run_options import RunSettings, run_arguments
from misfeat.cli.saved_runs import report_of
from misfeat.cli.settings_file import as_config, read_config
from misfeat.exceptions import MisfeatError, no_such_column
from misfeat.messages import Setting, as_message, visible
from misfeat.saving.run_folder import REPORT, SETTINGS, check_folder

if TYPE_CHECKING:
    from misfeat.runtime.progress import StepTimes
    from misfeat.selection import Selection
    from misfeat.selector import SubgroupSelector
    from misfeat.show.answer_with_map import FirstScreen


def run(ctx: typer.Context, **options: Any) -> None:
    """Say which features explain the target best in every subgroup of a table."""
    answer(_settings(ctx, options))


run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_ONLY, annotation=typer.Context),
        *run_arguments(),
    ]
)


def _settings(ctx: typer.Context, options: Mapping[str, Any]) -> RunSettings:
    """What the command line says, else the file, else what is usual."""
    said = read_config(options["config"]) if options["config"] else {}
    for name, value in options.items():
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            said[name] = value
    settings = RunSettings(**said)
    for name, what in (("table", "TABLE, a file"), ("target", "--target, a column of the table")):
        if not getattr(settings, name):
            raise MisfeatError(f"{what}, is missing; give it here or in a file with --config.")
    return settings


def answer(settings: RunSettings) -> None:
    """Fit, print and save as the settings say."""
    # What is known first is said first. A reader of the answer who goes away takes nothing of what
    # was asked to be saved with them.
    from misfeat.answers.validation import validation_of
    from misfeat.runtime.memory import memory_limit
    from misfeat.runtime.progress import Bar, StepTimes, progress_shown
    from misfeat.show.answer_with_map import first_screen
    from misfeat.show.terminal import print_trust, worth_lines

    folder = check_folder(settings.out) if settings.out is not None else None
    selector, costs = settings.selector(), settings.costs()
    selector.verbose = max(selector.verbose, int(settings.timings))  # else no step is reported
    _check_costs(costs, settings)
    if settings.weights != "sampling" and settings.weight is None:
        raise MisfeatError(
            f"{Setting('weights', settings.weights)} says how weights are taken, and there are "
            "none; add --weight COL, or leave it out."
        )
    quiet, share, times = settings.quiet, settings.memory_limit, StepTimes("Preparing")
    limited = nullcontext() if share is None else memory_limit(share)
    with warnings_as_notes(quiet) as warned, limited:
        with progress_shown(not quiet) as progress, times.kept(progress), compiled_beside():
            selector.fit(settings.table, settings.outcome, sample_weight=settings.weight)
            selection = selector.selection_
            if isinstance(progress, Bar) and not settings.json:
                progress.preview(_first_look(selection))
            times.step("Looking for what to use and to record")
            screen = first_screen(selection, costs=costs or None)
            worths = worth_lines(selection, costs) if settings.worth else []
        lost = None if settings.json else _written(lambda: _print(settings, selection, screen))
        with progress_shown(not quiet) as progress, times.kept(progress), compiled_beside():
            if settings.validate:
                validation_of(selection)
            validation = selection.validation
            if folder is not None:
                times.step("Writing the report")
                validation = _save(selector, settings, folder)
        if settings.json:
            from misfeat.show.question_output import json_lines

            lines = json_lines(selection, worths, screen, in_options)
            lost = _written(lambda: typer.echo("\n".join(lines)))
        elif lost is None:
            lost = _written(lambda: print_trust(screen, spell=in_options, validation=validation))
        if not quiet:
            words = [caution.words for caution in screen.cautions] if settings.json else []
            say_notes([*selection.cohorts.notes, *warned, *words])
            _say_where(settings, folder)
        if settings.timings:
            _say_timings(times)
    if lost is not None:
        raise lost


def _first_look(selection: "Selection") -> list[str]:
    """The best sets before anything was tested, as a terminal shows them."""
    from misfeat.answers.recommendation import first_look
    from misfeat.show.terminal import MOST_SENTENCES

    sentences = [visible(in_options(sentence)) for sentence in first_look(selection)]
    heading = "Provisional, before tests (which may drop features):"
    # Who would rather have other subgroups need not wait for all of the answer.
    hints = [
        f"note: {visible(in_options(note))}"
        for note in selection.cohorts.notes
        if "groups" in {setting.parameter for setting in as_message(note).settings}
    ]
    return [heading, *(f"• {one}" for one in sentences[:MOST_SENTENCES]), *hints]


def _written(print_it: Callable[[], None]) -> OSError | None:
    """Print, and give back the error where nobody reads on."""
    try:
        print_it()
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        return error
    return None


def _check_costs(costs: Mapping[str, float], settings: RunSettings) -> None:
    """Refuse the cost of an unknown column before the work."""
    from misfeat.reading.inputs import open_table
    from misfeat.reading.values import MissingCodes

    if not costs:
        return
    codes = MissingCodes.parse(settings.value("missing"))
    with closing(open_table(settings.table, settings.target, codes)[0]) as table:
        for column in costs:
            if column not in table.names and column not in (settings.value("block") or {}):
                raise no_such_column(column, table.names, "a feature with a cost", "costs")


def _print(settings: RunSettings, selection: "Selection", screen: "FirstScreen") -> None:
    from misfeat.show.question_output import print_tables
    from misfeat.show.terminal import print_sentences

    if settings.tables:
        print_tables(selection, costs=settings.costs(), collecting=settings.worth)
        typer.echo()
    print_sentences(screen, spell=in_options, collecting=settings.worth)


def _save(selector: "SubgroupSelector", settings: RunSettings, folder: Path) -> str | None:
    """Save a run, the settings that repeat it and its report, all in one."""
    # Returns what the report found by leaving parts of the table out.
    from misfeat.saved_selector import save_selector

    beside = {SETTINGS: as_config(settings, folder).encode()}
    shown = copy(selector.selection_)  # a report validates, a saved run does so where asked to
    try:
        page = report_of(shown, settings).html()
    except BaseException:  # an interrupt, too: the answers took longer than the page
        save_selector(selector, folder, beside)
        raise
    save_selector(selector, folder, {**beside, REPORT: page.encode()})
    return shown.validation


def _say_timings(times: "StepTimes") -> None:
    import psutil

    times.step("")
    steps = {name: seconds for name, seconds in times.seconds.items() if name}
    whole = time.time() - psutil.Process().create_time()
    for name, seconds in {"Starting": whole - sum(steps.values()), **steps, "All": whole}.items():
        say(f"{seconds:8.2f} s  {name}")


def _say_where(settings: RunSettings, folder: Path | None) -> None:
    out = settings.out
    if folder is not None and out is not None:
        say(f"Run:    {out}")
        say(f"Report: {folder / REPORT}")
        say(f"More:   misfeat ask {quote(out)} QUESTION, such as top, enough, features or worth.")
    elif not settings.json:
        tables = "" if settings.tables else "--tables shows the best sets; "
        say(f"More:   {tables}--out DIR saves the run and its report, for misfeat ask.")
