"""Classes that protection hides: a site that tells of no rows of a class may have a few.

Without them there would seem to be less to tell about the target than there is: nothing at all, if
one class is left. So where another site tells of a class, a protected site that tells of none is
taken to have as many rows of it as protection hides on the mean.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.sites.noise import deviation_of_classes
from misfeat.sites.rounding import hidden_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.sites.summary import Summary


def with_hidden_classes(summaries: Sequence[Summary]) -> list[Summary]:
    """Summaries with a few rows of every class that others tell of and protection may hide."""
    elsewhere = np.any([one.by_class > 0 for one in summaries], axis=0)
    return [_with_hidden(one, elsewhere & (one.by_class == 0)) for one in summaries]


def tells_of_classes(summary: Summary) -> bool:
    """Whether a site tells of rows of two classes at least."""
    return int(np.count_nonzero(summary.by_class)) > 1


def _with_hidden(summary: Summary, hidden: np.ndarray) -> Summary:
    if summary.exact or not hidden.any():
        return summary
    if summary.noise is not None:
        # Classes are seen from two deviations on: one is the middle of what is not.
        few = deviation_of_classes(summary.noise.scales, summary.cards)
    else:
        few = hidden_rows(summary.min_cell)
    rows = max(1, round(few))
    return replace(summary, by_class=np.where(hidden, rows, summary.by_class))
