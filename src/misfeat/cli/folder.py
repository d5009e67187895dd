"""What the command line keeps beside a saved selection: the settings and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.cli.config import read_config
from misfeat.cli.options import as_option
from misfeat.cli.settings import RunSettings
from misfeat.selection.folders import SETTINGS, as_folder, read_parts

if TYPE_CHECKING:
    from misfeat.show.report import Report
    from misfeat.show.shown import ShownSelection


def saved_settings(folder: str) -> RunSettings:
    """The settings that a run was saved with; the usual ones where it was saved by other means."""
    place = as_folder(folder)
    known = SETTINGS in read_parts(place, [SETTINGS])
    return RunSettings(read_config(str(place / SETTINGS), asked=False) if known else {})


def report_of(selection: ShownSelection, said: RunSettings, title: str = "") -> Report:
    """The report of a selection, as the settings of its run say."""
    from misfeat.show.report import Report
    from misfeat.show.report.gather import gather

    findings = gather(selection, costs=said.costs() or None)
    return Report(findings, title or said["title"], spell=as_option)
