"""Cohorts: coded, weighted rows of every subgroup, and how they came about."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from misfeat.cohorts.values import Value

NOT_RECORDED = -1
"""The code of a value that cannot be used."""


@dataclass(frozen=True)
class ColumnReport:
    """How one column of the table was treated.

    Attributes
    ----------
    column : str
        Its name.
    role : {"feature", "target", "group", "left out"}
        What it serves as.
    treatment : str
        In words: ``"as it is"``, ``"5 quantile bins"``, ``"identifier"``, …
    categories : tuple of str
        The label of every code; empty for a column that was left out.
    edges : tuple
        The edges of its bins, each belonging to the bin below it.
    missing : int
        Rows of the whole table in which it is missing.
    """

    column: str
    role: str
    treatment: str
    categories: tuple[str, ...] = ()
    edges: tuple[Value, ...] = ()
    missing: int = 0


@dataclass(frozen=True, eq=False)
class Cohort:
    """The coded rows of one subgroup (views into `Cohorts`, no copies).

    Attributes
    ----------
    name : str
        Reads like a predicate.
    codes : ndarray of shape (n_features, n_rows)
        One line a feature; ``-1`` where a value is not recorded.
    target : ndarray of shape (n_rows,)
        The class of every row.
    weights : ndarray of shape (n_rows,)
        How many rows of the table each stands for.
    recorded : ndarray of shape (n_features,)
        False for the features that are systematically missing here.
    cardinalities : ndarray of shape (n_features,)
        How many codes each feature has, over all cohorts.
    n_classes : int
        How many classes the target has, over all cohorts.
    """

    name: str
    codes: NDArray[np.integer]
    target: NDArray[np.integer]
    weights: NDArray[np.int64]
    recorded: NDArray[np.bool_]
    cardinalities: NDArray[np.int64]
    n_classes: int

    @property
    def size(self) -> int:
        """How many rows of the table the cohort holds."""
        return int(self.weights.sum())


@dataclass(frozen=True, eq=False)
class Cohorts:
    """A table, cut into subgroups, coded, and collapsed to distinct rows with their counts.

    The same table gives the same arrays, bit for bit, whichever library or engine it came from.

    Attributes
    ----------
    names : tuple of str
        The subgroups.
    features : tuple of str
        The features, in the table's column order.
    target : str
        The target's column.
    codes : ndarray of shape (n_features, n_rows)
        Feature-major, because scores read a feature at a time. ``-1``: not recorded.
    target_codes : ndarray of shape (n_rows,)
        The class of every row.
    weights : ndarray of int64 of shape (n_rows,)
        How many rows of the table each row stands for.
    offsets : ndarray of int64 of shape (n_cohorts + 1,)
        Cohort i owns the rows ``offsets[i]:offsets[i + 1]``.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features are systematically missing in which cohort.
    categories : tuple of tuple of str
        What the codes of each feature mean.
    classes : tuple of str
        What the codes of the target mean.
    columns : tuple of ColumnReport
        How every column of the table was treated.
    notes : tuple of str
        What happened to rows: dropped, merged, left out.
    seen : tuple of str
        Every subgroup that the table has, also those that were merged or left out.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> from misfeat.datasets import load_readmission
    >>> patients = load_readmission()
    >>> cohorts = build_cohorts(patients.columns, patients.target, groups={"age": [40]})
    >>> cohorts.names, cohorts["age<=40"].size
    (('age<=40', 'age>40'), 6)
    >>> cohorts.missing_features("age<=40")
    ('cholesterol',)
    """

    names: tuple[str, ...]
    features: tuple[str, ...]
    target: str
    codes: NDArray[np.integer]
    target_codes: NDArray[np.integer]
    weights: NDArray[np.int64]
    offsets: NDArray[np.int64]
    missing: NDArray[np.bool_]
    categories: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    columns: tuple[ColumnReport, ...] = ()
    notes: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Cohort]:
        return map(self._at, range(len(self.names)))

    def __getitem__(self, name: str) -> Cohort:
        return self._at(self.position(name))

    def _at(self, position: int) -> Cohort:
        rows = slice(self.offsets[position], self.offsets[position + 1])
        return Cohort(
            name=self.names[position],
            codes=self.codes[:, rows],
            target=self.target_codes[rows],
            weights=self.weights[rows],
            recorded=~self.missing[position],
            cardinalities=np.array([len(labels) for labels in self.categories], dtype=np.int64),
            n_classes=len(self.classes),
        )

    def position(self, name: str) -> int:
        """The number of a subgroup.

        Parameters
        ----------
        name : str
            The subgroup, as in `names`.
        """
        if name not in self.names:
            raise MisfeatError(f"There is no subgroup {name!r}; there are {listed(self.names)}.")
        return self.names.index(name)

    def missing_features(self, name: str) -> tuple[str, ...]:
        """The features that a subgroup never recorded.

        Parameters
        ----------
        name : str
            The subgroup, as in `names`.
        """
        absent = self.missing[self.position(name)]
        return tuple(f for f, m in zip(self.features, absent, strict=True) if m)

    def equals(self, other: Cohorts) -> bool:
        """Whether two are the same, arrays, labels and reports alike.

        Parameters
        ----------
        other : Cohorts
            What to compare with.
        """
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    return bool(left == right)
