"""The contract of completers, to be checked in the tests of one; pytest is not needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from misfeat.cohorts.model import Cohorts
from misfeat.completion.base import BaseCompleter
from misfeat.completion.completed_scores import CompletedScores, ExactScores, Known
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level, ranks_below

__all__ = ["check_completer"]

SIZE, REACH = 2, 4  # features of predicted sets, and of the largest whose scores may be read
NEARLY = 1e-12
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
    contract = _CompleterContract(completer, closed, learns)
    contract.is_a_completer()
    for case in CASES:
        contract.keeps_exact_scores_and_gives_all_others(case)
    contract.keeps_within_certain_bounds()
    contract.repeats_itself(seeded)
    contract.reads_nothing_of_hidden_features()


class _CompleterContract(NamedTuple):
    """What a completer has to keep, a method each; fields as in `check_completer`."""

    completer: BaseCompleter
    closed: bool
    learns: bool

    def demand(self, kept: object, words: str) -> None:
        """Raise unless something is kept; also where assertions are switched off."""
        if not kept:
            raise AssertionError(f"{self.completer!r}: {words}")

    def complete(self, known: Known, size: int = SIZE, **settings: Any) -> CompletedScores:
        """What a copy with other settings makes of a table."""
        copy: BaseCompleter = clone(self.completer).set_params(**settings)
        return copy.complete(known, size)

    def is_a_completer(self) -> None:
        completer = self.completer
        is_one = isinstance(completer, BaseCompleter)
        self.demand(is_one, "subclass misfeat.completion.BaseCompleter.")
        for name in ("confidence", "rounds", "random_state"):
            words = f"__init__ lacks {name}; take it and hand it on to super().__init__."
            self.demand(name in completer.get_params(deep=False), words)
        within = 3 <= completer.reach(3, 10) <= 10
        self.demand(within, "reach(size, n_features) must lie between size and n_features.")
        self.demand(completer.memory_needed(3, 10, 4) >= 0, "memory_needed must not be negative.")

    def keeps_exact_scores_and_gives_all_others(self, case: str) -> None:
        known = table_with(case)
        try:
            completed = self.complete(known, confidence=0.8)
        except MisfeatError:
            if self.learns and case == "nothing recorded":
                return
            raise
        kind = type(completed).__name__
        is_one = isinstance(completed, CompletedScores)
        self.demand(is_one, f"complete gave {kind}; it must give CompletedScores.")
        exact, where = known.exact.by_size[SIZE], f"in a table with {case}: "
        marked = np.array_equal(completed.predicted, np.isnan(exact))
        self.demand(marked, f"{where}scores are marked as predicted where there is an exact one.")
        score, low, high = completed.score, completed.low, completed.high
        for values in (score, low, high):
            kept = np.array_equal(values[~completed.predicted], exact[~completed.predicted])
            words = f"{where}an exact score was changed; use Guess and super().complete."
            self.demand(kept, words)
        lacking = np.isnan(score).any()
        self.demand(not lacking, f"{where}a score is NaN; guess a number for every set.")
        ordered = (low <= score + NEARLY).all() and (score <= high + NEARLY).all()
        self.demand(ordered, f"{where}a score lies outside its interval.")

    def keeps_within_certain_bounds(self) -> None:
        """A confidence narrows certain bounds, moves no score, and no part scores higher."""
        known = table_with("ordinary")
        likely = self.complete(known, confidence=0.8, rounds=3)
        certain = self.complete(known, confidence=None)
        low, high = known.exact.bounds(SIZE)
        same = np.array_equal(certain.low, low) and np.array_equal(certain.high, high)
        self.demand(same, "with confidence=None bounds must be those of known.exact.bounds.")
        same = np.array_equal(likely.score, certain.score)
        self.demand(same, "another confidence gives other scores; it must change bounds alone.")
        within = (low <= likely.low).all() and (likely.high <= high).all()
        self.demand(within, "an interval reaches beyond what is certain.")
        smaller = self.complete(known, SIZE - 1, confidence=None).score
        parts = smaller[:, ranks_below(level(known.exact.missing.shape[1], SIZE))]
        kept = not self.closed or (certain.score[:, :, None] >= parts - NEARLY).all()
        self.demand(kept, "a set scores lower than a part of it; leave `combined` as it is.")

    def repeats_itself(self, seeded: bool) -> None:
        """The same when asked again, with two threads, and of a copy."""
        known = table_with("ordinary")
        completer = clone(self.completer).set_params(confidence=0.8, random_state=0)
        copied, made = clone(completer), type(completer)(**completer.get_params(deep=False))
        same = copied.get_params() == completer.get_params() == made.get_params()
        self.demand(same, "a copy has other settings; store the arguments of __init__ as they are.")
        first, again = completer.complete(known, SIZE), completer.complete(known, SIZE)
        words = "asked again, it says something else; keep nothing that guess reads."
        self.demand(_same(first, again), words)
        self.demand(
            _same(first, copied.complete(replace(known, n_jobs=2), SIZE)),
            "with the same seed and two threads a clone says something else; draw from "
            "np.random.default_rng(seed), sum in one order, and keep nothing outside the arguments "
            "of __init__.",
        )
        unseeded = [self.complete(known, random_state=None) for _ in range(2)]
        self.demand(
            seeded or _same(*unseeded),
            "without a seed it says something else every time; pass seeded=True if that is meant.",
        )

    def reads_nothing_of_hidden_features(self) -> None:
        """Other values of features that a subgroup lacks change nothing."""
        cohorts = random_cohorts(6, hidden=0.0)
        hidden = np.random.default_rng(6).random(cohorts.missing.shape) < 0.4
        cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
        poison = np.where(hidden[cohort_of].T, (cohorts.codes + 1) % 3, cohorts.codes)
        poisoned = replace(cohorts, codes=poison.astype(cohorts.codes.dtype))
        exact = known_of(cohorts, REACH).exact.hidden(hidden)
        clean, other = (
            self.complete(Known(exact, rows), confidence=None, random_state=0)
            for rows in (cohorts, poisoned)
        )
        self.demand(
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


def known_of(cohorts: Cohorts, size: int) -> Known:
    """Mutual information of what was recorded, and the rows."""
    measure = MutualInformation(cohorts)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(cohorts))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    return Known(ExactScores(by_size, measure.missing, measure.ceiling, measure.closed), cohorts)
