"""CountMeasure: a measure of one's own, made of one method over tables of counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TAKEN = ("mutual_info", "r2")
"""Names of the measures that misfeat comes with."""


class CountMeasure(BaseEstimator, ABC):  # type: ignore[misc]
    """What a feature set tells about the target, by the rows of its cells: `of_counts` says all.

    Everything else is done for it: counting, taking chance off, pooling subgroups, intervals,
    predictions and tests. `misfeat.testing.check_measure` tells whether a measure keeps what that
    rests on:

    - shares count, not rows: ten times the rows of every cell score the same;
    - cells without rows change nothing, nor does the order of cells;
    - cells with the same shares of classes tell nothing: 0;
    - cells put together never tell more than apart. So a larger set never tells less, and nothing
      tells more than the target itself, whose score is what there is to tell.

    Settings are arguments of ``__init__``, stored as they are, as in scikit-learn.

    Attributes
    ----------
    name : str
        What the measure is called in settings and saved runs.
    unit : str
        The unit of a score, a noun such as ``"nats"``.
    words : str
        What a score is, as in "the ... with the target".

    Examples
    --------
    The share of rows that a best guess gets right beyond what it does without the features:

    >>> from misfeat import SubgroupSelector
    >>> class AccuracyGained(CountMeasure):
    ...     name, unit, words = "accuracy", "share of rows", "accuracy that a best guess gains"
    ...     def of_counts(self, counts):
    ...         right = counts.max(axis=2).sum(axis=1) - counts.sum(axis=1).max(axis=1)
    ...         return right / counts.sum(axis=(1, 2))
    >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1] * 50, "y": [0, 0, 1, 1] * 25}
    >>> selector = SubgroupSelector(size=1, k=1, measure=AccuracyGained()).fit(table, "y")
    >>> selector.top_k()[["features", "observed"]]
      features  observed
    0     (a,)       0.5
    """

    name: str
    unit: str
    words: str

    @abstractmethod
    def of_counts(self, counts: Floats) -> Floats:
        """Scores of a stack of tables.

        Parameters
        ----------
        counts : ndarray of shape (n_tables, n_cells, n_classes)
            Rows of every cell and class; with weights not whole ones. Tables with fewer cells than
            others are filled up with cells without rows.

        Returns
        -------
        ndarray of shape (n_tables,)
        """

    def whole(self, by_class: Floats) -> float:
        """What there is to tell about the target: the score of a feature that copies it.

        Parameters
        ----------
        by_class : ndarray of shape (n_classes,)
            Rows of every class.
        """
        return float(scores_of(self, np.diag(np.asarray(by_class, dtype=np.float64))[None])[0])


class GiniExplained(CountMeasure):
    """The share of the target's Gini impurity that a set explains (Goodman and Kruskal's tau).

    With two classes it is the squared correlation of the target with the best prediction from the
    cells of the set: R² without the assumption that effects are linear.

    Examples
    --------
    >>> GiniExplained().of_counts(np.array([[[3.0, 1.0], [1.0, 3.0]]]))
    array([0.25])
    """

    name, unit, words = "gini", "tau", "explained share of Gini impurity"

    def of_counts(self, counts: Floats) -> Floats:
        """Scores of a stack of tables.

        Parameters
        ----------
        counts : ndarray of shape (n_tables, n_cells, n_classes)
            Rows of every cell and class.
        """
        of_cells, n_rows = counts.sum(axis=2), counts.sum(axis=(1, 2))
        within = (counts**2).sum(axis=2) / np.maximum(of_cells, np.finfo(float).tiny)
        by_class = (counts.sum(axis=1) ** 2).sum(axis=1) / n_rows
        explained = within.sum(axis=1) - by_class
        impurity = n_rows - by_class
        found: Floats = explained / np.where(impurity > 0, impurity, np.inf)
        return found


def scores_of(measure: CountMeasure, counts: Floats) -> Floats:
    """Scores of a stack of tables, of which tables without rows have none: NaN.

    The measure may be anybody's, so that what it gives is checked.
    """
    scores = np.full(len(counts), np.nan)
    held = counts.any(axis=(1, 2))
    some = counts if held.all() else counts[held]
    if not len(some):
        return scores
    given = some.view()
    given.flags.writeable = False
    found: Any = np.asarray(_asked(measure, given))
    if found.shape != (len(some),) or found.dtype.kind not in "fiu":
        raise MisfeatError(
            "{measure}: of_counts gave {dtype} of shape {shape} for counts of shape {given}; it "
            "must give one number a table, of shape ({n},).",
            measure=Setting("measure", measure),
            dtype=found.dtype.name,
            shape=found.shape,
            given=some.shape,
            n=len(some),
        )
    if not np.isfinite(found).all():
        table = some[int(np.argmin(np.isfinite(found)))]
        raise MisfeatError(
            "{measure}: of_counts gave {value} for the counts {table}; every table with rows must "
            "have a score.",
            measure=Setting("measure", measure),
            value=float(found[np.argmin(np.isfinite(found))]),
            table=table[table.any(axis=1)].tolist(),
        )
    scores[held] = found
    return scores


def _asked(measure: CountMeasure, counts: Floats) -> Any:
    """What a measure gives for counts that it cannot change."""
    try:
        return measure.of_counts(counts)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise MisfeatError(
            "{measure}: of_counts changes the counts that it is given; let it work on a copy.",
            measure=Setting("measure", measure),
        ) from error


def check_named(measure: CountMeasure) -> None:
    """Raise unless a measure says what it is called, and by no name that is taken."""
    for attribute in ("name", "unit", "words"):
        given = getattr(measure, attribute, None)
        if not isinstance(given, str) or not given.strip():
            raise MisfeatError(
                "{measure} has no {attribute}; give its class one: {attribute} = '...'.",
                measure=Setting("measure", type(measure).__name__),
                attribute=attribute,
            )
    try:
        measure.get_params(deep=False)
    except AttributeError as error:
        raise MisfeatError(
            "{measure} does not store an argument of __init__ under its own name ({reason}); write "
            "self.NAME = NAME.",
            measure=Setting("measure", type(measure).__name__),
            reason=str(error),
        ) from error
    if measure.name in TAKEN:
        raise MisfeatError(
            "{measure} has the name {name!r}, which is misfeat's own; give it another.",
            measure=Setting("measure", type(measure).__name__),
            name=measure.name,
        )
