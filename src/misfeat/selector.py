"""SubgroupSelector: the class users meet. It wires the steps together and holds no mathematics."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from misfeat.answers.recommendation import answer_of
from misfeat.answers.top_sets import best_sets, features_for_all
from misfeat.cohorts.cohort_building import CohortRules, groups_chosen, subgroup_names
from misfeat.cohorts.subgroups import parse_groups
from misfeat.exceptions import MisfeatError, UnseenSubgroupWarning, warn
from misfeat.fit_steps import opened, selection_of
from misfeat.messages import Message, Setting, listed
from misfeat.nested_parameters import NestedParameters
from misfeat.parameters.declaration import with_parameters
from misfeat.reading.inputs import open_columns
from misfeat.runtime.progress import long_work
from misfeat.runtime.scikit_learn_import import check_is_fitted
from misfeat.saved_selector import loaded_selector, save_selector
from misfeat.selection import Selection
from misfeat.transformer import SelectsColumns, SubgroupColumns, checked_arrays, note_columns

Asked = ParamSpec("Asked")
T = TypeVar("T")


def question(
    method: Callable[Concatenate[Selection, Asked], T],
) -> Callable[Concatenate[Any, Asked], T]:
    """A method of the estimator that hands the question on to its selection."""

    @wraps(method)
    def ask(self: Any, /, *args: Asked.args, **kwargs: Asked.kwargs) -> T:
        check_is_fitted(self, "selection_")
        return method(self.selection_, *args, **kwargs)

    return ask


def attribute(name: str, words: str | None) -> Any:
    """An attribute of the estimator that its selection holds."""

    def get(self: Any) -> Any:
        check_is_fitted(self, "selection_")
        return getattr(self.selection_, name)

    return property(get, doc=words)


@with_parameters
class SubgroupSelector(SelectsColumns, NestedParameters):
    """Find the feature sets that explain a target best, for every subgroup of a table.

    Scores are estimates for the population that a subgroup stands for, with intervals. Of sets with
    features that a subgroup never recorded they are predicted from the subgroups that did.

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
    completer_ : BaseCompleter
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
    0    site=cleveland       (cp, ca)   0.18   recorded
    1    site=hungarian    (slope, ca)   0.43  predicted
    2  site=switzerland       (cp, ca)   0.06  predicted
    3           site=va  (oldpeak, ca)   0.08  predicted
    """

    def fit(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        """Score every set of `size` features in every subgroup.

        Parameters
        ----------
        X : dataframe, lazy frame, relation, array, mapping of columns, or path
            The table: pandas, polars, PyArrow, DuckDB, PySpark, Dask, Ibis, NumPy, or the path of a
            file (CSV, TSV, Parquet, Excel, Stata, SPSS, SAS), or a folder or glob of Parquet files.
        y : str, array, series or dataframe of one column, or tuple
            The target: the name of a column of `X`, or its values. Of a time to an event, the names
            of both columns, ``("days", "dead")``, and where `dead` is not 1 or 0 the value that is
            the event, ``("days", "status", "dead")``; or a structured array of both.
        groups : array, series or dataframe of one column, default=None
            The subgroup of every row, where no column says it and the estimator's `groups` is None.
        sample_weight : str, array, series or dataframe of one column, default=None
            How much every row counts, as `weights` says: the name of a column of `X`, or values.

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
        with long_work(self.verbose > 0) as progress:
            progress("Opening the table", 0, 1)
            table, target, rules = opened(self, X, y, groups, sample_weight)
            progress("Opening the table", 1, 1)
            given = [groups is not None, not isinstance(sample_weight, str | None)]
            added = table.names[len(table.names) - sum(given) :]
            event = () if rules.event is None else (rules.event.column,)
            names = [name for name in table.names if name not in (target, *event, *added)]
            selection = selection_of(self, table, target, rules, progress)
        # Only now, so that a fit that fails leaves nothing half done behind.
        self.selection_ = selection
        note_columns(self, X, names)
        return self

    answer = question(Selection.answer)
    top_k = question(Selection.top_k)
    scores = question(Selection.scores)
    score_of = question(Selection.score_of)
    path = question(Selection.path)
    features = question(Selection.features)
    why = question(Selection.why)
    enough = question(Selection.enough)
    alternatives = question(Selection.alternatives)
    interactions = question(Selection.interactions)
    difference = question(Selection.difference)
    worth_collecting = question(Selection.worth_collecting)
    plan = question(Selection.plan)
    significance = question(Selection.significance)
    stability = question(Selection.stability)
    validate = question(Selection.validate)
    cautions = question(Selection.cautions)
    show = question(Selection.show)
    report = question(Selection.report)
    export = question(Selection.export)
    cohorts_ = attribute("cohorts", "The coded, weighted rows of every subgroup.")
    completer_ = attribute("completer", "What predicted the scores that could not be computed.")
    subgroups_ = attribute("subgroups_", Selection.subgroups_.__doc__)
    validation_ = attribute("validation", "What `validate` found, in a sentence; None before.")

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
        """A transformer that keeps the columns that `answer` recommends for one subgroup.

        With ``Columns(keep="top_k")``, those of its `k` best sets.

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

        An older one is replaced at once or not at all; weights of networks are not part of it.

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
        ...     SubgroupSelector.load(f"{folder}/run").top_k().equals(selector.top_k())
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

    def _check_subgroups(self, X: Any, unseen: str) -> None:
        rules = CohortRules.parse(self.groups, self._nested("coding"))
        if rules.auto:
            rules = replace(rules, groups=parse_groups(groups_chosen(self.cohorts_.columns)))
        names = subgroup_names(open_columns(X, rules.codes, rules.ways), rules)
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
        """For all subgroups, for each as recommended, or of the k best sets; members of blocks."""
        selection, keep = self.selection_, self._nested("columns").keep
        if keep == "best" and subgroup is None:
            sets = [features_for_all(selection)]
        elif keep == "top_k":
            sets = [best.features for best in best_sets(selection, subgroup=subgroup)]
        else:
            recommended = {one.subgroup: one.features for one in answer_of(selection, subgroup)}
            best_of_each = best_sets(selection, k=1, subgroup=subgroup)
            sets = [recommended.get(best.subgroup) or best.features for best in best_of_each]
        names = [name for name in selection.feature_names if any(name in one for one in sets)]
        return [member for name in names for member in selection.options.blocks.get(name, (name,))]

    def _target_names(self) -> tuple[str, ...]:
        roles = ("target", "event")
        return tuple(audit.column for audit in self.cohorts_.columns if audit.role in roles)

    def _html_repr(self) -> str:
        html: str = super()._html_repr()
        if not hasattr(self, "selection_"):
            return html
        from misfeat.show.html_output import subgroups_as_html

        return html + subgroups_as_html(self.cohorts_)
