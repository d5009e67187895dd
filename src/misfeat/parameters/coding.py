"""CodingParameters: how columns become codes and rows subgroups, each parameter said once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any

from misfeat.parameters.declaration import (
    a_share,
    an_integer,
    anything,
    one_of,
    parameter,
    with_parameters,
)


@with_parameters
class CodingParameters:
    """The parameters of `misfeat.Coding`, apart from the estimator, so that reading them is fast.

    {parameters}
    """

    _: KW_ONLY
    bins: int | Mapping[str, Any] = parameter(
        """Bins of an ordered column with more than `max_categories` distinct values, equally full
        over all subgroups together. A dict gives a number or the cut points of single columns,
        ``"*"`` the number for all others.""",
        anything("int or dict"),
        default=5,
    )
    max_categories: int | None = parameter(
        """A column with at most this many distinct values is not binned. Text with more keeps its
        most frequent values; the rest become one. None: one for 50 rows, from 9 to 40, fewer in
        tables of very many columns.""",
        an_integer(least=2, none=True),
        default=None,
    )
    target: str = parameter(
        """What the target is taken for: ``"classes"``, each value or bin one of them, or a
        ``"number"``, whose scores are means over several grids of bins. ``"auto"``: numbers and
        dates with more than 20 distinct values are numbers, unless `bins` names the target.""",
        one_of("auto", "classes", "number"),
        default="auto",
    )
    missing_values: Any = parameter(
        """Further values that mean missing: ``["?", -9]``, or by column ``{"chol": [0]}``, where
        ``"*"`` stands for every column.""",
        anything("value, list or dict"),
        default=None,
    )
    read: Mapping[str, str] | None = parameter(
        """How columns of text are to be read, where misfeat does not see it by itself:
        ``{"zip": "text"}`` keeps the texts as categories; others are ``"number"``, ``"decimal
        comma"``, ``"date"``, ``"day first"`` and ``"month first"``.""",
        anything("dict or None"),
        default=None,
    )
    missing_threshold: float = parameter(
        """A feature that is missing in this share of a subgroup's rows counts as never recorded
        there.""",
        a_share(),
        default=0.95,
    )
    sporadic: str = parameter(
        """What becomes of other missing values: a category of their own, or rows that count only
        for sets of features that they have in full.""",
        one_of("category", "available"),
        default="category",
    )
    min_rows: int | None = parameter(
        """Subgroups with fewer rows are merged or dropped, as `small_groups` says. None: as many
        rows as separate a pair of features from chance in this table, about 20 to 50 where classes
        are common; where no subgroup has so many, or a single one without neighbours has fewer,
        all are kept.""",
        an_integer(none=True),
        default=None,
    )
    small_groups: str = parameter(
        """What becomes of small subgroups. Where a column orders them, they are merged with their
        neighbours, else with each other.""",
        one_of("merge", "drop"),
        default="merge",
    )
    missing_groups: str = parameter(
        """What becomes of rows in which a group column is missing: subgroups of their own, or
        dropped.""",
        one_of("own", "drop"),
        default="own",
    )
    max_sets: int | None = parameter(
        """Sets times subgroups up to which every set is scored (fewer of more than three features).
        Where there are more, the best sets are searched for: features join one by one, interactions
        whole, and are exchanged as long as that raises the score. Of more than 150 features those
        are shortlisted that explain most alone or in pairs, in half of the rows; `cautions` says
        what was left out. On the other scales of `estimate`, a shortlist is what has no more sets
        than this. None: every set of all features is scored.""",
        an_integer(none=True),
        default=1_000_000,
    )
    max_rows: int | None = parameter(
        """Different coded rows that may come back from an engine (files, DuckDB, Spark, Dask,
        Ibis). Where there are more, rows are drawn at random in the engine, from large subgroups
        first. None: as many as the free memory holds.""",
        an_integer(none=True),
        default=None,
    )
