"""Selection: what a fit found, and every question it answers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

from misfeat.answers.caution import Caution
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.feature_contributions import (
    FeatureValue,
    Interaction,
    feature_values,
    pair_interactions,
)
from misfeat.answers.feature_path import PathStep, path_steps
from misfeat.answers.number_of_features import enough_columns, enough_features
from misfeat.answers.recommendation import answer_of
from misfeat.answers.recording_gains import Worth, feature_worths
from misfeat.answers.recording_plan import PlanStep, recording_plan
from misfeat.answers.selection_base import FitOptions, FitResult, frame_of, subgroup_rows
from misfeat.answers.set_cells import explanation, explanation_columns
from misfeat.answers.set_contrasts import Estimated, difference
from misfeat.answers.stability import RESAMPLES, StableSet, stability_of
from misfeat.answers.subgroup_significance import LEVEL, SubgroupSignificance, significance_tests
from misfeat.answers.top_sets import (
    Alternative,
    all_scores,
    alternative_sets,
    as_columns,
    best_sets,
)
from misfeat.answers.validation import validation_of
from misfeat.estimation.set_scores import SetScores
from misfeat.number_formatting import count_words
from misfeat.reading.dataframe_libraries import result_frame
from misfeat.runtime.progress import progress_shown
from misfeat.saving.run_format import SavedRun, keep_answers, read_run, write_run

if TYPE_CHECKING:
    from misfeat.show.report import Report


class Selection(FitResult):
    """What was found in a table: every answer, its report, and saving.

    `SubgroupSelector.fit` keeps it as ``selection_``, and its methods hand questions on to it.

    Parameters
    ----------
    cohorts : Cohorts
        The coded rows of every subgroup, and how every column was treated.
    set_scores : SetScores
        Scores of feature sets, computed and predicted when they are asked for.
    options : FitOptions
        The size of sets, how many of them, which features to include.
    verbose : int, default=0
        1 shows progress.
    shortlist : Shortlist, default=None
        What a search through a wide table left out; None where every feature was kept.

    Attributes
    ----------
    validation : str or None
        What `validate` found, in a sentence; None before it was asked.
    known_tests : SignificanceTests or None
        The tests of `significance` asked last, whose p-values `top_k` and `scores` show.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> selection = SubgroupSelector(size=1).fit(table, "y").selection_
    >>> selection.report(title="Four rows")
    <Report: Four rows. Use .open() or .write_html('report.html').>
    """

    _place: tuple[Path, bytes] | None = None  # where it was loaded from, with this many answers
    _n_kept = 0

    def __repr__(self) -> str:
        sets = f"sets of {self.size} of {len(self.feature_names)} features"
        where = count_words(len(self.cohorts), "subgroup")
        return f"<Selection: {sets} in {where}; target {self.cohorts.target!r}>"

    def _repr_html_(self) -> str:
        from misfeat.show.html_output import first_screen_as_html

        return first_screen_as_html(self)

    @property
    def subgroups_(self) -> Any:
        """The subgroups: their rows, their target's entropy, and what they never recorded.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").subgroups_[["subgroup", "rows"]]
           subgroup  rows
        0  all rows     4
        """
        rows = subgroup_rows(self.cohorts)
        return self._frame({name: [row[name] for row in rows] for name in rows[0]})

    def answer(
        self,
        subgroup: str | None = None,
        *,
        size: int | None = None,
        costs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The recommended set of every subgroup, why it has this size, and how sure that is.

        Sentences of the command line, reports and `transform` of a subgroup go by this answer.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            The most features of a set. Defaults to the estimator's `size`.
        costs : mapping of str to float, default=None
            What recording a feature costs, as in `plan`.

        Returns
        -------
        SubgroupAnswer, or Answer for all subgroups
            Its attributes are ``verdict``, ``features`` (the smallest recorded set beyond which
            there is no evidence that more help), ``share``, ``low``, ``high``, ``p_value``,
            ``reason``, ``best`` (the first line of `top_k`), ``models`` (what a plain model reaches
            on rows left out) and ``recording`` (steps of `plan`); ``str()`` gives its sentences.
            An `Answer` holds one for every subgroup, and what holds over all of them.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> answer = SubgroupSelector(size=2).fit(table, "y").answer("all rows")
        >>> answer.verdict, answer.features
        ('explained', ('a',))
        """
        answers = answer_of(self, subgroup, size, costs)
        return answers if subgroup is None else answers.subgroups[0]

    def top_k(
        self,
        size: int | None = None,
        k: int | None = None,
        subgroup: str | None = None,
        *,
        distinct: bool = False,
    ) -> Any:
        """The k best sets of every subgroup, best first.

        A subgroup with a single value of the target has none. Where a smaller set scores 99 % of
        the best and 80 % of the entropy, only the best set that contains it is listed.

        Parameters
        ----------
        size, k : int, default=None
            Features per set, and sets per subgroup. Default to those of the estimator.
        subgroup : str, default=None
            One subgroup only.
        distinct : bool, default=False
            Leave out sets one swap from a better one that may explain just as much.

        Returns
        -------
        dataframe
            In the library of the fitted table: ``subgroup``, ``rank`` (among all sets),
            ``features``, ``score`` (nats or R², on the scale of `estimate`), ``low``, ``high`` (its
            interval, which covers on average over all sets, docs/explanation/population.md),
            ``share`` (of the entropy), ``observed`` (the plug-in score of the subgroup's own rows),
            ``p_value`` (once `significance` was asked), ``source`` (``"recorded"`` where the
            subgroup's own rows took part, else ``"predicted"``), ``missing`` and ``support``:
            ``"own rows"``, the subgroup recorded all features; ``"joint"``, another one did;
            ``"pairs"``, every pair with an unrecorded feature was recorded somewhere;
            ``"singles"``, some pair was not, and the interval cannot foresee their interaction;
            ``"none"``, some feature was recorded nowhere. Of a numeric target also ``spread``,
            between grids of its values.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1, k=1).fit(table, "y").top_k()[["rank", "features", "source"]]
           rank features    source
        0     1     (a,)  recorded
        """
        return self._frame(as_columns(best_sets(self, size, k, subgroup, distinct=distinct)))

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
        >>> SubgroupSelector(size=1).fit(table, "y").scores()[["features", "score"]].round(4)
          features   score
        0     (a,)  0.2004
        1     (b,)  0.0000
        """
        return self._frame(all_scores(self, size, subgroup))

    def path(self, subgroup: str | None = None, size: int | None = None) -> Any:
        """Features of every subgroup in the order in which they add, and where to stop.

        Every step takes the feature that adds most to those before it; those that explain only
        together follow each other. Sets along a path need not be the best of their size.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            Features of a path. Defaults to all, at most 20.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``step``, ``feature``; ``score``, ``low``, ``high``, ``share`` and
            ``source`` of the features up to this one; ``adds``, ``adds_low``, ``adds_high``; and
            ``enough``, False after the last step that adds at least 1 % of the target's entropy
            (of the variance, for R²) with an interval above 0.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> SubgroupSelector(size=1).fit(table, "y").path()[["step", "feature", "source", "enough"]]
           step feature    source  enough
        0     1       a  recorded    True
        1     2       b  recorded   False
        """
        return self._frame_of(PathStep, path_steps(self, subgroup, size))

    def features(self, subgroup: str | None = None, size: int | None = None) -> Any:
        """What every feature is worth in every subgroup, the most informative first.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``feature``, ``alone`` (its score), ``adds`` (to the best set of
            ``size - 1`` others), ``adds_to`` (that set), ``share_of_best`` (its Shapley value in
            the best set, 0 where it is not in it), ``mean_share`` (the mean Shapley value over all
            sets that hold it, the order of lines), ``in_best`` (the share of the k best sets that
            hold it) and ``source``; with intervals such as ``alone_low`` and ``alone_high``.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").features()[["feature", "in_best", "source"]]
          feature  in_best    source
        0       a      0.5  recorded
        1       b      0.5  recorded
        """
        return self._frame_of(FeatureValue, feature_values(self, subgroup, size))

    def why(self, subgroup: str, features: Sequence[str]) -> Any:
        """The cells behind the score of a set, those that add most to it first.

        A cell holds the rows that agree in all features. Where the subgroup did not record them,
        its table is predicted from those of other subgroups.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features : sequence of str
            The features of the set, in any order.

        Returns
        -------
        dataframe
            A line for every cell and class: ``subgroup``, ``cell`` (in words), ``values``,
            ``rows``, ``class``, ``share`` (of the cell's rows), ``low``, ``high`` (Wilson),
            ``overall`` (the share in the subgroup), ``lift`` (share over overall), ``contribution``
            (nats; the sum is ``observed`` in `top_k`, or the score on the first grid of a numeric
            target) and ``source``; predicted rows are expected ones, without intervals.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> why = SubgroupSelector(size=1).fit(table, "y").why("all rows", ["a"])
        >>> why[["cell", "rows", "class", "share", "lift"]].head(2)
            cell  rows class  share  lift
        0  a = 0   2.0     0    1.0   2.0
        1  a = 0   2.0     1    0.0   0.0
        """
        return self._frame(explanation_columns(explanation(self, subgroup, features)))

    def enough(
        self,
        subgroup: str | None = None,
        size: int | None = None,
        *,
        permutations: int | None = None,
        level: float = LEVEL,
    ) -> Any:
        """The best score by size, what one more feature adds, and where to stop.

        A set is enough where there is no evidence that one or two further features help (one, where
        there are very many pairs): they add no more than when the target is permuted within its
        cells. So is a smaller one that explains less by no more than 1 % of the uncertainty.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        size : int, default=None
            The largest to try. Defaults to the estimator's `size`.
        permutations : int, default=None
            Permutations at most; no p-value lies below one over one more. None: 199, or 99 for
            tables of very many rows.
        level : float, default=0.05
            P-values up to this one count as more than chance.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``size``, ``features`` (the best recorded set), ``score``,
            ``low``, ``high``, ``share``, ``adds``, ``p_value`` (of what this size adds) and
            ``enough``, true for the set that `answer` recommends, if no further feature is known
            to help.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> SubgroupSelector(size=1).fit(table, "y").enough()[["features", "p_value", "enough"]]
          features  p_value  enough
        0     (a,)    0.005    True
        """
        found = enough_features(self, subgroup, size, permutations=permutations, level=level)
        return self._frame(enough_columns(found))

    def alternatives(self, subgroup: str, features: Sequence[str], k: int | None = None) -> Any:
        """Sets that explain as much as a set of the same size, and the swaps that lead to them.

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
            Columns ``subgroup``, ``features``, ``score``, ``low``, ``high``, ``difference`` (to the
            score of the given set) with its interval, which holds 0; ``given_up``, ``taken``,
            ``swaps`` (fewest first), ``source`` and ``words``, such as ``"waist for bmi"``.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [1, 1, 0, 0] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> selector.alternatives("all rows", ["a"])[["features", "difference", "words"]]
          features  difference    words
        0     (b,)         0.0  b for a
        """
        return self._frame_of(Alternative, alternative_sets(self, subgroup, features, k))

    def interactions(self, subgroup: str | None = None) -> Any:
        """Whether every two features explain more together than one by one, or the same.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``feature``, ``other``, ``together`` (the score of both),
            ``alone`` (the sum of their scores), ``interaction`` (the difference; strongest first),
            ``low``, ``high``, ``kind`` (``"synergy"`` or ``"redundancy"`` where the interval lies
            above or below 0, else ``"unclear"``) and ``source``.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25, "y": [0, 1, 1, 0] * 25}
        >>> SubgroupSelector(size=2).fit(table, "y").interactions()[["feature", "other", "kind"]]
          feature other     kind
        0       a     b  synergy
        """
        return self._frame_of(Interaction, pair_interactions(self, subgroup))

    def difference(
        self, subgroup: str, features: Sequence[str], others: Sequence[str]
    ) -> Estimated:
        """By how much one set explains more than another, with an interval.

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
        >>> SubgroupSelector(size=1).fit(table, "y").difference("all rows", ["a"], ["b"]).low > 0
        True
        """
        return difference(self, subgroup, features, others)

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
            What recording a feature costs, by default 1; the rank is by gain per cost.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``feature``, ``gain`` (by how much the best score is expected to
            rise over ``before``), ``low``, ``high``, ``probability`` (that it rises at all),
            ``probability_of_a_tenth`` (by a tenth of ``before``), ``clear`` (whether the rise
            reaches `confidence` and the feature informs in nearly all other subgroups), ``rank``,
            ``before`` (of the best recorded set), ``best_set`` (the one that would be best),
            ``joined`` (the gain if it joined the best recorded set),
            ``support``, ``unsettled`` (two features of ``best_set`` never recorded together),
            ``settled_by`` (where recording both settles most), ``cost`` and ``gain_per_cost``.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.3, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> selector.worth_collecting(subgroup="cohort=c1")[["feature", "rank"]].head(1)
          feature  rank
        0      f3     1
        """
        return self._frame_of(Worth, feature_worths(self, subgroup, size, costs))

    def plan(
        self,
        subgroup: str | None = None,
        *,
        budget: float | None = None,
        costs: Mapping[str, Any] | None = None,
        rows: int | None = None,
        size: int | None = None,
    ) -> Any:
        """Which features to record where, together or alone, in which order, and when to stop.

        Each step is the bundle of one to three unrecorded features of a subgroup with the highest
        expected gain for its cost, given that the steps before it are done.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only.
        budget : float, default=None
            What all steps may cost together; steps that it does not cover are left out.
        costs : mapping, default=None
            What recording a feature costs, 1 where it does not say; or, for a feature, a mapping of
            subgroups to costs (``"*"`` for all others).
        rows : int, default=None
            Rows that a pilot would record. By default as many as it needs.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.

        Returns
        -------
        dataframe
            Columns ``step``, ``subgroup``, ``features`` (recorded in this step), ``gain`` (by how
            much the best score is expected to rise over ``before``), ``low``, ``high``,
            ``probability`` (that the gain is worth the cost: one per cent of the uncertainty about
            the target for the usual cost of a feature), ``worth`` (whether that is more likely than
            not: stop where it is not), ``cost``, ``gain_per_cost``, ``total_gain`` and
            ``total_cost`` up to this step, ``best_set`` (the best set afterwards), ``before``,
            ``after_low`` and ``after_high`` (of the best score with the step), ``rows`` (of a
            pilot) and ``precision`` (to how much either way it makes the gain known), ``support``,
            ``unsettled`` and ``settled_by`` as in `worth_collecting`.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.3, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> selector.plan(budget=3)[["step", "subgroup", "features", "worth"]].head(2)
           step   subgroup features  worth
        0     1  cohort=c1    (f3,)   True
        1     2  cohort=c3    (f1,)  False
        """
        steps = recording_plan(self, subgroup, budget=budget, costs=costs, rows=rows, size=size)
        return self._frame_of(PlanStep, steps)

    def significance(
        self,
        size: int | None = None,
        *,
        permutations: int | None = None,
        within: str | None = None,
        level: float = LEVEL,
    ) -> Any:
        """Whether any set explains more than chance: one line per subgroup.

        The target is permuted over the rows of a subgroup, and all sets of up to `size` features
        are scored again. A set explains more than chance where few permutations have a greatest
        studentised score as high (Westfall and Young), which accounts for the search. After a
        shortlist only rows are taken that the choice did not look at. Afterwards `top_k` and
        `scores` show the ``p_value`` of every recorded set.

        Parameters
        ----------
        size : int, default=None
            The most features of a set. Defaults to the estimator's `size`, or fewer where a table
            has so many rows and sets that tests would take long.
        permutations : int, default=None
            Permutations at most; no p-value lies below one over one more. None: 999, or 199 where
            tests would take long.
        within : str, default=None
            A feature within whose values the target is permuted: what it explains does not count.
        level : float, default=0.05
            Adjusted p-values up to this one count as more than chance.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``p_value``, ``adjusted`` (over subgroups, Benjamini and
            Hochberg), ``more_than_chance``, ``features`` (the set farthest above chance), ``sets``
            (searched) and ``permutations``. Sets that a subgroup did not record have no p-value.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> SubgroupSelector(size=1).fit(table, "y").significance()[["p_value", "features"]]
           p_value features
        0    0.001     (a,)
        """
        options: Any = {"permutations": permutations, "within": within, "level": level}
        self.known_tests = tests = significance_tests(self, size, **options)
        return self._frame_of(SubgroupSignificance, tests.subgroups)

    def stability(
        self,
        size: int | None = None,
        k: int | None = None,
        subgroup: str | None = None,
        resamples: int = RESAMPLES,
    ) -> Any:
        """How stable the best sets are: how often each is among the best of resampled rows.

        Each draw takes a third of the rows of every subgroup (half of them, where `estimate` is not
        ``"population"``) and makes the whole answer again, so that ``frequency`` is about how often
        a set would be among the k best of another such table (docs/answers/stability.md).

        Parameters
        ----------
        size, k : int, default=None
            Features per set, and sets per subgroup. Default to those of the estimator.
        subgroup : str, default=None
            One subgroup only.
        resamples : int, default=60
            How often rows are drawn. Each draw takes about as long as a fit.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``rank``, ``features``, ``frequency`` (the share of draws with the
            set among the k best), ``rank_low``, ``rank_median`` and ``rank_high`` (quartiles).

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1, k=1).fit(table, "y")
        >>> selector.stability(resamples=10)[["features", "frequency", "rank_high"]]
          features  frequency  rank_high
        0     (a,)        1.0          1
        """
        names, found = self.subgroup_names(subgroup), stability_of(self, size, k, resamples)
        return self._frame_of(StableSet, [one for one in found.sets if one.subgroup in names])

    def validate(self, size: int | None = None, k: int | None = None, rounds: int = 4) -> Any:
        """How far the answers for this very table can be trusted.

        Features that a subgroup did record are hidden, as large a share of them as it lacks, and
        predicted. The truth of a sample is the score of its rows; of the population, what all rows
        and recorded features lead one to expect, and halves of the rows say what so few rows cost.
        Of more than 60,000 sets, those of some features are tried, half of them of the best sets.

        Parameters
        ----------
        size, k : int, default=None
            Features per set, and how many sets count. Default to those of the estimator.
        rounds : int, default=4
            How often features are hidden, each time from some of the subgroups.

        Returns
        -------
        dataframe
            Columns ``subgroup``, ``hidden`` (how many features), ``captured`` (the share of the
            best sets' true score that the sets which look best hold), ``coverage`` (of intervals)
            and ``error`` (root mean square). `validation_` says it in a sentence.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> from misfeat.datasets import make_cohorts
        >>> data = make_cohorts(hide=0.2, random_state=0)
        >>> selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        >>> bool((selector.validate()["captured"] > 0.8).all())
        True
        """
        records = [vars(one) for one in validation_of(self, size, k, rounds)]
        columns = {"subgroup": [self.cohorts.names[one["cohort"]] for one in records]}
        names = ("hidden", "captured", "coverage", "error")
        return self._frame(columns | {name: [one[name] for one in records] for name in names})

    def cautions(self, size: int | None = None) -> Any:
        """What may mislead in these answers, worst first.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.

        Returns
        -------
        dataframe
            Columns ``kind`` (docs/answers/cautions.md has all), ``columns`` and ``subgroups`` that
            it is about, ``sentence``, ``remedy`` (may be empty) and ``severity``: ``"overturns"``
            where answers may be wrong altogether, ``"weakens"`` where they are less sure than they
            look, ``"note"`` where they are to be read with this in mind.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 30, "paid": [2, 9] * 60, "y": [0, 1] * 60}
        >>> SubgroupSelector(size=1).fit(table, "y").cautions()[["kind", "columns", "severity"]]
                    kind  columns   severity
        0           leak  (paid,)  overturns
        1  few subgroups       ()       note
        """
        return self._frame_of(Caution, list_cautions(self, size))

    def show(
        self,
        k: int | None = None,
        size: int | None = None,
        subgroup: str | None = None,
        tables: bool = False,
    ) -> None:
        """Print the answer in sentences, one a subgroup, as `misfeat run` does.

        Parameters
        ----------
        k : int, default=None
            Sets per subgroup in tables. Defaults to the estimator's `k`.
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        subgroup : str, default=None
            One subgroup only.
        tables : bool, default=False
            Print tables of subgroups, best sets and what is worth collecting before sentences.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> SubgroupSelector(size=1).fit(table, "y").show()
        Caution: Feature 'a' ...
        <BLANKLINE>
        all rows: a explains 98 % of the uncertainty about y (90 % interval 90–100 %, p ≤ 0.001); no
        ...
        """
        from misfeat.show.question_output import print_tables
        from misfeat.show.terminal import new_console, print_sentences, print_trust

        best_sets(self, size, k, subgroup)  # what cannot be shown is refused first
        with progress_shown(self.verbose > 0):
            answer = answer_of(self, subgroup, size)
        if tables:
            print_tables(self, size=size, k=k, subgroup=subgroup)
            new_console().print()
        print_sentences(answer)
        print_trust(answer, validation=self.validation)

    def report(
        self,
        title: str | None = None,
        *,
        size: int | None = None,
        k: int | None = None,
        costs: Mapping[str, float] | None = None,
        validate: bool = True,
    ) -> "Report":
        """Everything that was found, as one page that needs no network.

        Parameters
        ----------
        title : str, default=None
            The heading of the page.
        size, k : int, default=None
            Features per set, and sets per subgroup. Default to those of the estimator.
        costs : mapping of str to float, default=None
            What recording a feature costs, as in `worth_collecting`.
        validate : bool, default=True
            Whether parts of the table are left out on purpose, to check how far answers hold.

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
        <Report: What explains y best. Use .open() or .write_html('report.html').>
        """
        from misfeat.show.report import make_report

        return make_report(self, title, size=size, k=k, costs=costs, validate=validate)

    def export(
        self,
        path: str | Path,
        questions: Sequence[str] | str | None = None,
        *,
        size: int | None = None,
        k: int | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> None:
        """Write all answers to a workbook or to files, a table a question.

        Parameters
        ----------
        path : str or Path
            ``"answers.xlsx"`` (``pip install 'misfeat[excel]'``), ``"answers/"`` for a folder of
            CSV files; a single ``.csv`` file for one question. An older export
            is replaced.
        questions : sequence of str, default=None
            Some of ``"subgroups"``, ``"top"``, ``"features"``, ``"enough"``, ``"significance"``,
            ``"stability"``, ``"worth"``, ``"alternatives"``, ``"why"``, ``"interactions"``,
            ``"cautions"`` and ``"columns"``. Defaults to all.
        size, k : int, default=None
            Features per set, and sets per subgroup. Default to those of the estimator.
        costs : mapping of str to float, default=None
            What recording a feature costs, as in `worth_collecting`.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> with TemporaryDirectory() as folder:
        ...     selector.export(f"{folder}/subgroups.csv", "subgroups")
        ...     print(Path(f"{folder}/subgroups.csv").read_text())
        subgroup,rows,target_entropy,missing
        all rows,4,0.6931471805599453,
        """
        from misfeat.show.export import export_answers

        export_answers(self, path, questions, size=size, k=k, costs=costs)

    def save(
        self,
        folder: str | Path,
        estimator: Mapping[str, Any] | None = None,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write the selection to a folder, which `load` reads back.

        JSON for settings, safetensors for arrays. An older selection is replaced at once or not at
        all; weights of trained networks are not part of it.

        Parameters
        ----------
        folder : str or Path
            Where to; it is made where it does not exist.
        estimator : mapping, default=None
            Plain values to keep beside it, for whoever made it.
        beside : mapping of str to bytes, default=None
            The contents of ``report.html`` and ``run.toml``, written and replaced together with it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from misfeat import Selection, SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selection = SubgroupSelector(size=1).fit(table, "y").selection_
        >>> with TemporaryDirectory() as folder:
        ...     selection.save(f"{folder}/run")
        ...     Selection.load(f"{folder}/run").top_k().equals(selection.top_k())
        True
        """
        scores, options = self.set_scores, vars(self.options)
        arrays: dict[str, NDArray[Any]] = {}
        packed = scores.packed(arrays), arrays
        parts = self.cohorts, scores.measure, scores.estimate, options, *packed
        about = self.validation, estimator, self.shortlist, self._answers
        write_run(SavedRun(*parts, *about), folder, beside)

    def keep_answers(self) -> None:
        """Keep what was asked since the selection was loaded, so that it is not worked out again.

        Nothing happens where it was not loaded, or nothing new was asked.
        """
        if self._place is not None and self._n_answers() > self._n_kept:
            keep_answers(*self._place, self._answers)
            self._n_kept = self._n_answers()

    def _n_answers(self) -> int:
        """How many answers are remembered, those by subgroup one by one."""
        return sum(len(one) if isinstance(one, dict) else 1 for one in self._answers.values())

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a selection that `save` wrote; it answers as the saved one did.

        Parameters
        ----------
        folder : str or Path
            Where it was saved, by a selection or by an estimator.
        """
        return cls.from_saved(read_run(folder))

    @classmethod
    def from_saved(cls, run: SavedRun) -> Self:
        """The selection of a saved run.

        Parameters
        ----------
        run : SavedRun
            What `misfeat.saving.run_format.read_run` read.
        """
        scores = SetScores.unpacked(dict(run.scores), run.score_arrays, run.measure, run.estimate)
        selection = cls(run.cohorts, scores, FitOptions(**run.options), shortlist=run.shortlist)
        selection.validation = run.validation
        selection._answers, selection._place = dict(run.answers or {}), run.place
        selection._n_kept = selection._n_answers()
        return selection

    def _frame(self, columns: dict[str, list[Any]]) -> Any:
        """An answer as a dataframe of the library that the table came in."""
        return result_frame(columns, self.options.backend)

    def _frame_of(self, kind: type[Any], records: Iterable[Any]) -> Any:
        return frame_of(kind, records, self.options.backend)
