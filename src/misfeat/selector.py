"""SubgroupSelector: the class users meet. It wires the steps together and holds no mathematics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from misfeat.cohorts.blocks import (
    check_blocks,
    check_names,
    joined_blocks,
    moments_without,
    without_features,
)
from misfeat.cohorts.build import cohorts_of, subgroup_names
from misfeat.cohorts.groups import parse_groups
from misfeat.cohorts.moments import moments_of
from misfeat.cohorts.opening import open_columns, open_table, with_groups
from misfeat.cohorts.rules import CohortRules
from misfeat.columns import SelectsColumns, SubgroupColumns, checked_arrays, note_columns
from misfeat.completion.calibrated import check_confidence
from misfeat.completion.named import completer_of
from misfeat.exceptions import (
    MisfeatError,
    UnseenSubgroupWarning,
    check_count,
    check_jobs,
    listed,
    no_such_column,
    shortened,
    warn,
)
from misfeat.information.measures import MutualInformation, SquaredCorrelation
from misfeat.lattice.sampling import SAMPLERS
from misfeat.machine.devices import check_device
from misfeat.machine.progress import progress_shown
from misfeat.selection.saving import load_selector, save_selector
from misfeat.selection.scorebook import ScoreBook
from misfeat.selection.selection import Answers, check_size
from misfeat.show.notebook import subgroups_as_html

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.table import Table
    from misfeat.completion import Completer
    from misfeat.information.measures import Measure

_CHOICES = {
    "measure": ("mutual_info", "r2"),
    "sampler": tuple(SAMPLERS),
    "keep": ("best", "top_k"),
    "unseen": ("ignore", "union", "error"),
}


class SubgroupSelector(Answers, SelectsColumns):
    """Find the feature sets that tell most about a target, for every subgroup of a table.

    A set may hold features that a subgroup never recorded. Its score is then predicted from the
    subgroups that did record them, and marked as predicted.

    Parameters
    ----------
    groups : None, str, dict, or list, array or index, default=None
        What tells the subgroups apart: a column, a list of columns, ``{"age": [40]}`` for cut
        points, ``{"grade": {"B": "B", "*": "other"}}`` to merge values, ``{"senior": "age > 65"}``
        for a named predicate, or a list of these. None: one cohort of all rows.
    size : int, default=3
        How many features a set has.
    k : int, default=10
        How many sets of each subgroup `top_k` returns.
    measure : {"mutual_info", "r2"}, default="mutual_info"
        Joint mutual information in nats, or the squared multiple correlation of numeric features
        with a numeric or binary target.
    completer : str or Completer, default="auto"
        How scores are predicted. ``"transfer"``: from tables that other subgroups recorded, carried
        over to this one. ``"interactions"``: from the scores of other subgroups alone, feature by
        feature and pair by pair. ``"auto"``: ``"transfer"``, unless hiding recorded features of
        this table says that ``"interactions"`` is better. ``"multiplex"``: a graph neural network
        that sees all subgroups' scores. For comparison: ``"gain"``, the mean gain over the recorded
        features elsewhere; ``"add"``, single features' scores elsewhere; ``"drop"``, nothing for
        unrecorded features; ``"mode"``, ``"knn"`` and ``"iterative"``, values imputed by the most
        frequent one, from the nearest rows, and several times by chained equations; the further
        models of the MISFEAT paper ``"markov_blanket"``, ``"mlp"`` and ``"paper"``, its graph
        neural network. The classes in `misfeat.completion` have further settings.
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high`` of a predicted score. None gives
        the bounds that are certain.
    budget : float, default=1.0
        The share of the sets that a subgroup recorded for which scores are computed; the others are
        predicted.
    sampler : {"randwalk", "arbitrary", "stratified"}, default="randwalk"
        How those sets are chosen: along a lazy random walk, uniformly, or the same share of every
        size.
    bins : int or dict, default=5
        Bins of an ordered column with more than `max_categories` distinct values. A dict gives a
        number or the cut points of single columns, ``"*"`` the number for all others.
    binning : {"quantile", "uniform"}, default="quantile"
        Equally full or equally wide bins, learned over all subgroups together.
    max_categories : int, default=9
        A column with at most so many distinct values is taken as it is. Text with more keeps its
        most frequent values; the rest become one.
    missing_values : value, list or dict, default=None
        Further values that mean missing: ``["?", -9]``, or by column ``{"chol": [0]}``.
    missing_threshold : float, default=0.95
        A feature that is missing in this share of a subgroup's rows counts as never recorded there.
    sporadic : {"category", "available"}, default="category"
        What becomes of other missing values: a category of their own, or rows that count only for
        sets of features that they have in full.
    min_rows : int, default=1
        Subgroups with fewer rows are merged or dropped, as `small_groups` says.
    small_groups : {"merge", "drop"}, default="merge"
        What becomes of small subgroups.
    missing_groups : {"own", "drop"}, default="own"
        What becomes of rows in which a group column is missing: subgroups of their own, or dropped.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where a completer with a neural network computes; ``"auto"`` is a CUDA device where there
        is one, else the CPU.
    n_jobs : int, default=None
        Threads, as joblib reads it: None is 1 unless a joblib context says otherwise, -1 is all.
    random_state : int, default=None
        Seed of the choice that `budget` makes, which also depends on `size`, and of completers that
        learn.
    memory_limit : float, default=0.6
        The share of the free memory that scores may take; more is refused before work starts.
    include : list of str, default=None
        Features that every set must hold; sets without them are not shown.
    exclude : list of str, default=None
        Features that no set may hold; they are left out.
    blocks : dict of str to list of str, default=None
        Features that enter sets together, as one-hot columns or the panel of a test do: a name for
        each block, which counts as one feature, and its members. A subgroup recorded a block if it
        recorded every member.
    keep : {"best", "top_k"}, default="best"
        Which columns `transform` keeps: those of the best set of every subgroup, or of its `k` best
        sets.
    keep_groups : bool, default=False
        Whether `transform` keeps the columns that tell subgroups apart, too.
    unseen : {"ignore", "union", "error"}, default="ignore"
        What `transform` does about rows of subgroups that were not there at fit: nothing, so that
        they keep the same columns as all others; the same with a warning that names them; or an
        error.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    cohorts_ : misfeat.cohorts.Cohorts
        The coded, weighted rows of every subgroup, and how every column was treated.
    subgroups_ : dataframe
        Columns ``subgroup``, ``rows``, ``target_entropy`` (nats) and ``missing``, the features that
        the subgroup never recorded.
    completer_ : Completer
        What predicted; `PaperCompleter` keeps its trained models.
    n_features_in_ : int
        Columns of the table, without the target.
    feature_names_in_ : ndarray of str
        Their names, where the table has names.
    validation_ : str
        What `validate` found, in a sentence.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> table = {
    ...     "site": ["a"] * 4 + ["b"] * 4,
    ...     "smoker": [0, 0, 1, 1, 0, 0, 1, 1],
    ...     "marker": [0, 1, 0, 1, None, None, None, None],
    ...     "ill": [0, 1, 0, 1, 0, 0, 1, 1],
    ... }
    >>> selector = SubgroupSelector(groups="site", size=1, k=1).fit(table, "ill")
    >>> selector.top_k()[["subgroup", "features", "score", "source"]]
      subgroup   features     score     source
    0   site=a  (marker,)  0.693147      exact
    1   site=b  (smoker,)  0.693147      exact
    """

    def __init__(
        self,
        groups: Any = None,
        size: int = 3,
        k: int = 10,
        *,
        measure: str = "mutual_info",
        completer: str | Completer = "auto",
        confidence: float | None = 0.9,
        budget: float = 1.0,
        sampler: str = "randwalk",
        bins: int | Mapping[str, Any] = 5,
        binning: str = "quantile",
        max_categories: int = 9,
        missing_values: Any = None,
        missing_threshold: float = 0.95,
        sporadic: str = "category",
        min_rows: int = 1,
        small_groups: str = "merge",
        missing_groups: str = "own",
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: int | None = None,
        memory_limit: float = 0.6,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        blocks: Mapping[str, Sequence[str]] | None = None,
        keep: str = "best",
        keep_groups: bool = False,
        unseen: str = "ignore",
        verbose: int = 0,
    ) -> None:
        self.groups = groups
        self.size = size
        self.k = k
        self.measure = measure
        self.completer = completer
        self.confidence = confidence
        self.budget = budget
        self.sampler = sampler
        self.bins = bins
        self.binning = binning
        self.max_categories = max_categories
        self.missing_values = missing_values
        self.missing_threshold = missing_threshold
        self.sporadic = sporadic
        self.min_rows = min_rows
        self.small_groups = small_groups
        self.missing_groups = missing_groups
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.memory_limit = memory_limit
        self.include = include
        self.exclude = exclude
        self.blocks = blocks
        self.keep = keep
        self.keep_groups = keep_groups
        self.unseen = unseen
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
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

        Returns
        -------
        SubgroupSelector
            The fitted selector.

        Examples
        --------
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
        >>> SubgroupSelector(size=1).fit(X, [0, 0, 1, 1]).get_support()
        array([ True, False])
        """
        self._check_parameters()
        X, y = checked_arrays(self, X, y)
        completer = completer_of(
            self.completer,
            confidence=self.confidence,
            device=self.device,
            random_state=self.random_state,
        )
        with progress_shown(self.verbose > 0) as progress:
            if progress is not None:
                progress("Opening the table", 0, 1)
            table, target, rules = self._opened(X, y, groups)
            if progress is not None:
                progress("Opening the table", 1, 1)
            added = () if groups is None else table.names[-1:]
            names = [name for name in table.names if name not in (target, *added)]
            cohorts = self._with_choices(cohorts_of(table, target, rules, progress))
            book = ScoreBook(
                self._measure(X, y, groups, cohorts),
                completer,
                budget=self.budget,
                sampler=self.sampler,
                seed=self.random_state,
                n_jobs=self.n_jobs,
            )
            check_size(self.size, book.measure.features, cohorts)
            self._required(self.size, book.measure.features, cohorts)
            book.completed(self.size, progress)
        # Only now, so that a fit that fails leaves nothing half done behind.
        self.cohorts_, self._book, self._backend = cohorts, book, table.frame_backend
        self.completer_ = completer
        for name in ("validation_", "_trusted"):
            self.__dict__.pop(name, None)  # of an earlier fit
        note_columns(self, X, names)
        return self

    def transform(self, X: Any) -> Any:
        """Keep the columns of the best sets, as they are; see `keep`, `keep_groups` and `unseen`.

        Parameters
        ----------
        X : dataframe, lazy frame, array or mapping of columns
            With the columns that were there at fit; the target may be among them or not.

        Returns
        -------
        table
            The same kind of table, or what `set_output` asks for.

        Examples
        --------
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> list(SubgroupSelector(size=1).fit(table, "y").transform(table))
        ['a']
        """
        kept = super().transform(X)
        self._check_choice("unseen")
        if self.unseen != "ignore" and self.groups is not None:
            self._check_subgroups(X)
        return kept

    def save(self, folder: str | Path) -> None:
        """Write the fitted selector to a folder, which `load` reads back.

        JSON for settings, safetensors for arrays. An old selection in the folder is replaced at
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
        check_is_fitted(self, "cohorts_")
        save_selector(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a selector that `save` wrote; it answers as the saved one did.

        Parameters
        ----------
        folder : str or Path
            Where it was saved.

        Examples
        --------
        >>> SubgroupSelector.load("nowhere")
        Traceback (most recent call last):
        ...
        misfeat.exceptions.MisfeatError: There is no selection in 'nowhere': it holds no selection.json.
        """  # noqa: E501
        return load_selector(cls, folder)

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

    def _check_parameters(self) -> None:
        check_count(self.size, "size")
        check_count(self.k, "k")
        check_device(self.device)
        for name in _CHOICES:
            self._check_choice(name)
        check_confidence(self.confidence)
        for name in ("budget", "memory_limit"):
            share = getattr(self, name)
            if not isinstance(share, int | float | np.number) or not 0 < share <= 1:
                raise MisfeatError(f"{name}={share!r}; it must be above 0 and at most 1.")
        check_count(self.random_state, "random_state", least=0, none=True)
        check_jobs(self.n_jobs)
        if not isinstance(self.keep_groups, bool | np.bool_):
            raise MisfeatError(f"keep_groups={shortened(self.keep_groups)}; use True or False.")
        if not isinstance(self.verbose, bool | np.bool_):
            check_count(self.verbose, "verbose", least=0)

    def _check_choice(self, name: str) -> None:
        chosen, choices = getattr(self, name), _CHOICES[name]
        if not isinstance(chosen, str) or chosen not in choices:
            raise MisfeatError(f"{name}={shortened(chosen)} is unknown; use one of {choices}.")

    def _check_subgroups(self, X: Any) -> None:
        rules = self._rules()
        names = subgroup_names(open_columns(X, rules.codes), rules)
        seen = set(self.cohorts_.seen or self.cohorts_.names)
        unseen = [name for name in names if name not in seen]
        if unseen:
            text = (
                f"Subgroups that were not there at fit: {listed(unseen)}. Fit on a table that "
                "holds them, or use unseen='ignore'."
            )
            if self.unseen == "error":
                raise MisfeatError(text)
            warn(f"{text} They keep the columns of all others.", UnseenSubgroupWarning)

    def _html_repr(self) -> str:
        html: str = super()._html_repr()
        return html + subgroups_as_html(self) if hasattr(self, "cohorts_") else html

    def _rules(self) -> CohortRules:
        return CohortRules.parse(
            groups=self.groups,
            bins=self.bins,
            binning=self.binning,
            max_categories=self.max_categories,
            missing_values=self.missing_values,
            missing_threshold=self.missing_threshold,
            sporadic=self.sporadic,
            min_rows=self.min_rows,
            small_groups=self.small_groups,
            missing_groups=self.missing_groups,
        )

    def _opened(self, X: Any, y: Any, groups: Any) -> tuple[Table, str, CohortRules]:
        """The table, its target, and the rules by which it becomes cohorts."""
        rules = self._rules()
        table, target = open_table(X, y, rules.codes)
        if groups is None:
            return table, target, rules
        if self.groups is not None:
            raise MisfeatError(
                f"Subgroups were given twice: groups={shortened(self.groups)} in the estimator, "
                "and groups passed to fit; leave one of them out."
            )
        table, name = with_groups(table, groups)
        return table, target, replace(rules, groups=parse_groups(name))

    def _measure(self, X: Any, y: Any, groups: Any, cohorts: Cohorts) -> Measure:
        if self.measure == "mutual_info":
            return MutualInformation(cohorts)
        if self.blocks:
            raise MisfeatError("blocks need measure='mutual_info'; leave one of the two out.")
        moments = moments_of(*self._opened(X, y, groups))
        return SquaredCorrelation(moments_without(moments, check_names(self.exclude, "exclude")))

    def _with_choices(self, cohorts: Cohorts) -> Cohorts:
        """Cohorts without excluded features, and with blocks of features joined."""
        excluded = check_names(self.exclude, "exclude")
        columns = [report.column for report in cohorts.columns]
        for name in excluded:
            if name not in columns:
                raise no_such_column(name, columns, "a feature to exclude")
        return joined_blocks(without_features(cohorts, excluded), check_blocks(self.blocks))

    def _chosen(self) -> Collection[str]:
        kept = self._kept(None)
        if self.keep_groups:
            kept += [report.column for report in self.cohorts_.columns if report.role == "group"]
        return kept

    def _kept(self, subgroup: str | None) -> list[str]:
        self._check_choice("keep")
        k = 1 if self.keep == "best" else self.k
        sets = self.best_sets(k=k, subgroup=subgroup)
        chosen = {feature for best in sets for feature in best.features}
        blocks = check_blocks(self.blocks)
        return [
            member
            for name in self._book.measure.features
            if name in chosen
            for member in blocks.get(name, (name,))
        ]

    def _target_name(self) -> str | None:
        return self.cohorts_.target
