"""Columns of a long table that are counted together, so that an engine reads its rows less often.

A look at some of the rows says which columns have few values. The combinations of several such
columns are counted in one group-by, and the counts of each follow by adding up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LONG = 200_000
"""Tables of fewer rows are read fast enough column by column."""
LOOKED_AT = 50_000
"""Rows whose values say how many a column has, about."""
FEW_VALUES = 100
"""Columns with at most so many values in these rows are counted together with others."""
MOST_COMBINATIONS = 20_000
"""Combinations of the values of columns that are counted together, about."""
FEWER_COMBINATIONS = 200_000
"""Where there are more after all, each column is counted by itself."""
FIRST_PART = 4
"""A column with more values than are counted is looked for in so many times as many rows first."""


def counted_together(distinct: Mapping[str, int]) -> list[list[str]]:
    """Columns with few values, put together so that each lot has few combinations.

    `distinct` is how many values each column has in some of the rows, about.
    """
    lots: list[list[str]] = []
    combinations: list[int] = []
    few = {name: many + 1 for name, many in distinct.items() if many <= FEW_VALUES}
    for name, many in few.items():  # one more for missing
        for place, so_far in enumerate(combinations):
            if so_far * many <= MOST_COMBINATIONS:
                lots[place].append(name)
                combinations[place] *= many
                break
        else:
            lots.append([name])
            combinations.append(many)
    return lots
