"""How long work will take, and how much memory, before it starts.

Both follow from how much there is to do, and from what that costs (`misfeat.show.costs`). A few
deals of the target are timed where the work is long, and say how this machine compares. It is no
promise.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from misfeat.estimation.estimates import WHAT as ESTIMATING
from misfeat.machine.memory import GIB, in_units
from misfeat.machine.progress import announce, expect, in_words
from misfeat.machine.threads import Work
from misfeat.selection.chance_tests import DEALING, Dealer
from misfeat.selection.computing import WHAT as SCORING
from misfeat.selection.enough import WHAT as SEEING_ENOUGH
from misfeat.selection.redrawing import WHAT as REDRAWING
from misfeat.selection.trust import WHAT as VALIDATING
from misfeat.show.costs import MEASURED, Shape, passing
from misfeat.show.first_screen.effort import effort_for, has_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.selection.selection import Selection
    from misfeat.show.first_screen.effort import Effort

REPORTING = "Writing the report"
"""What the last step of a run that is saved tells."""
LONG = 3.0
"""Seconds from which on a trial says how fast the machine is."""
WORTH_SAYING = 10.0
"""Seconds from which on the forecast is said."""
MUCH = GIB
"""Bytes from which on it is said, too."""
TRIED = 8
"""Deals of the trial, and more where these are over at once."""
LEAST_TRIAL = 0.02
"""Seconds that a trial should take; of a shorter one, calling is timed rather than dealing."""
MOST_OFF = 20.0
"""The trial makes a forecast at most so many times longer or shorter."""


@dataclass(frozen=True)
class Ahead:
    """What follows a fit, in one piece of work with it."""

    tested: bool = False
    """Whether the first screen is asked for."""
    validated: bool = False
    """Whether parts of the table are left out."""
    redrawn: bool = False
    """Whether rows are drawn anew."""
    reported: bool = False
    """Whether the report is written."""


STEPS = {
    SCORING: "scores of own rows",
    ESTIMATING: "population",
    DEALING: "significance",
    SEEING_ENOUGH: "enough features",
    VALIDATING: "validation",
    REDRAWING: "stability",
    REPORTING: "report",
}
"""What a step is called where its costs are, by what it tells."""
_ahead: ContextVar[Ahead] = ContextVar("ahead", default=Ahead())  # noqa: B039


@contextmanager
def work_ahead(ahead: Ahead) -> Iterator[None]:
    """Say what follows a fit within the block, so that a forecast counts it, too."""
    token = _ahead.set(ahead)
    try:
        yield
    finally:
        _ahead.reset(token)


def foretell(selection: Selection) -> None:
    """Say how long scoring will take, and what follows it, and how much memory, where it is much.

    What there is not memory enough for is refused here, before any work.
    """
    least = selection.book.memory_needed(selection.size)
    ahead = _ahead.get()
    effort = effort_for(selection, selection.size)
    memory = max(least, round(MEASURED.memory(shape_of(selection, effort))))
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
    """Seconds of every step on a machine like the one that was measured."""
    shape, costs = shape_of(selection, effort), MEASURED
    found = {
        SCORING: costs.once / 2 + costs.scoring(shape, shape.size),
        ESTIMATING: costs.once / 2 + costs.estimating(shape, shape.size),
    }
    if ahead.tested and effort.tested:
        found[DEALING] = costs.dealing(shape, effort.tested)
    if ahead.tested and effort.enough:
        found[SEEING_ENOUGH] = costs.seeing_enough(shape)
    if ahead.validated:
        found[VALIDATING] = costs.validating(shape)
    if ahead.redrawn and effort.redrawn:
        found[REDRAWING] = costs.redrawing(shape)
    if ahead.reported:
        found[REPORTING] = costs.reporting(shape)
    cores = effective_n_jobs(selection.book.n_jobs)
    return {what: passing(STEPS[what], seconds, cores) for what, seconds in found.items()}


def shape_of(selection: Selection, effort: Effort) -> Shape:
    """How much there is to do."""
    cohorts = selection.cohorts
    return Shape(
        rows=float(sum(cohort.codes.shape[1] for cohort in cohorts)),
        features=len(selection.feature_names),
        subgroups=len(cohorts),
        size=selection.size,
        values=float(np.mean([len(labels) for labels in cohorts.categories])),
        classes=float(max(len(cohorts.classes), 2)),
        unrecorded=float(selection.missing.mean()),
        tested=effort.tested,
        deals=effort.deals,
        enough=effort.enough,
        step_deals=effort.step_deals,
        redrawn=effort.redrawn,
        grids=max(1, len(selection.book.measure.parts)),
        budget=selection.book.budget,
        gaps=has_gaps(selection),
    )


def _slowness(selection: Selection, effort: Effort) -> float:
    """How many times longer a few deals of the largest subgroup take than they should.

    1 where the subgroup is so small that all its deals are over before they tell anything.
    """
    largest = int(np.argmax([cohort.codes.shape[1] for cohort in selection.cohorts]))
    dealer = Dealer(selection.cohorts, selection.book, effort.deals)
    tried = _deals_to_try(selection, effort, largest)
    if tried is None or not dealer.has_something_to_tell(largest):
        return 1.0
    deals, work = dealer.deals(largest, effort.tested), Work(selection.book.n_jobs)
    deals.scores(0, 1, work)  # compiles what is not yet
    began = time.perf_counter()
    deals.scores(1, 1 + tried, work)
    took = time.perf_counter() - began
    expected = _trial(selection, effort, largest, tried)
    return float(np.clip(took / expected, 1 / MOST_OFF, MOST_OFF))


def _deals_to_try(selection: Selection, effort: Effort, cohort: int) -> int | None:
    """So many deals of a subgroup that they take long enough to be timed; None: there are none."""
    tried = TRIED
    while _trial(selection, effort, cohort, tried) < LEAST_TRIAL:
        tried *= 2
        if tried >= effort.deals:
            return None
    return tried


def _trial(selection: Selection, effort: Effort, cohort: int, deals: int) -> float:
    """Seconds that some deals of a subgroup should take."""
    own = replace(
        shape_of(selection, effort),
        rows=float(selection.cohorts[selection.cohorts.names[cohort]].codes.shape[1]),
        subgroups=1,
        unrecorded=float(selection.missing[cohort].mean()),
        deals=deals,
    )
    cores = effective_n_jobs(selection.book.n_jobs)
    return passing(STEPS[DEALING], MEASURED.dealing(own, effort.tested), cores)


def _how_much(selection: Selection, effort: Effort, ahead: Ahead) -> str:
    sets, n_cohorts = comb(len(selection.feature_names), selection.size), len(selection.cohorts)
    said = f"{sets:,} sets of {selection.size} features in {n_cohorts:,} subgroups"
    if n_cohorts == 1:
        said = f"{sets:,} sets of {selection.size} features"
    if ahead.tested and effort.tested:
        said += f", held against up to {effort.deals:,} deals of the target"
    return f"{said}, then validation" if ahead.validated else said
