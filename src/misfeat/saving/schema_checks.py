"""What is read from a saved run is checked here, before anything else sees it.

Checksums show damage, not intent: whoever forges a file makes them anew. Compiled kernels do not
look whether a code lies within its table, so the types, shapes and ranges of everything that they
read are checked. Whether scores are those of the rows is not: a forged score harms nobody's memory.
"""

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np

from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts
from misfeat.cohorts.column_profiles import LOOKS
from misfeat.cohorts.product_sums import PERMUTED, ProductSums
from misfeat.cohorts.survival import STATES, UNKNOWN
from misfeat.cohorts.weights import MOST_MASS, MOST_WORTH
from misfeat.completion.completer_data import SUPPORT
from misfeat.estimation.score_estimate import ABOVE_CHANCE, POPULATION, SAMPLE, Estimate
from misfeat.estimation.set_scores import names_of_completed
from misfeat.estimation.shortlist import Shortlist
from misfeat.information.count_tables import CountTables
from misfeat.information.measures import Measure
from misfeat.lattice.sampling import SAMPLERS
from misfeat.reading.table_statistics import EAGER_LIBRARIES
from misfeat.runtime.array_types import Array
from misfeat.saving.run_folder import ARRAYS, MANIFEST

CODES, INTEGERS, FLOATS = (np.int8, np.int16, np.int32), (np.int64,), (np.float64,)
MOST_CODES = 2**16
MOST_CODES_WITH_GAPS = 2**15 - 1  # Of 16 bits, one is for the sign where rows lack values
MOST_ROWS = 2**53  # Up to here counts are exact as floating-point numbers
MOST_THREADS = 10_000
MOST_DRAWN = 2**62
NEARLY = 1e-6  # Rounding may make what is the same differ by this share of it
TOLERANCE = 1e-7  # Rounding may leave scores so much beyond their range, in nats or R²
LONGEST_SEED = 100  # Digits of the seed of draws; NumPy's own have 39
LARGEST, TINY = np.finfo(np.float64).max, np.finfo(np.float64).tiny
OPTIONS = {"size", "k", "include", "blocks", "seed", "backend", "settings"}


class ContradictionError(ValueError):
    """What is wrong with a saved run, and in which of its files."""

    def __init__(self, part: str, what: str) -> None:
        super().__init__(what)
        self.part = part


def demand(holds: bool | np.bool_, what: str, part: str = MANIFEST) -> None:
    """Raise unless something holds."""
    if not holds:
        raise ContradictionError(part, what)


def is_count(value: object, least: int = 0, most: float = np.inf) -> bool:
    """Whether something is an integer within bounds, and not a flag."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _check_texts(texts: Any, what: str, *, unique: bool = False) -> None:
    """Raise unless something is a tuple of texts, of different ones if `unique`."""
    demand(isinstance(texts, tuple), f"{what}: no tuple")
    demand(all(isinstance(text, str) for text in texts), f"{what}: one that is no text")
    demand(not unique or len(set(texts)) == len(texts), f"{what}: one that is there twice")


def _check_array(
    array: Any,
    name: str,
    types: Any,
    shape: tuple[int, ...],
    low: Any = -LARGEST,
    high: Any = LARGEST,
    *,
    nan: bool = False,
) -> None:
    """Raise unless an array has one of some types and a shape, and numbers within bounds."""
    demand(isinstance(array, np.ndarray), f"{name} is no array")
    demand(array.dtype in types, f"{name} has the type {array.dtype}", ARRAYS)
    demand(array.shape == shape, f"{name} has the shape {array.shape}, not {shape}", ARRAYS)
    if array.dtype == np.bool_:
        # Other bytes than 0 and 1 would be flags that are neither true nor false.
        demand((array.view(np.uint8) <= 1).all(), f"{name} holds what is no flag", ARRAYS)
        return
    within = (array >= low) & (array <= high)
    if nan:
        within |= np.isnan(array)
    demand(within.all(), f"{name}: a number out of range", ARRAYS)


def check_cohorts(cohorts: Cohorts) -> None:
    """Raise unless the rows of all subgroups can be counted, and labels go with them."""
    for name in ("names", "features", "classes", "notes", "seen"):
        _check_texts(getattr(cohorts, name), name, unique=name in ("names", "features"))
    demand(isinstance(cohorts.target, str), "the target is no text")
    demand(len(cohorts.names) > 0, "there is no subgroup")
    demand(0 < len(cohorts.classes) <= MOST_CODES, "the number of classes")
    for name in ("categories", "gap_codes", "joined", "columns"):
        demand(isinstance(getattr(cohorts, name), tuple), f"{name}: no tuple")
    demand(len(cohorts.categories) == len(cohorts.features), "the length of categories")
    demand(len(cohorts.gap_codes) == len(cohorts.features), "the length of gap_codes")
    for labels, gaps in zip(cohorts.categories, cohorts.gap_codes, strict=True):
        _check_texts(labels, "categories")
        demand(0 < len(labels) <= MOST_CODES, "the number of categories")
        demand(isinstance(gaps, tuple), "gap_codes: no tuple")
        demand(all(is_count(gap, most=len(labels) - 1) for gap in gaps), "a code of gap_codes")
    for pair in cohorts.joined:
        _check_texts(pair, "joined subgroups")
        demand(len(pair) == 2, "a joined subgroup is no pair")
    for audit in cohorts.columns:
        about = (audit.column, audit.role, audit.treatment, audit.taken_for, audit.example)
        _check_texts((*about, audit.why_suspect), "what is said about a column")
        _check_texts(audit.categories, "categories of a column")
        tuples = isinstance(audit.edges, tuple) and isinstance(audit.suspects, tuple)
        demand(tuples, "edges or suspected values of a column")
        demand(is_count(audit.missing), "the missing rows of a column")
        demand(audit.looks_like in LOOKS, "what a column looks like")
    _check_rows(cohorts)


def _check_rows(cohorts: Cohorts) -> None:
    n_cohorts, n_features = len(cohorts.names), len(cohorts.features)
    offsets, weights, codes = cohorts.offsets, cohorts.weights, cohorts.codes
    _check_array(offsets, "cohorts.offsets", INTEGERS, (n_cohorts + 1,))
    demand(offsets[0] == 0 and (offsets[1:] > offsets[:-1]).all(), "the order of offsets", ARRAYS)
    n_rows = int(offsets[-1])
    _check_array(weights, "cohorts.weights", INTEGERS, (n_rows,), low=1)
    demand(weights.sum(dtype=np.float64) <= MOST_ROWS, "the sum of weights", ARRAYS)
    _check_masses(cohorts, n_rows)
    last = len(cohorts.classes) - 1
    _check_array(cohorts.target_codes, "cohorts.target_codes", CODES, (n_rows,), 0, last)
    _check_grids(cohorts, n_rows)
    n_labels = np.array([len(labels) for labels in cohorts.categories], dtype=np.int64)[:, None]
    _check_array(codes, "cohorts.codes", CODES, (n_features, n_rows), NOT_RECORDED, n_labels - 1)
    gaps = (codes == NOT_RECORDED).any(axis=1, keepdims=True)
    demand(not (gaps & (n_labels > MOST_CODES_WITH_GAPS)).any(), "too many categories")
    _check_array(cohorts.missing, "cohorts.missing", (np.bool_,), (n_cohorts, n_features))
    for cohort, absent in zip(cohorts, cohorts.missing, strict=True):
        unrecorded = (cohort.codes[absent] == NOT_RECORDED).all()
        demand(unrecorded, "values of a feature that was never recorded", ARRAYS)


def _check_grids(cohorts: Cohorts, n_rows: int) -> None:
    """Raise unless the grids of a numeric target are made of its bins, in their order."""
    grids = cohorts.grids
    demand(isinstance(grids, np.ndarray) and grids.ndim == 2, "cohorts.grids")
    n_grids, n_bins = grids.shape
    _check_array(grids, "cohorts.grids", CODES, grids.shape)
    demand(n_grids == 0 or 0 < n_bins <= MOST_CODES, "the number of bins")
    shape = (n_rows if n_grids else 0,)
    _check_array(cohorts.ranks, "cohorts.ranks", CODES, shape, 0, n_bins - 1)
    if cohorts.horizons:
        demand(len(cohorts.horizons) == n_grids, "the number of horizons")
        demand(n_bins % STATES == 0 and {*np.unique(grids)} <= {UNKNOWN, 0, 1}, "states", ARRAYS)
        demand((grids == 1).any(axis=1).all(), "a horizon before all events", ARRAYS)
    elif n_grids:
        steps = np.diff(grids, axis=1)
        ordered = (grids[:, 0] == 0).all() and ((steps == 0) | (steps == 1)).all()
        demand(ordered, "the order of bins in a grid", ARRAYS)


def _check_masses(cohorts: Cohorts, n_rows: int) -> None:
    """Raise unless rows weigh something, and no subgroup is worth far more rows than it has."""
    masses, heaviest, effective = cohorts.masses, cohorts.heaviest, cohorts.effective
    demand((masses is None) == (heaviest is None), "masses, and the heaviest of them")
    demand(masses is None or effective is not None, "masses without effective sizes")
    if masses is not None and heaviest is not None:
        _check_array(masses, "cohorts.masses", INTEGERS, (n_rows,), 1, MOST_ROWS)
        demand(masses.sum(dtype=np.float64) <= 2 * MOST_MASS, "the sum of masses", ARRAYS)
        near = 1.0 + NEARLY  # no row weighs more than all of its kind, nor less than their mean
        low, high = masses / cohorts.weights / near, masses * near
        _check_array(heaviest, "cohorts.heaviest", FLOATS, (n_rows,), low, high)
    shape: tuple[int, ...] = (len(cohorts.names),)
    if effective is not None:
        sizes = np.add.reduceat(cohorts.weights, cohorts.offsets[:-1])
        least = min(1.0, float(sizes.min()))
        _check_array(effective, "cohorts.effective", FLOATS, shape, least, 2 * MOST_WORTH * sizes)
    if (joint := cohorts.joint_effects) is not None:
        demand(effective is not None, "joint effects without effective sizes")
        shape = (*shape, 2, len(cohorts.features) + 1)
        _check_array(joint, "cohorts.joint_effects", FLOATS, shape, -MOST_ROWS, MOST_ROWS)


def check_sums(sums: ProductSums, cohorts: Cohorts) -> None:
    """Raise unless sums of products can be those of the same subgroups."""
    demand(sums.names == cohorts.names, "sums are of other subgroups")
    demand(sums.target == cohorts.target, "sums are of another target")
    _check_texts(sums.features, "features", unique=True)
    n_cohorts, n = len(cohorts.names), len(sums.features)
    _check_array(sums.rows, "sums.rows", INTEGERS, (n_cohorts,), 1, MOST_ROWS)
    _check_array(sums.products, "sums.products", FLOATS, (n_cohorts, n + 1, n + 1))
    symmetric = np.allclose(sums.products, sums.products.swapaxes(1, 2), rtol=NEARLY)
    demand(symmetric, "sums that are not symmetric", ARRAYS)
    _check_array(sums.missing, "sums.missing", (np.bool_,), (n_cohorts, n))
    _check_array(sums.permuted, "sums.permuted", FLOATS, (n_cohorts, 1 + PERMUTED, n + 1))


def check_tables(tables: CountTables, cohorts: Cohorts) -> None:
    """Raise unless count tables can be those of all sets of up to three features."""
    n_cohorts, n_features = cohorts.missing.shape
    n_classes = len(cohorts.classes)
    demand(tables.features == cohorts.features, "the features of tables")
    demand(tables.categories == cohorts.categories, "the categories of tables")
    _check_array(tables.missing, "tables.missing", (np.bool_,), (n_cohorts, n_features))
    demand(np.array_equal(tables.missing, cohorts.missing), "what tables lack", ARRAYS)
    expected: dict[str, tuple[tuple[int, ...], float, float]] = {
        "by_class": ((n_cohorts, n_classes), 0, MOST_ROWS),
        "effective": ((n_cohorts, 3), TINY, MOST_ROWS),
        "bias": ((n_cohorts, 3, 2), -LARGEST, LARGEST),
        "noise": ((n_cohorts,), 1, MOST_ROWS),
    }
    for size, name in enumerate(("singles", "pairs", "triples"), start=1):
        lines = int(tables.starts(size)[-1]) if size <= n_features else 0
        if size > 1 and not getattr(tables, name).size:
            lines = 0  # sets of so many features were not counted
        expected[name] = ((n_cohorts, lines, n_classes), 0, MOST_ROWS)
    for name, (shape, low, high) in expected.items():
        array = getattr(tables, name)
        if array is not None or name not in ("effective", "bias", "noise"):
            _check_array(array, f"tables.{name}", FLOATS, shape, low, high)


def check_estimate(estimate: Estimate) -> None:
    """Raise unless scores are on a scale that there is."""
    demand(estimate.name in (POPULATION, ABOVE_CHANCE, SAMPLE), "the name of the estimate")
    level = estimate.confidence
    demand(level is None or (isinstance(level, float) and 0 < level < 1), "the confidence")


def check_options(options: Mapping[str, Any], features: tuple[str, ...]) -> None:
    """Raise unless the options of a fit go with some features."""
    demand(set(options) <= OPTIONS, "an unknown option")
    size, seed, backend = options["size"], options.get("seed"), options.get("backend")
    demand(is_count(size, least=1, most=len(features)), "the size of sets")
    demand(is_count(options["k"], least=1, most=2**62), "the number of sets")
    demand(seed is None or is_count(seed), "the seed")
    demand(backend is None or backend in EAGER_LIBRARIES, "the library of answers")
    include, blocks = options.get("include", ()), options.get("blocks", {})
    _check_texts(include, "include", unique=True)
    demand(set(include) <= set(features) and len(include) <= size, "the features to include")
    demand(isinstance(blocks, Mapping), "blocks")
    for name, members in blocks.items():
        demand(isinstance(name, str), "the name of a block")
        _check_texts(members, "the members of a block")
    settings = options.get("settings", {})
    demand(isinstance(settings, Mapping), "settings")
    demand(all(isinstance(text, str) for pair in settings.items() for text in pair), "settings")


def check_shortlist(shortlist: Shortlist, cohorts: Cohorts) -> None:
    """Raise unless what is said of a shortlist can be said of these rows and features."""
    left_out, stand_out = shortlist.left_out, shortlist.outstanding
    _check_texts(left_out, "features that were left out", unique=True)
    demand(not set(left_out) & set(cohorts.features), "a feature that was kept and left out")
    most = comb(len(left_out) + len(cohorts.features), 2)
    demand(is_count(shortlist.pairs, most=most), "the pairs that were looked at")
    counted = stand_out is None or is_count(stand_out, most=len(left_out))
    demand(counted, "the features that stand out and were left out")
    demand(is_count(shortlist.rows, least=1, most=MOST_ROWS), "the rows that were looked at")
    rows, weights = shortlist.held_back, cohorts.weights
    _check_array(rows, "shortlist.held_back", INTEGERS, weights.shape, 0, weights)
    in_each = np.add.reduceat(rows, cohorts.offsets[:-1])
    demand(bool((in_each > 0).all()), "a subgroup of which no row was held back", ARRAYS)


def check_scores(held: Mapping[str, Any], arrays: Mapping[str, Array], measure: Measure) -> None:
    """Raise unless saved scores, and what is said of them, go with the rows."""
    n_features = len(measure.features)
    budget, jobs, sizes, seed = held["budget"], held["n_jobs"], held["sizes"], held["entropy"]
    demand(isinstance(budget, float) and 0 < budget <= 1, "the budget")
    demand(isinstance(held["sampler"], str) and held["sampler"] in SAMPLERS, "the sampler")
    known = jobs is None or is_count(jobs, least=-MOST_THREADS, most=MOST_THREADS)
    demand(known and jobs != 0, "the number of threads")
    withheld = measure.rows is None and measure.sums is None
    demand(held.get("rows_withheld", False) is withheld, "whether rows are withheld")
    demand(is_count(held["n_exact"], most=n_features + 1), "the number of sizes")
    demand(isinstance(sizes, list) and len(sizes) <= n_features, "the sizes")
    demand(all(is_count(size, least=1, most=n_features) for size in sizes), "a size")
    short = isinstance(seed, str) and len(seed) <= LONGEST_SEED
    demand(short and seed.isascii() and seed.isdecimal(), "the seed of draws")
    demand(is_count(held["drawn"], most=MOST_DRAWN), "the number of draws")
    most = held.get("max_sets")
    demand(most is None or is_count(most), "how many sets are scored")
    exact = ("exact", "grids") if measure.parts else ("exact",)
    completed = names_of_completed(measure)
    expected = {f"book.{kind}.{size}" for kind in exact for size in range(held["n_exact"])}
    expected |= {f"book.completed.{size}.{name}" for size in sizes for name in completed}
    # Of sizes that were searched, the sets are saved, too.
    expected |= set(arrays) & {f"book.completed.{size}.subsets" for size in sizes}
    demand(set(arrays) == expected, "scores are missing, or there are others", ARRAYS)
    for name in arrays:
        _check_scores_of(name, arrays, measure)


def _check_scores_of(name: str, arrays: Mapping[str, Array], measure: Measure) -> None:
    n_cohorts, n_features = measure.missing.shape
    scores = arrays[name]
    _, kind, size, *attribute = name.split(".")
    sets = arrays.get(f"book.completed.{size}.subsets") if kind == "completed" else None
    n_sets = comb(n_features, int(size)) if sets is None else len(sets)
    shape: tuple[int, ...] = (n_cohorts, n_sets)
    match attribute:
        case ["subsets"]:
            _check_array(scores, name, INTEGERS, (n_sets, int(size)), 0, n_features - 1)
            ascending = bool((np.diff(scores, axis=1) > 0).all())
            demand(n_sets > 0 and ascending, f"{name}: a set that is none", ARRAYS)
        case ["predicted"]:
            _check_array(scores, name, (np.bool_,), shape)
        case ["support"]:
            _check_array(scores, name, (np.int8,), shape, 0, len(SUPPORT) - 1)
        case []:  # exact scores, NaN where a subgroup lacks features
            shape = (len(measure.parts), *shape) if kind == "grids" else shape
            most = LARGEST if kind == "grids" else measure.ceiling[:, None] + TOLERANCE
            least = -LARGEST if measure.above_chance else -TOLERANCE
            _check_array(scores, name, FLOATS, shape, least, most, nan=True)
            demand(size != "0" or not np.isnan(scores).any(), f"{name}: a score is missing", ARRAYS)
        case _:
            most = LARGEST if attribute == ["spread"] else measure.ceiling[:, None] + TOLERANCE
            _check_array(scores, name, FLOATS, shape, -TOLERANCE, most)
