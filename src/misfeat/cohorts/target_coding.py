"""TargetCoding: how the target becomes classes, or bins where it is a number."""

import itertools
from dataclasses import dataclass

import numpy as np

from misfeat.cohorts import column_coding
from misfeat.cohorts.cohort_data import NO_GRIDS, ColumnAudit
from misfeat.cohorts.column_coding import BinRules
from misfeat.cohorts.column_profiles import DISTINCT_LIMIT, LEAST_ROWS, Profile
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.reading.coders import Coder, Kind
from misfeat.reading.inputs import Table
from misfeat.runtime.array_types import Indices

CLASSES, NUMBER = "classes", "number"  # What a target is taken for

MAX_CLASSES = 20  # A numeric target with more distinct values than this is a number, or binned
N_GRIDS = 4
"""Of a number: bins that are equally full, and the same moved by a quarter, a half and three
quarters of a bin. More, or random ones, find the best sets no better (benchmarks/numbers)."""
MOST_CLASSES = 100  # A target with more classes is refused: hardly any class would have enough rows


@dataclass(frozen=True, eq=False)
class TargetCoding:
    """How a target is coded."""

    coder: Coder  # Codes its values: as classes, or, of a number, as the bins that all grids share
    classes: tuple[str, ...]  # The classes, or the bins of the first grid
    audit: ColumnAudit
    grids: Indices  # (n_grids, n_codes): the bin of a code by grid; empty for classes

    @property
    def audits(self) -> dict[str, ColumnAudit]:
        """How its columns were treated, by their names."""
        return {self.audit.column: self.audit}

    @property
    def coders(self) -> tuple[Coder, ...]:
        """What codes the columns of the target."""
        return (self.coder,)

    @property
    def n_codes(self) -> int:
        """How many codes it has, without that for missing."""
        return len(self.coder.labels)

    def classes_of(self, codes: Indices, missing: int = -1) -> Indices:
        """The class of every row, by its code; where that is the one for missing, `missing`."""
        present = codes < self.n_codes
        classes = self.grids[0][np.where(present, codes, 0)] if len(self.grids) else codes
        return np.where(present, classes, missing)


def check_target(profile: Profile, bins: BinRules, target: str) -> None:
    """Raise for a target that cannot be scored, before anything else is looked at."""
    column, in_bins = profile.column, _is_binned(profile, bins, target)
    problem, remedy, n_classes = "", "", profile.distinct
    if in_bins:
        rule = bins.by_column.get(column, bins.bins)
        n_classes = min(len(rule) + 1 if isinstance(rule, tuple) else rule, n_classes)
    if profile.kind is Kind.UNSUPPORTED:
        problem = "has a type that cannot be scored; convert it to numbers, text or flags."
    elif profile.distinct == 0:
        codes = Setting("missing_values")
        problem = f"is missing in every row; choose another target, or check {codes}."
    elif target == NUMBER and not profile.kind.ordered:
        problem = f"holds {profile.kind.value} values and cannot be taken as a number; use "
        problem += f"{Setting('target', CLASSES)}, or convert it to numbers."
    elif not in_bins and profile.is_identifier and 2 * profile.distinct > profile.recorded:
        problem = "has a different value in nearly every row; choose another target, or group its "
        problem += "values first."
    elif n_classes > MOST_CLASSES:
        over = n_classes > DISTINCT_LIMIT
        many = f"more than {DISTINCT_LIMIT:,}" if over else f"{n_classes:,}"
        problem = f"has {many} classes; at most {MOST_CLASSES} are possible."
        remedy = "Merge classes, or use a numeric target, which is taken as a number."
        if in_bins:
            remedy = f"Ask for fewer bins: {Setting('bins', 5, column=column)}."
    if problem:
        raise MisfeatError(f"The target {column!r} {problem}", remedy=remedy, column=column)


def _is_binned(profile: Profile, bins: BinRules, target: str) -> bool:
    chosen = profile.column in bins.by_column or target == NUMBER
    many = profile.distinct > MAX_CLASSES or LEAST_ROWS <= profile.distinct == profile.recorded
    return profile.kind.ordered and (chosen or many)


def target_coding(
    table: Table, profile: Profile, bins: BinRules, target: str, *, with_grids: bool = True
) -> TargetCoding:
    """How the target is coded: classes as they are, numbers with many values in grids."""
    if not _is_binned(profile, bins, target):
        return _classes_coding(profile, column_coding.as_it_is(profile), column_coding.AS_IT_IS)
    coder, treatment = column_coding.binned(table, profile, bins)
    number = target == NUMBER or (target == "auto" and profile.column not in bins.by_column)
    if not number or not with_grids:
        return _classes_coding(profile, coder, treatment)
    others = [
        column_coding.learned_quantiles(table, profile, len(coder.labels), part, N_GRIDS)
        for part in range(1, N_GRIDS)
    ]
    grids = [coder.edges, *(edges for edges in others if edges)]
    if len(set(grids)) == 1:
        return _classes_coding(profile, coder, treatment)
    fine = tuple(sorted(set(itertools.chain.from_iterable(grids))))
    # The bin between the edges of a grid that each of the finer bins lies in.
    bins_of = [list(itertools.accumulate([e in edges for e in fine], initial=0)) for edges in grids]
    return TargetCoding(
        coder=column_coding.cut_at(profile, fine),
        classes=coder.labels,
        audit=column_coding.audit_of(
            profile, coder, "target", f"a number, {len(grids)} grids of {treatment}"
        ),
        grids=np.array(bins_of, dtype=np.int16),
    )


def _classes_coding(profile: Profile, coder: Coder, treatment: str) -> TargetCoding:
    audit = column_coding.audit_of(profile, coder, "target", treatment)
    return TargetCoding(coder, coder.labels, audit, NO_GRIDS)
