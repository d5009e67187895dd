"""How far the predictions for one table can be trusted: its own features, hidden and predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from misfeat.cohorts.hiding import hide_features
from misfeat.completion.calibration import hiding_rounds
from misfeat.metrics.rankings import captured_at, ndcg_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from misfeat.completion import CompletedScores, Completer, Known
    from misfeat.completion.model import ExactScores
    from misfeat.machine.progress import Progress


WHAT = "Hiding features to see how well they are predicted"
TRUST_COLUMNS = ("hidden", "ndcg", "captured", "coverage", "error")


@dataclass(frozen=True)
class Trust:
    """How well hidden features of one cohort were predicted.

    Attributes
    ----------
    cohort : int
        Which cohort.
    hidden : int
        Features that were hidden, over all rounds.
    ndcg : float
        How well the best sets were found among those with a hidden feature.
    captured : float
        The share of the best sets' true score that the sets which looked best hold, over all sets.
    coverage : float
        How often intervals held the truth.
    error : float
        The root mean square error over the mean true score.
    """

    cohort: int
    hidden: int
    ndcg: float
    captured: float
    coverage: float
    error: float


def trust(
    known: Known,
    completer: Completer,
    size: int,
    k: int,
    rounds: int,
    seed: int | None = None,
    progress: Progress | None = None,
) -> list[Trust]:
    """Hide features that the cohorts do have, predict them, and compare.

    Parameters
    ----------
    known : Known
        What is known of the table.
    completer : Completer
        What predicts; a copy of it is used.
    size, k : int
        Size of the sets, and how many of the best ones count.
    rounds : int
        How often features are hidden.
    seed : int, default=None
        Seed of which ones.
    progress : callable, default=None
        Told what is done.

    Returns
    -------
    list of Trust
        One for every cohort from which a feature could be hidden.
    """
    rng = np.random.default_rng(0 if seed is None else seed)
    found: dict[int, list[Trust]] = {}
    for done, mask in enumerate(hiding_rounds(known.exact.missing, rounds, rng)):
        if progress is not None:
            progress(WHAT, done, rounds)
        if mask.any():
            hidden = known.exact.hidden(mask)
            rows = None if known.cohorts is None else hide_features(known.cohorts, mask)
            seen = replace(known, exact=hidden, cohorts=rows, progress=None)
            completed = clone(completer, safe=False).complete(seen, size)
            for one in _compared(known.exact, hidden, completed, mask.sum(axis=1), k):
                found.setdefault(one.cohort, []).append(one)
    if progress is not None:
        progress(WHAT, rounds, rounds)
    return [_together(found[cohort]) for cohort in sorted(found)]


def _compared(
    exact: ExactScores,
    hidden: ExactScores,
    completed: CompletedScores,
    count: Sequence[int],
    k: int,
) -> Iterator[Trust]:
    size = completed.subsets.shape[1]
    true, guessed = exact.by_size[size], completed.score
    tested = np.isnan(hidden.by_size[size]) & ~np.isnan(true)
    inside = (completed.low <= true + 1e-9) & (true <= completed.high + 1e-9)
    for cohort, places in enumerate(tested):
        if places.any():
            computed = ~np.isnan(true[cohort])
            errors = (guessed - true)[cohort, places]
            yield Trust(
                cohort=cohort,
                hidden=int(count[cohort]),
                ndcg=ndcg_at(k, true[cohort, places], guessed[cohort, places]),
                captured=captured_at(k, true[cohort, computed], guessed[cohort, computed]),
                coverage=float(inside[cohort, places].mean()),
                error=float(
                    np.sqrt(np.mean(errors**2))
                    / max(true[cohort, places].mean(), np.finfo(float).tiny)
                ),
            )


def _together(rounds: Sequence[Trust]) -> Trust:
    """The mean over the rounds of one cohort."""
    means = {
        name: float(np.mean([getattr(one, name) for one in rounds])) for name in TRUST_COLUMNS[1:]
    }
    return Trust(rounds[0].cohort, sum(one.hidden for one in rounds), **means)


def in_words(found: Sequence[Trust], k: int, confidence: float | None) -> str:
    """One sentence for people.

    Examples
    --------
    >>> in_words([Trust(0, 3, 0.9, 0.98, 0.91, 0.1)], 5, 0.9)
    'With 3 features hidden on purpose, the 5 sets that looked best held 98 % of what the 5 best sets tell, the best sets with a hidden feature were found with an nDCG of 0.90 (1 is perfect), and 90 % intervals held the truth in 91 % of the cases.'
    >>> in_words([], 5, 0.9)
    'No feature could be hidden, since none was recorded by two subgroups: predictions cannot be checked.'
    """  # noqa: E501
    if not found:
        return (
            "No feature could be hidden, since none was recorded by two subgroups: predictions "
            "cannot be checked."
        )
    hidden = sum(one.hidden for one in found)
    captured = np.mean([one.captured for one in found])
    coverage = np.mean([one.coverage for one in found])
    ndcg = np.mean([one.ndcg for one in found])
    kind = (
        "certain bounds" if confidence is None else f"{confidence:.0%} intervals".replace("%", " %")
    )
    return (
        f"With {hidden} features hidden on purpose, the {k} sets that looked best held "
        f"{captured * 100:.0f} % of what the {k} best sets tell, the best sets with a hidden "
        f"feature were found with an nDCG of {ndcg:.2f} (1 is perfect), and {kind} held the truth "
        f"in {coverage * 100:.0f} % of the cases."
    )
