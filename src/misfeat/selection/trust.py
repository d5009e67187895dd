"""How far the answers for one table can be trusted: parts of it left out, answered, and compared.

Features that subgroups did record are hidden as patchily as the table is, and predicted as if they
were missing. On the scale of the population rows are left out, too, since the best-looking sets of
few rows are partly chance: see `misfeat.selection.judging` for what that is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from misfeat.completion.model import CompletedScores, ExactScores
from misfeat.estimation.estimates import POPULATION
from misfeat.runtime.threads import counted
from misfeat.selection.judging import figures_of, truth_of_population, truth_of_sample
from misfeat.selection.leaving_out import (
    can_be_halved,
    half_of,
    half_weights,
    patchy_rounds,
    with_hidden,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion import Known
    from misfeat.estimation.estimates import Estimate
    from misfeat.runtime.progress import Progress
    from misfeat.selection.judging import Figures, Truth


Answer: TypeAlias = tuple[ExactScores | None, CompletedScores]
Answers: TypeAlias = Callable[[str, Sequence["NDArray[Any] | None"]], list[Answer]]

ANSWER, JUDGE, HALF, HIDDEN = "the answer", "the judge", "half of the rows", "features"
"""What answers with which part left out."""
WHAT = "Leaving parts of the table out to see how well answers hold"
TRUST_COLUMNS = ("hidden", "captured", "coverage", "error")
JUDGED = 0.9
"""The confidence of the intervals that the truth's deviation is read from."""
TOO_NARROW = 0.05
"""Intervals that hold the truth by more than this less often than promised are too narrow."""


@dataclass(frozen=True)
class Trust:
    """How far the answers for one cohort can be trusted, as `Selection.validate` explains it."""

    cohort: int
    hidden: int
    captured: float
    coverage: float
    error: float


def trust(
    known: Known,
    estimate: Estimate,
    size: int,
    k: int,
    rounds: int,
    seed: int | None = None,
    progress: Progress | None = None,
    shown: CompletedScores | None = None,
) -> list[Trust]:
    """Leave features and rows out, answer, and compare.

    Takes `rounds` estimates, and on the scale of the population two of half the rows, and one more
    where it is not at hand.

    A cohort is told about where a feature could be hidden from it, or it lacks none and its scores
    are estimates. `shown` is what `estimate` makes of `known`, where that is at hand.
    """
    rng = np.random.default_rng(0 if seed is None else seed)
    told = _Told(progress, rounds + 3)
    known = replace(known, progress=None)
    lacking = np.array([np.isnan(scores).any() for scores in known.exact.by_size[size]])
    left_out = LeftOut(known, estimate, size)
    answers: Answers = partial(_answers, left_out, told)
    found: dict[int, list[tuple[int, Figures]]] = {}

    def compare(completed: CompletedScores, cohort: int, n_hidden: int) -> None:
        figures = figures_of(truth, completed, cohort, k)
        if figures is not None:
            found.setdefault(cohort, []).append((n_hidden, figures))

    if known.exact.above_chance:
        if shown is None:
            ((_, shown),) = answers(ANSWER, [None])
        else:
            told.done(ANSWER)
        truth = _truth_of_population(left_out, shown, k, rng, answers)
        if can_be_halved(known.cohorts):  # else an answer would be compared with itself
            for cohort in np.flatnonzero(~lacking):
                compare(shown, int(cohort), 0)
    else:
        truth = truth_of_sample(known.exact, size)
    drawn = patchy_rounds(known.exact.missing, lacking, rounds, rng)
    masks = [mask for mask in drawn if mask.any()]
    for mask, (_, completed) in zip(masks, answers(HIDDEN, masks), strict=True):
        for cohort in np.flatnonzero(mask.any(axis=1)):
            compare(completed, int(cohort), int(mask[cohort].sum()))
    told.all_done()
    return [_together(cohort, found[cohort]) for cohort in sorted(found)]


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A table of which parts are left out, and what answers then."""

    known: Known
    estimate: Estimate
    size: int

    @property
    def judge(self) -> Estimate:
        """What the truth is read from."""
        return replace(self.estimate, name=POPULATION, confidence=JUDGED)

    def answer(self, what: str, left_out: NDArray[Any] | None) -> Answer:
        """What is answered without some features or rows, and the scores it was made from."""
        if what == ANSWER:
            return None, self.estimate.complete(self.known, self.size)
        if what == JUDGE:
            return None, self.judge.complete(self.known, self.size)
        assert left_out is not None  # noqa: S101
        if what == HALF:
            half = half_of(self.known, left_out)
            return half.exact, self.judge.complete(half, self.size)
        without = with_hidden(self.known, left_out)
        return None, clone(self.estimate, safe=False).complete(without, self.size)


def _answers(
    table: LeftOut, told: _Told, what: str, parts: Sequence[NDArray[Any] | None]
) -> list[Answer]:
    """What is answered without each of some parts."""

    def report(begun: int) -> None:
        if begun:
            told.done(what)

    found: list[Answer] = Parallel(prefer="threads")(
        delayed(table.answer)(what, part) for part in counted(parts, report)
    )
    report(len(parts))
    return found


def _truth_of_population(
    table: LeftOut,
    shown: CompletedScores,
    k: int,
    rng: np.random.Generator,
    answers: Answers,
) -> Truth:
    judged = shown if table.judge == table.estimate else answers(JUDGE, [None])[0][1]
    halves = answers(HALF, half_weights(table.known.cohorts, rng))
    left_out = [(cast("ExactScores", exact), completed) for exact, completed in halves]
    return truth_of_population(table.known.exact, judged, JUDGED, k, left_out)


def _together(cohort: int, rounds: Sequence[tuple[int, Figures]]) -> Trust:
    """The mean over the rounds of one cohort."""
    hidden = sum(n_hidden for n_hidden, _ in rounds)
    means = np.mean([astuple(figures) for _, figures in rounds], axis=0)
    return Trust(cohort, hidden, *means.tolist())


def in_words(
    found: Sequence[Trust],
    k: int,
    confidence: float | None,
    *,
    predicted: bool = True,
    rows_left_out: bool | None = None,
    judged: tuple[int, int] | None = None,
) -> str:
    """One sentence for people.

    Where `confidence` is None, intervals are certain bounds. `rows_left_out` is None where scores
    are of the rows, so that there is no need to, and `judged` says of how many features, and of how
    many in all, sets were tried.

    Examples
    --------
    >>> in_words([Trust(0, 3, 0.98, 0.91, 0.1)], 5, 0.9)
    'With 3 features hidden on purpose, the 5 sets that look best hold about 98 % of what the 5 best sets tell, and 90 % intervals hold the truth in 91 % of the cases.'
    >>> in_words([Trust(0, 0, 0.88, 0.91, 0.1)], 5, None, predicted=False, rows_left_out=True)
    'With half of the rows left out, the 5 sets that look best hold about 88 % of what the 5 best sets tell, and certain bounds hold the truth in 91 % of the cases.'
    >>> in_words([], 5, 0.9)
    'No feature could be hidden, since none was recorded by two subgroups: predictions cannot be checked.'
    """  # noqa: E501
    if not found and not predicted:
        if rows_left_out is None:
            return "Every score is that of the rows themselves: nothing was predicted."
        return "Nothing could be left out, features or rows: answers cannot be checked."
    if not found:
        return (
            "No feature could be hidden, since none was recorded by two subgroups: predictions "
            "cannot be checked."
        )
    hidden = sum(one.hidden for one in found)
    parts = [f"{hidden} feature{'' if hidden == 1 else 's'} hidden on purpose"] if hidden else []
    parts += ["half of the rows left out"] if rows_left_out else []
    start = f"With {' and '.join(parts)}, the" if parts else "The"
    captured = np.mean([one.captured for one in found])
    coverage = np.mean([one.coverage for one in found])
    kind = (
        "certain bounds" if confidence is None else f"{confidence:.0%} intervals".replace("%", " %")
    )
    best = "the best set tells" if k == 1 else f"the {k} best sets tell"
    look = "set that looks best holds" if k == 1 else f"{k} sets that look best hold"
    said = (
        f"{start} {look} about {captured * 100:.0f} % of what {best}, and {kind} hold the truth in "
        f"{coverage * 100:.0f} % of the cases"
    )
    too_narrow = confidence is not None and coverage < confidence - TOO_NARROW
    said += ": take them for somewhat too narrow here." if too_narrow else "."
    if rows_left_out is False:
        said += " No rows could be left out, so that what sampling costs is not part of this."
    if judged is not None:
        said += f" Of so many sets, those of {judged[0]} of the {judged[1]} features were tried."
    return said


class _Told:
    """Tells how many steps are done."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total
        self._tell()

    def done(self, what: str) -> None:
        if what != JUDGE:
            self._done += 1
            self._tell()

    def all_done(self) -> None:
        self._done = self._total
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(WHAT, self._done, self._total)
