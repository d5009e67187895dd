"""Explained: what a fit found, and why a set of features tells."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.selection.asked import check_set
from misfeat.selection.cell_counts import PredictedCounts, recorded_counts, tabled_counts
from misfeat.selection.explaining import Explanation, as_rows, cells_of
from misfeat.selection.ranked import Ranked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from misfeat.selection.cell_counts import CellCounts


class Explained(Ranked):
    """What a fit found; says why a set of features tells."""

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
            are (``observed`` in `top_k`); of a numeric target classes are the bins of its first
            grid, and contributions add up to the score on this grid. Where ``source`` is
            ``"predicted"``, rows are those that are expected, and shares have no interval.

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

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 3, "b": [0, 1] * 6, "y": [0, 0, 1, 1] * 3}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.explanation("all rows", ["a"]).sentences(k=1)
        ['a = 0: 100 % y = 0 (6 rows), against 50 % overall.']
        """
        return self.explanations([(subgroup, features)])[0]

    def explanations(self, sets: Iterable[tuple[str, Sequence[str]]]) -> list[Explanation]:
        """The same as `explanation`, of many sets: what predictions need is prepared once.

        Parameters
        ----------
        sets : iterable of (str, sequence of str)
            Subgroups, and the features of a set.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 3, "b": [0, 1] * 6, "y": [0, 0, 1, 1] * 3}
        >>> selection = SubgroupSelector(size=1).fit(table, "y").selection_
        >>> asked = [("all rows", ["a"]), ("all rows", ["b"])]
        >>> [one.features for one in selection.explanations(asked)]
        [('a',), ('b',)]
        """
        asked = [self._place(*one) for one in sets]
        measure = self.book.measure
        if measure.rows is None and measure.tables is None:
            raise MisfeatError(
                "What a set tells is explained by what the cells of its values add to mutual "
                "information, of which {measure} knows nothing; use {other}.",
                measure=Setting("measure", measure.name),
                other=Setting("measure", "mutual_info"),
            )
        if measure.tables is not None:
            for _, members in asked:
                self._check_counted(members, measure.tables.largest)
        counted = self.counts_of(asked)
        return [self._explained(*one, counted[one]) for one in asked]

    def _explained(self, cohort: int, members: tuple[int, ...], found: CellCounts) -> Explanation:
        predicted = bool(self.missing[cohort, list(members)].any())
        set_of = tuple(self.feature_names[m] for m in members)
        confidence = None if predicted else self.confidence
        return Explanation(
            subgroup=self.cohorts.names[cohort],
            features=set_of,
            target=self.cohorts.target,
            predicted=predicted,
            cells=cells_of(found, set_of, self.cohorts.classes, confidence),
        )

    def counts_of(
        self, sets: Iterable[tuple[int, tuple[int, ...]]]
    ) -> dict[tuple[int, tuple[int, ...]], CellCounts]:
        """Rows by cell and class of many sets, counted or predicted.

        Parameters
        ----------
        sets : iterable of (int, tuple of int)
            The numbers of subgroups, and of features, ascending.
        """
        prepared = cache(self._predicted_counts)
        found = {}
        for cohort, members in sets:
            numbers = list(members)
            if self.missing[cohort, numbers].any():
                found[cohort, members] = prepared(len(numbers)).of(cohort, numbers)
            else:
                found[cohort, members] = self._recorded(cohort, numbers)
        return found

    def _members(self, features: Sequence[str]) -> list[int]:
        """The numbers of the features of a set, ascending."""
        return sorted(self._feature_number(name, "a feature") for name in check_set(features))

    def _place(self, subgroup: str, features: Sequence[str]) -> tuple[int, tuple[int, ...]]:
        """The number of a subgroup, and those of the features of a set."""
        return self.cohorts.position(subgroup), tuple(self._members(features))

    def _recorded(self, cohort: int, members: list[int]) -> CellCounts:
        """Rows by cell and class that were counted, now or where the rows are."""
        tables = self.book.measure.tables
        if tables is None:
            return recorded_counts(self.cohorts, cohort, members)
        return tabled_counts(tables, cohort, members)

    def _predicted_counts(self, size: int) -> PredictedCounts:
        return PredictedCounts(self.book.known(size), self.completer)

    def _check_counted(self, members: tuple[int, ...], most: int) -> None:
        """Raise where a set has more features than counts are at hand of."""
        if len(members) > most:
            raise MisfeatError(
                "{features} cannot be explained: only counts of sets of up to {most} features are "
                "at hand, no rows.",
                features=listed([self.feature_names[m] for m in members]),
                most=most,
            )
