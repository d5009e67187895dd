"""Explained: what a fit found, and why a set of features tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting
from misfeat.selection.asked import check_set
from misfeat.selection.explaining import (
    Explanation,
    as_rows,
    cells_of,
    predicted_counts,
    recorded_counts,
)
from misfeat.selection.found import Found

if TYPE_CHECKING:
    from collections.abc import Sequence


class Explained(Found):
    """What a fit found; says why a set of features tells.

    Parameters
    ----------
    cohorts : Cohorts
        The coded rows of every subgroup, and how every column was treated.
    book : ScoreBook
        Scores of feature sets, computed and predicted when they are asked for.
    asked : Asked
        What was asked for: the size of sets, how many of them, which features to include.
    verbose : int, default=0
        1 shows progress.
    """

    def why(self, subgroup: str, features: Sequence[str]) -> Any:
        """The cells behind the score of a set, those that add most to it first.

        A cell holds the rows that agree in all features of the set. Where the subgroup did not
        record the set, its table is predicted from those of other subgroups.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features : sequence of str
            The features of the set, in any order.

        Returns
        -------
        dataframe
            A line for every cell and class of the target: ``subgroup``, ``cell`` (in words),
            ``values`` (a value or range a feature), ``rows``, ``class``, ``share`` (of the rows of
            the cell), ``low`` and ``high`` (its interval, Wilson's), ``overall`` (the share of the
            class in the whole subgroup), ``lift`` (share over overall), ``contribution`` (to the
            score, in nats) and ``source``. Contributions add up to the score of the rows as they
            are (``observed`` in `top_k`). Where ``source`` is ``"predicted"``, rows are those that
            are expected, and shares have no interval.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.why("all rows", ["a"])[["cell", "rows", "class", "share", "lift"]]
            cell  rows class  share  lift
        0  a = 0   2.0     0    1.0   2.0
        1  a = 0   2.0     1    0.0   0.0
        2  a = 1   2.0     0    0.0   0.0
        3  a = 1   2.0     1    1.0   2.0
        """
        found = self.explanation(subgroup, features)
        lines = as_rows(found)
        return self._framed({name: [line[name] for line in lines] for name in lines[0]})

    def explanation(self, subgroup: str, features: Sequence[str]) -> Explanation:
        """The same as `why`, as plain objects with sentences, without a dataframe library.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features : sequence of str
            The features of the set, in any order.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.explanation("all rows", ["a"]).sentences(k=1)
        ['a = 0: 100 % y = 0 (2 rows), against 50 % overall.']
        """
        names = check_set(features)
        members = sorted(self._feature_number(name, "a feature") for name in names)
        cohort = self.cohorts.position(subgroup)
        if self.book.measure.rows is None:
            raise MisfeatError(
                "What a set tells is explained by the cells of its values, of which {measure} "
                "knows nothing; use {other}.",
                measure=Setting("measure", "r2"),
                other=Setting("measure", "mutual_info"),
            )
        predicted = bool(self.missing[cohort, members].any())
        if predicted:
            known = self.book.known(len(members))
            found = predicted_counts(known, self.completer, cohort, members)
        else:
            found = recorded_counts(self.cohorts, cohort, members)
        set_of = tuple(self.features[m] for m in members)
        confidence = None if predicted else self.confidence
        return Explanation(
            subgroup=subgroup,
            features=set_of,
            target=self.cohorts.target,
            predicted=predicted,
            cells=cells_of(found, set_of, self.cohorts.classes, confidence),
        )
