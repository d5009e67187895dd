"""The target: which columns can be one, and how its values become classes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coding import AS_IT_IS, as_it_is, audit_of, binned, cut_at, learned_quantiles
from misfeat.cohorts.model import ColumnAudit, no_grids
from misfeat.cohorts.profiles import DISTINCT_LIMIT, Profile
from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.coders import Coder, EdgeCoder, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.rules import CohortRules
    from misfeat.reading.table import Table
    from misfeat.reading.values import Value


CLASSES, NUMBER = "classes", "number"
"""What a target is taken for."""
AS_A_NUMBER = "a number"
"""How the treatment of a target begins that is taken for one."""
MAX_CLASSES = 20
"""A numeric target with more distinct values than this is a number, or binned."""
N_GRIDS = 4
"""Of a number: bins that are equally full, and the same moved by a quarter, a half and three
quarters of a bin. More, or random ones, find the best sets no better (benchmarks/numbers)."""
MOST_CLASSES = 100
"""A target with more classes is refused: hardly any class would have rows enough to tell."""


@dataclass(frozen=True, eq=False)
class TargetCoding:
    """How a target is coded."""

    coder: Coder
    """Codes its values: as classes, or, of a number, as the bins that all grids share."""
    classes: tuple[str, ...]
    """The classes, or the bins of the first grid."""
    audit: ColumnAudit
    grids: NDArray[np.int16]
    """Of shape (n_grids, n_codes): the bin of every grid that a code lies in; empty for classes."""

    def classes_of(self, codes: NDArray[np.integer]) -> NDArray[np.integer]:
        """The class of every row, by its code."""
        return self.grids[0][codes] if len(self.grids) else codes

    @classmethod
    def of_classes(cls, profile: Profile, coder: Coder, treatment: str) -> TargetCoding:
        """A target whose codes are its classes."""
        audit = audit_of(profile, coder, "target", treatment)
        return cls(coder, coder.labels, audit, no_grids())


def check_target(profile: Profile, rules: CohortRules) -> None:
    """Raise for a target that cannot be scored, before anything else is looked at."""
    column = profile.column
    if profile.kind is Kind.UNSUPPORTED:
        raise MisfeatError(
            "The target {column!r} has a type that cannot be scored; convert it to numbers, text "
            "or flags.",
            column=column,
        )
    if profile.distinct == 0:
        raise MisfeatError(
            "The target {column!r} is missing in every row; choose another target, or check "
            "{codes}.",
            column=column,
            codes=Setting("missing_values"),
        )
    if rules.coding.target == NUMBER and not profile.kind.ordered:
        raise MisfeatError(
            "The target {column!r} holds {kind} values and cannot be taken as a number; use "
            "{classes}, or convert it to numbers.",
            column=column,
            kind=profile.kind.value,
            classes=Setting("target", CLASSES),
        )
    cut = _is_binned(profile, rules)
    if not cut and profile.is_identifier:
        raise MisfeatError(
            "The target {column!r} has a different value in nearly every row; choose another "
            "target, or group its values first.",
            column=column,
        )
    if _n_classes(profile, rules) > MOST_CLASSES:
        raise _too_many_classes(profile, rules)


def _too_many_classes(profile: Profile, rules: CohortRules) -> MisfeatError:
    many = _n_classes(profile, rules)
    problem = "The target {column!r} has {many} classes; at most {most} can be told apart."
    said = f"more than {DISTINCT_LIMIT:,}" if many > DISTINCT_LIMIT else f"{many:,}"
    about = {"column": profile.column, "many": said, "most": MOST_CLASSES}
    if _is_binned(profile, rules):
        bins = Setting("bins", 5, column=profile.column)
        return MisfeatError(problem, remedy="Ask for fewer bins: {bins}.", bins=bins, **about)
    remedy = "Merge classes, or use a numeric target, which is taken as a number."
    return MisfeatError(problem, remedy=remedy, **about)


def is_number(profile: Profile, rules: CohortRules) -> bool:
    """Whether a target is taken as a number."""
    if rules.coding.target == "auto":
        chosen = profile.column in rules.bins.by_column
        return profile.kind.ordered and not chosen and profile.distinct > MAX_CLASSES
    return rules.coding.target == NUMBER


def _is_binned(profile: Profile, rules: CohortRules) -> bool:
    chosen = profile.column in rules.bins.by_column or rules.coding.target == NUMBER
    return profile.kind.ordered and (chosen or profile.distinct > MAX_CLASSES)


def _n_classes(profile: Profile, rules: CohortRules) -> int:
    """How many classes there are; of bins, how many there are at most."""
    if not _is_binned(profile, rules):
        return profile.distinct
    rule = rules.bins.by_column.get(profile.column, rules.bins.bins)
    bins = len(rule) + 1 if isinstance(rule, tuple) else rule
    return min(bins, profile.distinct)


def target_coding(
    table: Table, profile: Profile, rules: CohortRules, *, with_grids: bool = True
) -> TargetCoding:
    """Decide how the target is coded: classes as they are, numbers with many values in grids.

    One grid will do where scores are not counted from codes.
    """
    check_target(profile, rules)
    if not _is_binned(profile, rules):
        return TargetCoding.of_classes(profile, as_it_is(profile), AS_IT_IS)
    coder, treatment = binned(table, profile, rules.bins)
    if not isinstance(coder, EdgeCoder) or not with_grids:
        return TargetCoding.of_classes(profile, coder, treatment)
    if not is_number(profile, rules):
        return TargetCoding.of_classes(profile, coder, treatment)
    others = [
        learned_quantiles(table, profile, len(coder.labels), part, N_GRIDS)
        for part in range(1, N_GRIDS)
    ]
    grids = [coder.edges, *(edges for edges in others if edges)]
    if len(set(grids)) == 1:
        return TargetCoding.of_classes(profile, coder, treatment)
    fine = tuple(sorted(set(chain.from_iterable(grids))))
    audit = audit_of(profile, coder, "target", f"{AS_A_NUMBER}, {len(grids)} grids of {treatment}")
    return TargetCoding(
        coder=cut_at(profile, fine),
        classes=coder.labels,
        audit=audit,
        grids=np.array([_places(fine, edges) for edges in grids], dtype=np.int16),
    )


def _places(fine: tuple[Value, ...], edges: tuple[Value, ...]) -> list[int]:
    """The bin between some edges that each bin between finer edges lies in."""
    cut = set(edges)
    return list(accumulate((edge in cut for edge in fine), initial=0))
