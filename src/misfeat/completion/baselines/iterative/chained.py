"""Chained equations over coded features: every unrecorded value drawn from a tree, in sweeps.

Gaps start with values drawn from the rows of the cohorts that recorded the feature. Then features
with gaps are taken in turns: a classification tree learns the feature from all others, and each gap
gets a value drawn from the leaf that its row falls into. After some sweeps the values agree with
each other (van Buuren and Groothuis-Oudshoorn, 2011; trees as in Doove, van Buuren and Dusseldorp,
2014, since they find interactions by themselves). Every tree learns from rows drawn with
replacement, so that imputations differ as much as the trees are uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from misfeat.completion.baselines.imputed import recorded_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts

    Codes = NDArray[np.integer]
    Mask = NDArray[np.bool_]


def cut_rows(cohorts: Cohorts, missing: NDArray[np.bool_], max_rows: int) -> Cohorts:
    """The same cohorts with rows of lower weight, and more of them.

    Equal rows of a table come as one row with a weight. A value that is drawn for it would hold for
    all of them, as if they agreed in a feature that nobody recorded, so rows that stand for many
    are cut.

    Only cohorts that lack a feature have their rows cut: to weight 1 where one then has at most
    `max_rows`, else to the least weight that adds at most so many.
    """
    sizes = np.diff(np.concatenate([[0], np.cumsum(cohorts.weights)])[cohorts.offsets])
    unit = np.where(missing.any(axis=1), np.maximum(1, -(-sizes // max_rows)), sizes)
    weights = cohorts.weights
    pieces = -(-weights // np.repeat(unit, np.diff(cohorts.offsets)))
    row_of = np.repeat(np.arange(len(weights)), pieces)
    starts = np.concatenate([[0], np.cumsum(pieces)])
    place = np.arange(len(row_of)) - starts[row_of]
    whole, rest = np.divmod(weights, pieces)
    return replace(
        cohorts,
        codes=cohorts.codes[:, row_of],
        target_codes=cohorts.target_codes[row_of],
        weights=whole[row_of] + (place < rest[row_of]),
        offsets=starts[cohorts.offsets],
    )


@dataclass(frozen=True)
class ChainSettings:
    """How to impute; see `IterativeCompleter`."""

    sweeps: int
    max_rows: int
    rows_per_leaf: int
    with_target: bool


def chained_codes(
    cohorts: Cohorts, missing: Mask, settings: ChainSettings, rng: np.random.Generator
) -> Codes:
    """The codes of all cohorts with a value for every feature that one never recorded.

    `missing` marks what counts as never recorded, whatever the cohorts hold of it.
    """
    codes, cohort_of = recorded_codes(cohorts, missing)
    chain = _Chain(codes, cohorts.target_codes, cohorts.weights, missing[cohort_of].T, settings)
    return chain.run(rng)


class _Chain:
    """One imputation of one table."""

    def __init__(
        self,
        codes: Codes,
        target: Codes,
        weights: NDArray[np.int64],
        gaps: Mask,
        settings: ChainSettings,
    ) -> None:
        self._codes = codes
        self._settings = settings
        there = codes >= 0
        # What no row has can neither be learned nor help to learn.
        codes[~there.any(axis=1)] = 0
        self._gaps = {f: np.flatnonzero(gaps[f] & there[f].any()) for f in range(len(codes))}
        self._donors = {f: np.flatnonzero(there[f]) for f, rows in self._gaps.items() if len(rows)}
        self._chances = {f: weights[rows] / weights[rows].sum() for f, rows in self._donors.items()}
        self._n_drawn = {
            f: min(settings.max_rows, int(weights[rows].sum())) for f, rows in self._donors.items()
        }
        columns = [*codes, target] if settings.with_target else [*codes]
        self._table = np.array(columns, dtype=np.float32).T.copy()

    def run(self, rng: np.random.Generator) -> Codes:
        for feature, donors in self._donors.items():
            chosen = rng.choice(donors, len(self._gaps[feature]), p=self._chances[feature])
            self._fill(feature, self._codes[feature, chosen])
        for _ in range(self._settings.sweeps):
            for feature in self._donors:
                self._fill(feature, self._drawn(feature, rng))
        return self._codes

    def _fill(self, feature: int, values: Codes) -> None:
        self._codes[feature, self._gaps[feature]] = values
        self._table[self._gaps[feature], feature] = values

    def _drawn(self, feature: int, rng: np.random.Generator) -> Codes:
        """A value for every gap of a feature, from what the others say."""
        others = np.delete(self._table, feature, axis=1)
        times = rng.multinomial(self._n_drawn[feature], self._chances[feature])
        rows = self._donors[feature][times > 0]
        tree = DecisionTreeClassifier(
            min_samples_leaf=self._settings.rows_per_leaf, random_state=int(rng.integers(2**31))
        )
        tree.fit(others[rows], self._codes[feature, rows], sample_weight=times[times > 0])
        chances = np.cumsum(tree.predict_proba(others[self._gaps[feature]]), axis=1)
        place = (rng.random(len(chances))[:, None] >= chances[:, :-1]).sum(axis=1)
        drawn: Codes = tree.classes_[place]
        return drawn
