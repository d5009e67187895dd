"""FitResult: what a fit found, from which answers are worked out, and what questions ask for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from misfeat.cohorts.cohort_data import Cohorts
from misfeat.cohorts.feature_removal import check_names, not_a_feature
from misfeat.completion import BaseCompleter, CompletedScores
from misfeat.estimation.set_scores import SetScores
from misfeat.estimation.shortlist import Shortlist
from misfeat.exceptions import MisfeatError, check_count
from misfeat.information.mutual_info import target_entropies
from misfeat.messages import Setting, listed
from misfeat.runtime.progress import long_work
from misfeat.runtime.threads import one_blas_thread

if TYPE_CHECKING:
    from misfeat.answers.subgroup_significance import SignificanceTests

from collections.abc import Iterable
from dataclasses import fields

from misfeat.reading.dataframe_libraries import result_frame

T = TypeVar("T")
MOST_LEFT_OUT = 10  # named columns that were left out
MOST_OF_ALL = 3  # features of sets for questions about all sets, where larger ones are searched


@dataclass(frozen=True)
class FitOptions:
    """What was asked for at fit, names and sizes checked."""

    size: int
    k: int
    include: tuple[str, ...] = ()  # features of every set
    blocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # that enter together
    seed: int | None = None
    backend: str | None = None  # the dataframe library of answers, by default any installed one
    settings: Mapping[str, str] = field(default_factory=dict)  # not at their defaults, in Python


def check_size(size: int, features: Sequence[str], cohorts: Cohorts) -> None:
    """Raise where there is no feature, or sets would be larger than all of them."""
    check_features(features, cohorts)
    if size > len(features):
        raise MisfeatError(
            f"{Setting('size', size)} is larger than the number of features "
            f"(n_features = {len(features)}): {listed(features)}.",
            remedy=f"Lower {Setting('size')}.",
        )


def check_features(features: Sequence[str], cohorts: Cohorts) -> None:
    """Raise where no column of a table is a feature, and say what became of them."""
    if features:
        return
    left = [audit for audit in cohorts.columns if audit.role == "left out"]
    reasons = "; ".join(f"{audit.column!r}: {audit.treatment}" for audit in left[:MOST_LEFT_OUT])
    more = len(left) - MOST_LEFT_OUT
    rows = int(cohorts.weights.sum())
    why = f"Left out: {reasons}" if left else "It has only the target and group columns"
    why += f" and {more:,} more" if more > 0 else ""
    raise MisfeatError(
        f"The table has no feature to score (n_samples = {rows}). {why}; add columns that may "
        "inform about the target."
    )


class FitResult:
    """Scores of feature sets in subgroups, and the answers worked out so far.

    All that a question needs; `Selection` adds the questions, what shows them, and saving.
    """

    def __init__(
        self,
        cohorts: Cohorts,
        set_scores: SetScores,
        options: FitOptions,
        *,
        verbose: int = 0,
        shortlist: Shortlist | None = None,
    ) -> None:
        self.cohorts, self.set_scores, self.options = cohorts, set_scores, options
        self.verbose, self.shortlist = verbose, shortlist
        features = set_scores.measure.features
        set_scores.include = tuple(features.index(f) for f in options.include if f in features)
        self.validation: str | None = None
        self.known_tests: SignificanceTests | None = None
        self._answers: dict[tuple[Any, ...], Any] = {}

    @property
    def size(self) -> int:
        """Features per set, where a question does not say."""
        return self.options.size

    @property
    def k(self) -> int:
        """Sets per subgroup, where a question does not say."""
        return self.options.k

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that sets are made of."""
        return self.set_scores.measure.features

    @property
    def missing(self) -> NDArray[np.bool_]:
        """What each subgroup never recorded, of shape (n_subgroups, n_features)."""
        return self.set_scores.measure.missing

    @property
    def completer(self) -> BaseCompleter:
        """What predicted the scores that could not be computed."""
        return self.set_scores.estimate.completer

    @property
    def confidence(self) -> float | None:
        """Target coverage of the intervals; None where they are certain bounds."""
        return self.set_scores.estimate.confidence

    def subgroup_names(self, subgroup: str | None = None) -> tuple[str, ...]:
        """The subgroups that a question is about: all of them, or the one that is named.

        Parameters
        ----------
        subgroup : str, default=None
            One subgroup only, in short where that is unambiguous.
        """
        if subgroup is None:
            return tuple(self.cohorts.names)
        return (self.cohorts.full_name(subgroup),)

    def completed(self, size: int | None = None) -> CompletedScores:
        """The scores of all sets of a size as arrays, in the order of the lattice.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        """
        size = checked_size(self, size)
        with long_work(self.verbose > 0) as progress:
            return self.set_scores.completed(size, progress)

    def remembered(self, question: tuple[Any, ...], answer: Callable[[], T]) -> T:
        """The answer to a question asked before with the same options, else a new one.

        Parameters
        ----------
        question : tuple
            Its name and options, by which the answer is kept.
        answer : callable
            Works the answer out.
        """
        if question not in self._answers:
            with one_blas_thread():
                self._answers[question] = answer()
        kept: T = self._answers[question]
        return kept

    def score_of(self, subgroup: str, features: Sequence[str]) -> float:
        """The score of one feature set in one subgroup, in nats or R².

        Parameters
        ----------
        subgroup : str
            Its name, as in `subgroups_`.
        features : sequence of str
            The features of the set, in any order.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> round(SubgroupSelector(size=1).fit(table, "y").score_of("all rows", ["a"]), 4)
        0.2004
        """
        members = np.array([set_members(self, features)])
        with long_work(self.verbose > 0):
            scores = self.set_scores.scored(members)
        return float(scores.score[self.cohorts.position(subgroup), 0])


def checked_size(selection: FitResult, size: int | None) -> int:
    """Features per set, by default those of the fit; raises where there are not so many."""
    size = selection.size if size is None else size
    check_count(size, "size")
    check_size(size, selection.feature_names, selection.cohorts)
    return size


def checked_k(selection: FitResult, k: int | None) -> int:
    """Sets per subgroup, by default those of the fit."""
    k = selection.k if k is None else k
    check_count(k, "k")
    return k


def feature_index(selection: FitResult, name: object, role: str) -> int:
    """The index of a feature; an error says why a name is not that of one."""
    names = selection.feature_names
    if name not in names:
        raise not_a_feature(name, role, selection.cohorts, names, selection.options.blocks)
    return names.index(str(name))


def set_members(selection: FitResult, features: Sequence[str]) -> list[int]:
    """The indices of the features of a set, ascending; raises for none, and for one named twice."""
    names = check_names(features, "features")
    if not names:
        raise MisfeatError(f"{Setting('features', features)}; name at least one feature.")
    if not isinstance(features, str) and len(names) < len(features):
        repeated = str(next(n for i, n in enumerate(features) if n in list(features)[:i]))
        raise MisfeatError(
            f"{Setting('features')} names {repeated!r} twice; name it once.", column=repeated
        )
    return sorted(feature_index(selection, name, "a feature") for name in names)


def subgroup_rows(cohorts: Cohorts) -> list[dict[str, Any]]:
    """The subgroups: their rows, their target's entropy in nats, and what they never recorded."""
    return [
        {
            "subgroup": cohort.name,
            "rows": cohort.size,
            "target_entropy": entropy,
            "missing": cohorts.missing_features(cohort.name),
            **({} if cohort.effective is None else {"effective_rows": cohort.effective}),
        }
        for cohort, entropy in zip(cohorts, target_entropies(cohorts), strict=True)
    ]


def level_size(selection: FitResult, size: int | None) -> int:
    """The size for questions about all sets: a few features, where larger sets are searched."""
    size, scores = checked_size(selection, size), selection.set_scores
    return min(MOST_OF_ALL, scores.largest_level) if scores.is_searched(size) else size


def included_features(selection: FitResult, size: int) -> list[int]:
    """The indices of the features that every set holds; they must fit into sets of a size."""
    include = selection.options.include
    indices = [feature_index(selection, name, "a feature to include") for name in include]
    if len(indices) > size:
        raise MisfeatError(
            f"{Setting('size', size)}, but {len(indices)} features are to be included: "
            f"{', '.join(map(repr, include))}.",
            remedy=f"Raise {Setting('size')}, or include fewer.",
        )
    return indices


def shown_scores(selection: FitResult, size: int | None) -> CompletedScores:
    """The scores of the sets of a size that hold every feature to include."""
    included = included_features(selection, checked_size(selection, size))
    scores = selection.completed(size)
    if not included:
        return scores
    held = np.all([(scores.subsets == index).any(axis=1) for index in included], axis=0)
    return scores.of_sets(held)


def target_varies(selection: FitResult, subgroup: str) -> bool:
    """Whether the target has several classes in a subgroup, so that a set may explain something."""
    target = selection.cohorts[subgroup].target
    return bool((target != target[0]).any())


def explainable_subgroups(selection: FitResult, subgroup: str | None) -> list[str]:
    """The subgroups that a question is about and in which the target varies."""
    return [name for name in selection.subgroup_names(subgroup) if target_varies(selection, name)]


def of_each_subgroup(
    selection: FitResult, names: Sequence[str], what: str, answer: Callable[[str], list[T]]
) -> list[T]:
    """The records of subgroups, one after the other; progress says how many are done."""
    records = []
    with long_work(selection.verbose > 0) as progress:
        for done, name in enumerate(names):
            progress(what, done, len(names))
            records += answer(name)
        progress(what, len(names), len(names))
    return records


def frame_of(kind: type[Any], records: Iterable[Any], backend: str | None) -> Any:
    """A dataframe with one line per record; columns are the fields of its class."""
    records = list(records)
    columns = {f.name: [getattr(one, f.name) for one in records] for f in fields(kind)}
    return result_frame(columns, backend)
