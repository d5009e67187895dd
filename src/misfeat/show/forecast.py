"""How long work will take, and how much memory, before it starts.

Both follow from how much there is to do. The seconds below are of one core, as measured by
benchmarks/speed/forecast.py. A few deals of the target are timed where the work is long, and say
how this machine compares. It is no promise.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from misfeat.machine.memory import GIB, in_units
from misfeat.machine.progress import announce, expect, in_words
from misfeat.machine.threads import Work
from misfeat.population.estimates import WHAT as ESTIMATING
from misfeat.selection.chance_tests import DEALING, Dealer
from misfeat.selection.enough import AHEAD
from misfeat.selection.enough import WHAT as SEEING_ENOUGH
from misfeat.selection.leaving_out import MOST_JUDGED
from misfeat.selection.redrawing import WHAT as REDRAWING
from misfeat.selection.resampled import RESAMPLES
from misfeat.selection.scorebook import WHAT as SCORING
from misfeat.selection.trust import WHAT as VALIDATING
from misfeat.show.first_screen.effort import effort_for, has_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.selection.selection import Selection
    from misfeat.show.first_screen.effort import Effort

SCORED = 1.5e-9
"""Seconds to score a set, for every row of a subgroup."""
ESTIMATED = 1.5e-5
"""Seconds to estimate what a set tells in the population of a subgroup."""
PREDICTED = 4e-5
"""Seconds more where it is predicted."""
DEALT = 4e-10
"""Seconds to score a set for one deal, for every row."""
DEALT_ONE_BY_ONE = 1.2e-8
"""The same where rows count only for sets that they have in full."""
ANSWERED_AGAIN = 7
"""Times that all sets are scored and estimated anew to validate."""
FOR_ONCE = 1.0
"""Seconds of a fit however small it is."""
LONG = 3.0
"""Seconds from which on a trial says how fast the machine is."""
WORTH_SAYING = 10.0
"""Seconds from which on the forecast is said."""
MUCH = GIB
"""Bytes from which on it is said, too."""
TRIED = 8
"""Deals of the trial."""
MOST_OFF = 20.0
"""The trial makes a forecast at most so many times longer or shorter."""


@dataclass(frozen=True)
class Ahead:
    """What follows a fit, in one piece of work with it.

    Attributes
    ----------
    tested : bool
        Whether the first screen is asked for.
    validated : bool
        Whether parts of the table are left out.
    redrawn : bool
        Whether rows are drawn anew.
    """

    tested: bool = False
    validated: bool = False
    redrawn: bool = False


_ahead: ContextVar[Ahead] = ContextVar("ahead", default=Ahead())  # noqa: B039


@contextmanager
def work_ahead(ahead: Ahead) -> Iterator[None]:
    """Say what follows a fit within the block, so that a forecast counts it, too.

    Parameters
    ----------
    ahead : Ahead
        What follows.
    """
    token = _ahead.set(ahead)
    try:
        yield
    finally:
        _ahead.reset(token)


def foretell(selection: Selection) -> None:
    """Say how long scoring will take, and what follows it, and how much memory, where it is much.

    What there is not memory enough for is refused here, before any work.

    Parameters
    ----------
    selection : Selection
        The coded table and what is asked of it; nothing of it is scored yet.
    """
    memory = selection.book.memory_needed(selection.size)
    ahead = _ahead.get()
    effort = effort_for(selection, selection.size)
    found = forecast(selection, effort, ahead)
    if sum(found.values()) > LONG and ahead.tested and effort.tested:
        slower = _slowness(selection, effort)
        found = {what: slower * seconds for what, seconds in found.items()}
    expect(found)
    total = sum(found.values())
    if total > WORTH_SAYING or memory > MUCH:
        taken = f"About {in_words(total)} and {in_units(memory)} of memory"
        announce(f"{taken}: {_how_much(selection, effort, ahead)}.")


def forecast(selection: Selection, effort: Effort, ahead: Ahead) -> dict[str, float]:
    """Seconds of every step on a machine like the one that was measured.

    Parameters
    ----------
    selection : Selection
        The coded table and what is asked of it.
    effort : Effort
        What the first screen asks.
    ahead : Ahead
        What follows the fit.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, n_features=8, random_state=0)
    >>> found = SubgroupSelector(data.groups, size=3).fit(data.columns, data.target).selection_
    >>> plain = forecast(found, effort_for(found, 3), Ahead())
    >>> tested = forecast(found, effort_for(found, 3), Ahead(tested=True))
    >>> list(plain), sum(plain.values()) < sum(tested.values())
    (['Scoring feature sets', 'Estimating what holds beyond these rows'], True)
    """
    cores = effective_n_jobs(selection.book.n_jobs)
    found = {SCORING: FOR_ONCE / 2, ESTIMATING: FOR_ONCE / 2}
    found[SCORING] += _scoring(selection, selection.size) / cores
    found[ESTIMATING] += _estimating(selection, selection.size) / cores
    again = found[SCORING] + found[ESTIMATING] - FOR_ONCE
    if ahead.tested and effort.tested:
        found[DEALING] = _dealing(selection, effort, effort.tested) / cores
    if ahead.tested and effort.enough:
        ahead_of_one = _dealing(selection, effort, min(AHEAD, effort.enough))
        found[SEEING_ENOUGH] = effort.enough * ahead_of_one / cores
        if effort.enough > selection.size:
            more = _scoring(selection, effort.enough) + _estimating(selection, effort.enough)
            found[SEEING_ENOUGH] += more / cores
    if ahead.validated:
        found[VALIDATING] = ANSWERED_AGAIN * again * _judged(selection)
    if ahead.redrawn and effort.redrawn:
        found[REDRAWING] = RESAMPLES * again
    return found


def _sets(selection: Selection, largest: int) -> int:
    return sum(comb(len(selection.feature_names), m) for m in range(1, largest + 1))


def _rows(selection: Selection) -> int:
    return sum(cohort.codes.shape[1] for cohort in selection.cohorts)


def _scoring(selection: Selection, largest: int) -> float:
    scored = _sets(selection, largest) * _rows(selection) * _grids(selection)
    return SCORED * scored * selection.book.budget


def _estimating(selection: Selection, largest: int) -> float:
    recorded = 1 - selection.missing.mean(axis=1)
    predicted = float((1 - recorded**largest).sum())
    known = ESTIMATED * len(selection.cohorts) + PREDICTED * predicted
    return known * _sets(selection, largest) * _grids(selection)


def _judged(selection: Selection) -> float:
    """The share of the sets that are answered for again, where they are many."""
    sets = comb(len(selection.feature_names), selection.size) * len(selection.cohorts)
    return min(1.0, MOST_JUDGED / sets)


def _grids(selection: Selection) -> int:
    """How often every set is scored and estimated: for a numeric target, once a grid."""
    return max(1, len(selection.book.measure.parts))


def _dealing(selection: Selection, effort: Effort, largest: int) -> float:
    """Only sets that a subgroup recorded are dealt."""
    each = DEALT_ONE_BY_ONE if has_gaps(selection) else DEALT
    return each * effort.deals * sum(_dealt(selection, largest))


def _dealt(selection: Selection, largest: int) -> list[int]:
    """Sets times rows of every subgroup, for one deal."""
    recorded = (~selection.missing).sum(axis=1).tolist()
    return [
        cohort.codes.shape[1] * sum(comb(count, m) for m in range(1, largest + 1))
        for cohort, count in zip(selection.cohorts, recorded, strict=True)
    ]


def _slowness(selection: Selection, effort: Effort) -> float:
    """How many times longer a few deals of the largest subgroup take than they should."""
    dealt = _dealt(selection, effort.tested)
    largest = int(np.argmax(dealt))
    dealer = Dealer(selection.cohorts, selection.book, effort.deals)
    if not dealer.has_something_to_tell(largest):
        return 1.0
    deals, work = dealer.deals(largest, effort.tested), Work(selection.book.n_jobs)
    deals.scores(0, 1, work)  # compiles what is not yet
    began = time.perf_counter()
    deals.scores(1, 1 + TRIED, work)
    took = time.perf_counter() - began
    each = DEALT_ONE_BY_ONE if has_gaps(selection) else DEALT
    cores = effective_n_jobs(selection.book.n_jobs)
    slower = took * cores / (each * dealt[largest] * TRIED)
    return float(np.clip(slower, 1 / MOST_OFF, MOST_OFF))


def _how_much(selection: Selection, effort: Effort, ahead: Ahead) -> str:
    sets, n_cohorts = comb(len(selection.feature_names), selection.size), len(selection.cohorts)
    said = f"{sets:,} sets of {selection.size} features in {n_cohorts:,} subgroups"
    if n_cohorts == 1:
        said = f"{sets:,} sets of {selection.size} features"
    if ahead.tested and effort.tested:
        said += f", held against up to {effort.deals:,} deals of the target"
    return f"{said}, then validation" if ahead.validated else said
