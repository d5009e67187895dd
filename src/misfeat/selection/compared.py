"""Compared: what a fit found, which sets tell the same, and how pairs of features go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from misfeat.exceptions import check_count
from misfeat.runtime.progress import long_work
from misfeat.selection.contrasts import INTERACTION_COLUMNS, Interaction, interactions_of
from misfeat.selection.explained import Explained
from misfeat.selection.swapping import ALTERNATIVE_COLUMNS, Alternative, alternatives_to
from misfeat.selection.valuing import FeatureValue, FeatureValues, shapley_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from misfeat.selection.contrasts import Estimated

Answer = TypeVar("Answer")


class Compared(Explained):
    """What a fit found; values single features, and compares sets and features with each other."""

    def features(self, subgroup: str | None = None, size: int | None = None) -> Any:
        """What every feature is worth in every subgroup, the most telling first.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``feature``, ``alone`` (its score by itself), ``adds`` (to the
            best set of ``size - 1`` other features), ``adds_to`` (that set), ``share_of_best`` (its
            Shapley value in the subgroup's best set, 0 where that does not hold it), ``mean_share``
            (the mean of its Shapley value over all sets of the size that hold it), ``in_best`` (the
            share of the k best sets that hold it) and ``source``. All but the last two have an
            interval: ``alone_low`` and ``alone_high``, and so on. Lines are in the order of
            ``mean_share``.

        Notes
        -----
        The Shapley value of a feature in a set is what it adds to a part of the rest of the set,
        averaged over all orders in which features may join. The values of all features of a set add
        up to its score.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.features()[["feature", "alone", "adds", "in_best", "source"]].round(4)
          feature   alone    adds  in_best    source
        0       a  0.2004  0.2004      0.5  recorded
        1       b  0.0000  0.0000      0.5  recorded
        """
        rows = self.feature_values(subgroup, size)
        return self._framed_lines(rows, FeatureValue.__dataclass_fields__)

    def feature_values(
        self, subgroup: str | None = None, size: int | None = None
    ) -> list[FeatureValue]:
        """The same as `features`, as plain objects, without a dataframe library.

        Returns
        -------
        list of FeatureValue
            Subgroup by subgroup, the most telling feature first.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=2).fit(table, "y")
        >>> first = selector.feature_values()[0]
        >>> first.feature, first.adds_to
        ('a', ('b',))
        """
        names = tuple(filter(self._can_be_told, self.subgroup_names(subgroup)))
        size = self._level_size(size)
        fits = len(self.asked.include) <= size
        shown = self._shown(size) if fits else self.completed(size)
        levels = [self.completed(m) for m in range(1, shown.subsets.shape[1] + 1)]
        values = FeatureValues(levels, shown, self.feature_names, self._contrasts(), self._least())

        def of(name: str) -> list[FeatureValue]:
            best = [
                one.features
                for one in self.best_sets(max(len(levels), len(self.asked.include)), subgroup=name)
            ]
            return values.of(self.cohorts.position(name), name, best)

        return self._of_each(names, "Valuing features", of)

    def shapley(self, subgroup: str, features: Sequence[str]) -> dict[str, Estimated]:
        """What each feature of a set contributes to its score: Shapley values.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features : sequence of str
            The features of the set, in any order.

        Returns
        -------
        dict of str to Estimated
            ``value``, ``low`` and ``high`` by feature; values add up to the score of the set.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=2).fit(table, "y")
        >>> shares = selector.shapley("all rows", ["a", "b"])
        >>> total = sum(share.value for share in shares.values())
        >>> abs(total - selector.score_of("all rows", ["a", "b"])) < 1e-9
        True
        """
        members = self._members(features)
        cohort = self.cohorts.position(subgroup)
        shares = shapley_values(self._contrasts(), cohort, members, self._least())
        return dict(zip((self.feature_names[m] for m in members), shares, strict=True))

    def difference(
        self, subgroup: str, features: Sequence[str], others: Sequence[str]
    ) -> Estimated:
        """By how much one set tells more than another, with an interval.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features, others : sequence of str
            The features of the one set and of the other, in any order.

        Returns
        -------
        Estimated
            ``value``, ``low`` and ``high``. Both scores err together, so the interval is narrower
            than those of the two would suggest.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [1, 0, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.difference("all rows", ["a"], ["b"]).low > 0
        True
        """
        one, other = self._members(features), self._members(others)
        return self._contrasts().difference(self.cohorts.position(subgroup), one, other)

    def _of_each(
        self, names: Sequence[str], what: str, of: Callable[[str], list[Answer]]
    ) -> list[Answer]:
        """The answers of all subgroups, one after the other; progress says how many are done."""
        found = []
        with long_work(self.verbose > 0) as progress:
            for done, name in enumerate(names):
                if progress is not None:
                    progress(what, done, len(names))
                found += of(name)
            if progress is not None:
                progress(what, len(names), len(names))
        return found

    def _least(self) -> float:
        """What a feature adds at least: nothing, unless sets are scored on different rows."""
        closed = self.book.estimate.above_chance or self.book.measure.closed
        return 0.0 if closed else float("-inf")

    def alternatives(self, subgroup: str, features: Sequence[str], k: int | None = None) -> Any:
        """Sets of the same size that cannot be told from a set, and the swaps that lead to them.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features : sequence of str
            The features of the set, in any order.
        k : int, default=None
            How many sets at most. Defaults to the estimator's `k`.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``features``, ``score``, ``low``, ``high``, ``difference`` (by how
            much it scores higher than the given set), ``difference_low``, ``difference_high``,
            ``given_up`` and ``taken`` (the features that are swapped), ``swaps`` (how many),
            ``source`` and ``words``, such as ``"waist for bmi"``. One swap comes before two, and
            sets that give up the same feature stand together. Empty where every other set can be
            told apart: no interval of a difference holds 0.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [1, 1, 0, 0] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.alternatives("all rows", ["a"])[["features", "difference", "words"]]
          features  difference    words
        0     (b,)         0.0  b for a
        """
        rows = self.alternative_sets(subgroup, features, k)
        return self._framed_lines(rows, ALTERNATIVE_COLUMNS)

    def alternative_sets(
        self, subgroup: str, features: Sequence[str], k: int | None = None
    ) -> list[Alternative]:
        """The same as `alternatives`, as plain objects, without a dataframe library.

        Returns
        -------
        list of Alternative
            Fewest swaps first.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [1, 1, 0, 0] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.alternative_sets("all rows", ["a"])[0].words
        'b for a'
        """
        k = self.k if k is None else k
        check_count(k, "k")
        members = self._members(features)
        subgroup = self.cohorts.full_name(subgroup)
        cohort = self.cohorts.position(subgroup)
        shown = self._shown(len(members))
        if not self._can_be_told(subgroup):
            return []
        names = subgroup, self.feature_names
        return alternatives_to(members, shown, cohort, names, self._contrasts(), k)

    def interactions(self, subgroup: str | None = None) -> Any:
        """How every two features go together: whether both tell more than one by one, or the same.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``feature``, ``other``, ``together`` (the score of both),
            ``alone`` (the sum of their scores one by one), ``interaction`` (the difference of these
            two), ``low``, ``high``, ``kind`` and ``source``, the strongest first. ``kind`` is
            ``"synergy"`` where the interval lies above 0, ``"redundancy"`` where it lies below, and
            else ``"unclear"``.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25, "y": [0, 1, 1, 0] * 25}
        >>> selector = SubgroupSelector(size=2).fit(table, "y")
        >>> selector.interactions()[["feature", "other", "kind"]]
          feature other     kind
        0       a     b  synergy
        """
        rows = self.pair_interactions(subgroup)
        return self._framed_lines(rows, INTERACTION_COLUMNS)

    def pair_interactions(self, subgroup: str | None = None) -> list[Interaction]:
        """The same as `interactions`, as plain objects, without a dataframe library.

        Returns
        -------
        list of Interaction
            Subgroup by subgroup, the strongest first.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25, "y": [0, 1, 1, 0] * 25}
        >>> SubgroupSelector(size=2).fit(table, "y").pair_interactions()[0].kind
        'synergy'
        """
        names = tuple(filter(self._can_be_told, self.subgroup_names(subgroup)))
        if len(self.feature_names) < 2:
            return []
        levels, contrasts = (self.completed(1), self.completed(2)), self._contrasts()

        def of(name: str) -> list[Interaction]:
            about = name, self.feature_names
            return interactions_of(levels, self.cohorts.position(name), about, contrasts)

        return self._of_each(names, "Comparing pairs", of)
