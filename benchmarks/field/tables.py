"""The tables of the comparison, as their sources have them, and rows drawn from them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks.common.datasets import (
    FOLDER_VARIABLE,
    load_adult,
    load_attrition,
    load_diabetes130,
    load_loan,
    load_mobile,
    without,
)
from benchmarks.common.tables import load_crashes, load_voters
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.datasets import Dataset

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

ALL = "all"
"""Rows: two thirds of a table, `MOST_ROWS` at most."""
MOST_ROWS, MOST_TESTED = 5000, 5000
"""Rows of a table to choose on, and rows of a subgroup to judge on, at most."""
LEAST_LEFT = 1 / 3
"""For every row that is drawn, at least so many must be left to judge by."""
MOST_VALUES = 10
"""A column of numbers with no more distinct ones is one of categories."""
MOST_CATEGORIES = 20
"""Of more, the most frequent are kept and the others are one."""
LEAST_OF_A_CLASS = 50
"""Rows of rarer classes are left out."""
BINS = 5
"""Bins of as many rows each, for peers that take categories alone."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table without gaps: numbers as they are, categories as codes from 0.

    `subgroup` has a code for every row, 0 in all where a table has none.
    """

    names: tuple[str, ...]
    values: Floats
    numeric: NDArray[np.bool_]
    y: Codes
    subgroup: Codes

    @property
    def has_subgroups(self) -> bool:
        """Whether it has more than one."""
        return bool(self.subgroup.max() > 0)

    def part(self, rows: NDArray[Any]) -> Table:
        """Some of the rows."""
        return Table(self.names, self.values[rows], self.numeric, self.y[rows], self.subgroup[rows])

    def subgroups(self) -> list[Table]:
        """A table a subgroup."""
        return [self.part(self.subgroup == one) for one in range(self.subgroup.max() + 1)]


def table_from(columns: dict[str, NDArray[Any]], y: NDArray[Any], subgroup: NDArray[Any]) -> Table:
    """Code the columns of a table; rows of rare classes are left out."""
    classes, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, classes[counts >= LEAST_OF_A_CLASS])
    coded = {name: _coded(pd.Series(column)[kept]) for name, column in columns.items()}
    coded = {name: found for name, found in coded.items() if len(np.unique(found[0])) > 1}
    return Table(
        tuple(coded),
        np.column_stack([values for values, _ in coded.values()]),
        np.array([numeric for _, numeric in coded.values()]),
        np.unique(y[kept], return_inverse=True)[1].astype(np.int64),
        np.unique(subgroup[kept], return_inverse=True)[1].astype(np.int64),
    )


def _coded(column: pd.Series[Any]) -> tuple[Floats, bool]:
    """A column as numbers, and whether it measures something."""
    if column.dtype.kind in "iuf" and column.nunique() > MOST_VALUES:
        return column.fillna(column.median()).to_numpy(float), True
    texts = column if column.dtype.kind in "iufb" else column.astype(str)
    codes = texts.astype("category").cat.codes.to_numpy(np.int64)
    values, counts = np.unique(codes, return_counts=True)
    if len(values) <= MOST_CATEGORIES:
        return codes.astype(float), False
    frequent = np.sort(values[np.argsort(-counts, kind="stable")[: MOST_CATEGORIES - 1]])
    place = np.searchsorted(frequent, codes).clip(max=len(frequent) - 1)
    return np.where(frequent[place] == codes, place, len(frequent)).astype(float), False


def _subgroups_of(data: Dataset) -> NDArray[Any]:
    """The subgroup of every row, as text: values, ranges and maps side by side."""
    specs = data.groups if isinstance(data.groups, list) else [data.groups]
    parts = []
    for spec in specs:
        if isinstance(spec, str):
            parts.append(data.columns[spec].astype(str))
            continue
        ((column, rule),) = spec.items()
        values = data.columns[column]
        if isinstance(rule, list):
            parts.append(np.digitize(values.astype(float), rule, right=True).astype(str))
        else:
            parts.append(np.array([str(rule.get(value, rule.get("*"))) for value in values]))
    return np.array(["|".join(one) for one in zip(*parts, strict=True)])


def _grouping(data: Dataset) -> set[str]:
    specs = data.groups if isinstance(data.groups, list) else [data.groups]
    return {spec if isinstance(spec, str) else next(iter(spec)) for spec in specs}


def _with_subgroups(load: Callable[[], Dataset]) -> Callable[[], Table]:
    def table() -> Table:
        data = load()
        left_out = _grouping(data) | {data.target}
        columns = {name: c for name, c in data.columns.items() if name not in left_out}
        return table_from(columns, data.columns[data.target], _subgroups_of(data))

    return table


def pmlb_frame(name: str) -> pd.DataFrame:
    """A table of the Penn Machine Learning Benchmarks, from the user's folder."""
    path = Path(os.environ.get(FOLDER_VARIABLE, ""), "pmlb", f"{name}.tsv.gz")
    if not path.is_file():
        raise MisfeatError(f"{path} is needed: pmlb/{name}.tsv.gz in {FOLDER_VARIABLE}.")
    return pd.read_csv(path, sep="\t")


def _pmlb(name: str) -> Callable[[], Table]:
    def table() -> Table:
        frame = pmlb_frame(name)
        y = frame.pop("target").to_numpy()
        return table_from({c: frame[c].to_numpy() for c in frame}, y, np.zeros(len(y), int))

    return table


GAMETES = (
    "GAMETES_Epistasis_2_Way_20atts_0.4H_EDM_1_1",
    "GAMETES_Epistasis_3_Way_20atts_0.2H_EDM_1_1",
)
PMLB = (
    *GAMETES,
    "allhypo",
    "ann_thyroid",
    "car_evaluation",
    "churn",
    "coil2000",
    "connect_4",
    "credit_g",
    "dna",
    "led24",
    "magic",
    "mfeat_zernike",
    "mushroom",
    "nursery",
    "page_blocks",
    "parity5+5",
    "satimage",
    "spambase",
    "tic_tac_toe",
    "waveform_40",
    "wine_quality_white",
)
"""Tables of the Penn Machine Learning Benchmarks, each one subgroup."""
WITH_SUBGROUPS: dict[str, Callable[[], Table]] = {
    "attrition": _with_subgroups(lambda: without(load_attrition(), "Company Tenure")),
    "adult": _with_subgroups(load_adult),
    "diabetes130": _with_subgroups(load_diabetes130),
    "voters": _with_subgroups(load_voters),
    "crashes": _with_subgroups(load_crashes),
    "loan": _with_subgroups(load_loan),
    "mobile": _with_subgroups(load_mobile),
}
TABLES: dict[str, Callable[[], Table]] = {name: _pmlb(name) for name in PMLB} | WITH_SUBGROUPS
"""Tables by name. They need `MISFEAT_DATA`."""


@lru_cache(maxsize=3)
def table_of(name: str) -> Table:
    """A table of `TABLES`."""
    return TABLES[name]()


def rows_of(name: str, asked: int | str) -> int | None:
    """How many rows a subgroup are drawn where `asked` are asked for; None where they are too few.

    All rows of a table with subgroups are not tried: the rows of all of them are too many for peers
    that cannot be stopped. Nor is `ALL` where it would be nearly the same as 1,000.
    """
    least, has_subgroups = _shape(name)
    if asked != ALL:
        return int(asked) if int(asked) * (1 + LEAST_LEFT) <= least else None
    if has_subgroups:
        return None
    usable = min(MOST_ROWS, int(least * 2 / 3))
    return None if 1000 <= usable < 1250 else usable


@cache
def _shape(name: str) -> tuple[int, bool]:
    """Rows of the smallest subgroup, and whether there are several."""
    table = table_of(name)
    return int(np.bincount(table.subgroup).min()), table.has_subgroups


def drawn(name: str, n_rows: int, seed: int) -> tuple[list[Table], list[Table]]:
    """Rows to choose on and others to judge on, of every subgroup, classes as frequent in both."""
    fit, test = [], []
    for table in table_of(name).subgroups():
        rest = min(MOST_TESTED, len(table.y) - n_rows)
        counts = np.bincount(table.y)
        found = train_test_split(
            np.arange(len(table.y)),
            train_size=n_rows,
            test_size=rest,
            random_state=seed,
            stratify=table.y if counts[counts > 0].min() > 1 else None,
        )
        fit.append(table.part(found[0]))
        test.append(table.part(found[1]))
    return fit, test


def together(tables: list[Table]) -> Table:
    """The rows of several tables as one."""
    first = tables[0]
    return Table(
        first.names,
        np.vstack([one.values for one in tables]),
        first.numeric,
        np.concatenate([one.y for one in tables]),
        np.concatenate([one.subgroup for one in tables]),
    )
