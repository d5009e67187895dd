"""What is read from a saved selection is checked here, before anything else sees it.

Checksums tell of damage, not of intent: whoever forges a file makes them anew. Compiled kernels do
not look whether a code lies within its table, so everything that they read is held against the rest
of the file: types, shapes, ranges, and scores against the rows that they were computed from.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.model import NOT_RECORDED, ColumnAudit
from misfeat.cohorts.profiles import LOOKS
from misfeat.cohorts.weights import MOST_MASS
from misfeat.completion.model import OWN_ROWS, support_of
from misfeat.estimation.estimates import ABOVE_CHANCE, POPULATION, SAMPLE
from misfeat.lattice import unrank
from misfeat.lattice.sampling import SAMPLERS
from misfeat.reading.dataframes import EAGER_LIBRARIES
from misfeat.selection.folders import ARRAYS, MANIFEST
from misfeat.selection.scorebook import names_of_completed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.completion.model import CompletedScores
    from misfeat.estimation.estimates import Estimate
    from misfeat.estimation.shortlist import Shortlist
    from misfeat.information.measures import Measure
    from misfeat.selection.asked import Asked
    from misfeat.selection.scorebook import ScoreBook

CODES = (np.int8, np.int16, np.int32)
MOST_CODES = 2**16
MOST_CODES_WITH_GAPS = 2**15 - 1
"""Kernels hold codes as 16 bits, one of them for the sign where rows lack values."""
MOST_ROWS = 2**53
"""Up to here counts are exact as floating-point numbers."""
MOST_THREADS = 10_000
MOST_DRAWN = 2**62
TOLERANCE = 1e-7
"""Scores may differ by so much, in nats or R²: rounding, and other versions of libraries."""
ROWS_CHECKED = 2_000_000
"""Rows that are counted for each size to check scores: about a tenth of a second."""
MOST_SETS_CHECKED = 10_000


class ContradictionError(ValueError):
    """What is wrong with a saved selection, and in which of its files."""

    def __init__(self, part: str, what: str) -> None:
        super().__init__(what)
        self.part = part


NEARLY = 1e-6
"""Rounding may make what is the same differ by this share of it."""


def demand(holds: bool | np.bool_, what: str, part: str = MANIFEST) -> None:
    """Raise unless something holds."""
    if not holds:
        raise ContradictionError(part, what)


def check_cohorts(cohorts: Cohorts) -> None:
    """Raise unless the rows of all subgroups can be counted, and labels go with them."""
    for name in ("names", "features"):
        check_texts(getattr(cohorts, name), name, unique=True)
    for name in ("classes", "notes", "seen"):
        check_texts(getattr(cohorts, name), name)
    demand(isinstance(cohorts.target, str), "the target is no text")
    demand(len(cohorts.names) > 0, "there is no subgroup")
    n_features = len(cohorts.features)
    demand(0 < len(cohorts.classes) <= MOST_CODES, "the number of classes")
    for name in ("categories", "gap_codes"):
        held = getattr(cohorts, name)
        demand(isinstance(held, tuple) and len(held) == n_features, f"the length of {name}")
    for labels, gaps in zip(cohorts.categories, cohorts.gap_codes, strict=True):
        check_texts(labels, "categories")
        demand(0 < len(labels) <= MOST_CODES, "the number of categories")
        demand(isinstance(gaps, tuple), "gap_codes are no tuple")
        demand(all(is_count(gap, most=len(labels) - 1) for gap in gaps), "a code of gap_codes")
    demand(isinstance(cohorts.joined, tuple), "joined subgroups are no tuple")
    for pair in cohorts.joined:
        check_texts(pair, "joined subgroups")
        demand(len(pair) == 2, "a joined subgroup is no pair")
    demand(isinstance(cohorts.columns, tuple), "columns are no tuple")
    for audit in cohorts.columns:
        _check_audit(audit)
    _check_rows(cohorts)


def _check_audit(audit: ColumnAudit) -> None:
    for text in (audit.column, audit.role, audit.treatment, audit.taken_for, audit.example):
        demand(isinstance(text, str), "what is said about a column is no text")
    check_texts(audit.categories, "categories of a column")
    demand(isinstance(audit.edges, tuple), "edges of a column are no tuple")
    demand(is_count(audit.missing), "the missing rows of a column")
    demand(audit.looks_like in LOOKS, "what a column looks like")
    demand(isinstance(audit.suspects, tuple), "suspected values of a column are no tuple")
    demand(isinstance(audit.why_suspect, str), "what is said about a column is no text")


def _check_rows(cohorts: Cohorts) -> None:
    n_cohorts, n_features = len(cohorts.names), len(cohorts.features)
    offsets, weights, codes = cohorts.offsets, cohorts.weights, cohorts.codes
    check_array(offsets, "cohorts.offsets", (np.int64,), (n_cohorts + 1,))
    demand(offsets[0] == 0 and (offsets[1:] > offsets[:-1]).all(), "the order of offsets", ARRAYS)
    n_rows = int(offsets[-1])
    check_array(weights, "cohorts.weights", (np.int64,), (n_rows,))
    demand((weights > 0).all(), "a weight that is not positive", ARRAYS)
    demand(weights.sum(dtype=np.float64) <= MOST_ROWS, "the sum of weights", ARRAYS)
    _check_weights(cohorts, n_rows)
    check_array(cohorts.target_codes, "cohorts.target_codes", CODES, (n_rows,))
    _check_codes(cohorts.target_codes, 0, len(cohorts.classes), "a class that there is not")
    _check_grids(cohorts)
    check_array(codes, "cohorts.codes", CODES, (n_features, n_rows))
    check_flags(cohorts.missing, "cohorts.missing", (n_cohorts, n_features))
    for line, labels in zip(codes, cohorts.categories, strict=True):
        _check_codes(line, NOT_RECORDED, len(labels), "a code that there is not")
        gaps = len(labels) > MOST_CODES_WITH_GAPS and bool((line == NOT_RECORDED).any())
        demand(not gaps, "too many categories")
    for cohort, absent in zip(cohorts, cohorts.missing, strict=True):
        unrecorded = (cohort.codes[absent] == NOT_RECORDED).all()
        demand(unrecorded, "values of a feature that was never recorded", ARRAYS)


def _check_grids(cohorts: Cohorts) -> None:
    """Raise unless the grids of a numeric target are made of its bins, in their order."""
    ranks, grids = cohorts.ranks, cohorts.grids
    demand(isinstance(grids, np.ndarray) and grids.ndim == 2, "cohorts.grids")
    check_array(grids, "cohorts.grids", CODES, grids.shape)
    check_array(ranks, "cohorts.ranks", CODES, (len(cohorts.weights) if len(grids) else 0,))
    if not len(grids):
        return
    demand(0 < grids.shape[1] <= MOST_CODES, "the number of bins")
    _check_codes(ranks, 0, grids.shape[1], "a bin that there is not")
    steps = np.diff(grids, axis=1)
    ordered = (grids[:, 0] == 0).all() and ((steps == 0) | (steps == 1)).all()
    demand(ordered, "the order of bins in a grid", ARRAYS)
    same = (grids[0][ranks] == cohorts.target_codes).all()
    demand(same, "classes that are not those of the first grid", ARRAYS)


def _check_weights(cohorts: Cohorts, n_rows: int) -> None:
    """Raise unless rows weigh something, and no subgroup is worth more rows than it has."""
    masses, heaviest, effective = cohorts.masses, cohorts.heaviest, cohorts.effective
    demand((masses is None) == (heaviest is None), "masses, and the heaviest of them")
    if masses is not None and heaviest is not None:
        check_array(masses, "cohorts.masses", (np.int64,), (n_rows,))
        demand((masses > 0).all(), "a mass that is not positive", ARRAYS)
        demand(masses.sum(dtype=np.float64) <= 2 * MOST_MASS, "the sum of masses", ARRAYS)
        demand(effective is not None, "masses without effective sizes")
        check_array(heaviest, "cohorts.heaviest", (np.float64,), (n_rows,))
        mean, near = masses / cohorts.weights, 1.0 + NEARLY
        within = (heaviest * near >= mean) & (heaviest <= masses * near)
        demand(bool(within.all()), "a row that weighs more than all of its kind", ARRAYS)
    if effective is not None:
        check_array(effective, "cohorts.effective", (np.float64,), (len(cohorts.names),))
        sizes = np.add.reduceat(cohorts.weights, cohorts.offsets[:-1])
        within = (effective >= min(1.0, sizes.min())) & (effective <= 2.0 * sizes)
        demand(bool(within.all()), "an effective size", ARRAYS)


def check_estimate(estimate: Estimate) -> None:
    """Raise unless scores are on a scale that there is."""
    demand(estimate.name in (POPULATION, ABOVE_CHANCE, SAMPLE), "the name of the estimate")
    level = estimate.confidence
    demand(level is None or (isinstance(level, float) and 0 < level < 1), "the confidence")


def check_asked(asked: Asked, features: tuple[str, ...]) -> None:
    """Raise unless what was asked for can be answered with some features."""
    demand(is_count(asked.size, least=1, most=len(features)), "the size of sets")
    demand(is_count(asked.k, least=1, most=2**62), "the number of sets")
    check_texts(asked.include, "include", unique=True)
    held = set(asked.include) <= set(features) and len(asked.include) <= asked.size
    demand(held, "the features to include")
    demand(isinstance(asked.blocks, Mapping), "blocks")
    for name, members in asked.blocks.items():
        demand(isinstance(name, str), "the name of a block")
        check_texts(members, "the members of a block")
    demand(asked.seed is None or is_count(asked.seed), "the seed")
    demand(asked.backend is None or asked.backend in EAGER_LIBRARIES, "the library of answers")
    demand(isinstance(asked.settings, Mapping), "settings")
    demand(all(isinstance(one, str) for said in asked.settings.items() for one in said), "settings")


def check_shortlist(shortlist: Shortlist, cohorts: Cohorts) -> None:
    """Raise unless what is said of a shortlist can be said of these rows and features."""
    check_texts(shortlist.left_out, "features that were left out", unique=True)
    apart = not set(shortlist.left_out) & set(cohorts.features)
    demand(apart, "a feature that was kept and left out")
    n_features = len(shortlist.left_out) + len(cohorts.features)
    demand(is_count(shortlist.pairs, most=comb(n_features, 2)), "the pairs that were looked at")
    few = shortlist.outstanding
    counted = few is None or is_count(few, most=len(shortlist.left_out))
    demand(counted, "the features that stand out and were left out")
    demand(is_count(shortlist.rows, least=1, most=MOST_ROWS), "the rows that were looked at")
    held_back = shortlist.held_back
    check_array(held_back, "shortlist.held_back", (np.int64,), (len(cohorts.weights),))
    within = (held_back >= 0).all() and (held_back <= cohorts.weights).all()
    demand(bool(within), "rows that were held back", ARRAYS)
    in_each = np.add.reduceat(held_back, cohorts.offsets[:-1])
    demand(bool((in_each > 0).all()), "a subgroup of which no row was held back", ARRAYS)


def check_held(held: Any, names: set[str], measure: Measure) -> None:
    """Raise unless what a score book says of itself (`ScoreBook.packed`) goes with its arrays."""
    n_features = len(measure.features)
    budget, jobs, sizes = held["budget"], held["n_jobs"], held["sizes"]
    demand(isinstance(budget, float) and 0 < budget <= 1, "the budget")
    demand(isinstance(held["sampler"], str) and held["sampler"] in SAMPLERS, "the sampler")
    known = jobs is None or is_count(jobs, least=-MOST_THREADS, most=MOST_THREADS)
    demand(known and jobs != 0, "the number of threads")
    withheld = measure.rows is None and measure.sums is None
    demand(held.get("rows_withheld", False) is withheld, "whether rows are withheld")
    demand(is_count(held["n_exact"], most=n_features + 1), "the number of sizes")
    demand(isinstance(sizes, list) and len(sizes) <= n_features, "the sizes")
    demand(all(is_count(size, least=1, most=n_features) for size in sizes), "a size")
    seed, drawn = held["entropy"], held["drawn"]
    demand(isinstance(seed, str) and seed.isascii() and seed.isdecimal(), "the seed of draws")
    demand(is_count(drawn, most=MOST_DRAWN), "the number of draws")
    expected = {f"book.exact.{size}" for size in range(held["n_exact"])}
    if measure.parts:
        expected |= {f"book.grids.{size}" for size in range(held["n_exact"])}
    of_a_size = names_of_completed(measure)
    expected |= {f"book.completed.{size}.{name}" for size in sizes for name in of_a_size}
    most = held.get("max_sets")
    demand(most is None or is_count(most), "how many sets are scored")
    expected |= names & {f"book.completed.{size}.subsets" for size in sizes}  # were searched for
    demand(names == expected, "scores are missing, or there are others", ARRAYS)


def check_scores(arrays: Mapping[str, NDArray[Any]], measure: Measure) -> None:
    """Raise unless all scores of a book have the shapes and the types that they must have."""
    n_cohorts, n_features = measure.missing.shape
    for name, scores in arrays.items():
        _, kind, size, *what = name.split(".")
        sets = arrays.get(f"book.completed.{size}.subsets") if kind == "completed" else None
        n_sets = comb(n_features, int(size)) if sets is None else len(sets)
        shape: tuple[int, ...] = (n_cohorts, n_sets)
        if what == ["subsets"]:
            check_array(scores, name, (np.int64,), (n_sets, int(size)))
            within = (scores >= 0).all() and (scores < n_features).all()
            ascending = bool((np.diff(scores, axis=1) > 0).all())
            demand(bool(n_sets and within and ascending), f"{name}: a set that is none", ARRAYS)
            continue
        if kind == "grids":
            shape = (len(measure.parts), *shape)
        if what == ["predicted"]:
            check_flags(scores, name, shape)
        else:
            check_array(scores, name, (np.int8 if what == ["support"] else np.float64,), shape)
        if kind in ("exact", "grids"):
            demand(not np.isinf(scores).any(), f"{name}: a score that is no number", ARRAYS)


def check_book(book: ScoreBook) -> None:
    """Raise unless scores are what the rows give, and estimates lie where estimates can lie."""
    for size, scores in enumerate(book.computed):
        if size == 0:
            demand((np.abs(scores) <= TOLERANCE).all(), "the score of no feature", ARRAYS)
        else:
            _check_computed(book, book.measure, size, scores)
    for size, by_grid in enumerate(book.computed_by_grid):
        for part, scores in zip(book.measure.parts, by_grid, strict=True):
            _check_computed(book, part, size, scores)
    for size, completed in book.held.items():
        _check_completed(book, size, completed)


def _check_computed(
    book: ScoreBook, measure: Measure, size: int, scores: NDArray[np.float64]
) -> None:
    """Compare scores with what the rows give: of all sets, or of some drawn where rows are many."""
    n_sets = scores.shape[1]
    drawn = np.arange(n_sets)
    n_rows = 1 if measure.rows is None else len(measure.rows.weights)
    most = max(1, min(ROWS_CHECKED // n_rows, MOST_SETS_CHECKED))
    if n_sets > most:
        drawn = np.sort(np.random.default_rng().choice(n_sets, most, replace=False, shuffle=False))
    subsets = unrank(drawn, size)
    for cohort, held in enumerate(scores[:, drawn]):
        counted = measure.of_subsets(cohort, subsets, book.n_jobs)
        unasked = np.isnan(held) & (book.budget < 1)
        same = unasked | np.isclose(held, counted, rtol=0, atol=TOLERANCE, equal_nan=True)
        demand(same.all(), f"scores of size {size} are not those of the rows", ARRAYS)


def _check_completed(book: ScoreBook, size: int, completed: CompletedScores) -> None:
    measure, low, score, high = book.measure, completed.low, completed.score, completed.high
    what = f"estimates of size {size}"
    for values in (low, score, high):
        demand(np.isfinite(values).all(), f"{what}: one that is no number", ARRAYS)
    ordered = (low <= score + TOLERANCE).all() and (score <= high + TOLERANCE).all()
    demand(ordered, f"{what} outside their intervals", ARRAYS)
    demand((low >= -TOLERANCE).all(), f"{what} below 0", ARRAYS)
    most = measure.ceiling[:, None] + TOLERANCE
    demand((high <= most).all(), f"{what} above what there is to tell", ARRAYS)
    if completed.spread is not None:
        apart = np.isfinite(completed.spread).all() and (completed.spread >= 0).all()
        demand(apart, f"{what}: how far grids differ", ARRAYS)
    support = support_of(measure.missing, completed.subsets)
    demand((support == completed.support).all(), f"{what}: what they rest on", ARRAYS)
    if size >= len(book.computed):
        return
    exact = book.computed[size]
    unknown = np.isnan(exact)
    lacking = support != OWN_ROWS if book.estimate.name == POPULATION else unknown
    demand((completed.predicted == lacking).all(), f"{what}: which are predicted", ARRAYS)
    if not book.estimate.above_chance:
        same = unknown | (np.abs(score - exact) <= TOLERANCE)
        demand(same.all(), f"{what} are not those of the rows", ARRAYS)


def is_count(value: object, least: int = 0, most: int | None = None) -> bool:
    """Whether something is an integer within bounds, and no flag."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return value >= least and (most is None or value <= most)


def check_texts(held: Any, what: str, *, unique: bool = False) -> None:
    """Raise unless something is a tuple of texts, of different ones if `unique`."""
    demand(isinstance(held, tuple), f"{what}: no tuple")
    demand(all(isinstance(text, str) for text in held), f"{what}: one that is no text")
    demand(not unique or len(set(held)) == len(held), f"{what}: one that is there twice")


def check_array(array: Any, name: str, types: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    """Raise unless an array has one of some types, and a shape."""
    demand(isinstance(array, np.ndarray), f"{name} is no array")
    demand(array.dtype in types, f"{name} has the type {array.dtype}", ARRAYS)
    demand(array.shape == shape, f"{name} has the shape {array.shape}, not {shape}", ARRAYS)


def check_flags(array: Any, name: str, shape: tuple[int, ...]) -> None:
    """Raise unless an array of a shape holds flags."""
    check_array(array, name, (np.bool_,), shape)
    # Other bytes than 0 and 1 would be flags that are neither true nor false.
    demand((array.view(np.uint8) <= 1).all(), f"{name} holds what is no flag", ARRAYS)


def _check_codes(codes: NDArray[np.integer], least: int, end: int, what: str) -> None:
    within = not codes.size or (int(codes.min()) >= least and int(codes.max()) < end)
    demand(within, what, ARRAYS)
