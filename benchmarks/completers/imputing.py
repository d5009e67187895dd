"""Completers that impute rows: by the most frequent value, or by chained equations.

Gaps start with values drawn from the rows of the cohorts that recorded the feature. Then features
with gaps are taken in turns: a classification tree learns the feature from all others, and each gap
gets a value drawn from the leaf that its row falls into. After some sweeps the values agree with
each other (van Buuren and Groothuis-Oudshoorn, 2011; trees as in Doove, van Buuren and Dusseldorp,
2014, since they find interactions by themselves). Every tree learns from rows drawn with
replacement, so that imputations differ as much as the trees are uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from misfeat.cohorts.cohort_data import NOT_RECORDED
from misfeat.completion.base import BaseCompleter
from misfeat.completion.nearest_neighbours import all_recorded, guess_from_scores, imputed_scores
from misfeat.completion.registry import INHERIT
from misfeat.exceptions import check_count
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.completer_data import Guess, Known
    from misfeat.completion.registry import Confidence, Seed

    Codes = NDArray[np.integer]
    Mask = NDArray[np.bool_]


def recorded_codes(cohorts: Cohorts, missing: NDArray[np.bool_]) -> tuple[Any, Any]:
    """The codes without those of features that count as missing, and the cohort of every row."""
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    return np.where(missing[cohort_of].T, NOT_RECORDED, cohorts.codes), cohort_of


class IterativeCompleter(BaseCompleter):
    """Predict a score from rows in which unrecorded features are imputed several times.

    As an analyst would impute today: each feature is learned from all others by a classification
    tree over the rows of all subgroups, unrecorded values are drawn from its leaves, features take
    turns in sweeps, and the whole is done several times; scores of the imputed rows are averaged.
    Needs the rows of all subgroups.

    Parameters
    ----------
    imputations : int, default=5
        How often rows are imputed.
    sweeps : int, default=5
        How often every feature has its turn in an imputation.
    max_rows : int, default=5000
        A tree learns from so many rows at most, drawn anew by weight. Rows that stand for several
        are cut, so that each may get a value of its own, until a subgroup has about so many.
    rows_per_leaf : int, default=5
        Distinct rows that a leaf of a tree holds at least.
    with_target : bool, default=True
        Whether the target is among what a feature is learned from.
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=3
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of drawn values and of which features are hidden; None is the same every time.
        ``"inherit"`` is the selector's, or None without one.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=300, n_features=5, hide=0.2, random_state=0)
    >>> completer = IterativeCompleter(imputations=2, sweeps=2)
    >>> selector = SubgroupSelector(data.groups, size=2, completer=completer)
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    def __init__(
        self,
        *,
        imputations: int = 5,
        sweeps: int = 5,
        max_rows: int = 5000,
        rows_per_leaf: int = 5,
        with_target: bool = True,
        confidence: Confidence = INHERIT,
        rounds: int = 3,
        random_state: Seed = INHERIT,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.imputations = imputations
        self.sweeps = sweeps
        self.max_rows = max_rows
        self.rows_per_leaf = rows_per_leaf
        self.with_target = with_target

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        by_imputation = [
            imputed_scores(imputed, known.exact, size, known.n_jobs)
            for imputed in self._imputed(known)
        ]
        mean = [np.mean(scores, axis=0) for scores in zip(*by_imputation, strict=True)]
        return guess_from_scores(known.exact, mean)

    def _imputed(self, known: Known) -> list[Cohorts]:
        """Cohorts with all values, an entry an imputation; imputations are side by side."""
        missing = known.exact.missing
        rows = cut_rows(known.rows_for("iterative"), missing, self.max_rows)
        settings = ChainSettings(self.sweeps, self.max_rows, self.rows_per_leaf, self.with_target)
        imputed: dict[int, Cohorts] = {}

        def impute(place: int, seed: np.random.SeedSequence) -> None:
            codes = chained_codes(rows, missing, settings, np.random.default_rng(seed))
            imputed[place] = all_recorded(rows, codes)

        seeds = np.random.SeedSequence(self._seed or 0).spawn(self.imputations)
        Work(known.n_jobs).run([partial(impute, place, seed) for place, seed in enumerate(seeds)])
        return [imputed[place] for place in range(self.imputations)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("imputations", "sweeps", "max_rows", "rows_per_leaf"):
            check_count(getattr(self, name), name)


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


class ModeCompleter(BaseCompleter):
    """Predict a score from rows in which unrecorded features have their most frequent value.

    The value is the most frequent one in the rows of the subgroups that recorded the feature. Needs
    the rows of all subgroups. It is here for comparison: one value for all rows tells nothing, so
    that scores are those of the recorded features. (The published code of the MISFEAT paper does
    this under the name of nearest neighbours.)

    Parameters
    ----------
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=12
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of which features are hidden; None hides the same ones every time. ``"inherit"`` is
        the selector's, or None without one.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> selector = SubgroupSelector(data.groups, completer=ModeCompleter())
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        cohorts, missing = known.rows_for("mode"), known.exact.missing
        imputed = all_recorded(cohorts, modes_filled_in(cohorts, missing))
        scores = imputed_scores(imputed, known.exact, size, known.n_jobs)
        return guess_from_scores(known.exact, scores)


def modes_filled_in(cohorts: Cohorts, missing: NDArray[np.bool_]) -> NDArray[np.integer]:
    """The codes of all cohorts with the most frequent value of every feature one never recorded.

    `missing` marks what counts as never recorded, whatever the cohorts hold of it.
    """
    codes, cohort_of = recorded_codes(cohorts, missing)
    counted = cohorts.counts
    for feature in np.flatnonzero(missing.any(axis=0)):
        there = codes[feature] >= 0
        mode = int(np.bincount(codes[feature, there], counted[there], minlength=1).argmax())
        codes[feature, missing[cohort_of, feature]] = mode
    return np.asarray(codes)
