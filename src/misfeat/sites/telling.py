"""What a summary tells, in plain words and numbers, for whoever has to allow that it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice import level
from misfeat.sites.sealing import SHORT
from misfeat.sites.spending import epsilon_of
from misfeat.words.names import joined

if TYPE_CHECKING:
    from misfeat.sites.spending import Noise
    from misfeat.sites.summary import Summary

FEW = 10
"""Counts below this are told of as small."""
COIN = 0.5
"""How sure somebody is beforehand that a row is among those that were counted."""


@dataclass(frozen=True)
class Contents:
    """What leaves the house with a summary.

    Attributes
    ----------
    n_sets, n_counts : int
        Tables, and counts in them.
    smallest : int
        The smallest count above 0.
    small, single : int
        Counts above 0 of fewer than ten rows, and of one row.
    alone : int
        Combinations of values that a single row has, so that its class is told, too.
    """

    n_sets: int
    n_counts: int
    smallest: int
    small: int
    single: int
    alone: int


def contents_of(summary: Summary) -> Contents:
    """Count what leaves the house.

    Examples
    --------
    >>> from misfeat.sites import agree, propose, summarise
    >>> table = {"a": [0] * 10 + [1] * 10, "ill": [False] * 11 + [True] * 9}
    >>> codebook, _ = agree([propose(table, "ill", "north")])
    >>> found = contents_of(summarise(table, codebook, "north"))
    >>> found.smallest, found.small, found.single, found.alone
    (1, 2, 1, 0)
    """
    told_of = summary.tables if summary.exact else np.concatenate(summary.of_sizes())
    held = told_of[told_of > 0]
    n_sets = len(table_starts(level(len(summary.cards), summary.size), summary.cards)) - 1
    return Contents(
        n_sets=n_sets,
        n_counts=told_of.size,
        smallest=int(held.min(initial=summary.rows)),
        small=int((held < FEW).sum()),
        single=int((held == 1).sum()),
        alone=int((summary.tables.sum(axis=1) == 1).sum()),
    )


def told(summary: Summary) -> list[str]:
    """Exactly what leaves the house, line by line."""
    book = summary.codebook
    classes = ", ".join(
        f"{label}: {count:,}"
        for label, count in zip(book.target.labels, summary.by_class.tolist(), strict=True)
    )
    lacking = [
        feature.column
        for feature, held in zip(book.features, summary.recorded, strict=True)
        if not held
    ]
    signed = "by nobody"
    if summary.signed_by is not None:
        signed = f"with the key {summary.signed_by[:SHORT]}…"
    about = "" if summary.exact else "about "
    lines = [
        f"Site {summary.site!r}, signed {signed}; codebook of edition {book.edition}, "
        f"{book.fingerprint[:SHORT]}….",
        f"Rows: {about}{summary.rows:,}, by {book.target.column}: {classes}.",
        f"Features: {joined(list(summary.features), most=len(summary.features))}.",
    ]
    if lacking:
        lines.append(f"Never recorded: {joined(lacking, most=len(lacking))}.")
    found = contents_of(summary)
    lines += [
        f"Tables: {found.n_sets:,}, one for every {_of(summary)}, with rows by "
        f"combination of values and {book.target.column}: {found.n_counts:,} counts.",
        "No row, no identifier and no value beyond the categories and bins of the codebook.",
    ]
    if summary.noise is not None:
        return lines + told_of_noise(summary)
    lines += [
        f"Smallest count: {found.smallest:,}. Counts of fewer than {FEW} rows: {found.small:,}; "
        f"of a single row: {found.single:,}.",
    ]
    return lines + (_rounded(summary) if summary.min_cell > 1 else _worked_out(summary, found))


def _of(summary: Summary) -> str:
    """Of what there is a table."""
    words = {1: "feature", 2: "pair of features", 3: "three features"}
    if not summary.exact and summary.size > 1:
        return f"{words[summary.size]}, and those of smaller sets"
    return words[summary.size]


def _worked_out(summary: Summary, found: Contents) -> list[str]:
    """What could be worked out from counts as they are."""
    target = summary.codebook.target.column
    lines = ["What could be worked out:"]
    if found.alone:
        lines.append(
            f"• {found.alone:,} combinations of values are those of one row. Whoever knows such "
            f"values of a person learns {target}, and from other tables further features."
        )
    else:
        lines.append("• No combination of values is that of one row.")
    certain = _certain(summary)
    if certain:
        lines.append(
            f"• In {certain:,} combinations of values all rows have the same {target}: whoever "
            "knows the values learns it, though rows are several."
        )
    lines.append(
        "• Tables overlap, so that sums and differences of counts can be formed, also with those "
        "of another release of the same rows. Counts are exact: nothing was rounded or suppressed."
    )
    return lines


def _rounded(summary: Summary) -> list[str]:
    """What could be worked out from rounded counts."""
    n = summary.min_cell
    return [
        f"All counts are multiples of {n}, rounded up or down at random; 0 stands for anything "
        f"from 0 to {n - 1} rows, and {n} for anything from 1 to {2 * n - 1}.",
        "What could be worked out:",
        f"• Not that a combination of values is that of one row, nor any count below {n}: larger "
        "tables were fitted to the rounded smaller ones before they were rounded, so that sums and "
        "differences of counts tell what was told before.",
        "• What is common: shares and associations that hold for many rows.",
        "• Another release of other rows of the same people adds to it; one of the same rows does "
        "not, since they are rounded in the same way every time.",
    ]


def _certain(summary: Summary) -> int:
    """Combinations of values of several rows that all have the same class."""
    totals = summary.tables.sum(axis=1)
    most = summary.tables.max(axis=1)
    return int(np.sum((totals > 1) & (most == totals)))


def told_of_noise(summary: Summary) -> list[str]:
    """What noise is in a summary, what it promises, and what it does not; nothing without noise."""
    noise = summary.noise
    if noise is None:
        return []
    scales = ", ".join(f"{scale:.1f}" for scale in noise.scales)
    words = ("the classes", "single features", "pairs", "sets of three")[: len(noise.scales)]
    return [
        f"Every count has noise (discrete Gaussian, drawn by OpenDP) of a standard deviation of "
        f"{scales} rows, in tables of {', '.join(words)}; counts below 0 are noise, too.",
        f"What is promised: epsilon = {noise.epsilon:g}, but for a chance of {noise.delta:g}. "
        f"Whoever knows all rows but one, and holds it for as likely as not that a certain row was "
        f"counted, is at most {surest(noise.epsilon):.0%} sure after reading this.",
        _spent(noise),
        "What is not covered: that the site takes part, which columns it recorded, and the values "
        "and bins of the codebook, as far as they came from its own proposal; somebody with "
        "several rows, whose rows count each. Statements about groups hold for everybody, counted "
        "or not.",
    ]


def spent_in_all(noise: Noise) -> float:
    """The epsilon of all releases that a site has a record of."""
    return epsilon_of(noise.all_rho, noise.delta)


def surest(epsilon: float) -> float:
    """How sure somebody can become of what was as likely as not.

    Examples
    --------
    >>> round(surest(1.0), 2), round(surest(4.0), 2)
    (0.73, 0.98)
    """
    return COIN * exp(epsilon) / (COIN * exp(epsilon) + COIN)


def _spent(noise: Noise) -> str:
    """What this release and all of them have spent."""
    spent = f"This release spent rho = {noise.rho:.3g}"
    if noise.releases == 0:
        return f"{spent}. The site keeps no record of its releases; others add to it."
    if noise.releases == 1:
        return f"{spent}. It is the first in the site's record."
    return (
        f"{spent}. The {noise.releases} releases in the site's record have spent rho = "
        f"{noise.all_rho:.3g} together: epsilon = {spent_in_all(noise):.3g}, but for a chance of "
        f"{noise.delta:g}."
    )
