"""The different coded rows of a table: all of them, or drawn at random where memory holds fewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.cohorts.table import DrawsRows
from misfeat.exceptions import MemoryLimitError, Setting
from misfeat.machine.memory import allowed_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.cohorts.coders import CodedRows, Coder
    from misfeat.cohorts.drawing import Drawing
    from misfeat.cohorts.profiling import ProfiledTable
    from misfeat.cohorts.rules import Notes

BYTES_A_ROW, BYTES_A_CODE = 120, 14
"""What a different row takes from the engine to the last score, and what each of its codes does."""
FEWEST_ROWS = 100_000
"""So many different rows fit any memory that scores can be computed in."""


def counted_rows(profiled: ProfiledTable, coders: Sequence[Coder], notes: Notes) -> CodedRows:
    """Collapse equal coded rows, and draw some of them where the table is in an engine and more.

    The coders of the groupings come first, that of the target last.
    """
    table, rules = profiled.table, profiled.rules
    if not isinstance(table, DrawsRows):
        return table.count_codes(coders)
    most = rules.coding.max_rows or _most_rows(len(coders))
    rows, drawing = table.draw_codes(coders, len(profiled.groupings), most)
    if drawing is not None:
        if rules.weights.strata is not None or rules.weights.cluster is not None:
            raise _too_many(drawing, most)
        _say_drawn(drawing, profiled, most, notes)
    return rows


def _most_rows(n_codes: int) -> int:
    """How many different rows of so many codes the memory holds that may be taken."""
    return max(FEWEST_ROWS, allowed_memory() // (BYTES_A_ROW + BYTES_A_CODE * n_codes))


def _say_drawn(drawing: Drawing, profiled: ProfiledTable, most: int, notes: Notes) -> None:
    rates = sorted(drawing.one_in.values())
    notes.add(
        "The table has about {different:,} different rows of codes, more than the {most:,} that "
        "{why}. Rows were drawn at random: one in {rates} in the {n:,} largest subgroups, all in "
        "others. Scores, intervals and tests are those of the rows drawn; a larger {setting} keeps "
        "more.",
        different=drawing.n_rows,
        most=most,
        why="memory holds" if profiled.rules.coding.max_rows is None else "were asked for",
        rates=f"{rates[0]:,}" if rates[0] == rates[-1] else f"{rates[0]:,} to {rates[-1]:,}",
        n=len(rates),
        setting=Setting("max_rows"),
    )


def _too_many(drawing: Drawing, most: int) -> MemoryLimitError:
    return MemoryLimitError(
        "The table has about {different:,} different rows of codes, more than the {most:,} that "
        "memory holds, and with a {design} rows cannot be drawn from them; use fewer {bins}, leave "
        "features out, or raise {limit}.",
        different=drawing.n_rows,
        most=most,
        design=Setting("design"),
        bins=Setting("bins"),
        limit=Setting("max_rows"),
    )
