"""Cautioned: what a fit found, and what may mislead in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.machine.long_work import long_work
from misfeat.selection.caution import CAUTION_COLUMNS, worst_first
from misfeat.selection.cautions import cautions_about
from misfeat.selection.explained import Explained
from misfeat.selection.unsettled import Unsettled

if TYPE_CHECKING:
    from misfeat.selection.caution import Caution

WHAT = "Looking for what may mislead"


class Cautioned(Explained):
    """What a fit found; says what may mislead in it."""

    def cautions(self, size: int | None = None) -> Any:
        """What may mislead in these answers, worst first.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.

        Returns
        -------
        dataframe
            A line for every caution: ``kind`` (``"leak"``, ``"missing pattern"``,
            ``"duplicate"``, ``"few rows"``, …; docs/answers/cautions.md has all), ``columns`` and
            ``subgroups`` that it is about, ``sentence`` (what was found), ``remedy`` (what to do,
            empty where nothing can be done) and ``severity``: ``"overturns"`` where answers may be
            wrong altogether, ``"weakens"`` where they are less sure than they look, ``"note"``
            where they are to be read with this in mind.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 30, "paid": [2, 9] * 60, "y": [0, 1] * 60}
        >>> found = SubgroupSelector(size=1).fit(table, "y").cautions()
        >>> found[["kind", "columns", "severity"]]
                    kind  columns   severity
        0           leak  (paid,)  overturns
        1  few subgroups       ()       note
        """
        found = self.caution_list(size)
        columns = {name: [getattr(one, name) for one in found] for name in CAUTION_COLUMNS}
        for name in ("sentence", "remedy"):
            columns[name] = list(map(str, columns[name]))
        return self._framed(columns)

    def caution_list(self, size: int | None = None) -> list[Caution]:
        """The same as `cautions`, as plain objects, without a dataframe library.

        Returns
        -------
        list of Caution
            Worst first; empty where nothing was found.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 1] * 60, "y": [0, 0, 1, 1] * 30}
        >>> for caution in SubgroupSelector(size=1).fit(table, "y").caution_list():
        ...     print(caution.words)
        No set tells more than 2 % of the target 'y' in 'all rows'; the order of sets there may ...
        There is one subgroup only: its scores were shrunk by its own rows, with no other ...
        """
        best = self.best_sets(size, k=1)
        asked = self.asked.min_cell
        with long_work(self.verbose > 0) as progress:
            if progress is not None:
                progress(WHAT, 0, 1)
            found = cautions_about(
                self.cohorts, best, self.book, self._unsettled(), asked, self.screened
            )
            if progress is not None:
                progress(WHAT, 1, 1)
        stopped = self.unfinished.caution
        return found if stopped is None else worst_first([stopped, *found])

    def _unsettled(self) -> Unsettled:
        rows = [cohort.size for cohort in self.cohorts]
        return Unsettled(self.missing, rows, self.cohorts.names, self.feature_names)
