"""The paper's synthetic tables: a target made of features by a logical formula, bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.datasets.dataset import Dataset
from misfeat.exceptions import MisfeatError, Setting, check_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Line = NDArray[np.int64]

N_RELEVANT = 5
N_REDUNDANT = 2
N_CORRELATED = 2
REPLACED_SHARE = 0.25
"""Values of a redundant feature that are replaced by a constant."""
AGREEMENT = (0.55, 0.60)
"""Range of the share of rows in which a correlated feature equals the target."""
NOISE_MEAN, NOISE_SPREAD = 0.08, 0.02
"""The flip rate of a subgroup is drawn from a normal distribution with these."""

# "xor" binds tighter than "and", which binds tighter than "or".
FORMULAS: dict[int, Callable[..., Line]] = {
    1: lambda f1, f2, f3, f4, f5: (f2 & f4 & f1) | ((f1 & (f2 ^ f5)) ^ (f3 & f2 & f1)),
    2: lambda f1, f2, f3, f4, _: (f2 ^ f4 ^ f1) | (f1 & (f2 ^ f3)),
    3: lambda f1, f2, f3, f4, f5: (f1 & f2 & f3) | (f1 & f5) | (f3 & f5 & f4),
}
COLLECTIONS = {"SD1": (15, 4), "SD2": (20, 5)}
"""Features, and values of each."""


def make_formula(
    collection: str = "SD1",
    formula: int = 1,
    *,
    noise: bool = False,
    n_rows: int = 50_000,
    n_features: int | None = None,
    n_subgroups: int = 4,
    random_state: int | None = None,
) -> Dataset:
    """Generate a table of the paper's collections SD1 or SD2.

    Features ``f1`` to ``f5`` are uniform and make the target by a formula; two are redundant (a
    random formula of three to five of those, a quarter of the values replaced by a constant); two
    are correlated (equal to the target in 55 to 60 % of the rows, else a constant); the rest is
    uniform noise.

    Parameters
    ----------
    collection : {"SD1", "SD2"}, default="SD1"
        15 features of 4 values, or 20 features of 5 values.
    formula : {1, 2, 3}, default=1
        Which formula makes the target.
    noise : bool, default=False
        Flip feature values at random after the target was made, each subgroup at a rate of its own.
    n_rows : int, default=50_000
        Rows in all.
    n_features : int, default=None
        More or fewer noise features than the collection has; at least 9 features in all.
    n_subgroups : int, default=4
        Subgroups, to which rows belong at random.
    random_state : int, default=None
        Seed.

    Returns
    -------
    Dataset
        The table, with the column ``target`` to tell about.

    Examples
    --------
    >>> data = make_formula("SD1", n_rows=1000, random_state=0)
    >>> len(data.columns), data.target
    (17, 'target')
    """
    options = (("collection", collection, COLLECTIONS), ("formula", formula, FORMULAS))
    for name, value, choices in options:
        if value not in choices:
            *others, last = map(repr, choices)
            raise MisfeatError(
                "{setting} is unknown; use {choices}.",
                setting=Setting(name, value),
                choices=f"{', '.join(others)} or {last}",
            )
    usual, n_values = COLLECTIONS[collection]
    n_features = usual if n_features is None else n_features
    fewest = N_RELEVANT + N_REDUNDANT + N_CORRELATED
    check_count(n_features, "n_features", least=fewest)
    rng = np.random.default_rng(random_state)
    subgroup = rng.integers(n_subgroups, size=n_rows)
    relevant = list(rng.integers(n_values, size=(N_RELEVANT, n_rows)))
    target = FORMULAS[formula](*relevant)
    lines = [
        *relevant,
        *(_redundant(relevant, rng) for _ in range(N_REDUNDANT)),
        *(_correlated(target, rng) for _ in range(N_CORRELATED)),
        *rng.integers(n_values, size=(n_features - fewest, n_rows)),
    ]
    if noise:
        rates = np.clip(rng.normal(NOISE_MEAN, NOISE_SPREAD, size=n_subgroups), 0.0, 1.0)
        for i, line in enumerate(lines):
            flips = rng.random(n_rows) < rates[subgroup]
            lines[i] = np.where(flips, rng.integers(n_values, size=n_rows), line)
    columns: dict[str, NDArray[Any]] = {"subgroup": subgroup}
    columns |= {f"f{i + 1}": line for i, line in enumerate(lines)}
    columns["target"] = target
    return Dataset(
        name=f"{collection}, formula {formula}{', with noise' if noise else ''}",
        columns=columns,
        target="target",
        groups="subgroup",
        description=f"Synthetic: {n_features} features of {n_values} values, one logical formula.",
    )


def _redundant(relevant: list[Line], rng: np.random.Generator) -> Line:
    members = rng.choice(len(relevant), size=rng.integers(3, 6), replace=False)
    operations = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    line: Line = relevant[members[0]]
    for member in members[1:]:
        line = operations[rng.integers(3)](line, relevant[member])
    replaced = rng.random(len(line)) < REPLACED_SHARE
    return np.where(replaced, rng.choice(line), line)


def _correlated(target: Line, rng: np.random.Generator) -> Line:
    agrees = rng.random(len(target)) < rng.uniform(*AGREEMENT)
    return np.where(agrees, target, rng.choice(target))
