"""Compared: what a fit found, which sets tell the same, and how pairs of features go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.exceptions import check_count
from misfeat.selection.interacting import INTERACTION_COLUMNS, Interaction, interactions_of
from misfeat.selection.swapping import ALTERNATIVE_COLUMNS, Alternative, alternatives_to
from misfeat.selection.valued import Valued

if TYPE_CHECKING:
    from collections.abc import Sequence


class Compared(Valued):
    """What a fit found; compares sets and features with each other."""

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
        return self._framed(
            {name: [getattr(row, name) for row in rows] for name in ALTERNATIVE_COLUMNS}
        )

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
        return self._framed(
            {name: [getattr(row, name) for row in rows] for name in INTERACTION_COLUMNS}
        )

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
