"""What a summary tells, in plain words and numbers, for whoever has to allow that it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice import level
from misfeat.sites.signed_documents import SHORT
from misfeat.words import joined

if TYPE_CHECKING:
    from misfeat.sites.summary import Summary

FEW = 10  # Counts below this are told of as small


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
    >>> found = contents_of(summarise(table, codebook, "north", min_cell=1))
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


def disclosed(summary: Summary) -> list[str]:
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
    lines += [
        f"Smallest count: {found.smallest:,}. Counts of fewer than {FEW} rows: {found.small:,}; "
        f"of a single row: {found.single:,}."
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
