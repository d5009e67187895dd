"""Wide tables with planted sets: pairs and triples that tell, among features that tell nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Columns = dict[str, NDArray[np.float64]]

QUINTILES = (-0.8416, -0.2533, 0.2533, 0.8416)
SINGLES, TOGETHER = "with single effects", "only together"
STRENGTH = 0.8
"""The standard deviation of what every planted set adds to the log odds."""


@dataclass(frozen=True)
class Planted:
    """One planted set.

    Attributes
    ----------
    members : tuple of int
        Its features.
    kind : str
        Whether its features tell something by themselves, or only together.
    """

    members: tuple[int, ...]
    kind: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(map(name_of, self.members))


@dataclass(frozen=True, eq=False)
class WideTable:
    """A generated table.

    Attributes
    ----------
    columns : dict of str to ndarray
        With the target "y" and the subgroup "site".
    planted : tuple of Planted
        What tells.
    strength : float
        How much each of them tells.
    """

    columns: Columns
    planted: tuple[Planted, ...]
    strength: float


def name_of(feature: int) -> str:
    return f"f{feature:04d}"


def wide_table(
    seed: int,
    n_features: int = 2000,
    n_rows: int = 20_000,
    n_sites: int = 4,
    *,
    pairs: int = 5,
    pairs_together: int = 5,
    triples: int = 5,
    hidden: float = 0.1,
    strength: float = STRENGTH,
    numbers: bool = True,
) -> WideTable:
    """Draw a table: a third of features has 2 values, a third 3, a third is a number.

    Every site lacks a share of the features, planted ones among them; a set is planted so that
    two sites at least recorded all of it. Without ``numbers`` these are cut into five values.
    """
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n_features, n_rows))
    site = rng.integers(0, n_sites, n_rows)
    chosen = rng.permutation(n_features)[: 2 * (pairs + pairs_together) + 3 * triples].tolist()
    planted = []
    for size, kind, count in (
        (2, SINGLES, pairs),
        (2, TOGETHER, pairs_together),
        (3, SINGLES, triples),
    ):
        for _ in range(count):
            planted.append(Planted(tuple(sorted(chosen[:size])), kind))
            chosen = chosen[size:]
    ill = rng.random(n_rows) < _odds(values, planted, strength)
    absent = _absent(planted, n_features, n_sites, hidden, rng)
    columns: Columns = {}
    for feature, line in enumerate(values):
        coded = _coded(feature, line, numbers=numbers)
        columns[name_of(feature)] = np.where(absent[site, feature], np.nan, coded)
    return WideTable({**columns, "site": site, "y": ill.astype(int)}, tuple(planted), strength)


def drawn_again(table: WideTable, features: Sequence[int], n_rows: int, seed: int) -> Columns:
    """Other rows of the same population, of some features and with nothing hidden, and the target.

    Numbers are cut into five as with ``numbers=False``.
    """
    rng = np.random.default_rng(seed)
    needed = sorted({*features, *(m for one in table.planted for m in one.members)})
    place = {feature: at for at, feature in enumerate(needed)}
    values = rng.standard_normal((len(needed), n_rows))
    planted = [Planted(tuple(place[m] for m in one.members), one.kind) for one in table.planted]
    ill = rng.random(n_rows) < _odds(values, planted, table.strength)
    columns = {
        name_of(feature): _coded(feature, values[place[feature]], numbers=False)
        for feature in features
    }
    return {**columns, "y": ill.astype(int)}


def _odds(values: Floats, planted: Sequence[Planted], strength: float) -> Floats:
    logit = sum((strength * _told(values, one) for one in planted), np.zeros(values.shape[1]))
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


def _coded(feature: int, line: Floats, *, numbers: bool) -> Floats:
    """What the table holds of a feature: its sign, one of three values, or a number."""
    number = line if numbers else np.digitize(line, QUINTILES)
    return (np.sign(line), np.digitize(line, [-0.4, 0.4]), number)[feature % 3].astype(float)


def _told(values: Floats, one: Planted) -> Floats:
    """What a set adds to the log odds: the sign of a product, or each its own and all together."""
    parts = np.sign(values[list(one.members)])
    told = parts.prod(axis=0)
    if one.kind == SINGLES:
        told = parts.sum(axis=0) + 2.0 * (parts > 0).all(axis=0)
    return np.asarray((told - told.mean()) / told.std())


def _absent(
    planted: list[Planted], n_features: int, n_sites: int, share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    absent = rng.random((n_sites, n_features)) < share
    for one in planted:
        members = list(one.members)
        whole = np.flatnonzero(~absent[:, members].any(axis=1))
        if len(whole) < 2:
            absent[np.ix_(np.arange(2), members)] = False
    return absent
