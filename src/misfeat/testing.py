"""The contract of completers, to be checked in the tests of one; pytest is not needed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from misfeat.cohorts.cohort_data import Cohorts
from misfeat.completion.base import BaseCompleter
from misfeat.completion.completer_data import CompletedScores, ExactScores, Known
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import MutualInformation
from misfeat.lattice.levels import level, ranks_below

__all__ = ["check_completer"]

SIZE, REACH = 2, 4  # features of predicted sets, and of the largest whose scores may be read
NEARLY = 1e-12
Promises: TypeAlias = Iterator[tuple[object, str]]  # what is to hold, and the words where not
CASES = (  # tables that a completer is tried on, by what is particular about them
    "ordinary",
    "one cohort",
    "a cohort without any feature",
    "a feature that nobody recorded",
    "nothing recorded",
    "nothing missing",
    "gaps",
)


def check_completer(
    completer: BaseCompleter, *, closed: bool = True, seeded: bool = False, learns: bool = False
) -> None:
    """Raise an AssertionError unless a completer keeps what every completer has to.

    Parameters
    ----------
    completer : BaseCompleter
        As it would be passed to ``SubgroupSelector(completer=...)``. One that learns should be set
        to learn little: it is asked some forty times.
    closed : bool, default=True
        Whether it promises that no set scores lower than a part of it; `BaseCompleter` sees to it.
    seeded : bool, default=False
        Whether it draws new numbers every time unless seeded. Else ``random_state=None`` must give
        the same every time.
    learns : bool, default=False
        Whether it may refuse a table that holds no score at all.

    Examples
    --------
    >>> from misfeat.completion import InteractionsCompleter
    >>> check_completer(InteractionsCompleter(rounds=2))
    """
    promises = chain(
        _has_settings(completer),
        *(_keeps_exact_scores(completer, case, learns) for case in CASES),
        _keeps_within_bounds(completer, closed),
        _repeats_itself(completer, seeded),
        _reads_nothing_hidden(completer),
    )
    for kept, words in promises:
        if not kept:
            raise AssertionError(f"{completer!r}: {words}")


def _completed(completer: BaseCompleter, known: Known, **settings: Any) -> CompletedScores:
    """What a copy with other settings makes of a table."""
    copy: BaseCompleter = clone(completer).set_params(**settings)
    return copy.complete(known, SIZE)


def _has_settings(completer: BaseCompleter) -> Promises:
    yield isinstance(completer, BaseCompleter), "subclass misfeat.completion.BaseCompleter."
    for name in ("confidence", "rounds", "random_state"):
        words = f"__init__ lacks {name}; take it and hand it on to super().__init__."
        yield name in completer.get_params(deep=False), words
    within = 3 <= completer.reach(3, 10) <= 10
    yield within, "reach(size, n_features) must lie between size and n_features."
    yield completer.memory_needed(3, 10, 4) >= 0, "memory_needed must not be negative."


def _keeps_exact_scores(completer: BaseCompleter, case: str, learns: bool) -> Promises:
    """Exact scores stay what they are, and all others lie within their intervals."""
    known, where = table_with(case), f"in a table with {case}: "
    exact = known.exact.by_size[SIZE].copy()
    try:
        completed = _completed(completer, known, confidence=0.8)
    except MisfeatError:
        if learns and case == "nothing recorded":
            return
        raise
    kind, is_one = type(completed).__name__, isinstance(completed, CompletedScores)
    yield is_one, f"complete gave {kind}; it must give CompletedScores."
    score, predicted = completed.score, completed.predicted
    marked = np.array_equal(predicted, np.isnan(exact))
    yield marked, f"{where}scores are marked as predicted where there is an exact one."
    for values in (score, completed.low, completed.high):
        kept = np.array_equal(values[~predicted], exact[~predicted])
        yield kept, f"{where}an exact score was changed; use Guess and super().complete."
    yield not np.isnan(score).any(), f"{where}a score is NaN; guess a number for every set."
    ordered = (completed.low <= score + NEARLY) & (score <= completed.high + NEARLY)
    yield ordered.all(), f"{where}a score lies outside its interval."


def _keeps_within_bounds(completer: BaseCompleter, closed: bool) -> Promises:
    """A confidence narrows certain bounds, moves no score, and no part scores higher."""
    known = table_with("ordinary")
    likely = _completed(completer, known, confidence=0.8, rounds=3)
    certain = _completed(completer, known, confidence=None)
    low, high = known.exact.bounds(SIZE)
    same = np.array_equal(certain.low, low) and np.array_equal(certain.high, high)
    yield same, "with confidence=None bounds must be those of known.exact.bounds."
    same = np.array_equal(likely.score, certain.score)
    yield same, "another confidence gives other scores; it must change bounds alone."
    within = (low <= likely.low).all() and (likely.high <= high).all()
    yield within, "an interval reaches beyond what is certain."
    smaller = clone(completer).set_params(confidence=None).complete(known, SIZE - 1).score
    parts = smaller[:, ranks_below(level(known.exact.missing.shape[1], SIZE))]
    kept = not closed or (certain.score[:, :, None] >= parts - NEARLY).all()
    yield kept, "a set scores lower than a part of it; leave `combined` as it is."


def _repeats_itself(completer: BaseCompleter, seeded: bool) -> Promises:
    """The same when asked again, with two threads, and of a copy."""
    known = table_with("ordinary")
    unseeded = [_completed(completer, known, random_state=None) for _ in range(2)]
    completer = clone(completer).set_params(confidence=0.8, random_state=0)
    copied, made = clone(completer), type(completer)(**completer.get_params(deep=False))
    same = copied.get_params() == completer.get_params() == made.get_params()
    yield same, "a copy has other settings; store the arguments of __init__ as they are."
    first, again = completer.complete(known, SIZE), completer.complete(known, SIZE)
    yield _same(first, again), "asked again, it says something else; keep nothing that guess reads."
    yield (
        _same(first, copied.complete(replace(known, n_jobs=2), SIZE)),
        "with the same seed and two threads a clone says something else; draw from "
        "np.random.default_rng(seed), sum in one order, and keep nothing outside the arguments "
        "of __init__.",
    )
    yield (
        seeded or _same(*unseeded),
        "without a seed it says something else every time; pass seeded=True if that is meant.",
    )


def _reads_nothing_hidden(completer: BaseCompleter) -> Promises:
    """Other values of features that a subgroup lacks change nothing."""
    cohorts = random_cohorts(6, hidden=0.0)
    hidden = np.random.default_rng(6).random(cohorts.missing.shape) < 0.4
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    poison = np.where(hidden[cohort_of].T, (cohorts.codes + 1) % 3, cohorts.codes)
    poisoned = replace(cohorts, codes=poison.astype(cohorts.codes.dtype))
    exact = known_of(cohorts, REACH).exact.hidden(hidden)
    clean, other = (
        _completed(completer, Known(exact, rows), confidence=None, random_state=0)
        for rows in (cohorts, poisoned)
    )
    yield (
        _same(clean, other),
        "it reads features that a subgroup did not record, which is how predictions are "
        "tried out; known.exact.missing says which may not be read.",
    )


def _same(one: CompletedScores, other: CompletedScores) -> bool:
    names = ("subsets", "score", "low", "high", "predicted", "support")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def table_with(case: str) -> Known:
    """A small table with something particular about it (`CASES`)."""
    cohorts = random_cohorts(3, n_cohorts=1 if case == "one cohort" else 4, hidden=0.3)
    missing = cohorts.missing
    if case == "a cohort without any feature":
        missing[1] = True
    elif case == "a feature that nobody recorded":
        missing[:, 2] = True
    elif case in ("nothing recorded", "nothing missing"):
        missing[:] = case == "nothing recorded"
    elif case == "gaps":
        cohorts.codes[np.random.default_rng(0).random(cohorts.codes.shape) < 0.1] = -1
    return known_of(cohorts, REACH)


def random_cohorts(
    seed: int,
    n_features: int = 6,
    n_cohorts: int = 4,
    cardinality: int = 3,
    hidden: float = 0.4,
    gaps: float = 0.0,
) -> Cohorts:
    """Random rows that lack a share of features, whose codes are there all the same, and values."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 25, size=n_cohorts))])
    n_rows = offsets[-1]
    codes = rng.integers(cardinality, size=(n_features, n_rows)).astype(np.int32)
    codes[rng.random(codes.shape) < gaps] = -1
    target, weights = rng.integers(3, size=n_rows), rng.integers(1, 4, size=n_rows)
    return Cohorts(
        names=tuple(f"cohort {i}" for i in range(n_cohorts)),
        features=tuple(f"x{f}" for f in range(n_features)),
        target="y",
        codes=codes,
        target_codes=target,
        weights=weights,
        offsets=offsets.astype(np.int64),
        missing=rng.random((n_cohorts, n_features)) < hidden,
        categories=(tuple(map(str, range(cardinality))),) * n_features,
        classes=tuple(map(str, range(int(target.max()) + 1))),
        gap_codes=((),) * n_features,
    )


def known_of(cohorts: Cohorts, size: int, *, above_chance: bool = False) -> Known:
    """Mutual information of what was recorded, and the rows."""
    measure = MutualInformation(cohorts, above_chance=above_chance)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(cohorts))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    about = (measure.missing, measure.ceiling, measure.closed, measure.above_chance)
    return Known(ExactScores(by_size, *about), cohorts)
