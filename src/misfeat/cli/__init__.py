"""The command line: thin over the selector."""

from misfeat.cli.main import main

__all__ = ["main"]
