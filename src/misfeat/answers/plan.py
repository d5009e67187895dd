"""What to record, where, in which order, and when to stop.

In every subgroup, bundles of one to three unrecorded features are taken one after the other, each
time the one with the highest expected gain for its cost, given that those before it are recorded.
The steps of all subgroups are then put into one order by gain for cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from misfeat.answers.options import checked_size, explainable_subgroups, feature_index
from misfeat.answers.recording_gains import NOTHING, RecordingGains, bundles
from misfeat.completion.completed_scores import SUPPORT
from misfeat.exceptions import MisfeatError, Setting, check_count, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.answers.recording_gains import Bundle, Gain
    from misfeat.selection import Selection

LEAST_SHARE = 0.01
"""A gain of this share of the uncertainty about the target is worth a feature's usual cost."""
NEXT_TO_NOTHING = 0.001
"""Of the uncertainty about the target: steps that are expected to gain less are not listed."""
FEWEST_ROWS = 30
"""Rows of a pilot, at least."""
SURE = 1.645
"""Deviations to either side of an interval of 90 %."""


@dataclass(frozen=True)
class PlanStep:
    """One step of a plan: features that one subgroup should record together.

    Its attributes are the columns that `Selection.plan` explains.
    """

    subgroup: str
    features: tuple[str, ...]
    gain: float
    low: float
    high: float
    probability: float
    worth: bool
    cost: float
    best_set: tuple[str, ...]
    before: float
    rows: int | None
    precision: float
    support: str
    unsettled: tuple[str, ...]
    settled_by: str
    step: int = 0
    total_gain: float = 0.0
    total_cost: float = 0.0

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "step", "subgroup", "features", "gain", "low", "high", "probability", "worth", "cost",
        "total_gain", "total_cost", "best_set", "before", "rows", "precision", "support",
        "unsettled", "settled_by",
    )  # fmt: skip

    @property
    def gain_per_cost(self) -> float:
        """The expected gain for every unit of cost."""
        return self.gain / self.cost


class Costs:
    """What recording features costs, by feature, or by feature and subgroup."""

    def __init__(self, selection: Selection, costs: Mapping[str, Any] | None) -> None:
        if costs is not None and not isinstance(costs, Mapping):
            raise MisfeatError(
                f"{Setting('costs', costs)}; it must map features to what recording them costs, "
                "such as {'mri': 400}, or to costs by subgroup."
            )
        self._costs: dict[str, Any] = {}
        for name, given in (costs or {}).items():
            feature_index(selection, name, "a feature with a cost")
            by_subgroup = given if isinstance(given, Mapping) else {"*": given}
            self._costs[name] = {
                place if place == "*" else selection.subgroup_names(place)[0]: _cost(name, cost)
                for place, cost in by_subgroup.items()
            }
        self._selection = selection

    def of(self, subgroup: str, feature: int) -> float:
        """The cost of one feature in one subgroup."""
        given = self._costs.get(self._selection.feature_names[feature], {})
        return float(given.get(subgroup, given.get("*", 1.0)))

    def usual(self) -> float:
        """The mean cost of all features that some subgroup did not record."""
        cohorts, features = np.nonzero(self._selection.missing)
        names = self._selection.cohorts.names
        costs = [self.of(names[c], int(f)) for c, f in zip(cohorts, features, strict=True)]
        return float(np.mean(costs)) if costs else 1.0


def _cost(feature: str, cost: object) -> float:
    number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
    if not number or not 0 < cost < np.inf:  # type: ignore[operator]
        setting = Setting("costs", cost, column=feature)
        raise MisfeatError(f"{setting}; it must be above 0, and finite.")
    return float(cost)  # type: ignore[arg-type]


def recording_plan(
    selection: Selection,
    subgroup: str | None = None,
    *,
    budget: float | None = None,
    costs: Mapping[str, Any] | None = None,
    rows: int | None = None,
    size: int | None = None,
) -> list[PlanStep]:
    """The steps of a plan in their order (`Selection.plan`)."""
    size = checked_size(selection, size)
    check_count(rows, "rows", none=True)
    is_number = isinstance(budget, int | float | np.number) and not isinstance(budget, bool)
    if budget is not None and not (is_number and budget > 0):
        raise MisfeatError(f"{Setting('budget', shortened(budget))}; it must be above 0, or None.")
    prices = Costs(selection, costs)
    usual = prices.usual()
    by_subgroup = {
        name: list(_steps_of(selection, name, size, prices, usual, rows))
        for name in explainable_subgroups(selection, subgroup)
    }
    return _in_order(by_subgroup, np.inf if budget is None else float(budget))


def _steps_of(
    selection: Selection,
    subgroup: str,
    size: int,
    costs: Costs,
    usual: float,
    rows: int | None,
) -> Iterator[PlanStep]:
    """The steps of one subgroup, each given those before it."""
    gains = RecordingGains(selection, subgroup, size, together=True)
    names = selection.feature_names
    whole = float(selection.set_scores.measure.ceiling[selection.cohorts.position(subgroup)])
    recorded: Bundle = NOTHING
    while left := [feature for feature in gains.considered if feature not in recorded]:
        cost_of = {b: sum(costs.of(subgroup, f) for f in b) for b in bundles(left)}
        offers = gains.gains(recorded, list(cost_of))
        if not offers:
            return
        bundle = max(offers, key=lambda b: offers[b][0].expected / cost_of[b])
        gain, index = offers[bundle]
        if gain.expected < NEXT_TO_NOTHING * whole:
            return
        least = LEAST_SHARE * whole * cost_of[bundle] / usual
        probability = gain.exceeds(least)
        before = gains.best_set(recorded)
        needed, precision = _pilot(gains, before, index, gain, least, rows)
        pair, where = gains.unsettled(index)
        low, high = gain.interval(selection.confidence or 0.0)
        yield PlanStep(
            subgroup=subgroup,
            features=tuple(names[f] for f in sorted(bundle)),
            gain=gain.expected,
            low=min(low, gain.expected),
            high=max(high, gain.expected),
            probability=probability,
            worth=not probability < 0.5 and gain.expected >= least,
            cost=cost_of[bundle],
            best_set=tuple(names[f] for f in gains.features(index)),
            before=gains.score(before),
            rows=needed,
            precision=precision,
            support=SUPPORT[gains.support(index)],
            unsettled=pair,
            settled_by=where,
        )
        recorded |= bundle


def _pilot(
    gains: RecordingGains,
    before: int | None,
    after: int,
    gain: Gain,
    least: float,
    rows: int | None,
) -> tuple[int | None, float]:
    """Rows of a pilot, and to how much either way they would make the gain known.

    As many rows as asked for; else so many that the gain is known to half of it, or to what would
    be worth its cost, whatever is more.
    """
    by_rows, by_squares = gains.variation(before, after)
    if np.isnan(by_rows):
        return rows, float("nan")
    if rows is None:
        wanted = max(gain.expected / 2.0, least) / SURE
        # by_rows h + by_squares h² = wanted², h being one over the rows
        root = np.sqrt(by_rows**2 + 4.0 * by_squares * wanted**2)
        rows = max(FEWEST_ROWS, ceil((by_rows + root) / (2.0 * wanted**2)))
    return rows, float(SURE * np.sqrt(by_rows / rows + by_squares / rows**2))


def _in_order(by_subgroup: Mapping[str, list[PlanStep]], budget: float) -> list[PlanStep]:
    """The steps of all subgroups, highest gain for cost first, as far as the budget goes."""
    waiting = {name: list(steps) for name, steps in by_subgroup.items()}
    plan: list[PlanStep] = []
    gained = spent = 0.0
    while True:
        next_steps = {
            name: steps[0]
            for name, steps in waiting.items()
            if steps and spent + steps[0].cost <= budget
        }
        if not next_steps:
            return plan
        name = max(next_steps, key=lambda n: (next_steps[n].worth, next_steps[n].gain_per_cost))
        step = waiting[name].pop(0)
        gained, spent = gained + step.gain, spent + step.cost
        number = len(plan) + 1
        plan.append(replace(step, step=number, total_gain=gained, total_cost=spent))
