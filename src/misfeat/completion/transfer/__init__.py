"""The closed-form transfer between cohorts."""

from misfeat.completion.transfer.completer import TransferCompleter

__all__ = ["TransferCompleter"]
