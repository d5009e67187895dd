"""Cohorts: coded, weighted rows of every subgroup, and how they came about."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misfeat.cohorts.resampled_rows import reweighted, times_weights
from misfeat.cohorts.subgroup_lookup import subgroup_named
from misfeat.cohorts.survival import STATES, UNKNOWN, counts_of, weights_at
from misfeat.cohorts.weights import design_effect
from misfeat.reading.coders import LARGEST_KEY
from misfeat.reading.values import Value, label
from misfeat.runtime.array_types import Flags, Indices, Integers


def distinct_columns(codes: Indices) -> tuple[Integers, Integers]:
    """The first of each distinct column, in ascending order, and which of them every column is."""
    # Numbers are sorted much faster than columns.
    keys, many = np.zeros(codes.shape[1], dtype=np.int64), 1
    for line in codes:
        low = int(line.min(initial=0))
        values = int(line.max(initial=0)) - low + 1
        if many * values > LARGEST_KEY:
            held, keys = np.unique(keys, return_inverse=True)
            many = len(held)
        keys = keys * values + (line.astype(np.int64) - low)
        many *= values
    first, place = np.unique(keys, return_index=True, return_inverse=True)[1:]
    return first, place


NOT_RECORDED = -1  # The code of a value that cannot be used


SOME_ROWS = 20_000  # Of a subgroup; they say which features depend, and how errors vary together
NO_RANKS, NO_GRIDS = np.zeros(0, np.int16), np.zeros((0, 0), np.int16)  # For classes


@dataclass(frozen=True)
class ColumnAudit:
    """How one column of the table was treated.

    Attributes
    ----------
    column : str
        Its name.
    role : {"feature", "target", "group", "weight", "design", "left out"}
        What it serves as.
    treatment : str
        In words: ``"as it is"``, ``"5 quantile bins"``, ``"identifier"``, …
    categories : tuple of str
        The label of every code; empty for a column that was left out.
    edges : tuple
        The edges of its bins, each belonging to the bin below it.
    missing : int
        Rows of the whole table in which it is missing.
    looks_like : {"identifier", "date", "free text", ""}
        What a feature looks like beyond its type, though it is coded as it is.
    suspects : tuple
        Values that look like codes for missing values, though they are coded as they are.
    why_suspect : str
        What makes one think so.
    taken_for : str
        What its values were taken for: ``"number"``, ``"number ($)"`` of text such as "$16,818",
        ``"date, day first"``, ``"category"``, …
    example : str
        A value as the table holds it.
    """

    column: str
    role: str
    treatment: str
    categories: tuple[str, ...] = ()
    edges: tuple[Value, ...] = ()
    missing: int = 0
    looks_like: str = ""
    suspects: tuple[Value, ...] = ()
    why_suspect: str = ""
    taken_for: str = ""
    example: str = ""


def as_left_out(audit: ColumnAudit, why: str) -> ColumnAudit:
    """The audit of a column that is not a feature after all."""
    blank: dict[str, Any] = {"categories": (), "edges": (), "looks_like": ""}
    return replace(audit, role="left out", treatment=why, **blank)


@dataclass(frozen=True, eq=False)
class Cohort:
    """The coded rows of one subgroup: views into `Cohorts`, which says what they are.

    Attributes
    ----------
    name : str
        Reads like a predicate.
    codes, target, weights : ndarray
        The codes of shape (n_features, n_rows), the class and the count of every row.
    recorded : ndarray of shape (n_features,)
        False for the features that are systematically missing here.
    cardinalities : ndarray of shape (n_features,)
        How many codes each feature has, over all cohorts.
    n_classes : int
        How many classes the target has, over all cohorts.
    masses, heaviest : ndarray of shape (n_rows,), or None
        What its rows weigh, and how unequally.
    effective : float or None
        How many rows of equal weight inform as much, where rows have weights or a design.
    joint_effects : ndarray of shape (2, n_features + 1), or None
        What clusters add to the sampling variance of what features explain of the target.
    """

    name: str
    codes: NDArray[np.integer]
    target: NDArray[np.integer]
    weights: NDArray[np.int64]
    recorded: NDArray[np.bool_]
    cardinalities: NDArray[np.int64]
    n_classes: int
    masses: NDArray[np.int64] | None = None
    heaviest: NDArray[np.float64] | None = None
    effective: float | None = None
    joint_effects: NDArray[np.float64] | None = None

    @property
    def size(self) -> int:
        """How many rows of the table the cohort holds."""
        return int(self.weights.sum())

    @property
    def effective_size(self) -> float:
        """How many rows of equal weight inform as much as those of the cohort."""
        return float(self.size) if self.effective is None else self.effective

    @property
    def counts(self) -> NDArray[np.float64]:
        """What each row counts where shares are taken; together the effective size."""
        counts = (self.weights if self.masses is None else self.masses).astype(np.float64)
        return counts if self.effective is None else counts * (self.effective / counts.sum())


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
    gap_codes : tuple of tuple of int
        The codes of each feature that stand for values missing here and there: none, one, or for a
        block of features every combination in which a member is missing.
    columns : tuple of ColumnAudit
        How every column of the table was treated.
    notes : tuple of str
        What happened to rows: dropped, merged, left out.
    seen : tuple of str
        Every subgroup that the table has, also those that were merged or left out.
    joined : tuple of (str, str)
        Subgroups made of parts, with a feature that some parts recorded and others did not.
    ranks : ndarray of shape (n_rows,)
        Of a numeric target, the bin of every row; every grid is made of such bins. Else empty.
    grids : ndarray of shape (n_grids, n_bins)
        The class that each of these bins lies in, by grid; `target_codes` are those of the first.
    masses : ndarray of int64 of shape (n_rows,), or None
        What each row weighs, where rows have sampling weights: the sum over all rows of the table
        that it stands for, in whole numbers of some unit.
    heaviest : ndarray of shape (n_rows,), or None
        How unequal these weights are: what the heaviest of them would be, were all others alike and
        the sum of squares the same.
    effective : ndarray of shape (n_cohorts,), or None
        How many rows of equal weight, drawn one by one, inform as much as those of each cohort;
        None where there are neither weights nor a design.
    joint_effects : ndarray of shape (n_cohorts, 2, n_features + 1), or None
        With a design: what clusters add to the design effect of what each feature explains of the
        target, by its codes and by their order; last, of a feature that is constant in clusters.
    horizons : tuple of numbers
        Of a time to an event: when it is looked at whether the event has happened, one for each of
        `grids`; `ranks` are then those of `survival`, and `target_codes` classes of their
        log-rank scores. Else empty.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"age": [30, 50] * 2, "smokes": [0, 0, 1, 1], "bmi": [None, 21, None, 30]}
    >>> cohorts = build_cohorts({**table, "y": [0, 0, 1, 1]}, "y", groups={"age": [40]})
    >>> cohorts.names, cohorts["age<=40"].size
    (('age<=40', 'age>40'), 2)
    >>> cohorts.missing_features("age<=40")
    ('bmi',)
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
    gap_codes: tuple[tuple[int, ...], ...]
    columns: tuple[ColumnAudit, ...] = ()
    notes: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    joined: tuple[tuple[str, str], ...] = ()
    ranks: NDArray[np.integer] = field(default_factory=lambda: NO_RANKS)
    grids: NDArray[np.integer] = field(default_factory=lambda: NO_GRIDS)
    masses: NDArray[np.int64] | None = None
    heaviest: NDArray[np.float64] | None = None
    effective: NDArray[np.float64] | None = None
    joint_effects: NDArray[np.float64] | None = None
    horizons: tuple[Value, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Cohort]:
        return map(self.at, range(len(self.names)))

    def __getitem__(self, name: str) -> Cohort:
        return self.at(self.position(name))

    def at(self, position: int) -> Cohort:
        """The subgroup of a number, the same as `position` gives."""
        rows = slice(self.offsets[position], self.offsets[position + 1])
        return Cohort(
            name=self.names[position],
            codes=self.codes[:, rows],
            target=self.target_codes[rows],
            weights=self.weights[rows],
            recorded=~self.missing[position],
            cardinalities=np.array([len(labels) for labels in self.categories], dtype=np.int64),
            n_classes=len(self.classes),
            masses=None if self.masses is None else self.masses[rows],
            heaviest=None if self.heaviest is None else self.heaviest[rows],
            effective=None if self.effective is None else float(self.effective[position]),
            joint_effects=None if self.joint_effects is None else self.joint_effects[position],
        )

    @cached_property
    def some_rows(self) -> "Cohorts":
        """The same; of very many coded rows of a subgroup a fixed random part, for few digits."""
        rng = np.random.default_rng(0)
        drawn = np.zeros(len(self.weights), dtype=bool)
        for first, end in pairwise(self.offsets.tolist()):
            drawn[first + rng.permutation(end - first)[:SOME_ROWS]] = True
        return self if drawn.all() else reweighted(self, np.where(drawn, self.weights, 0))

    @property
    def is_number(self) -> bool:
        """Whether the target is taken as a number, in several grids."""
        return len(self.grids) > 0 and not self.horizons

    def by_grid(self) -> "tuple[Cohorts, ...]":
        """The rows with the classes of each grid of a numeric target; themselves for classes."""
        if self.horizons:
            return tuple(map(self.at_horizon, range(len(self.horizons))))
        if not self.is_number:
            return (self,)
        by_grid = []
        for grid in self.grids:
            classes = tuple(map(str, range(int(grid.max()) + 1)))
            coded = replace(self, target_codes=grid[self.ranks], classes=classes)
            by_grid.append(replace(coded, ranks=NO_RANKS, grids=NO_GRIDS))
        return tuple(by_grid)

    def last_bin(self, horizon: int) -> int:
        """The last bin whose events are in the second class; numbered the same as `at_horizon`."""
        return int(np.flatnonzero(self.grids[horizon] == 1)[-1]) // STATES

    def at_horizon(self, number: int) -> "Cohorts":
        """Rows of which it is known whether the event happened before a horizon, weighed so.

        Parameters
        ----------
        number : int
            Which of `horizons`.
        """
        classes, n_ranks = self.grids[number][self.ranks], self.grids.shape[1]
        horizon = self.last_bin(number)
        counted = (self.weights if self.masses is None else self.masses).astype(np.float64)
        each = np.zeros(len(classes))  # what one of the rows that each stands for weighs
        for start, end in pairwise(self.offsets.tolist()):
            ranks = self.ranks[start:end]
            by_state = counts_of(ranks, counted[start:end], n_ranks)
            each[start:end] = weights_at(by_state, horizon)[ranks]
        kept = classes != UNKNOWN
        text = label(self.horizons[number])
        known = replace(
            self,
            codes=np.ascontiguousarray(self.codes[:, kept]),
            target_codes=classes[kept],
            classes=(f">{text}", f"<={text}"),
            weights=self.weights[kept],
            offsets=np.concatenate([[0], np.cumsum(kept)])[self.offsets],
            masses=None if self.masses is None else self.masses[kept],
            heaviest=None if self.heaviest is None else self.heaviest[kept],
            ranks=NO_RANKS,
            grids=NO_GRIDS,
            horizons=(),
        )
        return known if kept.all() else times_weights(known, each[kept], map(design_effect, self))

    def with_cells(self) -> "Cohorts":
        """Rows with the classes that cells are explained by: of a time, those of a horizon."""
        return self.at_horizon(len(self.horizons) // 2) if self.horizons else self

    @property
    def counts(self) -> NDArray[np.float64]:
        """What each row counts where shares are taken; together the effective sizes."""
        return np.concatenate([cohort.counts for cohort in self])

    def effective_sizes(self) -> NDArray[np.float64]:
        """How many rows of equal weight inform as much as those of each subgroup."""
        if self.effective is not None:
            return self.effective
        return np.add.reduceat(self.weights, self.offsets[:-1]).astype(np.float64)

    def position(self, name: str) -> int:
        """The number of a subgroup, whose name is the same as `full_name` takes."""
        return self.names.index(self.full_name(name))

    def full_name(self, name: str) -> str:
        """The name of a subgroup as in `names`, from one in short.

        Parameters
        ----------
        name : str
            Its name, a term of it (``"age<=40"``) or the value in one (``"va"``), or several of
            these with ``&`` between them. An error lists the subgroups that it may mean.

        Examples
        --------
        >>> from misfeat.cohorts import build_cohorts
        >>> table = {"site": ["va", "va", "ch", "ch"], "x": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
        >>> build_cohorts(table, "y", groups="site").full_name("va")
        'site=va'
        """
        return subgroup_named(name, self.names, self.seen)

    def missing_features(self, name: str) -> tuple[str, ...]:
        """What a subgroup never recorded; its name is the same as `full_name` takes."""
        absent = self.missing[self.position(name)]
        return tuple(f for f, m in zip(self.features, absent, strict=True) if m)

    def recorded_shares(self) -> NDArray[np.float64]:
        """The share of the rows that hold a value, by subgroup and feature."""
        starts = self.offsets[:-1]
        rows = np.add.reduceat(self.weights, starts)
        shares = np.empty(self.missing.shape)
        for feature in range(len(self.features)):
            without = np.add.reduceat(np.where(is_gap(self, feature), self.weights, 0), starts)
            shares[:, feature] = 1.0 - without / rows
        return shares

    def equals(self, other: "Cohorts") -> bool:
        """Whether two are the same, arrays, labels and audits alike.

        Parameters
        ----------
        other : Cohorts
            What to compare with.
        """
        for one in fields(self):
            left, right = getattr(self, one.name), getattr(other, one.name)
            if type(left) is not type(right):
                return False
            if isinstance(left, np.ndarray):
                if left.dtype != right.dtype or not np.array_equal(left, right):
                    return False
            elif left != right:
                return False
        return True


def is_gap(cohorts: Cohorts, feature: int) -> Flags:
    """Which rows hold no value of a feature."""
    codes, gaps = cohorts.codes[feature], cohorts.gap_codes[feature]
    absent: Flags = codes == NOT_RECORDED
    return absent | np.isin(codes, gaps) if gaps else absent
