"""What is left of an answer where nothing may rest on fewer than n rows.

Everything is made from what is left, and the rows are let go: whatever is shown, saved or exported
afterwards cannot give away more. Counts become multiples of n, so that no difference between two of
them, of overlapping subgroups or of a table and its margins, is a small count either. Scores are
rounded to n rows' worth, n over the rows of the subgroup in nats: a score to the last digit would
tell the counts that it was made of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.model import NOT_RECORDED
from misfeat.exceptions import Message, MisfeatError, Setting
from misfeat.selection.explaining import CellCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.model import ColumnAudit
    from misfeat.completion.model import CompletedScores

    Floats = NDArray[np.float64]

ANY_OTHER = "any other"
"""The value of cells that were merged."""
IN_ORDER = 1e-9
"""Scores that are rounded to the same stay in their order by so much of a step each."""


def rounded(counts: Any, least: int) -> NDArray[np.int64]:
    """Counts as multiples of the least one that may be told.

    Parameters
    ----------
    counts : array-like
        Rows.
    least : int
        The fewest that may be told.

    Examples
    --------
    >>> rounded([0, 4, 5, 14, 30], 10)
    array([ 0,  0, 10, 10, 30])
    """
    multiples: NDArray[np.int64] = np.floor(np.asarray(counts) / least + 0.5).astype(np.int64)
    return multiples * least


def withheld_cells(found: CellCounts, least: int) -> CellCounts:
    """The cells of a set: small ones merged, all counts rounded.

    Parameters
    ----------
    found : CellCounts
        Rows by cell and class.
    least : int
        The fewest rows that may be told.

    Examples
    --------
    >>> counts = np.array([[20.0, 31.0], [2.0, 1.0], [5.0, 3.0], [30.0, 0.0]])
    >>> left = withheld_cells(CellCounts([("0",), ("1",), ("2",), ("3",)], counts), 10)
    >>> left.values, left.counts.tolist()
    ([('0',), ('3',), ('any other',)], [[20, 30], [30, 0], [10, 0]])
    """
    told = rounded(found.counts, least)
    kept = (found.counts.sum(axis=1) >= least) & (told.sum(axis=1) > 0)
    values = [value for value, keep in zip(found.values, kept, strict=True) if keep]
    others = rounded(found.counts[~kept].sum(axis=0), least)
    if not others.any():
        return CellCounts(values, told[kept])
    rest = (ANY_OTHER,) * len(found.values[0])
    return CellCounts([*values, rest], np.vstack([told[kept], others]))


def withheld_cohorts(cohorts: Cohorts, least: int) -> Cohorts:
    """Subgroups without their rows: how many there are of each class, rounded.

    Parameters
    ----------
    cohorts : Cohorts
        Coded, weighted rows.
    least : int
        The fewest rows that may be told.

    Returns
    -------
    Cohorts
        One row a subgroup and class, whose features have no value but whether the subgroup
        recorded them.
    """
    n_classes = len(cohorts.classes)
    by_class = np.array(
        [np.bincount(c.target, weights=c.weights, minlength=n_classes) for c in cohorts]
    )
    _check_classes(cohorts, by_class.sum(axis=0), least)
    told = rounded(by_class, least)
    nothing = told.sum(axis=1) == 0  # many classes, and few rows of each
    told[nothing, by_class[nothing].argmax(axis=1)] = least
    place, target = np.nonzero(told)
    codes = np.where(cohorts.missing[place].T, NOT_RECORDED, 0).astype(cohorts.codes.dtype)
    labels = {
        name: _common(cohorts, feature, least) for feature, name in enumerate(cohorts.features)
    }
    return replace(
        cohorts,
        codes=np.ascontiguousarray(codes),
        target_codes=target.astype(cohorts.target_codes.dtype),
        weights=told[place, target],
        offsets=np.searchsorted(place, np.arange(len(cohorts) + 1)).astype(np.int64),
        categories=tuple(labels.values()),
        gap_codes=tuple(() for _ in cohorts.features),
        columns=tuple(_audit(audit, labels, least) for audit in cohorts.columns),
        notes=tuple(_notes(cohorts.notes, least)),
        seen=cohorts.names,
    )


def withheld_scores(
    by_size: Mapping[int, CompletedScores], cohorts: Cohorts, ceiling: Floats, least: int
) -> dict[int, CompletedScores]:
    """Scores and bounds rounded to what so many rows weigh, in the order that they were in.

    Parameters
    ----------
    by_size : mapping of int to CompletedScores
        All sets of every size.
    cohorts : Cohorts
        What is left of the subgroups.
    ceiling : ndarray of shape (n_cohorts,)
        What no score can exceed, by what is left.
    least : int
        The fewest rows that may be told.
    """
    step = np.array([least / cohort.size for cohort in cohorts])[:, None]
    sizes = sorted(by_size)
    scores = np.concatenate([by_size[size].score for size in sizes], axis=1)
    order = np.array([np.unique(line, return_inverse=True)[1] for line in scores])
    told = step * (np.floor(scores / step + 0.5) + IN_ORDER * order)
    told = np.minimum(told, ceiling[:, None])
    ends = np.cumsum([by_size[size].score.shape[1] for size in sizes])[:-1]
    found = {}
    for size, score in zip(sizes, np.split(told, ends, axis=1), strict=True):
        own = by_size[size]
        low = np.minimum(step * np.floor(own.low / step), score)
        high = np.minimum(step * np.ceil(own.high / step), ceiling[:, None])
        found[size] = replace(own, score=score, low=low, high=np.maximum(high, score))
    return found


def _check_classes(cohorts: Cohorts, by_class: Floats, least: int) -> None:
    """Raise where a class of the target has too few rows to be named at all."""
    rare = [label for label, n in zip(cohorts.classes, by_class, strict=True) if n < least]
    if rare:
        raise MisfeatError(
            "The target {column!r} has fewer than {least} rows of the class {label!r}; merge it "
            "with another class, or lower {setting}.",
            column=cohorts.target,
            least=least,
            label=rare[0],
            setting=Setting("min_cell", least),
        )


def _common(cohorts: Cohorts, feature: int, least: int) -> tuple[str, ...]:
    """What the categories of a feature mean, of those that have enough rows."""
    labels = cohorts.categories[feature]
    codes = cohorts.codes[feature]
    held = codes >= 0
    counts = np.bincount(codes[held], weights=cohorts.weights[held], minlength=len(labels))
    common = [label for label, count in zip(labels, counts, strict=True) if count >= least]
    return (*common, ANY_OTHER) if len(common) < len(labels) else tuple(common)


def _audit(audit: ColumnAudit, labels: Mapping[str, tuple[str, ...]], least: int) -> ColumnAudit:
    """How a column was treated, without what few rows hold of it."""
    kept = audit.categories if audit.role == "target" else labels.get(audit.column, ())
    return replace(audit, categories=kept, edges=(), missing=int(rounded(audit.missing, least)))


def _notes(notes: Sequence[str], least: int) -> Iterator[str]:
    """What happened to rows, how many of them rounded; nothing of too few."""
    for note in notes:
        if not isinstance(note, Message) or "rows" not in note.about:
            yield note
        elif rows := int(rounded(note.about["rows"], least)):
            yield Message(note.template, **{**note.about, "rows": rows})
