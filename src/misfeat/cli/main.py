"""`main`: the start of the command line, and its end when it is interrupted."""

import gc
import os
import sys
from contextlib import suppress

from misfeat.runtime.interrupts import INTERRUPTED, interrupts_kept

LEAST_MEMORY = 1000 * 2**20  # With less, libraries end the process as they load


def main() -> None:
    """Run the command line; Ctrl-C ends it in the same way even while it is still imported."""
    gc.set_threshold(10_000)  # what is imported stays: looking through it takes a tenth of a start
    # Where colorama is installed, Numba would write to the terminal when the process ends.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    with suppress(ImportError):  # as on Windows
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if 0 <= limit < LEAST_MEMORY:
            sys.stderr.write(
                f"error: Memory is limited to {limit // 2**20:,} MB (ulimit -v), and misfeat needs "
                f"{LEAST_MEMORY // 2**20:,} MB to start; raise the limit.\n"
            )
            sys.exit(2)
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
    # Otherwise Python would end it by the signal instead of the exit code if Ctrl-C came during
    # `exec`, as when a dataclass is defined.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)
