"""Contract checks for extensions, to be called in their own tests; pytest is not needed."""

from misfeat.testing.completers import (
    Check,
    check_completer,
    check_source,
    completer_checks,
    source_checks,
)

__all__ = ["Check", "check_completer", "check_source", "completer_checks", "source_checks"]
