"""What a summary tells, in plain words and numbers, for whoever has to allow that it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice import level
from misfeat.sites.signed_documents import SHORT
from misfeat.words import joined

if TYPE_CHECKING:
    from misfeat.sites.summary import Summary

FEW = 10  # Counts below this are told of as small


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
    counts = summary.tables if summary.exact else np.concatenate(summary.of_sizes())
    held = counts[counts > 0]
    n_sets = len(table_starts(level(len(summary.cards), summary.size), summary.cards)) - 1
    of = {1: "feature", 2: "pair of features", 3: "three features"}[summary.size]
    if not summary.exact and summary.size > 1:
        of += ", and those of smaller sets"
    lines += [
        f"Tables: {n_sets:,}, one for every {of}, with rows by "
        f"combination of values and {book.target.column}: {counts.size:,} counts.",
        "No row, no identifier and no value beyond the categories and bins of the codebook.",
        f"Smallest count: {int(held.min(initial=summary.rows)):,}. Counts of fewer than {FEW} "
        f"rows: {int((held < FEW).sum()):,}; of a single row: {int((held == 1).sum()):,}.",
    ]
    return lines + (_of_exact(summary) if summary.exact else _of_rounded(summary.min_cell))


def _of_exact(summary: Summary) -> list[str]:
    """What could be worked out from counts as they are."""
    target = summary.codebook.target.column
    rows = summary.tables.sum(axis=1)
    alone = int((rows == 1).sum())
    certain = int(np.sum((rows > 1) & (summary.tables.max(axis=1) == rows)))
    lines = ["What could be worked out:"]
    if alone:
        lines.append(
            f"• {alone:,} combinations of values are those of one row. Whoever knows such "
            f"values of a person learns {target}, and from other tables further features."
        )
    else:
        lines.append("• No combination of values is that of one row.")
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


def _of_rounded(n: int) -> list[str]:
    """What could be worked out from counts rounded to multiples."""
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
