"""Contract checks of completers and of sources of tables; each has a name and runs alone."""

from __future__ import annotations

import pickle
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from misfeat.cohorts.build import CohortRules, build_cohorts
from misfeat.cohorts.coding import Coding
from misfeat.cohorts.model import Cohorts
from misfeat.completion.base import BaseCompleter
from misfeat.completion.completed_scores import CompletedScores, ExactScores, Known
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level, ranks_below
from misfeat.reading.inputs import open_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.reading.inputs import Table


SIZE, REACH = 2, 4
"""Features of the sets that are predicted, and of the largest whose scores may be read."""
NEARLY = 1e-12
CASES = (
    "ordinary",
    "one cohort",
    "a cohort without any feature",
    "a feature that nobody recorded",
    "nothing recorded",
    "nothing missing",
    "gaps",
)
"""What tables have about them."""
WRONG = (("confidence", 1.0), ("confidence", "high"), ("rounds", -1), ("random_state", 0.5))
"""Settings that make no sense."""
EXACT_ARRAYS = ("missing", "ceiling")
ROW_ARRAYS = ("codes", "target_codes", "weights", "offsets", "missing")


@dataclass(frozen=True)
class _Checked:
    """A completer, and whether it may refuse a table without any score."""

    completer: BaseCompleter
    learns: bool

    def with_settings(self, **settings: Any) -> BaseCompleter:
        made: BaseCompleter = clone(self.completer).set_params(**settings)
        return made

    def table(self, case: str = "ordinary") -> Known:
        """Known scores of a table with something about it."""
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

    def demand(self, kept: object, words: str) -> None:
        """Raise an AssertionError that names the completer unless something is kept."""
        demand(kept, f"{self.completer!r}: {words}")


def check_completer(
    completer: BaseCompleter,
    *,
    closed: bool = True,
    seeded: bool = False,
    learns: bool = False,
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
        Whether it draws anew every time unless it has a seed. Else ``random_state=None`` must give
        the same every time.
    learns : bool, default=False
        Whether it may refuse a table that holds no score at all.

    Examples
    --------
    >>> from misfeat.completion import InteractionsCompleter
    >>> check_completer(InteractionsCompleter(rounds=2))
    """
    for check in completer_checks(completer, closed=closed, seeded=seeded, learns=learns):
        check()


def completer_checks(
    completer: BaseCompleter,
    *,
    closed: bool = True,
    seeded: bool = False,
    learns: bool = False,
) -> Iterator[Check]:
    """The checks of `check_completer` one by one, to parametrise a test with.

    Parameters
    ----------
    completer, closed, seeded, learns
        As in `check_completer`.

    Yields
    ------
    Check
        With a name; calling it runs it.

    Examples
    --------
    >>> from misfeat.completion import InteractionsCompleter
    >>> [check.name for check in completer_checks(InteractionsCompleter())][:2]
    ['it_is_a_completer', 'every_score_is_there_and_exact_ones_are_untouched: ordinary']
    """
    asked = _Checked(completer, learns)

    def check(run: Callable[..., None], *args: Any) -> Check:
        name = ": ".join([run.__name__, *(str(arg) for arg in args)])
        return Check(name, partial(run, asked, *args))

    yield check(it_is_a_completer)
    for case in CASES:
        yield check(every_score_is_there_and_exact_ones_are_untouched, case)
    if closed:
        yield check(no_set_scores_lower_than_a_part_of_it)
    yield check(intervals_lie_within_certain_bounds)
    yield check(a_seed_repeats_everything)
    if not seeded:
        yield check(no_seed_is_the_same_every_time)
    yield check(nothing_that_is_given_is_changed)
    yield check(nothing_is_read_of_hidden_features)
    yield check(it_says_what_it_reads_and_needs)
    for setting, value in WRONG:
        yield check(settings_that_make_no_sense_are_refused, setting, value)


def it_is_a_completer(asked: _Checked) -> None:
    """It subclasses `BaseCompleter`, and its settings are arguments of ``__init__``."""
    is_one = isinstance(asked.completer, BaseCompleter)
    asked.demand(is_one, "subclass misfeat.completion.BaseCompleter.")
    for setting in ("confidence", "rounds", "random_state"):
        asked.demand(
            setting in asked.completer.get_params(deep=False),
            f"__init__ lacks {setting}; take it and hand it on to super().__init__.",
        )


def every_score_is_there_and_exact_ones_are_untouched(asked: _Checked, case: str) -> None:
    """Scores within bounds for every set, whatever the table has about it."""
    known, completer = asked.table(case), asked.with_settings(confidence=0.8)
    try:
        completed = completer.complete(known, SIZE)
    except MisfeatError:
        if asked.learns and case == "nothing recorded":
            return
        raise
    asked.demand(
        isinstance(completed, CompletedScores),
        f"complete gave {type(completed).__name__}; it must give CompletedScores.",
    )
    exact = known.exact.by_size[SIZE]
    where = f"in a table with {case}: "
    asked.demand(
        np.array_equal(completed.predicted, np.isnan(exact)),
        f"{where}scores are marked as predicted where there is an exact one.",
    )
    for values in (completed.score, completed.low, completed.high):
        asked.demand(
            np.array_equal(values[~completed.predicted], exact[~completed.predicted]),
            f"{where}an exact score was changed; use Guess and super().complete.",
        )
    lacking = np.isnan(completed.score).any()
    asked.demand(not lacking, f"{where}a score is NaN; guess a number for every set.")
    ordered = (completed.low <= completed.score + NEARLY).all()
    ordered &= (completed.score <= completed.high + NEARLY).all()
    asked.demand(ordered, f"{where}a score lies outside its interval.")


def no_set_scores_lower_than_a_part_of_it(asked: _Checked) -> None:
    """Upward closure, of predictions as well."""
    known, completer = asked.table(), asked.with_settings(confidence=None)
    larger, smaller = (completer.complete(known, m).score for m in (SIZE, SIZE - 1))
    below = smaller[:, ranks_below(level(known.exact.missing.shape[1], SIZE))]
    asked.demand(
        (larger[:, :, None] >= below - NEARLY).all(),
        "a set scores lower than a part of it; leave `combined` as it is.",
    )


def intervals_lie_within_certain_bounds(asked: _Checked) -> None:
    """Certain bounds with ``confidence=None``; a confidence narrows these and moves no score."""
    known = asked.table()
    likely = asked.with_settings(confidence=0.8, rounds=3).complete(known, SIZE)
    certain = asked.with_settings(confidence=None).complete(known, SIZE)
    low, high = known.exact.bounds(SIZE)
    asked.demand(
        np.array_equal(certain.low, low) and np.array_equal(certain.high, high),
        "with confidence=None bounds must be those of known.exact.bounds.",
    )
    asked.demand(
        np.array_equal(likely.score, certain.score),
        "another confidence gives other scores; it must change bounds alone.",
    )
    asked.demand(
        (low <= likely.low).all() and (likely.high <= high).all(),
        "an interval reaches beyond what is certain.",
    )


def a_seed_repeats_everything(asked: _Checked) -> None:
    """The same when asked again, with two threads, of a copy, and after pickling."""
    known, completer = asked.table(), asked.with_settings(confidence=0.8, random_state=0)
    copied, made = clone(completer), type(completer)(**completer.get_params(deep=False))
    asked.demand(
        copied.get_params() == completer.get_params() == made.get_params(),
        "a copy has other settings; store the arguments of __init__ as they are.",
    )
    first, again = completer.complete(known, SIZE), completer.complete(known, SIZE)
    words = "asked again, it says something else; keep nothing that guess reads."
    asked.demand(_same(first, again), words)
    asked.demand(
        _same(first, copied.complete(replace(known, n_jobs=2), SIZE)),
        "with the same seed and two threads a clone says something else; draw from "
        "np.random.default_rng(seed), sum in one order, and keep nothing outside the arguments "
        "of __init__.",
    )
    try:
        pickled = pickle.loads(pickle.dumps(completer))  # noqa: S301
    except (pickle.PicklingError, AttributeError):  # a class that was defined within a function
        return
    again = pickled.complete(known, SIZE)
    asked.demand(_same(first, again), "after pickling it says something else.")


def no_seed_is_the_same_every_time(asked: _Checked) -> None:
    """``random_state=None`` is a seed, too."""
    known = asked.table()
    first, again = (asked.with_settings(random_state=None).complete(known, SIZE) for _ in range(2))
    asked.demand(
        _same(first, again),
        "without a seed it says something else every time; pass seeded=True if that is meant.",
    )


def nothing_that_is_given_is_changed(asked: _Checked) -> None:
    """Neither scores, nor rows, nor its own settings."""
    known, untouched = asked.table("gaps"), asked.table("gaps")
    completer = asked.with_settings(confidence=0.8)
    before = completer.get_params()
    completer.complete(known, SIZE)
    asked.demand(completer.get_params() == before, "complete changed its own settings.")
    pairs = list(zip(known.exact.by_size, untouched.exact.by_size, strict=True))
    for owner, names in (("exact", EXACT_ARRAYS), ("cohorts", ROW_ARRAYS)):
        ours, theirs = getattr(known, owner), getattr(untouched, owner)
        pairs += [(getattr(ours, name), getattr(theirs, name)) for name in names]
    for left, right in pairs:
        same = np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
        asked.demand(same, "complete changed what it was given; work on a copy.")


def nothing_is_read_of_hidden_features(asked: _Checked) -> None:
    """Other values of features that a subgroup lacks change nothing."""
    cohorts = random_cohorts(6, hidden=0.0)
    hidden = np.random.default_rng(6).random(cohorts.missing.shape) < 0.4
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    poison = np.where(hidden[cohort_of].T, (cohorts.codes + 1) % 3, cohorts.codes)
    poisoned = replace(cohorts, codes=poison.astype(cohorts.codes.dtype))
    exact = known_of(cohorts, REACH).exact.hidden(hidden)
    clean, other = (
        asked.with_settings(confidence=None, random_state=0).complete(
            replace(known_of(rows, REACH), exact=exact), SIZE
        )
        for rows in (cohorts, poisoned)
    )
    asked.demand(
        _same(clean, other),
        "it reads features that a subgroup did not record, which is how predictions are "
        "tried out; known.exact.missing says which may not be read.",
    )


def it_says_what_it_reads_and_needs(asked: _Checked) -> None:
    """`reach` and `memory_needed` are numbers that make sense."""
    completer = asked.with_settings()
    within = 3 <= completer.reach(3, 10) <= 10
    asked.demand(within, "reach(size, n_features) must lie between size and n_features.")
    asked.demand(completer.memory_needed(3, 10, 4) >= 0, "memory_needed must not be negative.")


def settings_that_make_no_sense_are_refused(asked: _Checked, setting: str, value: object) -> None:
    """A MisfeatError names the setting and the value."""
    try:
        asked.with_settings(**{setting: value}).complete(asked.table(), SIZE)
    except MisfeatError as error:
        asked.demand(
            f"{setting}={value!r}" in str(error),
            f"the error for {setting}={value!r} does not name it: {error}",
        )
        return
    asked.demand(False, f"{setting}={value!r} is taken; call super()._check_parameters().")


def _same(one: CompletedScores, other: CompletedScores) -> bool:
    names = ("subsets", "score", "low", "high", "predicted", "support")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def cohorts_of(
    codes: NDArray[np.integer],
    target: NDArray[np.integer],
    weights: NDArray[np.int64],
    offsets: Sequence[int] | NDArray[np.integer],
    missing: NDArray[np.bool_],
    n_values: Sequence[int] | None = None,
) -> Cohorts:
    """Cohorts of plain arrays; codes of missing features are kept, to see whether they are read.

    Features have the values that occur unless `n_values` says how many.
    """
    n_values = n_values or [int(line.max(initial=0)) + 1 for line in codes]
    return Cohorts(
        names=tuple(f"cohort {i}" for i in range(len(missing))),
        features=tuple(f"x{f}" for f in range(len(codes))),
        target="y",
        codes=codes,
        target_codes=target,
        weights=weights,
        offsets=np.array(offsets, dtype=np.int64),
        missing=missing,
        categories=tuple(tuple(map(str, range(n))) for n in n_values),
        classes=tuple(map(str, range(int(target.max()) + 1))),
        gap_codes=((),) * len(codes),
    )


def random_cohorts(
    seed: int,
    n_features: int = 6,
    n_cohorts: int = 4,
    cardinality: int = 3,
    hidden: float = 0.4,
    gaps: float = 0.0,
) -> Cohorts:
    """Cohorts of some rows each, drawn at random.

    `hidden` is the share of features that cohorts lack, `gaps` that of values that rows lack.
    """
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 25, size=n_cohorts))])
    n_rows = offsets[-1]
    codes = rng.integers(cardinality, size=(n_features, n_rows)).astype(np.int32)
    codes[rng.random(codes.shape) < gaps] = -1
    return cohorts_of(
        codes,
        rng.integers(3, size=n_rows),
        rng.integers(1, 4, size=n_rows),
        offsets,
        rng.random((n_cohorts, n_features)) < hidden,
        [cardinality] * n_features,
    )


def known_of(cohorts: Cohorts, size: int) -> Known:
    """Mutual information of what was recorded, and the rows."""
    measure = MutualInformation(cohorts)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(cohorts))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    return Known(ExactScores(by_size, measure.missing, measure.ceiling, measure.closed), cohorts)


MOST_VALUES = 10_000
"""Columns with more values are compared by their rows alone."""


class Check(NamedTuple):
    """One thing that an extension has to keep.

    Attributes
    ----------
    name : str
        What it is, as the name of a test.
    run : callable
        Raises an AssertionError where it is not kept.
    """

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run it."""
        self.run()


def demand(kept: object, words: str) -> None:
    """Raise an AssertionError unless something is kept; also where assertions are switched off."""
    if not kept:
        raise AssertionError(words)


def check_source(source: Any, expected: Any) -> None:
    """Raise an AssertionError unless a source gives the table that is expected.

    Parameters
    ----------
    source : object
        An object with a method ``__misfeat_table__``, or whatever `fit` takes as a table.
    expected : dataframe or mapping of columns
        The same table, small and with at least two columns.

    Examples
    --------
    >>> class Ward:
    ...     def __misfeat_table__(self):
    ...         return {"a": [0, 1, 1], "y": [0, 1, 0]}
    >>> check_source(Ward(), {"a": [0, 1, 1], "y": [0, 1, 0]})
    >>> check_source(Ward(), {"a": [0, 1, 1], "y": [0, 1, 1]})
    Traceback (most recent call last):
    ...
    AssertionError: The source: column 'y' holds {0: 2, 1: 1} instead of {0: 1, 1: 2}.
    """
    for check in source_checks(source, expected):
        check()


def source_checks(source: Any, expected: Any) -> Iterator[Check]:
    """The checks of `check_source` one by one, to parametrise a test with.

    Parameters
    ----------
    source, expected
        As in `check_source`.

    Yields
    ------
    Check
        With a name; calling it runs it.
    """
    checks = (
        it_can_be_opened,
        columns_and_rows_are_those_expected,
        values_are_those_expected,
        it_can_be_read_again,
        subgroups_are_those_expected,
    )
    for check in checks:
        yield Check(check.__name__, partial(check, source, expected))


def it_can_be_opened(source: Any, expected: Any) -> None:  # noqa: ARG001
    """It gives something that misfeat reads."""
    with closing(_opened(source)) as table:
        demand(table.names, "The source: it gives a table without columns.")


def columns_and_rows_are_those_expected(source: Any, expected: Any) -> None:
    """The same names in the same order, and as many rows."""
    with closing(_opened(source)) as table, closing(_opened(expected)) as wanted:
        demand(
            table.names == wanted.names,
            f"The source: its columns are {list(table.names)} instead of {list(wanted.names)}.",
        )
        found, rows = table.n_rows(), wanted.n_rows()
        demand(found == rows, f"The source: it has {found} rows instead of {rows}.")


def values_are_those_expected(source: Any, expected: Any) -> None:
    """Every column holds the same values as often; missing ones are null."""
    with closing(_opened(source)) as table, closing(_opened(expected)) as wanted:
        for name in wanted.names:
            found, counts = (one.value_counts(name, MOST_VALUES) for one in (table, wanted))
            if found is None or counts is None:
                demand(found is counts, f"The source: column {name!r} has other values.")
                continue
            held, others = (
                dict(zip(one.values.tolist(), one.counts.tolist(), strict=True))
                for one in (found, counts)
            )
            words = f"The source: column {name!r} holds {held} instead of {others}."
            demand(held == others, words)
            demand(
                found.missing == counts.missing,
                f"The source: column {name!r} lacks {found.missing} values instead of "
                f"{counts.missing}; give null for what is missing.",
            )


def it_can_be_read_again(source: Any, expected: Any) -> None:
    """Opened twice, it gives the same: nothing is used up."""
    for _ in range(2):
        columns_and_rows_are_those_expected(source, expected)


def subgroups_are_those_expected(source: Any, expected: Any) -> None:
    """Coded rows are the same, bit for bit, as those of the table that is expected."""
    with closing(_opened(expected)) as table:
        *_, target = table.names
    found, wanted = (build_cohorts(one, target) for one in (source, expected))
    for name in ("codes", "target_codes", "weights"):
        demand(
            np.array_equal(getattr(found, name), getattr(wanted, name)),
            "The source: rows are coded in another way; check the types of its columns.",
        )


def _opened(source: Any) -> Table:
    try:
        return open_columns(source, CohortRules.parse(None, Coding()).codes)
    except MisfeatError as error:
        raise AssertionError(f"The source cannot be opened: {error}") from error
