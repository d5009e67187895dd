"""`misfeat demo`: the answers for a table that comes with the package."""

import os
import sys

from misfeat.cli.background_compilation import compiled_beside
from misfeat.cli.errors import warnings_as_notes
from misfeat.cli.saved_runs import open_page
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
