"""The scores of all sets as columns, without an object a set: there may be half a million."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.model import SUPPORT
from misfeat.lattice import rank
from misfeat.selection.ranking import order_of_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.selection.chance_tests import ChanceTests
    from misfeat.selection.scorebook import ScoreBook

SOURCES = np.array(["recorded", "predicted"], dtype=object)


def score_columns(
    cohorts: Cohorts,
    book: ScoreBook,
    scores: CompletedScores,
    names: Sequence[str],
    tests: ChanceTests | None = None,
) -> dict[str, list[Any]]:
    """The columns of `ScoredSet` but for ``rank``, of every set of each named subgroup.

    Sets are in the order of the table's columns; only those of a numeric target have a ``spread``.
    """
    order = order_of_sets(scores, 0, ranked=False)
    subsets = scores.subsets[order]
    ranks = rank(subsets)
    features = _named(subsets, book.measure.features)
    columns: dict[str, list[Any]] = {}
    for name in names:
        for column, values in _of_cohort(
            cohorts.position(name), book, scores, order, subsets, ranks, tests
        ).items():
            columns.setdefault(column, []).extend(values)
    whole: dict[str, list[Any]] = {
        "subgroup": [name for name in names for _ in features],
        "features": features * len(names),
    }
    return whole | columns


def _of_cohort(
    cohort: int,
    book: ScoreBook,
    scores: CompletedScores,
    order: NDArray[np.intp],
    subsets: NDArray[np.integer],
    ranks: NDArray[np.int64],
    tests: ChanceTests | None,
) -> dict[str, list[Any]]:
    """What is known of all sets in one cohort."""
    measure, size = book.measure, subsets.shape[1]
    score, whole = scores.score[cohort, order], float(measure.whole[cohort])
    tested = tests is not None and size in tests.p_values
    found = {
        "score": score.tolist(),
        "low": scores.low[cohort, order].tolist(),
        "high": scores.high[cohort, order].tolist(),
        "share": (score / whole if whole > 0 else np.zeros_like(score)).tolist(),
        "observed": book.observed(cohort, subsets).tolist(),
        "p_value": (
            tests.p_values[size][cohort, ranks].tolist()
            if tests is not None and tested
            else [np.nan] * len(order)
        ),
        "source": SOURCES[scores.predicted[cohort, order].astype(np.int8)].tolist(),
        "missing": _lacking(subsets, measure.missing[cohort], measure.features),
        "support": np.array(SUPPORT, dtype=object)[scores.support[cohort, order]].tolist(),
    }
    if scores.spread is not None:
        found["spread"] = scores.spread[cohort, order].tolist()
    return found


def _named(subsets: NDArray[np.integer], features: Sequence[str]) -> list[tuple[str, ...]]:
    """The names of the features of every set."""
    names = np.empty(len(features), dtype=object)
    names[:] = features
    return list(zip(*(names[members].tolist() for members in subsets.T), strict=True))


def _lacking(
    subsets: NDArray[np.integer], missing: NDArray[np.bool_], features: Sequence[str]
) -> list[tuple[str, ...]]:
    """The features of every set that a cohort never recorded."""
    found: list[tuple[str, ...]] = [()] * len(subsets)
    for place in np.flatnonzero(missing[subsets].any(axis=1)):
        found[place] = tuple(features[f] for f in subsets[place] if missing[f])
    return found
