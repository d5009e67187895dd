"""Screening: where a table has too many feature sets to score all, the features worth keeping."""

from misfeat.screening.model import Looked, Screened
from misfeat.screening.screen import screened, sets_in_all

__all__ = ["Looked", "Screened", "screened", "sets_in_all"]
