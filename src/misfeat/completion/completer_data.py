"""Plain data that goes into a completer, is guessed by it, and comes out of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from misfeat.cohorts import Cohorts
from misfeat.cohorts.product_sums import ProductSums
from misfeat.exceptions import MisfeatError
from misfeat.information.count_tables import CountTables
from misfeat.lattice.levels import best_below, level
from misfeat.messages import Setting
from misfeat.runtime.array_types import Flags, Floats, Indices
from misfeat.runtime.progress import Progress

SUPPORT = ("none", "singles", "pairs", "joint", "own rows")
"""What a score rests on, by number: see `CompletedScores.support`."""
NONE, SINGLES, PAIRS, JOINT, OWN_ROWS = range(5)
TAKES_NO_WEIGHTS = ("knn", "markov_blanket")  # look at rows one by one, whatever these weigh
OURS = "misfeat."  # modules whose completers keep below the ceiling
Prepared = TypeVar("Prepared")


def support_of(missing: Flags, subsets: Indices) -> NDArray[np.int8]:
    """The support of every subset in every cohort, as `CompletedScores.support` explains."""
    recorded = ~missing
    lacking = missing[:, subsets]
    support = np.full(lacking.shape[:2], PAIRS, dtype=np.int8)
    together = np.logical_or.reduce(recorded[:, :, None] & recorded[:, None, :], axis=0)
    size = subsets.shape[1]
    for a in range(size):
        for b in range(a):
            apart = ~together[subsets[:, a], subsets[:, b]]
            support[(lacking[:, :, a] | lacking[:, :, b]) & apart] = SINGLES
    support[:, recorded[:, subsets].all(axis=2).any(axis=0)] = JOINT
    nowhere = np.logical_and.reduce(missing, axis=0)[subsets]
    support[(lacking & nowhere).any(axis=2)] = NONE
    support[~lacking.any(axis=2)] = OWN_ROWS
    return support


@dataclass(frozen=True, eq=False)
class ExactScores:
    """Every score that can be computed, for all sizes up to the largest that a completer reads.

    Attributes
    ----------
    by_size : tuple of ndarray of shape (n_cohorts, n_subsets of that size)
        ``by_size[m][i, r]`` is the score of the subset of size m and rank r in subgroup i, NaN
        where the subgroup never recorded one of its features, has no row with all of them, or was
        not asked to compute it.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each subgroup never recorded.
    ceiling : ndarray of shape (n_cohorts,)
        What no score can exceed.
    closed : bool
        Whether a larger set never scores lower, so that the score of a part is a lower bound.
    above_chance : bool
        Whether what chance alone would score was taken off; guesses are on that scale, too.
    """

    by_size: tuple[Floats, ...]
    missing: Flags
    ceiling: Floats
    closed: bool = True
    above_chance: bool = False

    def hidden(self, mask: Flags) -> "ExactScores":
        """What would be left if the subgroups had not recorded some features.

        Parameters
        ----------
        mask : ndarray of bool of shape (n_cohorts, n_features)
            True for the features to hide.
        """
        left = [self.by_size[0]]
        for size, scores in enumerate(self.by_size[1:], start=1):
            lost = mask[:, level(mask.shape[1], size)].any(axis=2)
            left.append(np.where(lost, np.nan, scores))
        return replace(self, by_size=tuple(left), missing=self.missing | mask)

    def bounds(self, size: int) -> tuple[Floats, Floats]:
        """Between which two values each score of one size certainly lies, (n_cohorts, n_subsets).

        At least the best known score of a part, where a larger set cannot score lower (else 0),
        and at most the ceiling; an exact score lies between itself and itself.

        Parameters
        ----------
        size : int
            Features per set.
        """
        exact = self.by_size[size]
        high = np.where(np.isnan(exact), self.ceiling[:, None], exact)
        if not self.closed:
            return np.nan_to_num(exact), high
        low = np.nan_to_num(self.by_size[0])
        for m in range(1, size + 1):
            known = self.by_size[m]
            low = np.where(np.isnan(known), best_below(low, self.missing.shape[1], m), known)
        return low, high


@dataclass(frozen=True, eq=False)
class Known:
    """What a completer may look at, and how it works.

    Attributes
    ----------
    exact : ExactScores
        What could be computed.
    cohorts : Cohorts or None
        The coded rows; None where only scores are at hand.
    n_jobs : int or None
        Threads, as joblib reads it.
    progress : callable or None
        Told what is done.
    sums : ProductSums or None
        The sums of products that scores come from; None where they were counted from codes. They
        may hold features that ``exact.missing`` marks; of these nothing may be read.
    tables : CountTables or None
        The count tables that scores come from, where there are no rows; what ``exact.missing``
        marks may not be read there, either.
    grids : tuple of Known
        The same of every grid of a numeric target, of which ``exact`` is the mean; empty for
        classes. An estimate is the mean of the estimates of these.
    """

    exact: ExactScores
    cohorts: Cohorts | None = None
    n_jobs: int | None = None
    progress: Progress | None = None
    sums: ProductSums | None = None
    grids: "tuple[Known, ...]" = ()
    tables: CountTables | None = None
    _prepared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def hidden(self, mask: Flags) -> "Known":
        """What would be known without the features that a mask marks, the same as `exact.hidden`.

        The rows and sums are the same ones, so what was prepared of them is shared; of hidden
        features nothing may be read there.
        """
        grids = tuple(grid.hidden(mask) for grid in self.grids)
        hidden = replace(self, exact=self.exact.hidden(mask), progress=None, grids=grids)
        object.__setattr__(hidden, "_prepared", self._prepared)
        return hidden

    def prepared(self, make: "Callable[[Known], Prepared]") -> Prepared:
        """What `make` gives, made once for this and for all that was `hidden` from it.

        Parameters
        ----------
        make : callable
            Takes what is known, of which it may read the rows alone.
        """
        if make not in self._prepared:
            self._prepared[make] = make(self)
        made: Prepared = self._prepared[make]
        return made

    @property
    def source(self) -> Cohorts | CountTables | ProductSums | None:
        """What scores come from; None where they alone are at hand."""
        return self.sums or self.tables or self.cohorts

    def rows_for(self, completer: str) -> Cohorts:
        """The rows; where there are none, an error names the completer and another to use.

        Parameters
        ----------
        completer : str
            Who needs them.
        """
        if self.cohorts is None:
            raise MisfeatError(
                f"The completer {completer!r} needs the rows of all subgroups and scores of "
                f"{Setting('measure', 'mutual_info')};",
                remedy=f"use {Setting('completer', 'interactions')}.",
            )
        if self.cohorts.effective is not None and completer in TAKES_NO_WEIGHTS:
            raise MisfeatError(
                f"The completer {completer!r} imputes values by counting rows, and takes no "
                "weights;",
                remedy=f"use {Setting('completer', 'transfer')}.",
            )
        return self.cohorts


@dataclass(frozen=True, eq=False)
class Guess:
    """Guessed scores of all sizes up to the asked one.

    Attributes
    ----------
    by_size : list of ndarray of shape (n_cohorts, n_subsets)
        From size 0 on; read only where no exact score is.
    deviation : ndarray of shape (n_cohorts, n_subsets)
        The spread that sampling alone gives scores of the asked size, where it is known; else 0.
    """

    by_size: list[Floats]
    deviation: Floats

    @classmethod
    def of(cls, by_size: list[Floats]) -> "Guess":
        """Guesses that say nothing of what sampling alone does.

        Parameters
        ----------
        by_size : list of ndarray of shape (n_cohorts, n_subsets)
            From size 0 on.
        """
        return cls(by_size, np.zeros_like(by_size[-1]))


@dataclass(frozen=True, eq=False)
class CompletedScores:
    """A score for every subset of one size in every subgroup.

    Attributes
    ----------
    subsets : ndarray of shape (n_subsets, size)
        Feature numbers, in the order of their ranks.
    score : ndarray of shape (n_cohorts, n_subsets)
        Exact where it could be computed, predicted elsewhere.
    low, high : ndarray of shape (n_cohorts, n_subsets)
        Between these the score lies; equal to it where it is exact.
    predicted : ndarray of bool of shape (n_cohorts, n_subsets)
        Where the score was predicted.
    support : ndarray of int of shape (n_cohorts, n_subsets)
        Which of `SUPPORT` the score rests on. 4: the subgroup recorded all features itself; 3:
        some subgroup recorded all of them together; 2: every pair with an unrecorded feature was
        recorded together somewhere; 1: some such pair was not, so that nobody knows how the two
        interact; 0: some unrecorded feature was recorded nowhere.
    spread : ndarray of shape (n_cohorts, n_subsets) or None
        How far scores differ between the grids of a numeric target (their standard deviation);
        None for classes.
    """

    subsets: Indices
    score: Floats
    low: Floats
    high: Floats
    predicted: Flags
    support: NDArray[np.int8]
    spread: Floats | None = None

    def of_sets(self, chosen: Flags | Indices) -> "CompletedScores":
        """The scores of some of the subsets.

        Parameters
        ----------
        chosen : ndarray of bool of shape (n_subsets,) or of int
            True for those to keep, or their numbers.
        """
        by_name = {f.name: getattr(self, f.name) for f in fields(self)[1:]}
        kept: dict[str, Any] = {k: v if v is None else v[:, chosen] for k, v in by_name.items()}
        return CompletedScores(self.subsets[chosen], **kept)

    @classmethod
    def mean_of(
        cls, grids: "Sequence[CompletedScores]", agreement: float = 1.0
    ) -> "CompletedScores":
        """The mean over grids of a numeric target, bounds included.

        Bounds are means, too: the same rows make all of them, so that their errors go together.

        Parameters
        ----------
        grids : sequence of CompletedScores
            Of the same sets.
        agreement : float, default=1.0
            By what factor bounds are nearer, where errors of grids do not go together as much.
        """
        score, low, high = (
            np.mean([getattr(grid, name) for grid in grids], axis=0)
            for name in ("score", "low", "high")
        )
        if agreement < 1.0:
            closer = np.where(grids[0].support == NONE, 1.0, agreement)
            # A bound of 0 may lie far above the end of the interval that it cuts off.
            low = np.minimum(score + closer * (low - score), 2.0 * low)
            high = score + closer * (high - score)
        spread = np.std([grid.score for grid in grids], axis=0)
        return replace(grids[0], score=score, low=low, high=high, spread=spread)


def guess_of(completer: Any, known: Known, size: int) -> Guess:
    """Guesses for every size up to one, checked; those of a foreign completer below the ceiling."""
    guess = completer.guess(known, size)
    who = Setting("completer", type(completer).__name__)
    shapes = [scores.shape for scores in known.exact.by_size[: size + 1]]
    if not isinstance(guess, Guess) or [np.shape(one) for one in guess.by_size] != shapes:
        raise MisfeatError(
            f"{who}: guess must return Guess.of(scores by size), those of sizes 0 to {size} in "
            f"arrays of the shapes {shapes}, a line per subgroup and a column per set."
        )
    if any(np.isinf(scores).any() for scores in guess.by_size):
        raise MisfeatError(f"{who}: a guess is infinite; guess a number.")
    if type(completer).__module__.startswith(OURS):
        return guess
    most = known.exact.ceiling[:, None]
    return Guess([np.minimum(scores, most) for scores in guess.by_size], guess.deviation)
