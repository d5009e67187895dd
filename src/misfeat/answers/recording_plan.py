"""What to record, where, in which order, and when to stop.

Steps are those of docs/answers/plan.md, put into one order over all subgroups by gain for cost. A
budget is first shared out: of every subgroup at most one bundle is bought, so that all of them
together are expected to gain most (a multiple-choice knapsack, solved exactly by keeping all
choices that nothing cheaper beats).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from misfeat.answers.recording_gains import NOTHING, Bundle, Costs, Gain, RecordingGains, bundles
from misfeat.answers.selection_base import FitResult, checked_size, explainable_subgroups
from misfeat.completion.completer_data import SUPPORT
from misfeat.exceptions import MisfeatError, check_count
from misfeat.messages import Setting

LEAST_SHARE = 0.01
"""A gain of this share of the uncertainty about the target is worth a feature's usual cost."""
NEXT_TO_NOTHING = 0.001
"""Of the uncertainty about the target: steps that are expected to gain less are not listed."""
MOST_CHOICES = 500  # ways to spend part of a budget that are kept while it is shared out
FEWEST_ROWS = 30  # rows of a pilot, at least
SURE = 1.645  # deviations to either side of an interval of 90 %


@dataclass(frozen=True)
class PlanStep:
    """One step of a plan: features that one subgroup should record together.

    Its attributes are the columns that `Selection.plan` explains.
    """

    step: int
    subgroup: str
    features: tuple[str, ...]
    gain: float
    low: float
    high: float
    probability: float
    worth: bool
    cost: float
    gain_per_cost: float
    total_gain: float
    total_cost: float
    best_set: tuple[str, ...]
    before: float
    after_low: float
    after_high: float
    rows: int | None
    precision: float
    support: str
    unsettled: tuple[str, ...]
    settled_by: str


def recording_plan(
    selection: FitResult,
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
        raise MisfeatError(f"{Setting('budget', budget)}; it must be above 0, or None.")
    prices = Costs(selection, costs)
    names = explainable_subgroups(selection, subgroup)

    def steps() -> list[PlanStep]:
        usual = prices.usual()
        able = [n for n in names if selection.missing[selection.cohorts.position(n)].any()]
        gains = {name: RecordingGains(selection, name, size, together=True) for name in able}
        plans = {name: _SubgroupPlan(selection, gains[name], prices, usual, rows) for name in able}
        if budget is None:
            for name, own in plans.items():
                own.record(gains[name].considered)
        else:
            for name, bundle in _within(float(budget), gains, prices).items():
                plans[name].record(sorted(bundle))
            while True:  # what is left over goes to the highest gain for cost
                left = float(budget) - sum(
                    step.cost for own in plans.values() for step in own.steps
                )
                next_steps = [own.best_step(left=left) for own in plans.values()]
                offers = [step for step in next_steps if step is not None]
                if not offers:
                    break
                best = max(offers, key=lambda step: step.gain_per_cost)
                plans[best.subgroup].take(best)
        return _in_order([own.steps for own in plans.values()])

    question = ("plan", subgroup, size, budget, rows, prices.key)
    return selection.remembered(question, steps)


def _within(budget: float, gains: Mapping[str, RecordingGains], costs: Costs) -> dict[str, Bundle]:
    """The bundle that every subgroup should record, so that all gain most for a budget."""
    front: list[tuple[float, float, dict[str, Bundle]]] = [(0.0, 0.0, {})]
    for name, own in gains.items():
        offers = own.gains(NOTHING, list(bundles(own.considered, len(own.considered))))
        menu = [(0.0, 0.0, NOTHING)] + [
            (costs.of_bundle(name, bundle), gain.expected, bundle)
            for bundle, (gain, _) in offers.items()
        ]
        both = [
            (spent + cost, gained + gain, {**chosen, name: bundle})
            for spent, gained, chosen in front
            for cost, gain, bundle in _undominated(menu)
            if spent + cost <= budget
        ]
        front = _undominated(both)
    return front[-1][2]


def _undominated(choices: list[tuple[float, float, Any]]) -> list[tuple[float, float, Any]]:
    """Choices of which none costs as little and gains as much, the cheapest first."""
    kept: list[tuple[float, float, Any]] = []
    for choice in sorted(choices, key=lambda one: (one[0], -one[1])):
        if not kept or choice[1] > kept[-1][1]:
            kept.append(choice)
    return kept if len(kept) <= MOST_CHOICES else kept[:: len(kept) // MOST_CHOICES] + kept[-1:]


class _SubgroupPlan:
    """The steps of one subgroup, each given those before it."""

    def __init__(
        self,
        selection: FitResult,
        gains: RecordingGains,
        costs: Costs,
        usual: float,
        rows: int | None,
    ) -> None:
        self.steps: list[PlanStep] = []
        self._selection, self._gains, self._costs, self._rows = selection, gains, costs, rows
        cohort = selection.cohorts.position(gains.subgroup)
        self._whole = float(selection.set_scores.measure.whole[cohort])
        self._least = LEAST_SHARE * self._whole / usual
        self._recorded: Bundle = NOTHING

    def record(self, features: Sequence[int]) -> None:
        """Take steps that record some features, until they gain almost nothing."""
        while (step := self.best_step(features)) is not None:
            if step.gain < NEXT_TO_NOTHING * self._whole:
                return
            self.take(step)

    def take(self, step: PlanStep) -> None:
        """Add a step."""
        self.steps.append(step)
        self._recorded |= set(map(self._selection.feature_names.index, step.features))

    def best_step(
        self, among: Sequence[int] | None = None, left: float = np.inf
    ) -> PlanStep | None:
        """The step of the highest expected gain for cost, if any costs no more than is left."""
        gains, costs, names = self._gains, self._costs, self._selection.feature_names
        among = gains.considered if among is None else among
        features = [feature for feature in among if feature not in self._recorded]
        cost_of = {b: costs.of_bundle(gains.subgroup, b) for b in bundles(features)}
        offers = gains.gains(self._recorded, [b for b, cost in cost_of.items() if cost <= left])
        if not offers:
            return None
        bundle = max(offers, key=lambda b: offers[b][0].expected / cost_of[b])
        gain, index = offers[bundle]
        least = self._least * cost_of[bundle]
        probability = gain.informs * gain.exceeds(least)
        before = gains.best_set(self._recorded)
        needed, precision = self._pilot(before, index, gain, least)
        pair, where = gains.unsettled(index)
        low, high = gains.bounds(gain, before, index)
        after_low, after_high = gains.interval(index)
        return PlanStep(
            step=0,
            subgroup=gains.subgroup,
            features=tuple(names[f] for f in sorted(bundle)),
            gain=gain.expected,
            low=min(low, gain.expected),
            high=max(high, gain.expected),
            probability=probability,
            worth=bool(not gain.exceeds(least) < 0.5 and gain.expected >= least),
            cost=cost_of[bundle],
            gain_per_cost=gain.expected / cost_of[bundle],
            total_gain=0.0,
            total_cost=0.0,
            best_set=tuple(names[f] for f in gains.features(index)),
            before=gains.score(before),
            after_low=after_low,
            after_high=after_high,
            rows=needed,
            precision=precision,
            support=SUPPORT[gains.support(index)],
            unsettled=pair,
            settled_by=where,
        )

    def _pilot(
        self, before: int | None, after: int, gain: Gain, least: float
    ) -> tuple[int | None, float]:
        """Rows of a pilot, and to how much either way they would make the gain known."""
        # As many rows as asked for; else so many that the gain is known to half of it, or to what
        # would be worth its cost, whatever is more.
        by_rows, by_squares = self._gains.variation(before, after)
        rows = self._rows
        if np.isnan(by_rows):
            return rows, float("nan")
        if rows is None:
            wanted = max(gain.expected / 2.0, least) / SURE
            # by_rows h + by_squares h² = wanted², h being one over the rows
            root = np.sqrt(by_rows**2 + 4.0 * by_squares * wanted**2)
            rows = max(FEWEST_ROWS, ceil((by_rows + root) / (2.0 * wanted**2)))
        return rows, float(SURE * np.sqrt(by_rows / rows + by_squares / rows**2))


def _in_order(by_subgroup: Sequence[Sequence[PlanStep]]) -> list[PlanStep]:
    """The steps of all subgroups, those worth it first, then by gain for cost."""
    waiting = [list(steps) for steps in by_subgroup if steps]
    plan: list[PlanStep] = []
    gained = spent = 0.0
    while waiting:
        first = max(waiting, key=lambda steps: (steps[0].worth, steps[0].gain_per_cost))
        step = first.pop(0)
        gained, spent = gained + step.gain, spent + step.cost
        plan.append(replace(step, step=len(plan) + 1, total_gain=gained, total_cost=spent))
        waiting = [steps for steps in waiting if steps]
    return plan
