"""Small counts kept back: every count that is told is a multiple of n, drawn up or down at random.

Classes are rounded first. Tables of single features are then fitted to the rounded classes and
rounded, those of pairs are fitted to the rounded tables of their features and rounded, and those of
three features to the rounded pairs. So every true count enters one rounded number only: the sums of
larger tables tell what the smaller ones told before, and averaging over many tables that share a
small count tells nothing more about it. Chance is drawn from the counts themselves: the same rows
are told the same way every time, and asking again does not help.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.selection.withholding import Rounding
from misfeat.sites.fitting import each_set, raked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.sites.summary import Summary

    Counts = NDArray[np.int64]
    Floats = NDArray[np.float64]

PRIOR = 0.05
"""What a rounded table gets of what its smaller tables lead one to expect, before it is fitted: no
cell is impossible because it was rounded down."""


def rounded_summary(summary: Summary, least: int) -> Summary:
    """The same summary with all counts rounded to multiples of the least one that may be told.

    Parameters
    ----------
    summary : Summary
        With exact counts.
    least : int
        The fewest rows that a count may tell of.

    Examples
    --------
    >>> from misfeat.sites import agree, propose, summarise
    >>> table = {"a": [0, 1] * 40, "b": [0, 0, 1, 1] * 20, "ill": [False, True] * 40}
    >>> codebook, _ = agree([propose(table, "ill", "north")])
    >>> told = rounded_summary(summarise(table, codebook, "north"), 10)
    >>> bool((told.tables % 10 == 0).all()), told.rows % 10
    (True, 0)
    """
    if least < 2:
        return summary
    exact = summary.of_sizes()
    rounding = rounding_of(summary, least)
    told = rounded_classes(summary, rounding)
    tables: list[Counts] = []
    smaller = told.astype(np.float64)[None]
    for size, table in enumerate(exact, start=1):

        def draw(counts: Floats, parts: list[Floats], name: str) -> Floats:
            return rounding.of(raked(counts, parts), "tables", name).astype(np.float64)

        smaller = each_set(table.astype(np.float64), smaller, summary.cards, size, draw)
        tables.append(smaller.astype(np.int64))
    return replace(
        summary, by_class=told, tables=tables[-1], smaller=tuple(tables[:-1]), min_cell=least
    )


def fitted_tables(summary: Summary) -> list[Floats]:
    """The tables of a rounded summary, made consistent: larger ones have the smaller in common.

    Parameters
    ----------
    summary : Summary
        With rounded counts.
    """
    smaller = summary.by_class.astype(np.float64)[None]
    found = []
    for size, table in enumerate([*summary.smaller, summary.tables], start=1):
        smaller = each_set(table.astype(np.float64), smaller, summary.cards, size, _fitted)
        found.append(smaller)
    return found


def worth(rows: float, n_cells: Floats, least: int) -> Floats:
    """How many rows, counted exactly, would tell as much about sets of so many cells.

    Rounding a count t at random adds a variance of u (n - u) to it, u being what is left of t over
    a multiple of n. Counts below n have (n - 1) times their own variance, at most; larger ones
    n² / 6 on the mean.

    Parameters
    ----------
    rows : float
        Rows of the site.
    n_cells : ndarray
        Cells of sets, with classes.
    least : int
        The fewest rows that a count may tell of.

    Examples
    --------
    >>> worth(1000.0, np.array([4.0, 250.0]), 10).round()
    array([938., 194.])
    """
    if least < 2:
        return np.full(np.shape(n_cells), float(rows))
    added = np.minimum(least - 1.0, n_cells / max(rows, 1.0) * least**2 / 6.0)
    effective: Floats = rows / (1.0 + added)
    return effective


def _fitted(table: Floats, parts: list[Floats], _name: str) -> Floats:
    """A rounded table fitted to smaller ones that are consistent."""
    if len(parts) == 1:  # a single feature: classes that no value was told of are shared out
        sums = table.sum(axis=0)
        told = table.sum(axis=1, keepdims=True)
        shared = np.where(sums > 0, table, told if told.any() else 1.0)
        of_classes: Floats = shared * parts[0] / np.maximum(shared.sum(axis=0), 1.0)
        return of_classes
    expected = raked(np.ones(table.shape), parts)
    sums, whole = table.sum(axis=tuple(range(table.ndim - 1))), parts[0].reshape(-1, len(table.T))
    scale = np.divide(whole.sum(axis=0), sums, out=np.zeros_like(sums), where=sums > 0)
    return raked(table * scale + PRIOR * expected, parts)


def rounding_of(summary: Summary, least: int) -> Rounding:
    """How the counts of a site are rounded, the same whatever it shares.

    Chance is drawn from the counts of classes, of features and of pairs, which nobody can guess.

    Parameters
    ----------
    summary : Summary
        With exact counts.
    least : int
        The fewest rows that a count may tell of.
    """
    found = hashlib.sha256()
    for array in (summary.by_class, *summary.of_sizes()[:2]):
        found.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
    return Rounding(least, int.from_bytes(found.digest()))


def rounded_classes(summary: Summary, rounding: Rounding) -> Counts:
    """The rows of every class, rounded; an error where none are left.

    Parameters
    ----------
    summary : Summary
        With exact counts.
    rounding : Rounding
        How they are rounded.
    """
    told = rounding.of(summary.by_class, "classes")
    if not told.any():
        raise MisfeatError(
            "The site has too few rows of every class for {setting}; lower it.",
            setting=Setting("min_cell", rounding.least),
        )
    return told
