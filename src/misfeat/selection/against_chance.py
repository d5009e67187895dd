"""AgainstChance: what a fit found, and whether it is more than chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from misfeat.cohorts.weights import reweighted
from misfeat.estimation.significance import PERMUTATIONS, PILOTS
from misfeat.exceptions import MisfeatError, Setting, check_count
from misfeat.information.dealing import MOST_DEALS
from misfeat.runtime.progress import long_work
from misfeat.selection.chance_tests import ChanceTests, Dealer, SubgroupChance, chance_tests
from misfeat.selection.enough import (
    MOST,
    MOST_OF_SHORTLIST,
    Enough,
    Step,
    enough_for_all,
    enough_of_each,
)
from misfeat.selection.explained import Explained

LEVEL = 0.05
STEP_PERMUTATIONS = 199
"""Deals for each step from one size to the next, of which there are several a subgroup."""


class AgainstChance(Explained):
    """What a fit found; says whether it is more than chance, and how many features are enough."""

    def significance(
        self,
        size: int | None = None,
        *,
        permutations: int = PERMUTATIONS,
        within: str | None = None,
        level: float = LEVEL,
    ) -> Any:
        """Whether any set of a subgroup tells more than chance: a line a subgroup.

        The target is dealt out anew over the rows of a subgroup, and all sets of up to `size`
        features are scored again. The best set tells more than chance where its studentised score
        is seldom reached by the greatest one of such a deal. So the p-value is right although many
        sets were searched (Westfall and Young). Dealing stops early where nothing is to be found.
        Afterwards `top_k` and `scores` show the ``p_value`` of every recorded set. Where features
        were left out (a shortlist), only rows are taken that the choice did not look at.

        Parameters
        ----------
        size : int, default=None
            The most features of a set. Defaults to the estimator's `size`.
        permutations : int, default=999
            Deals at most; no p-value lies below one over one more.
        within : str, default=None
            A feature within whose values the target is dealt out, so that what this feature tells
            does not count.
        level : float, default=0.05
            Adjusted p-values up to this one count as more than chance.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``p_value``, ``adjusted`` (for having asked about several
            subgroups, Benjamini and Hochberg), ``more_than_chance``, ``features`` (the set farthest
            above chance), ``sets`` (searched) and ``permutations``. Sets with features that a
            subgroup never recorded cannot be tested, and have no p-value.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.significance()[["subgroup", "p_value", "more_than_chance", "features"]]
           subgroup  p_value  more_than_chance features
        0  all rows    0.001              True     (a,)
        """
        rows = self.significances(
            size, permutations=permutations, within=within, level=level
        ).subgroups
        return self._framed_lines(rows, SubgroupChance.__dataclass_fields__)

    def significances(
        self,
        size: int | None = None,
        *,
        permutations: int = PERMUTATIONS,
        within: str | None = None,
        level: float = LEVEL,
    ) -> ChanceTests:
        """The same as `significance`, as plain objects; asked again, it costs nothing.

        Returns
        -------
        ChanceTests
            With ``subgroups`` and the ``p_values`` of all sets by size.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.significances().p_values[1]
        array([[0.001, 1.   ]])
        """
        size = self._level_size(size)
        dealer = self._dealer(permutations, within, level)
        # Smaller sets than those of all features to include are tested whatever they hold.
        include = self._included(size) if len(self.asked.include) <= size else []
        asked = (size, int(permutations), within, level)
        found = self._tests.get(asked)
        if found is None:
            with long_work(self.verbose > 0) as progress:
                found = chance_tests(dealer, size, include, level, progress)
            self._tests[asked] = found = replace(found, asked=asked)
        self.known_tests = found
        return found

    def enough(
        self,
        subgroup: str | None = None,
        size: int | None = None,
        *,
        permutations: int = STEP_PERMUTATIONS,
        level: float = LEVEL,
    ) -> Any:
        """The best score by size, what one more feature adds, and where to stop.

        The best recorded set of a size is enough where no one or two further features add more to
        it than chance would: the target is dealt out anew within the cells of this set.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            The largest size to try. Defaults to the estimator's `size` and one more, or to `size`
            where features were left out.
        permutations : int, default=199
            Deals at most; no p-value lies below one over one more.
        level : float, default=0.05
            P-values up to this one count as more than chance.

        Returns
        -------
        dataframe
            A line for every subgroup and size: ``subgroup``, ``size``, ``features`` (the best set
            that the subgroup recorded), ``score``, ``low``, ``high``, ``share``, ``adds``,
            ``p_value`` (whether what this size adds to the one before is more than chance) and
            ``enough``, true for the smallest size beyond which nothing is added. A subgroup in
            which no feature tells has no such line.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.enough()[["size", "features", "p_value", "enough"]]
           size features  p_value  enough
        0     1     (a,)    0.005    True
        1     2   (a, b)    1.000   False
        >>> selector.enoughs()[0].sentence
        'all rows: a tells 98 % of what there is to tell about y (90–100 %); one more feature adds \
nothing more than chance (p = 1.00).'
        """
        found = self.enoughs(subgroup, size, permutations=permutations, level=level)
        lines = [(one, step) for one in found for step in one.steps]
        columns: dict[str, list[Any]] = {"subgroup": [one.subgroup for one, _ in lines]}
        for name in Step.__dataclass_fields__:
            columns[name] = [getattr(step, name) for _, step in lines]
        columns["enough"] = [one.settled and step.size == one.size for one, step in lines]
        return self._framed(columns)

    def enoughs(
        self,
        subgroup: str | None = None,
        size: int | None = None,
        *,
        permutations: int = STEP_PERMUTATIONS,
        level: float = LEVEL,
    ) -> list[Enough]:
        """The same as `enough`, as plain objects with a sentence each.

        Returns
        -------
        list of Enough
            One a subgroup.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> SubgroupSelector(size=1).fit(table, "y").enoughs()[0].size
        1
        """
        names = self.subgroup_names(subgroup)
        # Of a shortlist, sets of one more feature would be too many.
        usual = self.size + (self.shortlist is None)
        usual = min(usual, self.book.largest_level, len(self.feature_names))
        largest = self._checked_size(usual if size is None else size)
        dealer = self._dealer(permutations, None, level)
        asked = (largest, int(permutations), level)
        found = dict(self.known_enough.get(asked, {}))
        left = [name for name in names if name not in found]
        numbers = [self.cohorts.position(name) for name in left]
        with long_work(self.verbose > 0) as progress:
            seen = enough_of_each(
                dealer, numbers, lambda m: self.book.completed(m, progress), largest, level,
                progress,
            )  # fmt: skip
        self.known_enough = {asked: {**found, **dict(zip(left, seen, strict=True))}}
        return [self.known_enough[asked][name] for name in names]

    def choose_size(self) -> int:
        """Make `size` the number of features beyond which nothing more than chance is added.

        It is enough for every subgroup; p-values are adjusted for being several.

        Returns
        -------
        int
            The size.
        """
        dealer = self._dealer(PERMUTATIONS, None, LEVEL)
        most = MOST if self.shortlist is None else MOST_OF_SHORTLIST
        largest = min(most, self.book.largest_level, len(self.feature_names))
        with long_work(self.verbose > 0) as progress:
            size = enough_for_all(
                dealer, lambda m: self.book.completed(m, progress), largest, LEVEL, progress
            )
        self.asked = replace(self.asked, size=max(size, len(self.asked.include)))
        return self.size

    def _dealer(self, permutations: int, within: str | None, level: float) -> Dealer:
        """How sets are tested, what was asked for checked."""
        self.book.check_rows()
        check_count(permutations, "permutations")
        most = MOST_DEALS - PILOTS - 1
        if permutations > most:
            raise MisfeatError(
                "{setting}; at most {most:,} are possible.",
                setting=Setting("permutations", permutations),
                most=most,
            )
        if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
            raise MisfeatError(
                "{setting}; it must lie between 0 and 1.", setting=Setting("level", level)
            )
        number = None
        if within is not None:
            number = self._feature_number(within, "a feature to deal within")
            if self.book.measure.sums is not None:
                raise MisfeatError(
                    "{within} needs the values of a feature, of which {measure} knows nothing; use "
                    "{other}.",
                    within=Setting("within", within),
                    measure=Setting("measure", "r2"),
                    other=Setting("measure", "mutual_info"),
                )
        rows = self.cohorts
        if self.shortlist is not None:  # only these rows know nothing of which features were kept
            rows = reweighted(rows, self.shortlist.held_back)
        seed = self.asked.seed
        return Dealer(rows, self.book, int(permutations), number, seed, self._greatest)
