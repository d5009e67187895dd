"""The command line: thin over the selector."""

from misfeat.cli.app import app, main

__all__ = ["app", "main"]
