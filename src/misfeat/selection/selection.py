"""Selection: what a fit found, and every question it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import check_count
from misfeat.runtime.progress import long_work
from misfeat.selection.against_chance import AgainstChance
from misfeat.selection.asked import check_costs
from misfeat.selection.caution import CAUTION_COLUMNS
from misfeat.selection.cautions import cautions_about
from misfeat.selection.collecting import WORTH_COLUMNS, Unsettled, Worth, Worths
from misfeat.selection.compared import Compared
from misfeat.selection.leaving_out import can_be_halved, features_to_judge, with_features
from misfeat.selection.resampled import Resampled
from misfeat.selection.trust import TRUST_COLUMNS, Trust, in_words, trust

if TYPE_CHECKING:
    from misfeat.selection.caution import Caution

LOOKING = "Looking for what may mislead"


class Selection(AgainstChance, Compared, Resampled):
    """What was found in a table; every answer comes from here.

    `SubgroupSelector.fit` makes it and keeps it as ``selection_``. It knows nothing of the
    estimator, and answers for as long as it is kept or saved.

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
    shortlist : Shortlist, default=None
        What a search through a wide table left out; None where every feature was kept.

    Attributes
    ----------
    validation : str or None
        What `validate` found, in a sentence; None before it was asked.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> selection = SubgroupSelector(size=1).fit(table, "y").selection_
    >>> selection.best_sets(k=1)[0].features
    ('a',)
    """

    def worth_collecting(
        self,
        subgroup: str | None = None,
        size: int | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> Any:
        """What each feature that a subgroup never recorded would be worth to it, best first.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        costs : mapping of str to float, default=None
            What recording a feature costs, 1 where it does not say; features are ranked by their
            gain for every unit of cost.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``feature``, ``gain``, ``low``, ``high``, ``probability``,
            ``probability_of_a_tenth``, ``clear``, ``rank``, ``before``, ``best_set``, ``joined``,
            ``support``, ``unsettled``, ``settled_by``, ``cost`` and ``gain_per_cost``. ``gain`` is
            by how much the best score of the size is expected to rise over ``before``, that of the
            best set that the subgroup recorded, with its interval; ``probability`` how likely it
            rises at all, ``probability_of_a_tenth`` by a tenth of ``before``, and ``clear`` whether
            the former is as likely as `confidence` says. ``best_set`` is the set that would then be
            best; ``joined`` by how much the best recorded set is predicted to rise if the feature
            joined it as one more. ``unsettled`` names two features of ``best_set`` that no subgroup
            recorded together, so that the prediction cannot foresee how they interact, and
            ``settled_by`` the subgroup in which recording both would settle most.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.3, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> worth = selector.worth_collecting(subgroup="cohort=c1")
        >>> worth[["feature", "rank"]].head(1)
          feature  rank
        0      f3     1
        """
        rows = self.worths(subgroup, size, costs)
        return self._framed_lines(rows, WORTH_COLUMNS)

    def worths(
        self,
        subgroup: str | None = None,
        size: int | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> list[Worth]:
        """The same as `worth_collecting`, as plain objects, without a dataframe library.

        Returns
        -------
        list of Worth
            Subgroup by subgroup, best first.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.3, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> selector.worths(subgroup="cohort=c1")[0].feature
        'f3'
        """
        scores = self._shown(size)
        for name in costs if isinstance(costs, Mapping) else ():
            self._feature_number(name, "a feature with a cost")
        worths = Worths(
            scores,
            self.book.scored,
            self.missing,
            self.feature_names,
            self.confidence,
            check_costs(costs),
            self._unsettled(),
        )
        return [
            worth
            for name in self.subgroup_names(subgroup)
            if self._can_be_told(name)
            for worth in worths.of(self.cohorts.position(name), name)
        ]

    def validate(self, size: int | None = None, k: int | None = None, rounds: int = 4) -> Any:
        """How far the answers for this very table can be trusted.

        Features that a subgroup did record are hidden, as large a share of them as it lacks, and
        predicted as if they were missing. On the scale of the population the truth is what all
        rows and all recorded features lead one to expect, and halves of the rows say what so few
        rows cost; on the scale of the sample it is the score of the rows. Where there are more than
        60,000 sets over all subgroups, sets of some of the features are tried: half of these are
        the features of the best-looking sets, half are drawn from the others.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        k : int, default=None
            How many of the best sets count. Defaults to the estimator's `k`.
        rounds : int, default=4
            How often features are hidden, each time from some of the subgroups.

        Returns
        -------
        dataframe
            A line per subgroup: ``subgroup``, ``hidden`` (how many features), ``captured`` (the
            share of the best sets' true score that the sets which look best hold), ``coverage``
            (how often intervals hold the truth) and ``error`` (of scores, root mean square, in
            their unit). `validation_` says it in a sentence.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.2, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> bool((selector.validate()["captured"] > 0.8).all())
        True
        """
        found = self.trusts(size, k, rounds)
        columns: dict[str, list[Any]] = {
            "subgroup": [self.cohorts.names[one.cohort] for one in found],
            **{name: [getattr(one, name) for one in found] for name in TRUST_COLUMNS},
        }
        return self._framed(columns)

    def trusts(self, size: int | None = None, k: int | None = None, rounds: int = 4) -> list[Trust]:
        """The same as `validate`, as plain objects; asked again, it costs nothing.

        Returns
        -------
        list of Trust
            One per subgroup from which a feature could be hidden, or that lacks none.
        """
        size, k = self._level_size(size), self.k if k is None else k
        for value, name in ((k, "k"), (rounds, "rounds")):
            check_count(value, name)
        asked, seed, n_features = (size, k, rounds), self.asked.seed, len(self.feature_names)
        self.book.check_rows()
        rng = np.random.default_rng(0 if seed is None else seed)
        kept = features_to_judge(self.completed(size), n_features, rng)
        found = self._trusted.get(asked)
        if found is None:
            with long_work(self.verbose > 0) as progress:
                known, shown = self.book.known(size, progress, counted=size), None
                if kept is None:
                    shown = self.completed(size)
                else:
                    known = with_features(known, kept)
                found = trust(
                    known,
                    self.book.estimate,
                    size,
                    k,
                    rounds,
                    seed,
                    progress,
                    shown,
                )
            self._trusted = {asked: found}
        measure, scores = self.book.measure, self.completed(size)
        self.validation = in_words(
            found,
            min(k, len(scores.subsets)),
            self.confidence,
            predicted=bool(scores.predicted.any()),
            rows_left_out=can_be_halved(measure.rows) if measure.above_chance else None,
            judged=None if kept is None else (len(kept), n_features),
        )
        return found

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
        with long_work(self.verbose > 0) as progress:
            if progress is not None:
                progress(LOOKING, 0, 1)
            found = cautions_about(self.cohorts, best, self.book, self._unsettled(), self.shortlist)
            if progress is not None:
                progress(LOOKING, 1, 1)
        return found

    def _unsettled(self) -> Unsettled:
        rows = [cohort.size for cohort in self.cohorts]
        return Unsettled(self.missing, rows, self.cohorts.names, self.feature_names)
