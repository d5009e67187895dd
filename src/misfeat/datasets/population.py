"""Subgroups drawn from a population that is known exactly, so that answers can be checked.

In subgroup g a row has a target y, a hidden class z, and features that are independent given both:

    p_g(x, y) = p_g(y) * sum over z of p_g(z | y) * product over features f of p_g(x_f | y, z).

The hidden class makes features depend on each other beyond the target. The tables of a subgroup are
drawn around shared ones, the closer the higher `similarity`, and what is not recorded, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misfeat.datasets.heart import Dataset
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.runtime.array_types import Flags, Floats, Integers

LARGEST_SHARE = 0.6  # No subgroup loses more than this share of the features


@dataclass(frozen=True, eq=False)
class Population:
    """The exact distribution that one subgroup was drawn from."""

    classes: Floats  # (n_classes,): p(y)
    latent: Floats  # (n_classes, n_latent): p(z | y)
    features: Floats  # (n_features, n_classes, n_latent, n_values): p(x_f | y, z)

    def joint(self, features: Sequence[int]) -> Floats:
        """p(x_S, y) as a table of shape (cells of S, n_classes)."""
        given = np.ones((*self.latent.shape, 1))
        for feature in features:
            product = given[..., None] * self.features[feature][:, :, None, :]
            given = product.reshape(*self.latent.shape, -1)
        return np.asarray(np.einsum("y,yz,yzx->xy", self.classes, self.latent, given))

    def mutual_info(self, features: Sequence[int]) -> float:
        """I(S; Y) in nats."""
        joint = self.joint(features)
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        positive = joint > 0
        return float((joint[positive] * np.log(joint[positive] / product[positive])).sum())

    def sample(self, n_rows: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw rows: features of shape (n_features, n_rows), and the target."""
        y = draw(np.broadcast_to(self.classes, (n_rows, len(self.classes))), rng)
        z = draw(self.latent[y], rng)
        return np.array([draw(table[y, z], rng) for table in self.features]), y


@dataclass(frozen=True, eq=False)
class GeneratedCohorts(Dataset):
    """A generated table with the truth behind it.

    Attributes
    ----------
    complete : dict of str to ndarray
        The columns before features were hidden.
    populations : dict of str to Population
        By subgroup name.
    """

    complete: dict[str, NDArray[Any]]
    populations: dict[str, Population]

    def true_score(self, subgroup: str, features: Sequence[str]) -> float:
        """The score that a set has in the population of a subgroup, in nats.

        Parameters
        ----------
        subgroup : str
            Its name.
        features : sequence of str
            The set.
        """
        names = [name for name in self.columns if name not in (self.groups, self.target)]
        return self.populations[subgroup].mutual_info([names.index(f) for f in features])


def make_cohorts(
    n_cohorts: int = 4,
    n_rows: int = 2000,
    n_features: int = 8,
    *,
    n_values: int = 3,
    n_classes: int = 2,
    n_latent: int = 3,
    strength: float = 0.6,
    similarity: float = 50.0,
    hide: float = 0.2,
    feature_names: Sequence[str] | None = None,
    cohort_names: Sequence[str] | None = None,
    group: str = "cohort",
    target: str = "target",
    random_state: int | None = None,
) -> GeneratedCohorts:
    """Draw a table of subgroups from a known population, and hide features from some of them.

    Parameters
    ----------
    n_cohorts, n_rows, n_features : int
        Subgroups, rows of each, and features.
    n_values, n_classes, n_latent : int
        Values of a feature, of the target, and of the hidden class.
    strength : float, default=0.6
        How much the most informative feature depends on the target, from 0 to 1. Feature f keeps
        the share ``(n_features - f) / n_features`` of it.
    similarity : float, default=50
        How close the subgroups' tables are to the shared ones: the concentration of a Dirichlet
        distribution.
    hide : float, default=0.2
        The probability with which a feature is hidden from a subgroup: at least one and at most
        60 % of them in every subgroup, none in all. 0 hides nothing.
    feature_names, cohort_names : sequence of str, default=None
        Default to ``f1``, ``f2``, … and ``c1``, ``c2``, …
    group, target : str
        The names of the columns that hold the subgroup and the target.
    random_state : int, default=None
        Seed.

    Returns
    -------
    GeneratedCohorts
        The table, the same without gaps, and the populations that it was drawn from.

    Examples
    --------
    >>> data = make_cohorts(random_state=0)
    >>> data.n_rows, data.groups
    (8000, 'cohort')
    >>> data.true_score("cohort=c1", ["f1"]) <= data.true_score("cohort=c1", ["f1", "f2"])
    True
    """
    features = _names(feature_names, n_features, "feature")
    cohorts = _names(cohort_names, n_cohorts, "cohort")
    rng = np.random.default_rng(random_state)
    share = strength * (n_features - np.arange(n_features)) / n_features
    margins = rng.dirichlet(np.full(n_values, 4.0), size=n_features)[:, None, None, :]
    telling = rng.dirichlet(np.full(n_values, 0.5), size=(n_features, n_classes, n_latent))
    weight = share[:, None, None, None]
    classes = rng.dirichlet(np.full(n_classes, 20.0))
    latent = rng.dirichlet(np.full(n_latent, 2.0), size=n_classes)
    shared = (classes, latent, (1 - weight) * margins + weight * telling)

    def near(table: Floats) -> Floats:
        gammas = rng.gamma(table * similarity + 1e-3)
        return np.asarray(gammas / gammas.sum(axis=-1, keepdims=True))

    populations = [Population(*map(near, shared)) for _ in cohorts]
    drawn = [population.sample(n_rows, rng) for population in populations]
    codes = np.concatenate([x for x, _ in drawn], axis=1)
    complete: dict[str, NDArray[Any]] = {
        group: np.repeat(np.array(cohorts, dtype=object), n_rows),
        **{name: line.astype(np.int64) for name, line in zip(features, codes, strict=True)},
        target: np.concatenate([y for _, y in drawn]),
    }
    columns = dict(complete)
    mask = random_mask(n_cohorts, n_features, hide, rng)
    for feature, hidden in zip(features, mask.T, strict=True):
        if hidden.any():
            columns[feature] = np.where(np.repeat(hidden, n_rows), np.nan, complete[feature])
    return GeneratedCohorts(
        name="generated cohorts",
        columns=columns,
        target=target,
        groups=group,
        description="Drawn from known populations; see misfeat.datasets.make_cohorts.",
        complete=complete,
        populations={f"{group}={c}": p for c, p in zip(cohorts, populations, strict=True)},
    )


def _names(given: Sequence[str] | None, count: int, what: str) -> list[str]:
    """The names of features or of subgroups: ``f1``, ``f2``, ... or ``c1``, ``c2``, ... if None."""
    names = list(given) if given is not None else [f"{what[0]}{i + 1}" for i in range(count)]
    if len(names) != count:
        given_as, counted_as = Setting(f"{what}_names", names), Setting(f"n_{what}s", count)
        problem = f"{given_as} has {len(names)} names for {counted_as}."
        raise MisfeatError(problem, remedy="Give one for each.")
    return names


def draw(probabilities: Floats, rng: np.random.Generator) -> Integers:
    """A category for every line of probabilities."""
    cumulative = np.cumsum(probabilities, axis=-1)
    point = rng.random((len(probabilities), 1)) * cumulative[:, -1:]
    return np.asarray((point >= cumulative).sum(axis=-1))


def random_mask(n_cohorts: int, n_features: int, p: float, rng: np.random.Generator) -> Flags:
    """Hide each feature of each subgroup with probability `p`: a mask, True where one is hidden.

    At least one feature and at most 60 % of them are hidden in every subgroup, and none in all.
    With one subgroup or ``p = 0`` nothing is.
    """
    if p == 0 or n_cohorts == 1:
        return np.zeros((n_cohorts, n_features), dtype=bool)
    most = max(1, int(LARGEST_SHARE * n_features))
    mask = rng.random((n_cohorts, n_features)) < p
    for hidden in mask:
        surplus = int(hidden.sum()) - most
        if surplus > 0:
            hidden[rng.choice(np.flatnonzero(hidden), surplus, replace=False)] = False
        elif not hidden.any():
            hidden[rng.integers(n_features)] = True
    for feature in np.flatnonzero(mask.all(axis=0)):
        cohort = int(np.argmax(mask.sum(axis=1)))
        mask[cohort, feature] = False
        if not mask[cohort].any() and n_features > 1:
            # Then every subgroup hides this feature alone, so the next one is hidden nowhere.
            mask[cohort, (feature + 1) % n_features] = True
    return mask
