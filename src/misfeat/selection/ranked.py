"""Ranked: what a fit found, and which sets of features tell most in every subgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import check_count
from misfeat.runtime.progress import long_work
from misfeat.selection.asked import check_set
from misfeat.selection.contrasts import Contrasts
from misfeat.selection.found import Found
from misfeat.selection.path import LONGEST, PATH_COLUMNS, PathStep, best_path, n_enough, steps_of
from misfeat.selection.ranking import (
    ScoredSet,
    as_columns,
    score_columns,
    scored_sets,
    subgroup_rows,
    without_padding,
)
from misfeat.selection.swapping import distinct_sets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


class Ranked(Found):
    """What a fit found; says which sets of features tell most."""

    @property
    def subgroups_(self) -> Any:
        """The subgroups: their rows, their target's entropy, and what they never recorded.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.subgroups_[["subgroup", "rows"]]
           subgroup  rows
        0  all rows     4
        """
        rows = subgroup_rows(self.cohorts)
        return self._framed({name: [row[name] for row in rows] for name in rows[0]})

    def top_k(
        self,
        size: int | None = None,
        k: int | None = None,
        subgroup: str | None = None,
        *,
        distinct: bool = False,
    ) -> Any:
        """The k best sets of every subgroup, best first.

        A subgroup in which the target has a single value has none. Where a smaller set already
        tells nearly all (99 % of what the best set tells, and 80 % of the target), only the best of
        the sets that contain it is listed; `scores` has all.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        k : int, default=None
            Sets per subgroup. Defaults to the estimator's `k`.
        subgroup : str, default=None
            One subgroup only.
        distinct : bool, default=False
            Whether to leave out every set that differs in one feature from a better one that is
            shown, and whose score cannot be told from it. ``rank`` stays that among all sets.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``rank``, ``features``, ``score`` (nats, or R²), ``low``,
            ``high``, ``share``, ``observed``, ``p_value``, ``source``, ``missing`` and
            ``support``, in the library that `fit` was given, else pandas, polars or PyArrow,
            whichever is installed.
            ``score`` is on the scale of `estimate`, by default that of the population, and
            ``share`` the same over the entropy of the target; ``observed`` is what the subgroup's
            own rows give as they are. ``p_value`` says how likely chance gives as much, after
            `significance` was asked. ``low`` and ``high`` hold what ``score`` estimates as often
            as `confidence` says on average over all sets, not for each of them;
            docs/explanation/population.md says what they hold for. ``source`` is ``"recorded"``
            where the subgroup's own rows took part in the score, else ``"predicted"``.
            ``support`` is what it rests on:
            ``"own rows"``, the subgroup recorded all of the features (with a `budget` the score may
            be predicted all the same); ``"joint"``, some subgroup recorded all of them together;
            ``"pairs"``, every pair with an unrecorded feature was recorded together somewhere;
            ``"singles"``, some such pair was not, so that nobody knows how the two interact, and
            the interval cannot foresee it; ``"none"``, some feature was recorded nowhere. Of a
            numeric target there is a column ``spread``, too: how far the score differs between
            grids of its values (docs/explanation/numbers.md).

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.top_k(k=1)[["subgroup", "rank", "features", "source"]]
           subgroup  rank features    source
        0  all rows     1     (a,)  recorded
        """
        return self._framed(as_columns(self.best_sets(size, k, subgroup, distinct=distinct)))

    def best_sets(
        self,
        size: int | None = None,
        k: int | None = None,
        subgroup: str | None = None,
        *,
        distinct: bool = False,
    ) -> list[ScoredSet]:
        """The same as `top_k`, as plain objects, without a dataframe library.

        Returns
        -------
        list of ScoredSet
            Subgroup by subgroup, best first.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.best_sets(k=1)[0].features
        ('a',)
        """
        k = self.k if k is None else k
        check_count(k, "k")
        names = [name for name in self.subgroup_names(subgroup) if self._can_be_told(name)]
        scores, whole = self._shown(size), self.book.measure.whole
        contrasts = self._contrasts() if distinct else None
        m = scores.subsets.shape[1]
        smaller = range(1, min(m, self._level_size(m) + 1))

        def chosen(order: NDArray[np.integer], cohort: int) -> Iterable[int]:
            left = without_padding(
                order, scores, cohort, float(whole[cohort]), self.completed, smaller
            )
            if contrasts is None:
                return left
            return distinct_sets(left, scores.subsets, cohort, contrasts)

        return scored_sets(self.cohorts, self.book, scores, names, k, self.known_tests, chosen)

    def path(self, subgroup: str | None = None, size: int | None = None) -> Any:
        """Features of every subgroup in the order in which they add, and where to stop.

        Every step takes the feature that adds most to those before it; features that explain only
        together come one after the other. Sets along a path are not all the best of their size:
        `top_k` compares all sets, a path can be followed to any length.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            Features of a path. Defaults to all, at most 20.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``step``, ``feature``; ``score``, ``low``, ``high`` and ``share``
            of the features up to this one; ``adds``, ``adds_low``, ``adds_high``, what it adds to
            those before it; ``source``, ``"predicted"`` where the subgroup did not record all of
            them; and ``enough``, False for steps after the last one that adds at least 1 % of the
            target's entropy (or of the variance, for R²) and whose interval lies above 0.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.path()[["step", "feature", "source", "enough"]]
           step feature    source  enough
        0     1       a  recorded    True
        1     2       b  recorded   False
        """
        return self._framed_lines(self.path_steps(subgroup, size), PATH_COLUMNS)

    def path_steps(self, subgroup: str | None = None, size: int | None = None) -> list[PathStep]:
        """The same as `path`, as plain objects, without a dataframe library.

        Returns
        -------
        list of PathStep
            Subgroup by subgroup, from the first feature on.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> [step.feature for step in selector.path_steps()]
        ['a', 'b']
        """
        most = min(LONGEST, len(self.feature_names)) if size is None else self._checked_size(size)
        return [
            step
            for name in self.subgroup_names(subgroup)
            if self._can_be_told(name)
            for step in self._steps(name, most)
        ]

    def features_for_all(self, size: int | None = None) -> tuple[str, ...]:
        """The features of the set that explains most on the mean over subgroups, by their rows.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        """
        scores = self._shown(size)
        best = int(np.argmax(self.cohorts.effective_sizes() @ scores.score))
        return tuple(self.feature_names[f] for f in scores.subsets[best])

    def _path(self, rows: NDArray[np.floating], size: int) -> list[int]:
        """The path that explains most on the mean over subgroups that count so much."""
        with long_work(self.verbose > 0) as progress:
            listed = self.book.listed(progress)
        return best_path(listed, len(self.feature_names), size, rows, self._included(size))

    def _steps(self, name: str, most: int) -> list[PathStep]:
        cohort, whole = self.cohorts.position(name), self.book.measure.whole
        path = self._path(np.eye(len(self.cohorts))[cohort], most)
        found = steps_of(self.book.listed(), path, cohort, self.confidence)
        entropy = float(whole[cohort])
        enough = n_enough(found, entropy, self.confidence)
        lacking = np.logical_or.accumulate(self.missing[cohort, path])
        return [
            PathStep(
                subgroup=name,
                step=place + 1,
                feature=self.feature_names[f],
                score=float(found.score[place]),
                low=float(found.low[place]),
                high=float(found.high[place]),
                share=float(found.score[place]) / entropy,
                adds=float(found.adds[place]),
                adds_low=float(found.adds_low[place]),
                adds_high=float(found.adds_high[place]),
                source="predicted" if lacking[place] else "recorded",
                enough=place < enough,
            )
            for place, f in enumerate(path)
        ]

    def _contrasts(self) -> Contrasts:
        """What says how sure sums and differences of scores are."""
        return Contrasts(self.book.scored, self.missing, self.confidence, self.book.measure.rows)

    def _can_be_told(self, name: str) -> bool:
        """Whether there is anything to tell in a subgroup: not where the target has one class."""
        target = self.cohorts[name].target
        return bool((target != target[0]).any())

    def scores(self, size: int | None = None, subgroup: str | None = None) -> Any:
        """The score of every set of a size in every subgroup, in the order of the columns.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        subgroup : str, default=None
            One subgroup only.

        Returns
        -------
        dataframe
            The columns of `top_k` without ``rank``.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.scores()[["features", "score"]].round(4)
          features   score
        0     (a,)  0.2004
        1     (b,)  0.0000
        """
        names = self.subgroup_names(subgroup)
        shown = self._shown(size)
        return self._framed(score_columns(self.cohorts, self.book, shown, names, self.known_tests))

    def score_of(self, subgroup: str, features: Sequence[str]) -> float:
        """The score of one feature set in one subgroup.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features : sequence of str
            The features of the set, in any order.

        Returns
        -------
        float
            In nats, or R2.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> round(selector.score_of("all rows", ["a"]), 4)
        0.2004
        """
        names = check_set(features)
        members = np.sort([self._feature_number(name, "a feature") for name in names])
        with long_work(self.verbose > 0):
            scores = self.book.scored(members[None, :])
        return float(scores.score[self.cohorts.position(subgroup), 0])
