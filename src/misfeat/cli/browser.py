"""A page in the reader's browser."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from misfeat.cli.errors import say

if TYPE_CHECKING:
    from pathlib import Path


def open_page(file: Path) -> None:
    """Open a page, or say that no browser could be started."""
    import webbrowser

    if not webbrowser.open(file.absolute().as_uri()):
        say(f"note: No browser could be started; open {file} in one.")


def has_screen() -> bool:
    """Whether there is a screen that a browser could show a page on."""
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return named or sys.platform in ("darwin", "win32")
