"""How a command ended, as its exit code says it."""

INTERNAL_ERROR = 1
"""Something in misfeat or a library under it broke."""
BAD_INPUT = 2
"""A table, a file or a request that cannot be answered."""
SOME_REFUSED = 3
"""The answer was written, without some of what was given."""
INTERRUPTED = 130
"""Ctrl-C, as shells count it: 128 and the number of the signal."""
NOBODY_READS = 141
"""The reader of a pipe went away, counted the same way."""
