"""From a selection to the findings that the report tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.answers.alternatives import alternative_sets
from misfeat.answers.collecting import feature_worths
from misfeat.answers.enough import enough_features
from misfeat.answers.features import feature_values, shapley_values
from misfeat.answers.stability import stability_of
from misfeat.answers.top import best_sets
from misfeat.answers.validation import validation_of
from misfeat.answers.why import explanations
from misfeat.exceptions import InPython, Message
from misfeat.runtime.progress import progress_shown
from misfeat.show.first_screen import first_screen
from misfeat.show.report.packing import cells_that_fit, sizes_that_fit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.answers.alternatives import Alternative
    from misfeat.answers.collecting import Worth
    from misfeat.answers.contrasts import Estimated
    from misfeat.answers.enough import Enough
    from misfeat.answers.features import FeatureValue
    from misfeat.answers.stability import Stability
    from misfeat.answers.top import ScoredSet
    from misfeat.answers.validation import Trust
    from misfeat.answers.why import Explanation
    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.selection import Selection
    from misfeat.show.first_screen import FirstScreen
    from misfeat.show.report.packing import Cells

NOT_ASKED = "This was not checked: the report was made without validation."
NO_ROWS = "This was not checked: no rows are at hand that could be left out."
NOTHING_PREDICTED = "Every subgroup recorded every feature: nothing was predicted."
MOST_VALUED = 60_000
"""Sets, over all subgroups, up to which every feature is valued in all sets that hold it."""
MOST_EXPLAINED = 200
"""Subgroups, the largest, whose answers are explained and compared with other sets."""


@dataclass(frozen=True, eq=False)
class SubgroupFindings:
    """What the page of one subgroup tells."""

    best: list[ScoredSet]
    """Its best sets, best first."""
    chance: list[float]
    """What chance alone would give each of them in the subgroup's rows; NaN where not known."""
    enough: Enough | None
    """How many features are enough; None where that was not asked."""
    features: list[FeatureValue]
    """What every feature is worth, the most telling first."""
    explanation: Explanation | None
    """The cells of the set that answers; None where there are none."""
    alternatives: list[Alternative]
    """Sets that tell the same as the one that answers."""
    parts: Mapping[str, Estimated]
    """What each feature of the set that answers contributes."""


@dataclass(frozen=True, eq=False)
class Findings:
    """What a fit found."""

    screen: FirstScreen
    subgroups: list[SubgroupFindings]
    """The page of every subgroup, in the table's order."""
    stability: Stability | None
    """What comes out again when rows are drawn anew; None where that was not asked."""
    cells: Cells
    """Rows by cell and class of sets of a subgroup, as many as the page holds."""
    cohorts: Cohorts
    features: tuple[str, ...]
    missing: NDArray[np.bool_]
    """What each cohort never recorded. Of shape (n_cohorts, n_features)."""
    whole: NDArray[np.float64]
    """What there is to tell in each cohort. Of shape (n_cohorts,)."""
    estimate: str
    """What scores tell about. One of "population", "above_chance", "sample"."""
    measure: str
    """``"mutual_info"`` or ``"r2"``."""
    unit: str
    size: int
    k: int
    """Features in a set, and how many of the best sets are shown."""
    confidence: float | None
    """How often intervals hold the truth; None where they are certain bounds."""
    worths: list[Worth]
    """What unrecorded features would be worth."""
    scores: Mapping[int, CompletedScores]
    """The scores of all sets, by size."""
    trust: list[Trust] | None
    """How far answers can be trusted; None where that was not asked."""
    trust_in_words: str
    """The same in a sentence."""
    left_out: list[Message]
    """What was not asked, and how to ask it."""
    settings: Mapping[str, str]
    """The parameters that were not left at their defaults, as Python would write them."""


def gather(
    selection: Selection,
    size: int | None = None,
    k: int | None = None,
    costs: Mapping[str, float] | None = None,
    validate: bool = True,
) -> Findings:
    """Ask a selection everything that the report tells."""
    size = selection.size if size is None else size
    k = selection.k if k is None else k
    with progress_shown(selection.verbose > 0):
        screen = first_screen(selection, size, costs)
        sizes = {
            1,
            size,
            *sizes_that_fit(len(selection.cohorts), len(selection.feature_names), size),
        }
        withheld = selection.set_scores.rows_withheld
        if withheld:
            sizes.discard(selection.size + 1)  # no rows are kept to score it
        scores = {one: selection.completed(one) for one in sorted(sizes)}
        predicted = any(held.predicted.any() for held in scores.values())
        measure = selection.set_scores.measure
        estimated = predicted or measure.above_chance
        asked = validate and estimated and not withheld
        trusted = validation_of(selection, size, k) if asked else None
        not_trusted = NOTHING_PREDICTED
        if estimated:
            not_trusted = NO_ROWS if withheld else NOT_ASKED
        stability = stability_of(selection, size, k) if screen.effort.redrawn else None
        explained = _explained(selection)
        return Findings(
            screen=screen,
            subgroups=_subgroups(selection, screen, size, k, explained),
            stability=stability,
            cells=cells_that_fit(
                selection,
                [one.features if one.subgroup in explained else () for one in screen.subgroups],
            ),
            cohorts=selection.cohorts,
            features=selection.feature_names,
            missing=selection.missing,
            whole=measure.whole,
            estimate=selection.set_scores.estimate.name,
            measure=measure.name,
            unit=measure.unit,
            size=size,
            k=k,
            confidence=selection.confidence,
            worths=feature_worths(selection, size=size, costs=costs),
            scores=scores,
            trust=trusted,
            trust_in_words=not_trusted if trusted is None else selection.validation or "",
            left_out=_left_out(selection, screen),
            settings=selection.options.settings,
        )


def _explained(selection: Selection) -> set[str]:
    """The subgroups whose answers are explained: all, or the largest of very many."""
    sizes = np.add.reduceat(selection.cohorts.weights, selection.cohorts.offsets[:-1])
    largest = np.argsort(-sizes, kind="stable")[:MOST_EXPLAINED]
    return {selection.cohorts.names[number] for number in largest}


def _subgroups(
    selection: Selection, screen: FirstScreen, size: int, k: int, explained: set[str]
) -> list[SubgroupFindings]:
    """The pages of all subgroups."""
    best: dict[str, list[ScoredSet]] = {name: [] for name in selection.cohorts.names}
    for one in best_sets(selection, size, k):
        best[one.subgroup].append(one)
    values: dict[str, list[object]] = {name: [] for name in best}
    if selection.completed(size).score.size <= MOST_VALUED:
        for value in feature_values(selection, size=size):
            values[value.subgroup].append(value)
    enough = {}
    if screen.effort.enough:
        effort = screen.effort
        asked = enough_features(selection, size=effort.enough, permutations=effort.step_deals)
        enough = {one.subgroup: one for one in asked}
    chosen = {
        one.subgroup: one.features or (best[one.subgroup][0].features if best[one.subgroup] else ())
        for one in screen.subgroups
        if one.subgroup in explained
    }
    why = _explanations(selection, chosen)
    return [
        SubgroupFindings(
            best=own,
            chance=_chance(selection, own),
            enough=enough.get(name),
            features=values[name],  # type: ignore[arg-type]
            explanation=why.get(name),
            alternatives=alternative_sets(selection, name, of, k) if of else [],
            parts=shapley_values(selection, name, of) if of else {},
        )
        for name, own in best.items()
        for of in [chosen.get(name, ())]
    ]


def _chance(selection: Selection, best: Sequence[ScoredSet]) -> list[float]:
    """What chance alone would give sets in the rows at hand."""
    measure = selection.set_scores.measure
    nothing = [float("nan")] * len(best)
    withheld = selection.set_scores.rows_withheld and measure.tables is None
    if not best or not measure.above_chance or withheld:
        return nothing
    number = {name: at for at, name in enumerate(selection.feature_names)}
    subsets = np.array([sorted(number[name] for name in one.features) for one in best])
    cohort = selection.cohorts.position(best[0].subgroup)
    above = measure.of_subsets(cohort, subsets, selection.set_scores.n_jobs)
    seen = [float("nan") if one.observed is None else one.observed for one in best]
    return [max(all_of_it - real, 0.0) for all_of_it, real in zip(seen, above, strict=True)]


def _explanations(
    selection: Selection, chosen: Mapping[str, Sequence[str]]
) -> dict[str, Explanation]:
    """The cells of a set of every subgroup, where there are any."""
    measure = selection.set_scores.measure
    if measure.rows is None and measure.tables is None:
        return {}
    sets = [(name, features) for name, features in chosen.items() if features]
    if measure.tables is not None:
        sets = [one for one in sets if len(one[1]) <= measure.tables.largest]
    return {one.subgroup: one for one in explanations(selection, sets)}


def _left_out(selection: Selection, screen: FirstScreen) -> list[Message]:
    """What was not asked, since it takes long, and how to ask it."""
    effort, said = screen.effort, []
    if selection.set_scores.rows_withheld:
        return [Message("No rows are kept, so that nothing was tested against chance.")]
    if effort.tested < screen.size:
        what = f"sets of more than {effort.tested}" if effort.tested else "sets"
        said.append(_ask(f"Of so many sets, {what} were not tested against chance", "significance"))
    if not effort.redrawn:
        said.append(_ask("Whether sets come out again was not tried for so many", "stability"))
    if len(selection.cohorts) > MOST_EXPLAINED:
        what = f"Only the {MOST_EXPLAINED} largest subgroups have their answers explained"
        said.append(_ask(what, "why"))
    if selection.completed(screen.size).score.size > MOST_VALUED:
        said.append(_ask("What each feature adds was not worked out for so many sets", "features"))
    return said


def _ask(what: str, question: str) -> Message:
    how = InPython(f"`selection.{question}()`", f"`misfeat ask DIR {question}`")
    return Message("{what}; {how} does it.", what=Message(what), how=how)
