"""Contract checks of a completer."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from misfeat.completion.base import BaseCompleter
from misfeat.completion.model import CompletedScores
from misfeat.exceptions import MisfeatError
from misfeat.lattice import level, ranks_below
from misfeat.testing.checks import Check, demand, run_all
from misfeat.testing.tables import known_of, known_of_sums, random_cohorts, sums_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from misfeat.cohorts.model import Cohorts
    from misfeat.completion.model import Known

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
WRONG = (
    ("confidence", 1.0),
    ("confidence", "high"),
    ("rounds", -1),
    ("random_state", 0.5),
)
"""Settings that make no sense."""


@dataclass(frozen=True)
class _Checked:
    """A completer, and what need not hold of it."""

    completer: BaseCompleter
    measure: str
    closed: bool
    seeded: bool
    learns: bool

    def with_settings(self, **settings: Any) -> BaseCompleter:
        made: BaseCompleter = clone(self.completer).set_params(**settings)
        return made

    def known(self, cohorts: Cohorts) -> Known:
        if self.measure == "r2":
            return known_of_sums(sums_of(cohorts), REACH)
        return known_of(cohorts, REACH)

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
        return self.known(cohorts)

    def says(self, words: str) -> str:
        return f"{self.completer!r}: {words}"


def check_completer(
    completer: BaseCompleter,
    *,
    measure: str = "mutual_info",
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
    measure : {"mutual_info", "r2"}, default="mutual_info"
        What it predicts: scores with the rows, or with sums of products.
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
    run_all(
        completer_checks(completer, measure=measure, closed=closed, seeded=seeded, learns=learns)
    )


def completer_checks(
    completer: BaseCompleter,
    *,
    measure: str = "mutual_info",
    closed: bool = True,
    seeded: bool = False,
    learns: bool = False,
) -> Iterator[Check]:
    """The checks of `check_completer` one by one, to parametrise a test with.

    Parameters
    ----------
    completer, measure, closed, seeded, learns
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
    asked = _Checked(completer, measure, closed, seeded, learns)

    def check(run: Callable[..., None], *args: Any) -> Check:
        name = ": ".join([run.__name__, *(str(arg) for arg in args)])
        return Check(name, partial(run, asked, *args))

    yield check(it_is_a_completer)
    for case in CASES:
        yield check(every_score_is_there_and_exact_ones_are_untouched, case)
    if closed:
        yield check(no_set_scores_lower_than_a_part_of_it)
    yield check(without_a_confidence_bounds_are_certain)
    yield check(intervals_lie_within_certain_bounds)
    yield check(a_seed_repeats_everything)
    if not seeded:
        yield check(no_seed_is_the_same_every_time)
    yield check(asking_again_gives_the_same)
    yield check(nothing_that_is_given_is_changed)
    yield check(nothing_is_read_of_hidden_features)
    yield check(a_copy_says_the_same)
    yield check(it_works_on_after_pickling)
    yield check(it_says_what_it_reads_and_needs)
    for setting, value in WRONG:
        yield check(settings_that_make_no_sense_are_refused, setting, value)


def it_is_a_completer(asked: _Checked) -> None:
    """It subclasses `BaseCompleter`, and its settings are arguments of ``__init__``."""
    demand(
        isinstance(asked.completer, BaseCompleter),
        asked.says("subclass misfeat.completion.BaseCompleter."),
    )
    for setting in ("confidence", "rounds", "random_state"):
        demand(
            setting in asked.completer.get_params(deep=False),
            asked.says(f"__init__ lacks {setting}; take it and hand it on to super().__init__."),
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
    demand(
        isinstance(completed, CompletedScores),
        asked.says(f"complete gave {type(completed).__name__}; it must give CompletedScores."),
    )
    exact = known.exact.by_size[SIZE]
    where = f"in a table with {case}: "
    demand(
        np.array_equal(completed.predicted, np.isnan(exact)),
        asked.says(f"{where}scores are marked as predicted where there is an exact one."),
    )
    for values in (completed.score, completed.low, completed.high):
        demand(
            np.array_equal(values[~completed.predicted], exact[~completed.predicted]),
            asked.says(f"{where}an exact score was changed; use Guess and super().complete."),
        )
    demand(
        not np.isnan(completed.score).any(),
        asked.says(f"{where}a score is NaN; guess a number for every set."),
    )
    ordered = (completed.low <= completed.score + NEARLY).all()
    ordered &= (completed.score <= completed.high + NEARLY).all()
    demand(ordered, asked.says(f"{where}a score lies outside its interval."))


def no_set_scores_lower_than_a_part_of_it(asked: _Checked) -> None:
    """Upward closure, of predictions as well."""
    known, completer = asked.table(), asked.with_settings(confidence=None)
    larger, smaller = (completer.complete(known, m).score for m in (SIZE, SIZE - 1))
    below = smaller[:, ranks_below(level(known.exact.missing.shape[1], SIZE))]
    demand(
        (larger[:, :, None] >= below - NEARLY).all(),
        asked.says("a set scores lower than a part of it; leave `combined` as it is."),
    )


def without_a_confidence_bounds_are_certain(asked: _Checked) -> None:
    """``confidence=None`` gives what parts and the ceiling say."""
    known = asked.table()
    completed = asked.with_settings(confidence=None).complete(known, SIZE)
    low, high = known.exact.bounds(SIZE)
    demand(
        np.array_equal(completed.low, low) and np.array_equal(completed.high, high),
        asked.says("with confidence=None bounds must be those of known.exact.bounds."),
    )


def intervals_lie_within_certain_bounds(asked: _Checked) -> None:
    """A confidence narrows bounds and moves no score."""
    known = asked.table()
    likely = asked.with_settings(confidence=0.8, rounds=3).complete(known, SIZE)
    certain = asked.with_settings(confidence=None).complete(known, SIZE)
    demand(
        np.array_equal(likely.score, certain.score),
        asked.says("another confidence gives other scores; it must change bounds alone."),
    )
    demand(
        (certain.low <= likely.low).all() and (likely.high <= certain.high).all(),
        asked.says("an interval reaches beyond what is certain."),
    )


def a_seed_repeats_everything(asked: _Checked) -> None:
    """The same with one thread and with two."""
    known = asked.table()
    first = asked.with_settings(confidence=0.8, random_state=0).complete(known, SIZE)
    other = asked.with_settings(confidence=0.8, random_state=0)
    again = other.complete(replace(known, n_jobs=2), SIZE)
    demand(
        _same(first, again),
        asked.says(
            "with the same seed and two threads it says something else; draw from "
            "np.random.default_rng(seed), and sum in one order."
        ),
    )


def no_seed_is_the_same_every_time(asked: _Checked) -> None:
    """``random_state=None`` is a seed, too."""
    known = asked.table()
    first, again = (asked.with_settings(random_state=None).complete(known, SIZE) for _ in range(2))
    demand(
        _same(first, again),
        asked.says(
            "without a seed it says something else every time; pass seeded=True if that is meant."
        ),
    )


def asking_again_gives_the_same(asked: _Checked) -> None:
    """What it keeps of one question does not change the next."""
    known, completer = asked.table(), asked.with_settings(confidence=0.8, random_state=0)
    demand(
        _same(completer.complete(known, SIZE), completer.complete(known, SIZE)),
        asked.says("asked again, it says something else; keep nothing that guess reads."),
    )


def nothing_that_is_given_is_changed(asked: _Checked) -> None:
    """Neither scores, nor rows, nor its own settings."""
    known, untouched = asked.table("gaps"), asked.table("gaps")
    completer = asked.with_settings(confidence=0.8)
    before = completer.get_params()
    completer.complete(known, SIZE)
    demand(completer.get_params() == before, asked.says("complete changed its own settings."))
    held, arrays = "cohorts", ["codes", "target_codes", "weights", "offsets", "missing"]
    if asked.measure == "r2":
        held, arrays = "sums", ["products", "rows", "missing"]
    pairs = list(zip(known.exact.by_size, untouched.exact.by_size, strict=True))
    for owner, names in (("exact", ["missing", "ceiling"]), (held, arrays)):
        sides = getattr(known, owner), getattr(untouched, owner)
        pairs += [(getattr(sides[0], name), getattr(sides[1], name)) for name in names]
    for left, right in pairs:
        same = np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
        demand(same, asked.says("complete changed what it was given; work on a copy."))


def nothing_is_read_of_hidden_features(asked: _Checked) -> None:
    """Other values of features that a subgroup lacks change nothing."""
    cohorts = random_cohorts(6, hidden=0.0)
    hidden = np.random.default_rng(6).random(cohorts.missing.shape) < 0.4
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    poison = np.where(hidden[cohort_of].T, (cohorts.codes + 1) % 3, cohorts.codes)
    poisoned = replace(cohorts, codes=poison.astype(cohorts.codes.dtype))
    exact = asked.known(cohorts).exact.hidden(hidden)
    clean, other = (
        asked.with_settings(confidence=None, random_state=0).complete(
            replace(asked.known(rows), exact=exact), SIZE
        )
        for rows in (cohorts, poisoned)
    )
    demand(
        _same(clean, other),
        asked.says(
            "it reads features that a subgroup did not record, which is how predictions are "
            "tried out; known.exact.missing says which may not be read."
        ),
    )


def a_copy_says_the_same(asked: _Checked) -> None:
    """`clone` and ``type(completer)(**params)`` make the same completer."""
    known, completer = asked.table(), asked.with_settings(confidence=0.8, random_state=0)
    copied = clone(completer)
    made = type(completer)(**completer.get_params(deep=False))
    demand(
        copied.get_params() == completer.get_params() == made.get_params(),
        asked.says("a copy has other settings; store the arguments of __init__ as they are."),
    )
    demand(
        _same(completer.complete(known, SIZE), copied.complete(known, SIZE)),
        asked.says("a clone says something else; keep nothing outside the arguments of __init__."),
    )


def it_works_on_after_pickling(asked: _Checked) -> None:
    """Fresh or used; a class that was defined within a function cannot be pickled."""
    known, completer = asked.table(), asked.with_settings(confidence=0.8, random_state=0)
    try:
        fresh = pickle.loads(pickle.dumps(completer))  # noqa: S301
    except (pickle.PicklingError, AttributeError):
        return
    first = completer.complete(known, SIZE)
    used = pickle.loads(pickle.dumps(completer))  # noqa: S301
    demand(
        _same(first, fresh.complete(known, SIZE)) and _same(first, used.complete(known, SIZE)),
        asked.says("after pickling it says something else."),
    )


def it_says_what_it_reads_and_needs(asked: _Checked) -> None:
    """`reach` and `memory_needed` are numbers that make sense."""
    completer = asked.with_settings()
    demand(
        3 <= completer.reach(3, 10) <= 10,
        asked.says("reach(size, n_features) must lie between size and n_features."),
    )
    demand(
        completer.memory_needed(3, 10, 4) >= 0,
        asked.says("memory_needed must not be negative."),
    )


def settings_that_make_no_sense_are_refused(asked: _Checked, setting: str, value: object) -> None:
    """A MisfeatError names the setting and the value."""
    try:
        asked.with_settings(**{setting: value}).complete(asked.table(), SIZE)
    except MisfeatError as error:
        demand(
            f"{setting}={value!r}" in str(error),
            asked.says(f"the error for {setting}={value!r} does not name it: {error}"),
        )
        return
    raise AssertionError(
        asked.says(f"{setting}={value!r} is taken; call super()._check_parameters().")
    )


def _same(one: CompletedScores, other: CompletedScores) -> bool:
    names = ("subsets", "score", "low", "high", "predicted", "support")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
