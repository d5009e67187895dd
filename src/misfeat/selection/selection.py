"""What a fitted selector can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from misfeat.cohorts.blocks import check_blocks, check_names
from misfeat.cohorts.dataframes import result_frame
from misfeat.cohorts.naming import not_a_feature
from misfeat.completion.model import CompletedScores
from misfeat.completion.settings import confidence_of
from misfeat.exceptions import MisfeatError, check_count, listed, shortened
from misfeat.lattice import rank
from misfeat.machine.progress import progress_shown
from misfeat.selection.collecting import WORTH_COLUMNS, Worth, Worths, joins
from misfeat.selection.ranking import ScoredSet, as_columns, scored_sets, subgroup_rows
from misfeat.selection.trust import TRUST_COLUMNS, Trust, in_words, trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.cohorts import Cohorts
    from misfeat.completion import Completer
    from misfeat.selection.scorebook import ScoreBook
    from misfeat.selector import SubgroupSelector
    from misfeat.show.report import Report


MOST_LEFT_OUT = 10
"""So many columns that were left out are named in a message."""


class Answers:
    """The questions that `SubgroupSelector` answers once it is fitted."""

    size: int
    k: int
    include: Sequence[str] | None
    blocks: Mapping[str, Sequence[str]] | None
    random_state: int | None
    verbose: int
    cohorts_: Cohorts
    completer_: Completer
    validation_: str
    _trusted: tuple[tuple[Any, ...], list[Trust]]
    _book: ScoreBook
    _backend: str | None

    def top_k(
        self, size: int | None = None, k: int | None = None, subgroup: str | None = None
    ) -> Any:
        """The k best sets of every subgroup, best first.

        Parameters
        ----------
        size : int, default=None
            Features a set; the estimator's `size` where None.
        k : int, default=None
            Sets a subgroup; the estimator's `k` where None.
        subgroup : str, default=None
            One subgroup only.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``rank``, ``features``, ``score`` (nats, or R2), ``low``,
            ``high``, ``source``, ``missing`` and ``support``, in the library that `fit` was given,
            else pandas, polars or PyArrow, whichever is installed. The truth lies between ``low``
            and ``high`` as often as `confidence` says on average over all predicted sets, not for
            each of them, learned by hiding features that the table has; where that cannot be
            learned they are certain bounds: the score of the recorded features where it is known
            (else 0), and what no score can exceed (the entropy of the target, or 1). ``support`` is
            what a score rests on: ``"own rows"``, the subgroup recorded all of the features (with a
            `budget` the score may be predicted all the same); ``"joint"``, some subgroup recorded
            all of them together; ``"pairs"``, every pair with an unrecorded feature was recorded
            together somewhere; ``"singles"``, some such pair was not, so that nobody knows how the
            two interact, and the interval cannot foresee it; ``"none"``, some feature was recorded
            nowhere.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.top_k(k=1)[["subgroup", "rank", "features", "source"]]
           subgroup  rank features source
        0  all rows     1     (a,)  exact
        """
        sets = self.best_sets(size, k, subgroup)
        return result_frame(as_columns(sets, ranked=True), self._backend)

    def best_sets(
        self, size: int | None = None, k: int | None = None, subgroup: str | None = None
    ) -> list[ScoredSet]:
        """The same as `top_k`, as plain objects, without a dataframe library.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.best_sets(k=1)[0].features
        ('a',)
        """
        check_is_fitted(self, "cohorts_")
        k = self.k if k is None else k
        check_count(k, "k")
        scores = self._shown(size)
        return scored_sets(self.cohorts_, self._book.measure, scores, self._names(subgroup), k)

    def scores(self, size: int | None = None, subgroup: str | None = None) -> Any:
        """The score of every set of a size in every subgroup, in the order of the columns.

        Parameters
        ----------
        size : int, default=None
            Features a set; the estimator's `size` where None.
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
        0     (a,)  0.6931
        1     (b,)  0.0000
        """
        check_is_fitted(self, "cohorts_")
        scores = self._shown(size)
        sets = scored_sets(self.cohorts_, self._book.measure, scores, self._names(subgroup))
        return result_frame(as_columns(sets, ranked=False), self._backend)

    def score_of(self, subgroup: str, features: Sequence[str]) -> float:
        """The score of one feature set in one subgroup, exact where it can be.

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
        >>> round(selector.score_of("all rows", ["a"]), 4)
        0.6931
        """
        check_is_fitted(self, "cohorts_")
        names = check_names(features, "features")
        if not names:
            raise MisfeatError(f"features={features!r}; name at least one feature.")
        if not isinstance(features, str) and len(names) < len(features):
            repeated = next(n for place, n in enumerate(features) if n in list(features)[:place])
            raise MisfeatError(f"features names {str(repeated)!r} twice; name it once.")
        members = np.sort([self._feature(name, "a feature") for name in names])
        scores = self._scores_of(len(members))
        return float(scores.score[self.cohorts_.position(subgroup), rank(members[None, :])[0]])

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
            Features a set; the estimator's `size` where None.
        costs : mapping of str to float, default=None
            What recording a feature costs, 1 where it does not say; features are ranked by their
            gain for every unit of cost.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``feature``, ``gain``, ``low``, ``high``, ``rank``, ``before``,
            ``best_set``, ``joined``, ``support``, ``cost`` and ``gain_per_cost``. ``gain`` is by
            how much the best score of the size is expected to rise over ``before``, that of the
            best set that the subgroup recorded, with its interval, which holds on average and
            cannot foresee an interaction that nobody recorded (support ``"singles"``), as in
            `top_k`; ``best_set`` the set that would then be best; ``joined`` by how much the best
            recorded set is predicted to rise if the feature joined it as one more, NaN where the
            table has more sets of that size than are worth the time.

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
        columns = {name: [getattr(row, name) for row in rows] for name in WORTH_COLUMNS}
        return result_frame(columns, self._backend)

    def worths(
        self,
        subgroup: str | None = None,
        size: int | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> list[Worth]:
        """The same as `worth_collecting`, as plain objects, without a dataframe library.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.3, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> selector.worths(subgroup="cohort=c1")[0].feature
        'f3'
        """
        check_is_fitted(self, "cohorts_")
        scores = self._shown(size)
        measure, size = self._book.measure, scores.subsets.shape[1]
        costs = self._checked_costs(costs)
        larger = self._scores_of(size + 1) if joins(measure.missing, size) else None
        confidence = confidence_of(self.completer_)
        worths = Worths(scores, larger, measure.missing, measure.features, confidence, costs)
        return [
            worth
            for name in self._names(subgroup)
            for worth in worths.of(self.cohorts_.position(name), name)
        ]

    def show(
        self, k: int | None = None, size: int | None = None, subgroup: str | None = None
    ) -> None:
        """Print the subgroups, their best sets and what is worth collecting, as `misfeat run` does.

        Parameters
        ----------
        k : int, default=None
            Sets and unrecorded features a subgroup; the estimator's `k` where None.
        size : int, default=None
            Features a set; the estimator's `size` where None.
        subgroup : str, default=None
            One subgroup only.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").show(k=1)
        Subgroups, and what each never recorded (target: y)
          subgroup   rows   entropy of target   never recorded
         ──────────────────────────────────────────────────────
          all rows      4              0.6931   –
        all rows
          rank   features    score
         ──────────────────────────
             1   a          0.6931
        Scores are joint mutual information with the target, in nats. Every subgroup ...
        """
        check_is_fitted(self, "cohorts_")
        from misfeat.show.terminal import print_tables

        print_tables(cast("SubgroupSelector", self), size=size, k=k, subgroup=subgroup)

    def validate(self, size: int | None = None, k: int | None = None, rounds: int = 4) -> Any:
        """How far the predictions for this very table can be trusted.

        Features that the table does have are hidden, and predicted as if they were missing.

        Parameters
        ----------
        size, k : int, default=None
            Size of the sets, and how many of the best ones count; the estimator's where None.
        rounds : int, default=4
            How often features are hidden, each time from a quarter of the subgroups.

        Returns
        -------
        dataframe
            A line a subgroup: ``subgroup``, ``hidden`` (how many features), ``ndcg`` (how well the
            best sets with hidden features were found), ``captured`` (the share of the best sets'
            score that the sets which looked best hold), ``coverage`` (how often intervals held the
            truth) and ``error`` (relative to the mean score). `validation_` says it in a sentence.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.2, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> bool((selector.validate()["captured"] > 0.8).all())
        True
        """
        found = self._trust(size, k, rounds)
        columns: dict[str, list[Any]] = {
            "subgroup": [self.cohorts_.names[one.cohort] for one in found],
            **{name: [getattr(one, name) for one in found] for name in TRUST_COLUMNS},
        }
        return result_frame(columns, self._backend)

    def report(
        self,
        title: str | None = None,
        *,
        size: int | None = None,
        k: int | None = None,
        costs: Mapping[str, float] | None = None,
        validate: bool = True,
    ) -> Report:
        """Everything that was found, as one page that needs no network.

        Parameters
        ----------
        title : str, default=None
            The heading of the page.
        size, k : int, default=None
            Features in a set, and sets of each subgroup; the estimator's where None.
        costs : mapping of str to float, default=None
            What recording a feature costs, as in `worth_collecting`.
        validate : bool, default=True
            Whether features are hidden on purpose, to tell how far predictions can be trusted.

        Returns
        -------
        misfeat.show.report.Report
            With ``write_html(path)``, ``open()``, ``html()``, ``html_snippet()`` and ``json()``; a
            notebook shows it.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").report()
        <Report: What tells most about y. Use .open() or .write_html('report.html').>
        """
        from misfeat.show.report import Report
        from misfeat.show.report.gather import gather

        return Report(gather(cast("SubgroupSelector", self), size, k, costs, validate), title)

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
        check_is_fitted(self, "cohorts_")
        rows = subgroup_rows(self.cohorts_)
        return result_frame({name: [row[name] for row in rows] for name in rows[0]}, self._backend)

    def _trust(self, size: int | None, k: int | None, rounds: int) -> list[Trust]:
        """How far predictions can be trusted, also said in `validation_`."""
        check_is_fitted(self, "cohorts_")
        size, k = self.size if size is None else size, self.k if k is None else k
        check_count(k, "k")
        check_count(rounds, "rounds")
        check_count(size, "size")
        check_size(size, self._book.measure.features, self.cohorts_)
        asked = (size, k, rounds, self.random_state)
        if self.__dict__.get("_trusted", (None,))[0] != asked:
            with progress_shown(self.verbose > 0) as progress:
                known = self._book.known(size, progress)
                found = trust(known, self.completer_, size, k, rounds, self.random_state, progress)
            self._trusted = (asked, found)
        found = self._trusted[1]
        self.validation_ = in_words(found, k, confidence_of(self.completer_))
        return found

    def _names(self, subgroup: str | None) -> tuple[str, ...]:
        if subgroup is None:
            return tuple(self.cohorts_.names)
        self.cohorts_.position(subgroup)
        return (subgroup,)

    def _shown(self, size: int | None) -> CompletedScores:
        """The scores of the sets of a size that hold every feature to include."""
        scores = self._scores_of(size)
        size = scores.subsets.shape[1]
        required = self._required(size, self._book.measure.features, self.cohorts_)
        if not required:
            return scores
        held = np.all([(scores.subsets == place).any(axis=1) for place in required], axis=0)
        return CompletedScores(
            scores.subsets[held],
            **{
                name: getattr(scores, name)[:, held]
                for name in ("score", "low", "high", "predicted", "support")
            },
        )

    def _required(self, size: int, features: Sequence[str], cohorts: Cohorts) -> list[int]:
        """The numbers of the features to include, which must fit into sets of a size."""
        included = check_names(self.include, "include")
        for name in included:
            if name not in features:
                blocks = check_blocks(self.blocks)
                raise not_a_feature(name, "a feature to include", cohorts, features, blocks)
        if len(included) > size:
            raise MisfeatError(
                f"size={size}, but {len(included)} features are to be included: "
                f"{listed(included)}. Raise size, or include fewer."
            )
        return [features.index(name) for name in included]

    def _feature(self, name: object, role: str) -> int:
        """The number of a feature, by its name."""
        features = self._book.measure.features
        if name not in features:
            raise not_a_feature(name, role, self.cohorts_, features, check_blocks(self.blocks))
        return features.index(str(name))

    def _checked_costs(self, costs: Mapping[str, float] | None) -> dict[str, float]:
        if costs is None:
            return {}
        if not isinstance(costs, Mapping):
            raise MisfeatError(
                f"costs={shortened(costs)}; it must map features to what recording them costs, "
                "such as {'mri': 400}."
            )
        for name, cost in costs.items():
            self._feature(name, "a feature with a cost")
            number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
            if not number or not 0 < cost < np.inf:
                raise MisfeatError(f"The cost of {name!r} is {cost!r}; it must be above 0, finite.")
        return dict(costs)

    def _scores_of(self, size: int | None) -> CompletedScores:
        size = self.size if size is None else size
        check_count(size, "size")
        check_size(size, self._book.measure.features, self.cohorts_)
        with progress_shown(self.verbose > 0) as progress:
            return self._book.completed(size, progress)


def check_size(size: int, features: Sequence[str], cohorts: Cohorts) -> None:
    """Refuse a table without features, and sets larger than all of them."""
    if not features:
        left = [report for report in cohorts.columns if report.role == "left out"]
        reasons = "; ".join(f"{r.column!r}: {r.treatment}" for r in left[:MOST_LEFT_OUT])
        more = len(left) - MOST_LEFT_OUT
        n_rows = int(cohorts.weights.sum())
        raise MisfeatError(
            f"The table has no feature to score (n_samples = {n_rows}). "
            + (f"Left out: {reasons}" if left else "It has only the target and what groups name")
            + (f" and {more:,} more" if more > 0 else "")
            + "; add columns that may tell about the target."
        )
    if size > len(features):
        raise MisfeatError(
            f"size={size} is larger than the number of features (n_features = {len(features)}): "
            f"{listed(features)}. Lower size."
        )
