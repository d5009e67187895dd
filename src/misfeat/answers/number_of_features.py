"""How many features are enough: where there is no evidence that a further one helps.

The best set of every size is held fixed, and the target is permuted within its cells: what the set
explains stays, what others add is chance. Where one or two further features add no more than in
most permutations, the set is enough. Two are tried because they may explain only together, unless
there are very many pairs (`effort_for`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from misfeat.answers.selection_base import FitResult, checked_size, of_each_subgroup
from misfeat.answers.subgroup_significance import AHEAD, LEVEL, PermutationTester, effort_for
from misfeat.answers.top_sets import order_of_sets
from misfeat.completion import CompletedScores
from misfeat.estimation.significance import PERMUTATIONS, false_discovery_control
from misfeat.information.measures import Measure
from misfeat.runtime.progress import long_work

WHAT = "Testing whether a further feature helps"
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


@dataclass(frozen=True)
class Enough:
    """How many features are enough for a subgroup.

    `size` is the smallest one beyond which there is no evidence that a further feature helps, 0
    where there is none that any does, and the largest that was tried where there is evidence still.
    """

    subgroup: str
    size: int
    steps: tuple[Step, ...]  # up to the largest size that was tried
    beyond: float  # p-value of a further feature beside the largest set; NaN where not tested
    n_recorded: int
    level: float
    permutations: int
    adds: float = np.nan  # the share that a further feature adds to the largest set; NaN: not asked

    @property
    def settled(self) -> bool:
        """Whether no further feature is known to help."""
        tried = self.size == len(self.steps) and not self.beyond > self.level
        return not tried or self.size == self.n_recorded

    def recommended(self, size: int, smallest: int = 1) -> Step:
        """The smallest best set that explains as much as that of a size, give or take little."""
        most = self.steps[size - 1].share
        least = most - min(LITTLE, LITTLE_OF_IT * most)
        candidates = self.steps[min(smallest, size) - 1 : size]
        return next(step for step in candidates if step.share >= least)

    def further(self, size: int) -> float:
        """The p-value of a further feature beside the best set of a size."""
        return self.steps[size].p_value if size < len(self.steps) else self.beyond


def enough_features(
    selection: FitResult,
    subgroup: str | None = None,
    size: int | None = None,
    *,
    permutations: int | None = None,
    level: float = LEVEL,
) -> list[Enough]:
    """How many features are enough, one record a subgroup (`Selection.enough`)."""
    names = selection.subgroup_names(subgroup)
    largest = checked_size(selection, size)
    effort = effort_for(selection, largest)
    if permutations is None:
        permutations = effort.step_permutations
    tester = PermutationTester(selection, permutations, None, level)
    known: dict[str, Enough] = selection.remembered(
        ("enough", largest, int(permutations), level), dict
    )

    def of_subgroup(name: str) -> list[Enough]:
        measure, cohort = selection.set_scores.measure, selection.cohorts.position(name)
        recorded = int((~measure.missing[cohort]).sum())
        steps: list[Step] = []
        held: tuple[int, ...] = ()
        enough: int | None = None
        before, beyond = 0.0, np.nan
        most = min(largest, recorded) if tester.can_explain(cohort) else 0
        for size in range(1, most + 2):
            p = np.nan
            if enough is None and most > 0 and size <= recorded:
                p = tester.p_value(tester.sets_beside(cohort, held, effort.ahead))
                if p > level:
                    enough = size - 1
            scores = None
            if size <= most:
                scores = with_included(selection, selection.completed(size), cohort)
            if scores is None or measure.missing[cohort][scores.subsets].any(axis=1).all():
                beyond = p  # the largest was tried, or a search came upon no recorded set
                break
            index = best_recorded(selection, scores, cohort)
            held = tuple(scores.subsets[index].tolist())
            steps.append(step_of(measure, scores, cohort, index, before, p))
            before = steps[-1].score
        found = len(steps) if enough is None else enough
        adds = _gain_beyond(selection, cohort, held) if beyond <= level else np.nan
        tried = (tuple(steps), beyond, recorded, level, tester.permutations)
        return [Enough(name, found, *tried, adds)]

    left = [name for name in names if name not in known]
    answers = of_each_subgroup(selection, left, WHAT, of_subgroup)
    known.update(zip(left, answers, strict=True))
    return [known[name] for name in names]


def _gain_beyond(selection: FitResult, cohort: int, held: tuple[int, ...]) -> float:
    """The largest share of the target that any other recorded feature adds to a set."""
    scores, lacks = selection.set_scores, selection.missing[cohort]
    others = [f for f in np.flatnonzero(~lacks).tolist() if f not in held]
    if not scores.estimate.lists or not others:
        return np.nan
    listed = scores.listed()
    found = listed.of(np.sort([[*held, f] for f in others], axis=1))[0][cohort].max()
    gain = found - listed.of(np.array([sorted(held)]))[0][cohort, 0]
    return float(gain / scores.measure.whole[cohort])


def enough_columns(records: Sequence[Enough]) -> dict[str, list[Any]]:
    """A line a subgroup and size, as columns of a dataframe."""
    lines = [(one, step) for one in records for step in one.steps]
    columns: dict[str, list[Any]] = {"subgroup": [one.subgroup for one, _ in lines]}
    for name in Step.__dataclass_fields__:
        columns[name] = [getattr(step, name) for _, step in lines]
    columns["enough"] = [  # where no further feature is known to help, but next to nothing
        one.size > 0 and step is one.recommended(one.size) and (one.settled or step.size < one.size)
        for one, step in lines
    ]
    return columns


def chosen_size(selection: FitResult) -> int:
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
            best = {c: best_recorded(selection, completed, c) for c in alive}
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
    """What one set of a cohort explains, and how much more than the best of a feature less."""
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


def with_included(selection: FitResult, scores: CompletedScores, cohort: int) -> CompletedScores:
    """Scores of the sets that hold every feature to include, if a cohort recorded one; else all."""
    held = np.ones(len(scores.subsets), dtype=bool)
    for name in selection.options.include:
        held &= (scores.subsets == selection.feature_names.index(name)).any(axis=1)
    recorded = ~selection.missing[cohort][scores.subsets].any(axis=1)
    return scores if held.all() or not (held & recorded).any() else scores.of_sets(held)


def best_recorded(selection: FitResult, scores: CompletedScores, cohort: int) -> int:
    """The best set that a cohort recorded."""
    recorded = np.flatnonzero(~selection.missing[cohort][scores.subsets].any(axis=1))
    alone = selection.completed(1).score
    return int(recorded[order_of_sets(scores.of_sets(recorded), cohort, alone)[0]])
