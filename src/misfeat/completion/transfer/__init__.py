"""The closed-form transfer between cohorts, and the default completer, which takes it."""

from misfeat.completion.transfer.completer import AutoCompleter, TransferCompleter

__all__ = ["AutoCompleter", "TransferCompleter"]
