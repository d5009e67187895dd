"""What is read from a saved run is checked here, before anything else sees it.

Checksums show damage, not intent: whoever forges a file makes them anew. Compiled kernels do not
look whether a code lies within its table, so the types, shapes and ranges of everything that they
read are checked. Whether scores are those of the rows is not: a forged score harms nobody's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.column_profiles import LOOKS
from misfeat.cohorts.model import NOT_RECORDED
from misfeat.cohorts.weights import MOST_MASS
from misfeat.completion.completed_scores import SUPPORT
from misfeat.estimation.estimands import ABOVE_CHANCE, POPULATION, SAMPLE
from misfeat.lattice.sampling import SAMPLERS
from misfeat.reading.table_answers import EAGER_LIBRARIES
from misfeat.saving.run_folder import ARRAYS, MANIFEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.estimation.estimands import Estimate
    from misfeat.estimation.shortlist import Shortlist
    from misfeat.information.count_tables import CountTables
    from misfeat.information.measures import Measure

CODES = (np.int8, np.int16, np.int32)
MOST_CODES = 2**16
MOST_CODES_WITH_GAPS = 2**15 - 1
"""Kernels hold codes as 16 bits, one of them for the sign where rows lack values."""
MOST_ROWS = 2**53
"""Up to here counts are exact as floating-point numbers."""
MOST_THREADS = 10_000
MOST_DRAWN = 2**62
NEARLY = 1e-6
"""Rounding may make what is the same differ by this share of it."""
TOLERANCE = 1e-7
"""Rounding may leave scores so much beyond their range, in nats or R²."""
LONGEST_SEED = 100
"""Digits of the seed of draws; NumPy's own have 39."""
OPTIONS = {"size", "k", "include", "blocks", "seed", "backend", "settings"}
COMPLETED = ("score", "low", "high", "predicted", "support")
"""The arrays of completed scores of a size; those of a numeric target have a spread as well."""


class ContradictionError(ValueError):
    """What is wrong with a saved run, and in which of its files."""

    def __init__(self, part: str, what: str) -> None:
        super().__init__(what)
        self.part = part


def demand(holds: bool | np.bool_, what: str, part: str = MANIFEST) -> None:
    """Raise unless something holds."""
    if not holds:
        raise ContradictionError(part, what)


def is_count(value: object, least: int = 0, most: int | None = None) -> bool:
    """Whether something is an integer within bounds, and not a flag."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return value >= least and (most is None or value <= most)


def _check_texts(texts: Any, what: str, *, unique: bool = False) -> None:
    """Raise unless something is a tuple of texts, of different ones if `unique`."""
    demand(isinstance(texts, tuple), f"{what}: no tuple")
    demand(all(isinstance(text, str) for text in texts), f"{what}: one that is no text")
    demand(not unique or len(set(texts)) == len(texts), f"{what}: one that is there twice")


def _check_array(
    array: Any, name: str, types: Any, shape: tuple[int, ...], low: float = -np.inf
) -> None:
    """Raise unless an array has one of some types and a shape; numbers are finite, none below."""
    demand(isinstance(array, np.ndarray), f"{name} is no array")
    demand(array.dtype in types, f"{name} has the type {array.dtype}", ARRAYS)
    demand(array.shape == shape, f"{name} has the shape {array.shape}, not {shape}", ARRAYS)
    if np.bool_ in types:
        # Other bytes than 0 and 1 would be flags that are neither true nor false.
        demand((array.view(np.uint8) <= 1).all(), f"{name} holds what is no flag", ARRAYS)
    elif low > -np.inf:
        within = np.isfinite(array).all() and (array >= low).all() and (array <= MOST_ROWS).all()
        demand(within, f"{name}: a number out of range", ARRAYS)


def _check_codes(codes: NDArray[np.integer], least: int, end: int, what: str) -> None:
    within = not codes.size or (int(codes.min()) >= least and int(codes.max()) < end)
    demand(within, what, ARRAYS)


def check_cohorts(cohorts: Cohorts) -> None:
    """Raise unless the rows of all subgroups can be counted, and labels go with them."""
    for name in ("names", "features"):
        _check_texts(getattr(cohorts, name), name, unique=True)
    for name in ("classes", "notes", "seen"):
        _check_texts(getattr(cohorts, name), name)
    demand(isinstance(cohorts.target, str), "the target is no text")
    demand(len(cohorts.names) > 0, "there is no subgroup")
    demand(0 < len(cohorts.classes) <= MOST_CODES, "the number of classes")
    for name in ("categories", "gap_codes"):
        of_features = getattr(cohorts, name)
        whole = isinstance(of_features, tuple) and len(of_features) == len(cohorts.features)
        demand(whole, f"the length of {name}")
    for labels, gaps in zip(cohorts.categories, cohorts.gap_codes, strict=True):
        _check_texts(labels, "categories")
        demand(0 < len(labels) <= MOST_CODES, "the number of categories")
        demand(isinstance(gaps, tuple), "gap_codes are no tuple")
        demand(all(is_count(gap, most=len(labels) - 1) for gap in gaps), "a code of gap_codes")
    demand(isinstance(cohorts.joined, tuple), "joined subgroups are no tuple")
    for pair in cohorts.joined:
        _check_texts(pair, "joined subgroups")
        demand(len(pair) == 2, "a joined subgroup is no pair")
    demand(isinstance(cohorts.columns, tuple), "columns are no tuple")
    for audit in cohorts.columns:
        about = (audit.column, audit.role, audit.treatment, audit.taken_for, audit.example)
        _check_texts((*about, audit.why_suspect), "what is said about a column")
        _check_texts(audit.categories, "categories of a column")
        demand(isinstance(audit.edges, tuple), "edges of a column are no tuple")
        demand(is_count(audit.missing), "the missing rows of a column")
        demand(audit.looks_like in LOOKS, "what a column looks like")
        demand(isinstance(audit.suspects, tuple), "suspected values of a column are no tuple")
    _check_rows(cohorts)


def _check_rows(cohorts: Cohorts) -> None:
    n_cohorts, n_features = len(cohorts.names), len(cohorts.features)
    offsets, weights, codes = cohorts.offsets, cohorts.weights, cohorts.codes
    _check_array(offsets, "cohorts.offsets", (np.int64,), (n_cohorts + 1,))
    demand(offsets[0] == 0 and (offsets[1:] > offsets[:-1]).all(), "the order of offsets", ARRAYS)
    n_rows = int(offsets[-1])
    _check_array(weights, "cohorts.weights", (np.int64,), (n_rows,))
    demand((weights > 0).all(), "a weight that is not positive", ARRAYS)
    demand(weights.sum(dtype=np.float64) <= MOST_ROWS, "the sum of weights", ARRAYS)
    _check_masses(cohorts, n_rows)
    _check_array(cohorts.target_codes, "cohorts.target_codes", CODES, (n_rows,))
    _check_codes(cohorts.target_codes, 0, len(cohorts.classes), "a class that there is not")
    _check_grids(cohorts, n_rows)
    _check_array(codes, "cohorts.codes", CODES, (n_features, n_rows))
    _check_array(cohorts.missing, "cohorts.missing", (np.bool_,), (n_cohorts, n_features))
    for line, labels in zip(codes, cohorts.categories, strict=True):
        _check_codes(line, NOT_RECORDED, len(labels), "a code that there is not")
        gaps = len(labels) > MOST_CODES_WITH_GAPS and bool((line == NOT_RECORDED).any())
        demand(not gaps, "too many categories")
    for cohort, absent in zip(cohorts, cohorts.missing, strict=True):
        unrecorded = (cohort.codes[absent] == NOT_RECORDED).all()
        demand(unrecorded, "values of a feature that was never recorded", ARRAYS)


def _check_grids(cohorts: Cohorts, n_rows: int) -> None:
    """Raise unless the grids of a numeric target are made of its bins, in their order."""
    ranks, grids = cohorts.ranks, cohorts.grids
    demand(isinstance(grids, np.ndarray) and grids.ndim == 2, "cohorts.grids")
    _check_array(grids, "cohorts.grids", CODES, grids.shape)
    _check_array(ranks, "cohorts.ranks", CODES, (n_rows if len(grids) else 0,))
    if not len(grids):
        return
    demand(0 < grids.shape[1] <= MOST_CODES, "the number of bins")
    _check_codes(ranks, 0, grids.shape[1], "a bin that there is not")
    steps = np.diff(grids, axis=1)
    ordered = (grids[:, 0] == 0).all() and ((steps == 0) | (steps == 1)).all()
    demand(ordered, "the order of bins in a grid", ARRAYS)


def _check_masses(cohorts: Cohorts, n_rows: int) -> None:
    """Raise unless rows weigh something, and no subgroup is worth more rows than it has."""
    masses, heaviest, effective = cohorts.masses, cohorts.heaviest, cohorts.effective
    demand((masses is None) == (heaviest is None), "masses, and the heaviest of them")
    demand(masses is None or effective is not None, "masses without effective sizes")
    if masses is not None and heaviest is not None:
        _check_array(masses, "cohorts.masses", (np.int64,), (n_rows,), low=1)
        demand(masses.sum(dtype=np.float64) <= 2 * MOST_MASS, "the sum of masses", ARRAYS)
        _check_array(heaviest, "cohorts.heaviest", (np.float64,), (n_rows,), low=0)
        mean, near = masses / cohorts.weights, 1.0 + NEARLY
        within = (heaviest * near >= mean) & (heaviest <= masses * near)
        demand(bool(within.all()), "a row that weighs more than all of its kind", ARRAYS)
    if effective is not None:
        _check_array(effective, "cohorts.effective", (np.float64,), (len(cohorts.names),), low=0)
        sizes = np.add.reduceat(cohorts.weights, cohorts.offsets[:-1])
        within = (effective >= min(1.0, sizes.min())) & (effective <= 2.0 * sizes)
        demand(bool(within.all()), "an effective size", ARRAYS)


def check_sums(sums: ProductSums, cohorts: Cohorts) -> None:
    """Raise unless sums of products can be those of the same subgroups."""
    demand(sums.names == cohorts.names, "sums are of other subgroups")
    demand(sums.target == cohorts.target, "sums are of another target")
    _check_texts(sums.features, "features", unique=True)
    n_cohorts, n = len(cohorts.names), len(sums.features)
    _check_array(sums.rows, "sums.rows", (np.int64,), (n_cohorts,), low=1)
    _check_array(sums.products, "sums.products", (np.float64,), (n_cohorts, n + 1, n + 1))
    demand(np.isfinite(sums.products).all(), "a sum that is no number", ARRAYS)
    symmetric = np.allclose(sums.products, sums.products.swapaxes(1, 2), rtol=NEARLY)
    demand(symmetric, "sums that are not symmetric", ARRAYS)
    _check_array(sums.missing, "sums.missing", (np.bool_,), (n_cohorts, n))


def check_tables(tables: CountTables, cohorts: Cohorts) -> None:
    """Raise unless count tables can be those of all sets of up to three features."""
    n_cohorts, n_features = cohorts.missing.shape
    n_classes = len(cohorts.classes)
    demand(tables.features == cohorts.features, "the features of tables")
    demand(tables.categories == cohorts.categories, "the categories of tables")
    _check_array(tables.missing, "tables.missing", (np.bool_,), (n_cohorts, n_features))
    demand(np.array_equal(tables.missing, cohorts.missing), "what tables lack", ARRAYS)
    shapes: dict[str, tuple[int, ...]] = {"by_class": (n_cohorts, n_classes)}
    for size, name in enumerate(("singles", "pairs", "triples"), start=1):
        lines = int(tables.starts(size)[-1]) if size <= n_features else 0
        if size > 1 and not getattr(tables, name).size:
            lines = 0  # sets of so many features were not counted
        shapes[name] = (n_cohorts, lines, n_classes)
    for name, shape in shapes.items():
        _check_array(getattr(tables, name), f"tables.{name}", (np.float64,), shape, low=0)
    if tables.effective is not None:
        _check_array(tables.effective, "tables.effective", (np.float64,), (n_cohorts, 3), low=0)
        demand((tables.effective > 0).all(), "what tables are worth", ARRAYS)
    if tables.bias is not None:
        _check_array(tables.bias, "tables.bias", (np.float64,), (n_cohorts, 3, 2))
        demand(np.isfinite(tables.bias).all(), "how far scores of tables are off", ARRAYS)
    if tables.noise is not None:
        _check_array(tables.noise, "tables.noise", (np.float64,), (n_cohorts,), low=1)


def check_estimate(estimate: Estimate) -> None:
    """Raise unless scores are on a scale that there is."""
    demand(estimate.name in (POPULATION, ABOVE_CHANCE, SAMPLE), "the name of the estimate")
    level = estimate.confidence
    demand(level is None or (isinstance(level, float) and 0 < level < 1), "the confidence")


def check_options(options: Mapping[str, Any], features: tuple[str, ...]) -> None:
    """Raise unless the options of a fit go with some features."""
    demand(set(options) <= OPTIONS, "an unknown option")
    size = options["size"]
    demand(is_count(size, least=1, most=len(features)), "the size of sets")
    demand(is_count(options["k"], least=1, most=2**62), "the number of sets")
    include, blocks = options.get("include", ()), options.get("blocks", {})
    _check_texts(include, "include", unique=True)
    known = set(include) <= set(features) and len(include) <= size
    demand(known, "the features to include")
    demand(isinstance(blocks, Mapping), "blocks")
    for name, members in blocks.items():
        demand(isinstance(name, str), "the name of a block")
        _check_texts(members, "the members of a block")
    seed, backend = options.get("seed"), options.get("backend")
    demand(seed is None or is_count(seed), "the seed")
    demand(backend is None or backend in EAGER_LIBRARIES, "the library of answers")
    settings = options.get("settings", {})
    demand(isinstance(settings, Mapping), "settings")
    demand(all(isinstance(text, str) for pair in settings.items() for text in pair), "settings")


def check_shortlist(shortlist: Shortlist, cohorts: Cohorts) -> None:
    """Raise unless what is said of a shortlist can be said of these rows and features."""
    _check_texts(shortlist.left_out, "features that were left out", unique=True)
    apart = not set(shortlist.left_out) & set(cohorts.features)
    demand(apart, "a feature that was kept and left out")
    n_features = len(shortlist.left_out) + len(cohorts.features)
    demand(is_count(shortlist.pairs, most=comb(n_features, 2)), "the pairs that were looked at")
    few = shortlist.outstanding
    counted = few is None or is_count(few, most=len(shortlist.left_out))
    demand(counted, "the features that stand out and were left out")
    demand(is_count(shortlist.rows, least=1, most=MOST_ROWS), "the rows that were looked at")
    held_back = shortlist.held_back
    _check_array(held_back, "shortlist.held_back", (np.int64,), (len(cohorts.weights),))
    within = (held_back >= 0).all() and (held_back <= cohorts.weights).all()
    demand(bool(within), "rows that were held back", ARRAYS)
    in_each = np.add.reduceat(held_back, cohorts.offsets[:-1])
    demand(bool((in_each > 0).all()), "a subgroup of which no row was held back", ARRAYS)


def check_scores(
    held: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], measure: Measure
) -> None:
    """Raise unless saved scores, and what is said of them, go with the rows."""
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
    seed = held["entropy"]
    short = isinstance(seed, str) and len(seed) <= LONGEST_SEED
    demand(short and seed.isascii() and seed.isdecimal(), "the seed of draws")
    demand(is_count(held["drawn"], most=MOST_DRAWN), "the number of draws")
    most = held.get("max_sets")
    demand(most is None or is_count(most), "how many sets are scored")
    completed = (*COMPLETED, "spread") if measure.parts else COMPLETED
    expected = {f"book.exact.{size}" for size in range(held["n_exact"])}
    if measure.parts:
        expected |= {f"book.grids.{size}" for size in range(held["n_exact"])}
    expected |= {f"book.completed.{size}.{name}" for size in sizes for name in completed}
    # Of sizes that were searched, the sets are saved, too.
    expected |= set(arrays) & {f"book.completed.{size}.subsets" for size in sizes}
    demand(set(arrays) == expected, "scores are missing, or there are others", ARRAYS)
    for name in arrays:
        _check_scores_of(name, arrays, measure)


def _check_scores_of(name: str, arrays: Mapping[str, NDArray[Any]], measure: Measure) -> None:
    n_cohorts, n_features = measure.missing.shape
    scores = arrays[name]
    _, kind, size, *attribute = name.split(".")
    sets = arrays.get(f"book.completed.{size}.subsets") if kind == "completed" else None
    n_sets = comb(n_features, int(size)) if sets is None else len(sets)
    shape: tuple[int, ...] = (n_cohorts, n_sets)
    match attribute:
        case ["subsets"]:
            _check_array(scores, name, (np.int64,), (n_sets, int(size)))
            within = (scores >= 0).all() and (scores < n_features).all()
            ascending = bool((np.diff(scores, axis=1) > 0).all())
            demand(bool(n_sets and within and ascending), f"{name}: a set that is none", ARRAYS)
        case ["predicted"]:
            _check_array(scores, name, (np.bool_,), shape)
        case ["support"]:
            _check_array(scores, name, (np.int8,), shape)
            _check_codes(scores, 0, len(SUPPORT), f"{name}: a kind of support that there is not")
        case []:
            shape = (len(measure.parts), *shape) if kind == "grids" else shape
            _check_array(scores, name, (np.float64,), shape)
            demand(not np.isinf(scores).any(), f"{name}: a score that is no number", ARRAYS)
        case _:
            _check_array(scores, name, (np.float64,), shape)
            demand(np.isfinite(scores).all(), f"{name}: one that is no number", ARRAYS)
            most = np.inf if attribute == ["spread"] else measure.ceiling[:, None] + TOLERANCE
            within = (scores >= -TOLERANCE).all() and (scores <= most).all()
            demand(within, f"{name}: one that no score can be", ARRAYS)
