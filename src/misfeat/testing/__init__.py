"""Contract checks for extensions, to be called in their own tests; pytest is not needed."""

from misfeat.testing.checks import Check
from misfeat.testing.completers import check_completer, completer_checks
from misfeat.testing.measures import check_measure, measure_checks
from misfeat.testing.sources import check_source, source_checks

__all__ = [
    "Check",
    "check_completer",
    "check_measure",
    "check_source",
    "completer_checks",
    "measure_checks",
    "source_checks",
]
