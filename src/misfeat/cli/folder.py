"""What the command line keeps beside a saved selection: the settings and the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from misfeat.cli.config import read_config
from misfeat.cli.settings import RunSettings
from misfeat.exceptions import MisfeatError
from misfeat.selection.folders import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.show.shown import ShownSelection


def saved_settings(folder: str) -> RunSettings:
    """The settings that a run was saved with; the usual ones where it was saved by other means."""
    file = Path(folder).expanduser() / SETTINGS
    return RunSettings(read_config(str(file), asked=False) if file.exists() else {})


def write_report(
    selection: ShownSelection,
    file: Path,
    title: str | None = None,
    costs: Mapping[str, float] | None = None,
) -> None:
    """Write the report of a selection; a file that cannot be written is the user's to mend."""
    try:
        selection.report(title=title, costs=costs or None).write_html(file)
    except OSError as error:
        raise MisfeatError(
            "{file!r} cannot be written: {why}.", file=str(file), why=error.strerror
        ) from error
