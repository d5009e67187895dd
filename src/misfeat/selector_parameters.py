"""SelectorParameters: the parameters of `SubgroupSelector`, each said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

from misfeat.parameters.declaration import (
    a_level,
    a_number_of_threads,
    a_share,
    a_verbosity,
    an_integer,
    an_integer_or,
    anything,
    one_of,
    parameter,
    with_parameters,
)
from misfeat.runtime.devices import DEVICES

if TYPE_CHECKING:
    from misfeat.cohorts.coding import Coding
    from misfeat.completion import BaseCompleter
    from misfeat.transformer import Columns


@with_parameters
class SelectorParameters:
    """The parameters of `SubgroupSelector`, apart from the estimator, so that reading them is fast.

    {parameters}
    """

    groups: Any = parameter(
        """What defines the subgroups: a column, ``{"age": [40]}`` for cut points,
        ``{"grade": {"B": "B", "*": "other"}}`` to merge values, or a list of these. ``"auto"``: the
        few columns that explain most of where features are missing. None: one subgroup of all
        rows.""",
        anything("str, dict, list of these, or None"),
        default=None,
    )
    size: int | str = parameter(
        """Features per set; all features where there are fewer. ``"auto"``: as many as explain more
        than chance in some subgroup, at most 5; `enough` says how many each of them needs.""",
        an_integer_or("auto"),
        default=3,
    )
    k: int = parameter("Sets per subgroup that `top_k` returns.", an_integer(), default=10)
    _: KW_ONLY
    estimate: str = parameter(
        """What a score estimates. ``"population"``: the score in the population that a subgroup's
        rows were drawn from, less its null expectation, and shrunk towards what all subgroups
        share. ``"above_chance"``: that of each subgroup's joint tables by themselves, less the null
        expectation. ``"sample"``: the rows as they are, as in the MISFEAT paper; with few rows the
        sets that look best are then mostly chance.""",
        one_of("population", "above_chance", "sample"),
        default="population",
    )
    measure: str = parameter(
        """Joint mutual information in nats, or the squared multiple correlation of numeric features
        with a numeric or binary target.""",
        one_of("mutual_info", "r2"),
        default="mutual_info",
    )
    weights: str = parameter(
        """How `sample_weight` is taken. ``"sampling"``: how many of the population a row stands
        for; shares are weighted, and the amount of data is Kish's effective size.
        ``"frequency"``: how often a row occurs, as if it were written out so often.""",
        one_of("sampling", "frequency"),
        default="sampling",
    )
    design: Mapping[str, str] | None = parameter(
        """How rows were drawn, ``{"strata": "region", "cluster": "school"}``, either or both. The
        effective size of a subgroup is then its rows over the mean design effect of its shares of
        classes (Rao and Scott).""",
        anything("dict of str to str, or None"),
        default=None,
    )
    completer: str | BaseCompleter = parameter(
        """How scores are predicted. ``"transfer"``: from tables that other subgroups recorded,
        carried over to this one. ``"interactions"``: from the scores of other subgroups alone,
        feature by feature and pair by pair. ``"auto"``: ``"transfer"``, or from sums of products
        for ``measure="r2"``. ``"multiplex"``: a graph neural network that sees all subgroups'
        scores. The models of the MISFEAT paper: ``"paper"``, its graph neural network, and its
        baselines ``"knn"`` (values imputed from the nearest rows), ``"markov_blanket"`` and
        ``"mlp"``. The classes in `misfeat.completion` have further settings.""",
        anything("str or BaseCompleter"),
        default="auto",
    )
    confidence: float | None = parameter(
        """Target coverage of the intervals. None gives certain bounds instead: with
        ``estimate="sample"`` what recorded parts imply, else nothing but 0 and what no score can
        exceed.""",
        a_level(),
        default=0.9,
    )
    coding: Coding | None = parameter(
        "How columns become codes, and rows subgroups. None: ``Coding()``.",
        anything("Coding or None"),
        default=None,
    )
    columns: Columns | None = parameter(
        "Which columns `transform` keeps. None: ``Columns()``.",
        anything("Columns or None"),
        default=None,
    )
    include: Sequence[str] | None = parameter(
        "Features that every set must hold; sets without them are not shown.",
        anything("list of str or None"),
        default=None,
    )
    exclude: Sequence[str] | str | None = parameter(
        """Features that no set may hold; they are left out. ``"suspects"``, alone or among names:
        also those that may give the target away (`cautions`: leaks, missing patterns,
        identifiers); a note names them.""",
        anything("list of str, str or None"),
        default=None,
    )
    blocks: Mapping[str, Sequence[str]] | None = parameter(
        """Features that enter sets together as one, such as one-hot columns or the panel of a test,
        by a name for each block. A subgroup recorded a block if it recorded every member.""",
        anything("dict of str to list of str, or None"),
        default=None,
    )
    budget: float = parameter(
        """The share of the sets that a subgroup recorded for which scores are computed; the others
        are predicted. Scores of the population need those of features and pairs alone.""",
        a_share(),
        default=1.0,
    )
    sampler: str = parameter(
        """How those sets are chosen: along a lazy random walk, uniformly, or the same share of
        every size.""",
        one_of("randwalk", "arbitrary", "stratified"),
        default="randwalk",
    )
    random_state: int | None = parameter(
        """Seed of the choice that `budget` makes, which also depends on `size`, and of completers
        that learn. None draws other numbers every time.""",
        an_integer(least=0, none=True),
        default=None,
    )
    device: str = parameter(
        """Where a completer with a neural network computes; ``"auto"`` is a CUDA device where there
        is one, else the CPU. Nothing else runs on it.""",
        one_of(*DEVICES),
        default="auto",
    )
    n_jobs: int | None = parameter(
        "Threads, as joblib reads it: None is 1 unless a joblib context says otherwise, -1 is all.",
        a_number_of_threads(),
        default=None,
    )
    verbose: int = parameter("1 shows progress.", a_verbosity(), default=0)
