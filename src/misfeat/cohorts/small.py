"""Subgroups with too few rows: merged into one, or left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.runs import DROPPED, Runs
from misfeat.exceptions import Message, MisfeatError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.coding import Coding
    from misfeat.cohorts.rules import Notes

SMALL = "other"
"""The name of the cohort that small subgroups are merged into."""
MOST_NAMED = 10
"""So many subgroups are named in a message."""
_KEPT_BY = Message(
    " So few could not tell a pair of features from chance; {keep} keeps them.",
    keep=Setting("min_rows", 1),
)


def settle_small(
    runs: Runs,
    names: list[str],
    sizes: NDArray[np.int64],
    coding: Coding,
    floor: int,
    notes: Notes,
) -> tuple[Runs, list[str]]:
    """Merge or drop the subgroups with too few rows, and say which.

    Parameters
    ----------
    runs : Runs
        Which rows belong to which subgroup.
    names : list of str
        The subgroups.
    sizes : ndarray of shape (n_subgroups,)
        Their rows.
    coding : Coding
        From how many rows on a subgroup is not small, and what becomes of small ones.
    floor : int
        From how many on, where that is not said.
    notes : Notes
        Where it is said what was done.
    """
    least = _least_rows(coding, sizes, floor)
    small = np.flatnonzero(sizes < least.value)
    if not len(small):
        return runs, names
    shown = _small_ones(names, sizes, small, coding.min_cell)
    large = np.flatnonzero(sizes >= least.value)
    together = int(sizes[small].sum())
    merging = coding.small_groups == "merge" and together >= coding.min_cell
    if not merging and not len(large):
        raise MisfeatError(
            "Every subgroup has fewer than {least} rows: {shown}.",
            remedy="Lower it.",
            least=least,
            shown=shown,
        )
    fate = f"are merged into {SMALL!r}" if merging else "are left out"
    chosen = least.parameter == "min_rows" and coding.min_rows is None
    notes.add(
        "Subgroups with fewer than {least} rows {fate}: {shown}.{remedy}",
        least=least,
        fate=fate,
        shown=shown,
        remedy=_KEPT_BY if chosen else "",
    )
    if merging and together < least.value and not chosen:
        notes.warn(
            "The merged subgroup {name!r} has {rows:,} rows, still fewer than {least}; lower it, "
            "or use {dropping}.",
            name=SMALL,
            rows=together,
            least=least,
            dropping=Setting("small_groups", "drop"),
        )
    renumbered = np.full(len(names) + 1, len(large) if merging else DROPPED, dtype=np.int64)
    renumbered[large] = np.arange(len(large))
    renumbered[DROPPED] = DROPPED
    left = [names[i] for i in large] + ([SMALL] if merging else [])
    return replace(runs, cohort=renumbered[runs.cohort]), left


def _least_rows(coding: Coding, sizes: NDArray[np.int64], floor: int) -> Setting:
    """The parameter that says from how many rows on a subgroup is not small.

    Where none was asked for, it is the floor, unless nothing would be left above it, or a single
    subgroup would be merged with no other.
    """
    least = coding.min_rows
    if least is None:
        small = int((sizes < floor).sum())
        pointless = small == 1 and coding.small_groups == "merge"
        least = 1 if small == len(sizes) or pointless else floor
    name, least = max(("min_rows", int(least)), ("min_cell", coding.min_cell), key=lambda s: s[1])
    return Setting(name, least)


def _small_ones(
    names: list[str], sizes: NDArray[np.int64], small: NDArray[np.int64], min_cell: int
) -> str:
    """The small subgroups with their rows; only how many there are where that is too much."""
    if min_cell > 1:
        return f"{len(small):,} in all"
    shown = ", ".join(f"{names[i]} ({sizes[i]:,})" for i in small[:MOST_NAMED])
    more = len(small) - MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown
