"""What is asked of saved runs: `misfeat report`, `ask`, `export` and `compare`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from misfeat.cli.errors import Quiet, in_options, notes_said, say
from misfeat.cli.run_options import RunSettings, Several, as_option, read_costs
from misfeat.cli.settings_file import saved_settings
from misfeat.runtime.file_system import as_path
from misfeat.saving.run_folder import MANIFEST, REPORT, add_part, read_parts

if TYPE_CHECKING:
    from misfeat.selection import Selection
    from misfeat.show.report import Report


def report(
    folder: str, out: str = "", title: str = "", show: bool = False, quiet: Quiet = False
) -> None:
    """Write the report of a saved run."""
    place = as_path(folder, "folder", what="folder")
    file = as_path(out, "out") if out else place / REPORT
    with notes_said(quiet), _loaded(folder, quiet) as selection:
        manifest = read_parts(place, [MANIFEST]).get(MANIFEST, b"")
        page = report_of(selection, saved_settings(folder), title)
        if out:
            page.write_html(file)
        else:
            add_part(place, REPORT, page.html().encode(), manifest)
    if not quiet:
        say(f"Report: {file}")
    if show:
        open_page(file)


def report_of(selection: "Selection", said: RunSettings, title: str = "") -> "Report":
    """The report of a selection, as the settings of its run say."""
    from misfeat.show.report import make_report

    costs = said.costs() or None
    return make_report(selection, title or said.title, costs=costs, spell=as_option)


def open_page(file: Path) -> None:
    """Open a page in the reader's browser, or say that none could be started."""
    import webbrowser

    if not webbrowser.open(file.absolute().as_uri()):
        say(f"note: No browser could be started; open {file} in one.")


def ask(
    folder: str,
    question: str,
    subgroup: str = "",
    feature: Several = None,
    size: int | None = None,
    json: bool = False,
    quiet: Quiet = False,
) -> None:
    """Ask a saved run: which sets explain most, is it more than chance, how many are enough, …"""
    with notes_said(quiet), _loaded(folder, quiet) as selection:
        costs = saved_settings(folder).costs()
        _print(selection, question, json, subgroup or None, tuple(feature or ()), size, costs)


def plan(
    folder: str,
    subgroup: str = "",
    budget: float | None = None,
    cost: Several = None,
    rows: int | None = None,
    size: int | None = None,
    json: bool = False,
    quiet: Quiet = False,
) -> None:
    """Plan what to record: which features where, in which order, and when to stop."""
    with notes_said(quiet), _loaded(folder, quiet) as selection:
        costs = read_costs(cost) if cost else saved_settings(folder).costs()
        _print(selection, "plan", json, subgroup or None, (), size, costs, budget, rows)


def _print(selection: "Selection", question: str, json: bool, *parts: Any) -> None:
    from misfeat.show.question_output import About, json_answer, print_answer

    about = About(*parts)
    if json:
        for line in json_answer(selection, question, about):
            typer.echo(line)
    else:
        print_answer(selection, question, about, spell=in_options)


def export(
    folder: str,
    file: str,
    question: Several = None,
    size: int | None = None,
    top: int | None = None,
    quiet: Quiet = False,
) -> None:
    """Write the answers of a saved run as an Excel workbook or CSV files."""
    from misfeat.show.export import export_answers

    with notes_said(quiet), _loaded(folder, quiet) as selection:
        costs = saved_settings(folder).costs()
        written = export_answers(
            selection, file, question or None, size=size, k=top, costs=costs, spell=in_options
        )
    if not quiet:
        say(f"Answers: {written}")


def compare(
    first: str, second: str, size: int | None = None, json: bool = False, quiet: Quiet = False
) -> None:
    """Compare two saved runs: which answers changed by more than their uncertainty."""
    from misfeat import comparison

    with notes_said(quiet):
        found = comparison.compare(first, second, size=size)
        if json:
            for line in comparison.comparison_as_json(found):
                typer.echo(line)
        else:
            comparison.print_comparison(found, spell=in_options)


@contextmanager
def _loaded(folder: str, quiet: bool) -> Iterator["Selection"]:
    """A saved selection, which keeps what is asked of it."""
    from misfeat.selection import Selection

    selection = Selection.load(folder)
    selection.verbose = int(not quiet)
    yield selection
    selection.keep_answers()
