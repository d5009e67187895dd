"""How many features are enough: where one more adds nothing but chance.

The best set of every size is held fixed, and the target is dealt out anew within its cells: what
the set tells stays, what others add is chance. Where one or two more features add no more than in
most of these deals, the set is enough. Two are tried because two features may tell only together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import false_discovery_control

from misfeat.selection.ranking import TIED_DECIMALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.machine.progress import Progress
    from misfeat.selection.chance_tests import Dealer

AHEAD = 2
"""So many more features are tried at once."""
MOST = 5
"""Sizes above this one are not tried where the size is chosen by itself."""


@dataclass(frozen=True)
class Step:
    """The best set of one size, and whether it tells more than the best one of a feature less.

    Attributes
    ----------
    size : int
        Features of the set.
    features : tuple of str
        The best set of them that the subgroup recorded.
    score, low, high : float
        What it tells, and its interval.
    share : float
        The score over what there is to tell.
    adds : float
        By how much the best score rises with the last feature.
    p_value : float
        How likely chance alone lets one or two features more than the best set with one feature
        less tell as much more; NaN beyond the size that is enough, where no more was asked.
    """

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

    Attributes
    ----------
    subgroup : str
        Its name.
    size : int
        The smallest size beyond which nothing more than chance is added; 0 where no feature tells.
    settled : bool
        Whether that was seen: False where the largest size that was tried still added something.
    steps : tuple of Step
        The best set of every size.
    level : float
        P-values up to this one count as more than chance.
    target : str
        What is told about.
    """

    subgroup: str
    size: int
    settled: bool
    steps: tuple[Step, ...]
    level: float
    target: str

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if not self.steps:
            return f"{self.subgroup}: there is nothing to tell about {self.target}."
        if self.size == 0:
            p = self.steps[0].p_value
            return (
                f"{self.subgroup}: no feature, nor two together, tells more about {self.target} "
                f"than chance would ({_p(p)})."
            )
        best = self.steps[self.size - 1]
        told = (
            f"{self.subgroup}: {_joined(best.features)} tell{'s' if self.size == 1 else ''} "
            f"{100 * best.share:.0f} % of what there is to tell about {self.target}"
        )
        if not self.settled:
            return f"{told}; larger sets were not tried, and may tell more."
        if len(self.steps) == self.size:
            return f"{told}; no other feature was recorded."
        more = self.steps[self.size]
        return f"{told}; one more feature adds nothing more than chance ({_p(more.p_value)})."


def _p(value: float) -> str:
    return f"p = {value:.3f}" if value >= 0.0015 else "p ≤ 0.001"


def _joined(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def enough_of(
    dealer: Dealer,
    cohort: int,
    completed: Callable[[int], CompletedScores],
    largest: int,
    level: float,
    progress: Progress | None = None,
) -> Enough:
    """Find the smallest size of a cohort beyond which nothing more than chance is added.

    Parameters
    ----------
    dealer : Dealer
        Deals the target out.
    cohort : int
        Which cohort.
    completed : callable
        The scores of all sets of a size.
    largest : int
        Sizes above this one are not tried.
    level : float
        P-values up to this one count as more than chance.
    progress : callable, default=None
        Told how many deals were made.
    """
    measure, name = dealer.book.measure, dealer.cohorts.names[cohort]
    if not dealer.has_something_to_tell(cohort):
        return Enough(name, 0, True, (), level, dealer.cohorts.target)
    recorded = int((~measure.missing[cohort]).sum())
    steps: list[Step] = []
    held: tuple[int, ...] = ()
    found: int | None = None
    before = 0.0
    for size in range(1, min(largest, recorded) + 1):
        p = np.nan
        if found is None:
            p = _p_of_more(dealer, cohort, held, progress)
            if p > level:
                found = size - 1
        scores = completed(size)
        place = _best_recorded(scores, measure.missing[cohort], cohort)
        held = tuple(scores.subsets[place].tolist())
        score = float(scores.score[cohort, place])
        steps.append(
            Step(
                size=size,
                features=tuple(measure.features[f] for f in held),
                score=score,
                low=float(scores.low[cohort, place]),
                high=float(scores.high[cohort, place]),
                share=score / float(measure.whole[cohort]),
                adds=score - before,
                p_value=p,
            )
        )
        before = score
    settled = found is not None or len(steps) == recorded
    size = len(steps) if found is None else found
    return Enough(name, size, settled, tuple(steps), level, dealer.cohorts.target)


def enough_for_all(
    dealer: Dealer,
    completed: Callable[[int], CompletedScores],
    largest: int,
    level: float,
    progress: Progress | None = None,
) -> int:
    """The size that is enough for every subgroup of a table, at least 1.

    At every size the p-values of all subgroups are adjusted for being several, so that a table of
    many subgroups is not given larger sets than one of few.

    Parameters
    ----------
    dealer : Dealer
        Deals the target out.
    completed : callable
        The scores of all sets of a size.
    largest : int
        Sizes above this one are not tried.
    level : float
        Adjusted p-values up to this one count as more than chance.
    progress : callable, default=None
        Told how many deals were made.
    """
    missing = dealer.book.measure.missing
    recorded = (~missing).sum(axis=1)
    able = filter(dealer.has_something_to_tell, range(len(missing)))
    held: dict[int, tuple[int, ...]] = dict.fromkeys(able, ())
    n_asked, size = len(held), 0
    while size < largest:
        p_values = np.ones(n_asked)
        for place, (cohort, members) in enumerate(held.items()):
            if size < recorded[cohort]:
                p_values[place] = _p_of_more(dealer, cohort, members, progress)
        more = false_discovery_control(p_values) <= level if n_asked else np.zeros(0, dtype=bool)
        alive = [cohort for cohort, adds in zip(held, more[: len(held)], strict=True) if adds]
        if not alive:
            break
        size += 1
        scores = completed(size)
        held = {
            cohort: tuple(scores.subsets[_best_recorded(scores, missing[cohort], cohort)].tolist())
            for cohort in alive
        }
    return max(size, 1)


def _p_of_more(
    dealer: Dealer, cohort: int, held: tuple[int, ...], progress: Progress | None
) -> float:
    """How likely chance alone lets one or two features add as much to those held."""
    ahead = min(AHEAD, int((~dealer.book.measure.missing[cohort]).sum()) - len(held))
    test = dealer.of(cohort, ahead, held=held, progress=progress)
    return test.p_value if test.n_sets else 1.0


def _best_recorded(scores: CompletedScores, missing: NDArray[np.bool_], cohort: int) -> int:
    """The best set that a cohort recorded; tied ones in the order of columns."""
    places = np.flatnonzero(~missing[scores.subsets].any(axis=1))
    rounded = np.round(scores.score[cohort, places], TIED_DECIMALS)
    order = np.lexsort((*scores.subsets[places].T[::-1], -rounded))
    return int(places[order[0]])
