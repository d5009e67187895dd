"""How many features are enough: where one more adds nothing but chance.

The best set of every size is held fixed, and the target is permuted within its cells: what the set
explains stays, what others add is chance. Where one or two more features add no more than in
most permutations, the set is enough. Two are tried because two features may tell only together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import false_discovery_control

from misfeat.answers.options import checked_size, of_each_subgroup
from misfeat.answers.significance import LEVEL, PermutationTester
from misfeat.answers.top import TIED_DECIMALS
from misfeat.estimation.significance import PERMUTATIONS
from misfeat.exceptions import Message
from misfeat.runtime.progress import long_work
from misfeat.words import joined, p_words, percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.information.measures import Measure
    from misfeat.selection import Selection

WHAT = "Seeing how many features are enough"
STEP_PERMUTATIONS = 199  # for each step from one size to the next, several a subgroup
AHEAD = 2  # so many more features are tried at once
LITTLE, LITTLE_OF_IT = 0.01, 0.05
"""A set that explains less by this share of the entropy, and of what the other explains, is as good
for whoever acts on it."""
MOST = 5  # sizes above this one are not tried where the size is chosen by itself
MOST_OF_SHORTLIST = 3  # of a wide table, larger sets would be too many


@dataclass(frozen=True)
class Step:
    """The best set of a size; the p-value is NaN beyond the size that is enough."""

    size: int
    features: tuple[str, ...]
    score: float
    low: float
    high: float
    share: float
    adds: float
    p_value: float

    def told(self, target: str) -> Message:
        """What the set tells, in words."""
        whole = self.score / self.share if self.share > 0 else 1.0
        low, high = self.low / whole, self.high / whole
        tells = "tells" if len(self.features) == 1 else "tell"
        between = f" ({percent_between(low, high)})" if low < high else ""
        return Message(
            f"{{names}} {tells} {percent(self.share, low, high)} of what there is to tell about "
            f"{{target}}{between}",
            names=joined(self.features),
            target=target,
        )


@dataclass(frozen=True)
class Enough:
    """How many features are enough for a subgroup.

    `size` is the smallest one beyond which nothing more than chance is added, 0 where no feature
    tells. It is not `settled` where the largest size that was tried still added something.
    """

    subgroup: str
    size: int
    settled: bool
    steps: tuple[Step, ...]
    level: float
    target: str

    @property
    def best(self) -> Step | None:
        """The smallest best set that is as good, give or take little; None where none tells."""
        if not self.size:
            return None
        most = self.steps[self.size - 1].share
        least = most - min(LITTLE, LITTLE_OF_IT * most)
        return next(step for step in self.steps if step.share >= least)

    @property
    def sentence(self) -> Message:
        """The answer in words."""
        return Message("{subgroup}: {told}.", subgroup=self.subgroup, told=self.told)

    @property
    def told(self) -> Message:
        """The same without the subgroup's name and the full stop."""
        if not self.steps:
            return Message("there is nothing to tell about {target}", target=self.target)
        if self.best is None:
            p = p_words(self.steps[0].p_value)
            none = "no feature, nor two together, tells more about {target} than chance would"
            return Message(f"{none} ({p})", target=self.target)
        if self.best.size < self.size:
            p = p_words(self.steps[self.best.size].p_value)
            further = f"one more feature adds more than chance would ({p}), but next to nothing"
        elif not self.settled:
            further = f"sets of more than {len(self.steps)} were not tried, and may tell more"
        elif len(self.steps) == self.size:
            further = "no other feature was recorded"
        else:
            p = p_words(self.steps[self.size].p_value)
            further = f"one more feature adds nothing more than chance ({p})"
        return Message(f"{{told}}; {further}", told=self.best.told(self.target))


def enough_features(
    selection: Selection,
    subgroup: str | None = None,
    size: int | None = None,
    *,
    permutations: int = STEP_PERMUTATIONS,
    level: float = LEVEL,
) -> list[Enough]:
    """How many features are enough, one record a subgroup (`Selection.enough`)."""
    names, scores = selection.subgroup_names(subgroup), selection.set_scores
    # Of a shortlist, sets of one more feature would be too many.
    usual = selection.size + (selection.shortlist is None)
    usual = min(usual, scores.largest_level, len(selection.feature_names))
    largest = checked_size(selection, usual if size is None else size)
    tester = PermutationTester(selection, permutations, None, level)
    known: dict[str, Enough] = selection.remembered(
        ("enough", largest, int(permutations), level), dict
    )
    left = [name for name in names if name not in known]
    answers = of_each_subgroup(
        selection, left, WHAT, lambda name: [enough_of(selection, tester, name, largest, level)]
    )
    known.update(zip(left, answers, strict=True))
    return [known[name] for name in names]


def enough_columns(records: Sequence[Enough]) -> dict[str, list[Any]]:
    """A line a subgroup and size, as columns of a dataframe."""
    lines = [(one, step) for one in records for step in one.steps]
    columns: dict[str, list[Any]] = {"subgroup": [one.subgroup for one, _ in lines]}
    for name in Step.__dataclass_fields__:
        columns[name] = [getattr(step, name) for _, step in lines]
    columns["enough"] = [one.settled and step.size == one.size for one, step in lines]
    return columns


def enough_of(
    selection: Selection, tester: PermutationTester, name: str, largest: int, level: float
) -> Enough:
    """Find the smallest size of a subgroup beyond which nothing more than chance is added."""
    measure, cohort = selection.set_scores.measure, selection.cohorts.position(name)
    if not tester.can_explain(cohort):
        return Enough(name, 0, True, (), level, selection.cohorts.target)
    recorded = int((~measure.missing[cohort]).sum())
    steps: list[Step] = []
    held: tuple[int, ...] = ()
    enough: int | None = None
    before = 0.0
    for size in range(1, min(largest, recorded) + 1):
        p = np.nan
        if enough is None:
            p = tester.p_value(tester.sets_beside(cohort, held, AHEAD))
            if p > level:
                enough = size - 1
        scores = selection.completed(size)
        index = best_recorded(scores, measure.missing[cohort], cohort)
        held = tuple(scores.subsets[index].tolist())
        steps.append(step_of(measure, scores, cohort, index, before, p))
        before = steps[-1].score
    settled = enough is not None or len(steps) == recorded
    size = len(steps) if enough is None else enough
    return Enough(name, size, settled, tuple(steps), level, selection.cohorts.target)


def chosen_size(selection: Selection) -> int:
    """The size that is enough for every subgroup, p-values adjusted for their being several."""
    scores, missing = selection.set_scores, selection.missing
    tester = PermutationTester(selection, PERMUTATIONS, None, LEVEL)
    most = MOST if selection.shortlist is None else MOST_OF_SHORTLIST
    largest = min(most, scores.largest_level, len(selection.feature_names))
    able = filter(tester.can_explain, range(len(missing)))
    held: dict[int, tuple[int, ...]] = dict.fromkeys(able, ())
    n_tests, size = len(held), 0
    with long_work(selection.verbose > 0) as progress:
        while held and size < largest:
            p_values = np.ones(n_tests)  # also of subgroups for which fewer features are enough
            for index, (cohort, members) in enumerate(held.items()):
                if size < (~missing[cohort]).sum():
                    test = tester.test(tester.sets_beside(cohort, members, AHEAD), progress)
                    p_values[index] = test.p_value if test.n_sets else 1.0
            more = false_discovery_control(p_values)[: len(held)] <= LEVEL
            alive = [cohort for cohort, adds in zip(held, more, strict=True) if adds]
            if not alive:
                break
            size += 1
            completed = scores.completed(size, progress)
            best = {c: best_recorded(completed, missing[c], c) for c in alive}
            held = {c: tuple(completed.subsets[index].tolist()) for c, index in best.items()}
    return max(size, 1, len(selection.options.include))


def step_of(
    measure: Measure,
    scores: CompletedScores,
    cohort: int,
    index: int,
    before: float = float("nan"),
    p_value: float = float("nan"),
) -> Step:
    """What one set of a cohort tells, and how much more than the best one of a feature less."""
    score = float(scores.score[cohort, index])
    return Step(
        size=scores.subsets.shape[1],
        features=tuple(measure.features[f] for f in scores.subsets[index]),
        score=score,
        low=float(scores.low[cohort, index]),
        high=float(scores.high[cohort, index]),
        share=score / float(measure.whole[cohort]),
        adds=score - before,
        p_value=p_value,
    )


def best_recorded(scores: CompletedScores, missing: NDArray[np.bool_], cohort: int) -> int:
    """The best set that a cohort recorded; tied ones in the order of columns."""
    recorded = np.flatnonzero(~missing[scores.subsets].any(axis=1))
    rounded = np.round(scores.score[cohort, recorded], TIED_DECIMALS)
    order = np.lexsort((*scores.subsets[recorded].T[::-1], -rounded))
    return int(recorded[order[0]])
