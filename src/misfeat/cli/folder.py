"""The folder of a saved run: the selection, the settings and the report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from misfeat.exceptions import MisfeatError
from misfeat.selection.saving import SETTINGS, foreign_entries, is_current

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.cli.settings import RunSettings
    from misfeat.selector import SubgroupSelector


def make_folder(path: str) -> Path:
    """Make a folder for results before work starts, so that no work is lost."""
    if not path:
        raise MisfeatError("--out '' names no folder; give one, or leave --out away.")
    place = Path(path).expanduser().absolute()
    if place.exists() and not place.is_dir():
        raise MisfeatError(f"--out {path!r} is a file; give a folder, or remove the file.")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MisfeatError(f"The folder {path!r} cannot be made: {error.strerror}.") from None
    return place


def check_folder(path: str) -> Path:
    """The folder for a run, refused before work starts where it holds what is not ours.

    Saving replaces the whole folder, so that nothing of anyone else's may be in it.
    """
    new = not Path(path).expanduser().exists()
    place = make_folder(path).resolve()
    foreign = foreign_entries(place)
    if foreign:
        raise MisfeatError(
            f"--out {path!r} holds {foreign[0]!r}, which is no part of a saved run and would be "
            "lost; give another folder."
        )
    if not os.access(place if is_current(place) else place.parent, os.W_OK):
        raise MisfeatError(f"--out {path!r} cannot be written: its folder is read-only.")
    if new:
        place.rmdir()  # a run that fails leaves nothing behind
    return place


def save_run(selector: SubgroupSelector, settings: str, folder: Path) -> None:
    """Save a run and the settings that repeat it."""
    shown, selector.verbose = selector.verbose, 0  # whoever loads it asks for progress themselves
    try:
        selector.save(folder)
    finally:
        selector.verbose = shown
    (folder / SETTINGS).write_text(settings, encoding="utf-8")


def saved_settings(folder: str) -> RunSettings:
    """The settings that a run was saved with; the usual ones where it was saved by other means."""
    from misfeat.cli.config import read_config
    from misfeat.cli.settings import RunSettings

    file = Path(folder).expanduser() / SETTINGS
    return RunSettings(**(read_config(str(file)) if file.exists() else {}))


def write_report(
    selector: SubgroupSelector,
    file: Path,
    title: str | None = None,
    costs: Mapping[str, float] | None = None,
) -> None:
    """Write the report of a selector; a file that cannot be written is the user's to mend."""
    try:
        selector.report(title=title, costs=costs or None).write_html(file)
    except OSError as error:
        raise MisfeatError(f"{str(file)!r} cannot be written: {error.strerror}.") from error
