"""Part (b): features that subgroups never recorded, hidden in four ways."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.datasets import load_loan, load_mobile
from benchmarks.common.draws import (
    SOURCES,
    Source,
    code_of_estimates,
    draw_of,
    estimated,
    mask_of,
    source_of,
)
from benchmarks.common.tables import as_in_paper
from benchmarks.common.units import Unit
from benchmarks.field.imputers import IMPUTERS, filled
from misfeat.answers.validation import captured_at
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.feature_removal import hide_features
from misfeat.datasets import make_cohorts
from misfeat.information.measures import MutualInformation
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.datasets import Dataset

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Row = dict[str, Any]

SIZE, BEST, HIDDEN = 3, 5, 0.3
BLOCK = 3
"""Features of a block that are recorded together or not at all."""
MOST_HIDDEN = 0.6
"""Of the features of a subgroup."""
OURS, POOLED, COMPLETE = "misfeat", "pooled, ignoring gaps", "complete cases"
GAPS = ("probability", "blocks", "value", "shifts")
NOT_RUN = {"hyperimpute": "0.1.17 needs torch, CatBoost and XGBoost, and an old loguru"}
"""Peers that were wanted and not run, with the reason."""
GENERATED = {
    f"{n} subgroups, similarity {s}, strength {strength}": (n, s, strength, n_values, n_classes)
    for n, s, strength, n_values, n_classes in (
        (4, 20, 0.3, 3, 2),
        (4, 20, 0.6, 4, 2),
        (4, 100, 0.3, 3, 3),
        (4, 100, 0.6, 3, 2),
        (4, 1000, 0.3, 4, 2),
        (4, 1000, 0.6, 3, 3),
        (6, 50, 0.4, 3, 2),
        (6, 50, 0.8, 3, 2),
        (8, 20, 0.3, 3, 3),
        (8, 20, 0.6, 3, 2),
        (8, 100, 0.3, 4, 2),
        (8, 100, 0.6, 3, 2),
        (8, 1000, 0.3, 3, 2),
        (8, 1000, 0.6, 4, 3),
    )
}
"""Generated tables: subgroups, similarity, strength, values of a feature, classes."""
FEATURES = 10


def _paper(load: Callable[[], Dataset]) -> Callable[[], Source]:
    def source() -> Source:
        data = as_in_paper(load())
        coding = Coding(bins=data.bins)
        return Source(build_cohorts(data.columns, data.target, groups=data.groups, coding=coding))

    return source


PAPER: dict[str, Callable[[], Source]] = {"loan": _paper(load_loan), "mobile": _paper(load_mobile)}
REAL = ("attrition", "adult", "diabetes130", "voters", "crashes", *PAPER)
TABLES = (*REAL, *GENERATED)


@lru_cache(maxsize=4)
def real_source(table: str) -> Source:
    """A real table, coded."""
    return PAPER[table]() if table in PAPER else source_of(table, 1)


@lru_cache(maxsize=4)
def drawn(table: str, n_rows: int, seed: int) -> tuple[Cohorts, Floats]:
    """Rows of every subgroup, and the true scores of all sets of three in each."""
    if table in GENERATED:
        n, similarity, strength, n_values, n_classes = GENERATED[table]
        data = make_cohorts(
            n,
            n_rows,
            FEATURES,
            n_values=n_values,
            n_classes=n_classes,
            strength=strength,
            similarity=similarity,
            hide=0.0,
            random_state=[*GENERATED].index(table) + 100 * seed,
        )
        coding = Coding(max_categories=None)
        cohorts = build_cohorts(data.complete, data.target, groups=data.groups, coding=coding)
        source = Source(cohorts, [data.populations[name] for name in cohorts.names])
        return cohorts, source.truth(SIZE, cohorts)
    source = real_source(table)
    draw = draw_of(source, n_rows, seed)
    return draw.rows, source.truth(SIZE, draw.left)


def possible(table: str, n_rows: int) -> bool:
    """Whether a third of the rows of every subgroup is left to judge by."""
    if table in GENERATED:
        return True
    return n_rows * 4 / 3 <= min(cohort.size for cohort in real_source(table).cohorts)


def hidden(cohorts: Cohorts, gaps: str, seed: int) -> tuple[Cohorts, Mask]:
    """The rows as they would be known, and which features are hidden from which subgroup."""
    rng = np.random.default_rng([seed, GAPS.index(gaps)])
    if gaps == "blocks":
        mask = _by_blocks(len(cohorts), len(cohorts.features), rng)
    elif gaps == "value":
        mask = _by_value(cohorts, rng)
    else:
        mask = mask_of(cohorts.missing, HIDDEN, seed)
    if gaps == "shifts":
        cohorts = _shifted(cohorts, rng)
    return hide_features(cohorts, mask), mask


def _by_blocks(n_cohorts: int, n_features: int, rng: np.random.Generator) -> Mask:
    """Blocks of features drawn at random, each hidden as a whole; from some subgroup, not all."""
    mask = np.zeros((n_cohorts, n_features), dtype=bool)
    order = rng.permutation(n_features)
    for block in np.array_split(order, max(2, n_features // BLOCK)):
        lacking = rng.random(n_cohorts) < HIDDEN
        if lacking.all():
            lacking[rng.integers(n_cohorts)] = False
        fits = mask.sum(axis=1) + len(block) <= MOST_HIDDEN * n_features
        mask[np.ix_(lacking & fits, block)] = True
    if not mask.any():
        mask[int(rng.integers(n_cohorts)), block] = True
    return mask


def _by_value(cohorts: Cohorts, rng: np.random.Generator) -> Mask:
    """Features that are recorded where the mean of another is low, or where it is high.

    The other one, drawn at random, is recorded everywhere.
    """
    n_features = len(cohorts.features)
    driver = int(rng.integers(n_features))
    means = np.array([np.average(c.codes[driver], weights=c.weights) for c in cohorts])
    place = np.argsort(np.argsort(means, kind="stable"), kind="stable")
    high = place >= (len(cohorts) + 1) // 2
    mask = np.zeros((len(cohorts), n_features), dtype=bool)
    others = [f for f in range(n_features) if f != driver]
    for feature in rng.permutation(others)[: max(2, n_features // 3)]:
        mask[high if rng.random() < 0.5 else ~high, feature] = True
    return mask


def _shifted(cohorts: Cohorts, rng: np.random.Generator) -> Cohorts:
    """Half of the features of a subgroup one level higher, as if another device had measured."""
    up = rng.random((len(cohorts), len(cohorts.features))) < 0.5
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    codes = cohorts.codes.astype(np.int16) + up[cohort_of].T
    categories = tuple((*names, "one higher") for names in cohorts.categories)
    return replace(cohorts, codes=codes.astype(cohorts.codes.dtype), categories=categories)


@dataclass(frozen=True)
class MissingPart:
    """What is run: every method on every draw and kind of gap is a piece of work."""

    tables: Sequence[str] = TABLES
    rows: Sequence[int] = (200, 1000)
    seeds: Sequence[int] = (2001, 2002, 2003)
    name: str = "missing"

    def units(self) -> Iterator[Unit]:
        """All methods of one seed before the next."""
        for seed in self.seeds:
            for n_rows in self.rows:
                for table in self.tables:
                    if not possible(table, n_rows):
                        continue
                    for method in (OURS, POOLED, *IMPUTERS):
                        about = {"table": table, "rows": n_rows, "seed": seed, "by": method}
                        settings = {"code": code_of_estimates()} if method == OURS else {}
                        work = partial(one_table, table, n_rows, seed, method)
                        yield Unit("missing", about, settings, work)


def one_table(table: str, n_rows: int, seed: int, by: str) -> list[Row]:
    """The figures of a method (of imputers two, pooled and own rows) for every kind of gap."""
    cohorts, truth = drawn(table, n_rows, seed)
    rows = []
    for gaps in GAPS:
        known, mask = hidden(cohorts, gaps, seed)
        begun = time.process_time()
        found = scores_by(by, known, mask, seed)
        seconds = round(time.process_time() - begun, 2)
        rows += [
            {"gaps": gaps, "method": method, **ranked(truth, score, mask), "seconds": seconds}
            for method, score in found.items()
        ]
    return rows


def scores_by(by: str, known: Cohorts, mask: Mask, seed: int) -> dict[str, Floats]:
    """Scores of all sets of three in every subgroup, by method; NaN where it has none."""
    if by == OURS:
        return {OURS: estimated("population", known, SIZE).score}
    if by == POOLED:
        return {POOLED: _pooled(known), COMPLETE: _complete(known, mask)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            whole = filled(known, by, seed)
        except Exception as error:  # whatever a peer ends in, it has no scores then
            print(f"{by}: {type(error).__name__}: {error}")
            none = np.full((len(known), len(level(len(known.features), SIZE))), np.nan)
            return {f"{by}, own rows": none, f"{by}, all rows": none}
    measure = MutualInformation(whole, above_chance=True)
    own = np.array([measure.of_levels(i, SIZE, SIZE, 1)[0] for i in range(len(whole))])
    return {f"{by}, own rows": own, f"{by}, all rows": _pooled(whole)}


def as_one(cohorts: Cohorts, rows: NDArray[Any]) -> Cohorts:
    """Some rows of all subgroups as one subgroup."""
    return replace(
        cohorts,
        names=("all",),
        seen=("all",),
        codes=np.ascontiguousarray(cohorts.codes[:, rows]),
        target_codes=cohorts.target_codes[rows],
        weights=cohorts.weights[rows],
        offsets=np.array([0, len(rows)]),
        missing=np.zeros((1, len(cohorts.features)), dtype=bool),
    )


def _pooled(cohorts: Cohorts) -> Floats:
    """Of each set, the rows of all subgroups that recorded it, as one subgroup."""
    sets = level(len(cohorts.features), SIZE)
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    recorded = np.asarray(~cohorts.missing[:, sets].any(axis=2))
    score = np.full(len(sets), np.nan)
    for who in np.unique(recorded, axis=1).T:
        same = np.flatnonzero((recorded == who[:, None]).all(axis=0))
        rows = np.flatnonzero(who[cohort_of])
        if len(rows):
            measure = MutualInformation(as_one(cohorts, rows), above_chance=True)
            score[same] = measure.of_subsets(0, sets[same], 1)
    return np.tile(score, (len(cohorts), 1))


def _complete(cohorts: Cohorts, mask: Mask) -> Floats:
    """The rows without any gap, as one subgroup; NaN where there are none."""
    sets = level(len(cohorts.features), SIZE)
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    rows = np.flatnonzero(~np.asarray(mask.any(axis=1))[cohort_of])
    if not len(rows):
        return np.full((len(cohorts), len(sets)), np.nan)
    measure = MutualInformation(as_one(cohorts, rows), above_chance=True)
    return np.tile(measure.of_subsets(0, sets, 1), (len(cohorts), 1))


def ranked(truth: Floats, score: Floats, mask: Mask) -> Row:
    """Shares of the true information of the five best sets, means over subgroups.

    ``hidden``: of the sets with a feature that is hidden from the subgroup; ``all``: of all sets.
    A method without scores is as good as drawing sets by lot; sets without one come last.
    """
    sets = level(mask.shape[1], SIZE)
    with_gap = np.asarray(mask[:, sets].any(axis=2))
    lacking = [i for i in range(len(mask)) if with_gap[i].any()]
    return {
        "hidden": float(np.mean([_share(truth[i], score[i], with_gap[i]) for i in lacking])),
        "all": float(
            np.mean([_share(*pair, ~np.isnan(pair[0])) for pair in zip(truth, score, strict=True)])
        ),
        "answered": float((~np.isnan(score)).mean()),
    }


def _share(truth: Floats, score: Floats, among: Mask) -> float:
    true, said = truth[among], score[among]
    if np.isnan(said).all():
        best = np.sort(true)[-BEST:]
        return float(true.mean() / best.mean()) if best.mean() > 0 else 1.0
    return captured_at(BEST, true, np.where(np.isnan(said), -np.inf, said))


assert set(REAL) - set(PAPER) <= set(SOURCES)
