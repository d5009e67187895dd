"""SubgroupSelector: the class users meet. It wires the steps together and holds no mathematics."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sklearn.utils.validation import check_is_fitted

from misfeat.cohorts.blocks import (
    check_blocks,
    check_names,
    joined_blocks,
    product_sums_without,
    without_features,
)
from misfeat.cohorts.build import cohorts_of, groups_chosen, subgroup_names
from misfeat.cohorts.groups import parse_groups
from misfeat.cohorts.opening import open_columns, open_table, with_groups, with_weights
from misfeat.cohorts.product_sums import cohorts_and_product_sums
from misfeat.cohorts.rules import CohortRules
from misfeat.cohorts.weighing import WeightRules
from misfeat.columns import SelectsColumns, SubgroupColumns, checked_arrays, note_columns
from misfeat.completion.named import completer_of
from misfeat.completion.settings import confidence_of
from misfeat.exceptions import (
    InPython,
    Message,
    MisfeatError,
    Setting,
    UnseenSubgroupWarning,
    listed,
    no_such_column,
    warn,
)
from misfeat.information.grids import information_of
from misfeat.information.measures import SquaredCorrelation
from misfeat.machine.long_work import long_work
from misfeat.nesting import NestedQuestion
from misfeat.parameters import with_parameters
from misfeat.population.estimates import SAMPLE, Estimate
from misfeat.restoring import loaded_selector, save_selector
from misfeat.resuming import BUILT, seed_of, steps_of_files, steps_of_rows
from misfeat.screening import screened_where_wide
from misfeat.selection.asked import Asked, check_features
from misfeat.selection.enough import MOST_SCREENED
from misfeat.selection.scorebook import ScoreBook
from misfeat.show.forecast import foretell
from misfeat.show.shown import ShownSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path
    from typing import Self

    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.cohorts.table import Table
    from misfeat.information.measures import Measure
    from misfeat.machine.progress import Progress
    from misfeat.machine.steps import Steps
    from misfeat.screening import Screened

Asking = ParamSpec("Asking")
Answer = TypeVar("Answer")


def answer(
    method: Callable[Concatenate[ShownSelection, Asking], Answer],
) -> Callable[Concatenate[Any, Asking], Answer]:
    """A method of the estimator that hands the question on to its selection."""

    @wraps(method)
    def asked(self: Any, /, *args: Asking.args, **kwargs: Asking.kwargs) -> Answer:
        check_is_fitted(self, "selection_")
        return method(self.selection_, *args, **kwargs)

    return asked


def fact(name: str, words: str | None) -> Any:
    """An attribute of the estimator that its selection holds."""

    def held(self: Any) -> Any:
        check_is_fitted(self, "selection_")
        return getattr(self.selection_, name)

    return property(held, doc=words)


@with_parameters
class SubgroupSelector(SelectsColumns, NestedQuestion):
    """Find the feature sets that tell most about a target, for every subgroup of a table.

    Scores are estimates for the population that a subgroup stands for, with intervals. A set may
    hold features that a subgroup never recorded. Its score is then predicted from the subgroups
    that did record them, and marked as predicted.

    {parameters}

    Attributes
    ----------
    selection_ : Selection
        What was found; every method that answers a question exists there, too.
    cohorts_ : misfeat.cohorts.Cohorts
        The coded, weighted rows of every subgroup, and how every column was treated.
    subgroups_ : dataframe
        Columns ``subgroup``, ``rows``, ``target_entropy`` (nats) and ``missing``, the features that
        the subgroup never recorded; with weights or a design also ``effective_rows``.
    completer_ : Completer
        What predicted; `PaperCompleter` keeps its trained models.
    n_features_in_ : int
        Columns of the table, without the target.
    feature_names_in_ : ndarray of str
        Their names, where the table has names.
    validation_ : str or None
        What `validate` found, in a sentence.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import load_heart
    >>> heart = load_heart()
    >>> selector = SubgroupSelector(groups="site", size=2, k=1).fit(heart.columns, "num")
    >>> selector.top_k()[["subgroup", "features", "share", "source"]].round(2)
               subgroup       features  share     source
    0    site=cleveland       (cp, ca)   0.19   recorded
    1    site=hungarian  (cp, oldpeak)   0.35   recorded
    2  site=switzerland       (cp, ca)   0.04  predicted
    3           site=va       (cp, ca)   0.06  predicted
    """

    def fit(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        """Score every set of `size` features in every subgroup.

        Parameters
        ----------
        X : dataframe, lazy frame, relation, array, mapping of columns, or path
            The table: pandas, polars, PyArrow, DuckDB, PySpark, Dask, Ibis, NumPy, or the path of a
            CSV, TSV or Parquet file, a folder or a glob of Parquet files.
        y : str, array, series or dataframe of one column
            The target: the name of a column of `X`, or its values.
        groups : array, series or dataframe of one column, default=None
            The subgroup of every row, where no column says it and the estimator's `groups` is None.
        sample_weight : str, array, series or dataframe of one column, default=None
            How much every row counts: the name of a column of `X`, or values; `weights` says how
            they are taken.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
        >>> SubgroupSelector(size=1).fit(X, [0, 0, 1, 1]).get_support()
        array([ True, False])
        """
        self._check()
        X, y = checked_arrays(self, X, y)
        with long_work(self.verbose > 0, whole=True) as progress:
            if progress is not None:
                progress("Opening the table", 0, 1)
            table, target, rules = self._opened(X, y, groups, sample_weight)
            if progress is not None:
                progress("Opening the table", 1, 1)
            given = [groups is not None, not isinstance(sample_weight, str | None)]
            added = table.names[len(table.names) - sum(given) :]
            names = [name for name in table.names if name not in (target, *added)]
            steps = steps_of_files(self, X, y, groups, sample_weight)
            selection = self._selection(table, target, rules, progress, steps)
            if self.size == "auto":
                selection.choose_size_in_time()
            elif progress is not None:
                foretell(selection)
            selection.prepare_in_time()
            least = self._nested("coding").min_cell
            if least > 1:
                selection = selection.withheld(int(least))
        # Only now, so that a fit that fails leaves nothing half done behind.
        self.selection_ = selection
        note_columns(self, X, names)
        return self

    top_k = answer(ShownSelection.top_k)
    best_sets = answer(ShownSelection.best_sets)
    scores = answer(ShownSelection.scores)
    score_of = answer(ShownSelection.score_of)
    why = answer(ShownSelection.why)
    explanation = answer(ShownSelection.explanation)
    significance = answer(ShownSelection.significance)
    significances = answer(ShownSelection.significances)
    enough = answer(ShownSelection.enough)
    enoughs = answer(ShownSelection.enoughs)
    features = answer(ShownSelection.features)
    feature_values = answer(ShownSelection.feature_values)
    shapley = answer(ShownSelection.shapley)
    difference = answer(ShownSelection.difference)
    alternatives = answer(ShownSelection.alternatives)
    alternative_sets = answer(ShownSelection.alternative_sets)
    interactions = answer(ShownSelection.interactions)
    pair_interactions = answer(ShownSelection.pair_interactions)
    worth_collecting = answer(ShownSelection.worth_collecting)
    worths = answer(ShownSelection.worths)
    cautions = answer(ShownSelection.cautions)
    caution_list = answer(ShownSelection.caution_list)
    validate = answer(ShownSelection.validate)
    stability = answer(ShownSelection.stability)
    resampled = answer(ShownSelection.resampled)
    show = answer(ShownSelection.show)
    report = answer(ShownSelection.report)
    export = answer(ShownSelection.export)
    to_markdown = answer(ShownSelection.to_markdown)
    cohorts_ = fact("cohorts", "The coded, weighted rows of every subgroup.")
    completer_ = fact("completer", "What predicted the scores that could not be computed.")
    subgroups_ = fact("subgroups_", ShownSelection.subgroups_.__doc__)
    validation_ = fact("validation", "What `validate` found, in a sentence; None before.")

    def transform(self, X: Any) -> Any:
        """Keep the columns of the best sets, as they are; `columns` says which.

        Parameters
        ----------
        X : dataframe, lazy frame, array or mapping of columns
            With the columns that were there at fit; the target may be among them or not.

        Returns
        -------
        dataframe, lazy frame, array or mapping of columns
            The same kind of table, or what `set_output` asks for.

        Examples
        --------
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> list(SubgroupSelector(size=1).fit(table, "y").transform(table))
        ['a']
        """
        kept = super().transform(X)
        unseen: str = self._nested("columns").unseen
        if unseen != "ignore" and self.groups is not None:
            self._check_subgroups(X, unseen)
        return kept

    def for_subgroup(self, subgroup: str) -> SubgroupColumns:
        """A transformer that keeps the columns of one subgroup's best set, or of its k best.

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.

        Returns
        -------
        SubgroupColumns
            Fitted on the same columns.

        Examples
        --------
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> list(SubgroupSelector(size=1).fit(table, "y").for_subgroup("all rows").transform(table))
        ['a']
        """
        return SubgroupColumns.like(self, self._kept(subgroup))

    def save(self, folder: str | Path) -> None:
        """Write the fitted selector to a folder, which `load` reads back.

        JSON for settings, safetensors for arrays. An older selection in the folder is replaced at
        once or not at all. Weights of trained networks are not part of it.

        Parameters
        ----------
        folder : str or Path
            Where to; it is made where it does not exist.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> selector = SubgroupSelector(size=1).fit(table, "y")
        >>> with TemporaryDirectory() as folder:
        ...     selector.save(f"{folder}/run")
        ...     again = SubgroupSelector.load(f"{folder}/run")
        >>> again.top_k().equals(selector.top_k())
        True
        """
        check_is_fitted(self, "selection_")
        save_selector(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a selector that `save` wrote; it answers as the saved one did.

        Parameters
        ----------
        folder : str or Path
            Where it was saved.

        Returns
        -------
        SubgroupSelector
            Fitted.

        Examples
        --------
        >>> SubgroupSelector.load("nowhere")
        Traceback (most recent call last):
        ...
        misfeat.exceptions.MisfeatError: There is no selection in 'nowhere': it does not exist.
        """
        return loaded_selector(cls, folder)

    def _opened(
        self, X: Any, y: Any, groups: Any, sample_weight: Any
    ) -> tuple[Table, str, CohortRules]:
        """The table, its target, and the rules by which it becomes cohorts."""
        rules = CohortRules.parse(self.groups, self._nested("coding"))
        table, target = open_table(X, y, rules.codes)
        table, weight = with_weights(table, sample_weight)
        rules = replace(rules, weights=WeightRules.parse(weight, self.weights, self.design))
        if groups is None:
            return table, target, rules
        if self.groups is not None:
            raise MisfeatError(
                "Subgroups were given twice: {setting} in the estimator, and groups passed to fit; "
                "leave one of them out.",
                setting=Setting("groups", self.groups),
            )
        table, name = with_groups(table, groups)
        return table, target, replace(rules, groups=parse_groups(name))

    def _selection(
        self,
        table: Table,
        target: str,
        rules: CohortRules,
        progress: Progress | None,
        steps: Steps,
    ) -> ShownSelection:
        """Everything up to the scores, which are computed when they are asked for."""
        excluded, blocks = check_names(self.exclude, "exclude"), check_blocks(self.blocks)
        self._check_request(table, excluded, blocks)
        with closing(table):
            built = steps.one("rows", lambda: self._built(table, target, rules, progress), BUILT)
        cohorts, measure = self._measured(*built, excluded, blocks)
        check_features(measure.features, cohorts)
        cohorts, screened = self._screened(cohorts, blocks, progress)
        if screened is not None:
            above_chance = self.estimate != SAMPLE
            measure = information_of(cohorts, above_chance=above_chance, device=self.device)
        steps = steps_of_rows(self, cohorts, measure.sums)
        book = ScoreBook(
            measure,
            self._estimate(),
            budget=self.budget,
            sampler=self.sampler,
            seed=seed_of(self.random_state, steps),
            n_jobs=None if self.n_jobs is None else int(self.n_jobs),
            steps=steps,
        )
        asked = Asked(
            size=1 if self.size == "auto" else fitting_size(int(self.size), len(measure.features)),
            k=int(self.k),
            include=check_names(self.include, "include"),
            blocks=blocks,
            seed=self.random_state,
            backend=table.frame_backend,
            settings=self._changed(),
        )
        return ShownSelection(cohorts, book, asked, verbose=int(self.verbose), screened=screened)

    def _screened(
        self, cohorts: Cohorts, blocks: Mapping[str, tuple[str, ...]], progress: Progress | None
    ) -> tuple[Cohorts, Screened | None]:
        """The cohorts, of a wide table without the features that a search did not keep."""
        max_sets = self._nested("coding").max_sets
        if max_sets is None or self.measure != "mutual_info":
            return cohorts, None
        size = MOST_SCREENED if self.size == "auto" else int(self.size)
        return screened_where_wide(
            cohorts,
            min(size, len(cohorts.features)),
            int(max_sets),
            above_chance=self.estimate != SAMPLE,
            include=check_names(self.include, "include"),
            blocks=blocks,
            seed=self.random_state,
            n_jobs=None if self.n_jobs is None else int(self.n_jobs),
            progress=progress,
        )

    def _estimate(self) -> Estimate:
        """On which scale scores are, and what predicts those that cannot be computed."""
        completer = completer_of(
            self.completer,
            confidence=self.confidence,
            device=self.device,
            random_state=self.random_state,
        )
        of_sample = self.estimate == SAMPLE
        confidence = confidence_of(completer) if of_sample else self.confidence
        return Estimate(self.estimate, completer, confidence)

    def _check_request(
        self, table: Table, excluded: tuple[str, ...], blocks: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Raise before any work where something is asked for that cannot be."""
        for name in excluded:
            if name not in table.names:
                raise no_such_column(name, table.names, "a feature to exclude", "exclude")
        if blocks and self.measure != "mutual_info":
            raise MisfeatError(
                "{blocks} needs {measure}; leave one of the two out.",
                blocks=Setting("blocks"),
                measure=Setting("measure", "mutual_info"),
            )

    def _built(
        self, table: Table, target: str, rules: CohortRules, progress: Progress | None
    ) -> tuple[Cohorts, ProductSums | None]:
        """The cohorts of a table, and sums of products where the measure needs them."""
        if self.measure == "mutual_info":
            return cohorts_of(table, target, rules, progress), None
        return cohorts_and_product_sums(table, target, rules, progress)

    def _measured(
        self,
        cohorts: Cohorts,
        sums: ProductSums | None,
        excluded: tuple[str, ...],
        blocks: Mapping[str, tuple[str, ...]],
    ) -> tuple[Cohorts, Measure]:
        """The cohorts without excluded features, blocks joined, and what scores sets in them."""
        cohorts, above_chance = without_features(cohorts, excluded), self.estimate != SAMPLE
        if sums is None:
            cohorts = joined_blocks(cohorts, blocks)
            return cohorts, information_of(cohorts, above_chance=above_chance, device=self.device)
        sums = product_sums_without(sums, excluded)
        return cohorts, SquaredCorrelation(sums, above_chance=above_chance)

    def _check_subgroups(self, X: Any, unseen: str) -> None:
        rules = CohortRules.parse(self.groups, self._nested("coding"))
        if rules.auto:
            rules = replace(rules, groups=parse_groups(groups_chosen(self.cohorts_.columns)))
        names = subgroup_names(open_columns(X, rules.codes), rules)
        seen = set(self.cohorts_.seen)
        new = [name for name in names if name not in seen]
        if new:
            text = Message(
                "Subgroups that were not there at fit: {names}. Fit on a table that holds them, or "
                "use {setting}.",
                names=listed(new),
                setting=Setting("unseen", "ignore"),
            )
            if unseen == "error":
                raise MisfeatError(text)
            warn(text + " They keep the columns of all others.", UnseenSubgroupWarning)

    def _chosen(self) -> Collection[str]:
        kept = self._kept(None)
        if self._nested("columns").keep_groups:
            kept += [audit.column for audit in self.cohorts_.columns if audit.role == "group"]
        return kept

    def _kept(self, subgroup: str | None) -> list[str]:
        k = 1 if self._nested("columns").keep == "best" else None
        sets = self.best_sets(k=k, subgroup=subgroup)
        chosen = {feature for best in sets for feature in best.features}
        blocks = self.selection_.asked.blocks
        return [
            member
            for name in self.selection_.feature_names
            if name in chosen
            for member in blocks.get(name, (name,))
        ]

    def _target_name(self) -> str | None:
        name: str = self.cohorts_.target
        return name

    def _html_repr(self) -> str:
        html: str = super()._html_repr()
        if not hasattr(self, "selection_"):
            return html
        from misfeat.show.notebook import subgroups_as_html

        return html + subgroups_as_html(self.cohorts_)


def fitting_size(size: int, n_features: int) -> int:
    """The size of sets, at most the number of features; a warning says so, as in SelectKBest."""
    if size <= n_features:
        return size
    warn(
        Message(
            "{setting} is greater than {count}; all features are taken.",
            setting=Setting("size", size),
            count=InPython(f"n_features={n_features}", f"the number of features, {n_features}"),
        )
    )
    return n_features
