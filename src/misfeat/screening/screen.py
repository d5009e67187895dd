"""From a wide table to the features that its exact lattice is made of.

Features are chosen by one part of the rows, half of them or fewer; the others are held back. What
tests against chance find in those is not biased by the choice, whatever it was.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.blocks import without_features
from misfeat.cohorts.naming import SCREENED_OUT, not_a_feature
from misfeat.cohorts.reweighting import reweighted, rows_drawn
from misfeat.exceptions import MisfeatError, Setting
from misfeat.machine.progress import announce, in_words
from misfeat.screening.bounds import most_of_a_set
from misfeat.screening.model import Screened
from misfeat.screening.ranking import features_to_keep, telling_features
from misfeat.screening.searching import MOST_COUNTED, SEARCHING, Search, searched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.machine.progress import Progress

MOST_FEATURES = 2**15 - 1
"""Kernels number the members of sets with 16 bits."""
SHARE = 0.5
"""The share of the rows that is looked at, at most."""
FEWEST_ROWS = 10_000
"""So many coded rows are looked at, if there are, before pairs are left out."""
COUNTED_A_SECOND = 6e8
"""Sets times rows that one core counts in a second, about."""
WORTH_SAYING = 5.0
"""Seconds of searching that are foretold."""
BYTES_A_PAIR = 150
"""Memory for each pair while pairs are searched."""
KEPT = 0.2
"""The sets of the kept features are this share of those that are scored where nothing is screened:
every set cannot be scored any more, so that answers may as well come fast."""


def sets_in_all(n_features: int, size: int, n_cohorts: int) -> int:
    """Sets of up to a size times cohorts, which is what a complete lattice holds."""
    return n_cohorts * sum(comb(n_features, m) for m in range(1, size + 1))


def features_that_fit(n_features: int, size: int, n_cohorts: int, max_sets: int) -> int:
    """The most features whose lattice holds no more than `max_sets`; at least `size`."""
    low, high = min(size, n_features), n_features
    while low < high:
        middle = (low + high + 1) // 2
        if sets_in_all(middle, size, n_cohorts) <= max_sets:
            low = middle
        else:
            high = middle - 1
    return low


def screened(
    cohorts: Cohorts,
    size: int,
    max_sets: int,
    *,
    above_chance: bool = True,
    include: Sequence[str] = (),
    blocks: Mapping[str, Sequence[str]] | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Cohorts, Screened]:
    """Keep the features of a wide table that are part of sets which tell.

    Returns the cohorts without the other features, and what is known of the search. The lattice of
    the kept features holds `KEPT` of `max_sets` sets; whether a table is wide at all
    (`sets_in_all`) is the caller's to ask. `seed` draws the rows that are looked at; None is a
    seed, too, always the same.
    """
    n_features, n_cohorts = len(cohorts.features), len(cohorts)
    if n_features > MOST_FEATURES:
        raise MisfeatError(
            "There are {count:,} features, and at most {most:,} can be searched; leave "
            "features out ({exclude}).",
            count=n_features,
            most=MOST_FEATURES,
            exclude=Setting("exclude"),
        )
    for name in include:
        if name not in cohorts.features:
            raise not_a_feature(name, "a feature to include", cohorts, cohorts.features, blocks)
    held = tuple(cohorts.features.index(name) for name in include)
    drawn = _drawn(cohorts, seed)
    search = Search(reweighted(cohorts, drawn), size, above_chance, held, n_jobs)
    if progress is not None:
        _foretell(search, n_jobs)
    rankings, looked = searched(search, progress)
    most = features_that_fit(n_features, size, n_cohorts, int(KEPT * max_sets))
    kept = set(features_to_keep(rankings, most, held))
    left = tuple(name for place, name in enumerate(cohorts.features) if place not in kept)
    members = [one for name in left for one in (blocks or {}).get(name, ())]
    at_most = most_of_a_set(cohorts, size, above_chance=above_chance, n_jobs=n_jobs)
    if progress is not None:
        progress(SEARCHING, 1, 1)
    found = Screened(
        left_out=left,
        looked=looked,
        telling=len(telling_features(rankings) - kept) if above_chance else None,
        rows=int(drawn.sum()),
        at_most=at_most,
        held_back=_held_back(cohorts, drawn),
    )
    return without_features(cohorts, (*left, *members), SCREENED_OUT), found


def _drawn(cohorts: Cohorts, seed: int | None) -> NDArray[np.int64]:
    """How many rows of the table each coded row stands for that are looked at."""
    pairs = comb(len(cohorts.features), 2) * max(1, len(cohorts.grids))
    rows = len(cohorts.weights)
    share = min(SHARE, max(MOST_COUNTED / max(pairs, 1), FEWEST_ROWS) / rows)
    rng = np.random.default_rng(0 if seed is None else seed)
    drawn = [
        rows_drawn(cohort.weights, max(1, int(share * cohort.size)), rng) for cohort in cohorts
    ]
    return np.concatenate(drawn)


def _held_back(cohorts: Cohorts, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows that are not looked at; of a cohort of one row this one, which tests nothing."""
    left = cohorts.weights - drawn
    empty = np.add.reduceat(left, cohorts.offsets[:-1]) == 0
    return np.where(np.repeat(empty, np.diff(cohorts.offsets)), cohorts.weights, left)


def _foretell(search: Search, n_jobs: int | None) -> None:
    from joblib import effective_n_jobs

    seconds = sum(search.counted) / COUNTED_A_SECOND / effective_n_jobs(n_jobs)
    if seconds < WORTH_SAYING:
        return
    pairs = comb(search.n_features, 2)
    what = f"all {pairs:,} pairs" if search.all_pairs else "sets that grow from the best features"
    memory = BYTES_A_PAIR * (pairs if search.all_pairs else search.n_growing * search.n_features)
    announce(
        f"About {in_words(seconds)}, {memory / 2**30:.1f} GiB: looking for the features that tell "
        f"among {search.n_features:,}, in {what}."
    )
