"""The command line: thin over the selector."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from misfeat.runtime.progress import INTERRUPTED, interrupts_kept

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C ends it in the same way even while it is still imported."""
    # Where colorama is installed, Numba would write to the terminal when the process ends.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    try:
        with interrupts_kept():
            from misfeat.cli.app import app

            app(prog_name="misfeat")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        _leave_interrupted()
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            _leave_interrupted()
        raise


def _leave_interrupted() -> None:
    """End the process at once."""
    # Otherwise Python would end it by the signal instead of the exit code if Ctrl-C came during
    # `exec`, as when a dataclass is defined.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)
