"""What is left of an answer where nothing may rest on fewer than n rows.

Everything is made from what is left, and the rows are let go: whatever is shown, saved or exported
afterwards cannot give away more. Counts become multiples of n, up or down at random, so that no
difference between two of them, of overlapping subgroups or of a table and its margins, is a small
count either. Scores are rounded to n rows' worth, n over the rows of the subgroup in nats: a score
to the last digit would tell the counts that it was made of.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.model import NOT_RECORDED, no_grids, no_ranks
from misfeat.exceptions import Message, MisfeatError, Setting
from misfeat.selection.cell_counts import CellCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.model import ColumnAudit
    from misfeat.completion.model import CompletedScores
    from misfeat.estimation.shortlist import Shortlist

    Floats = NDArray[np.float64]

ANY_OTHER = "any other"
"""The value of cells that were merged."""
IN_ORDER = 1e-9
"""Scores that are rounded to the same stay in their order by so much of a step each."""


@dataclass(frozen=True)
class Rounding:
    """Rounds counts up or down to a multiple of the least one that may be told, at random.

    Up as likely as a count is far from the multiple below it, so that sums are right on the mean,
    and a told count leaves room for nearly twice the least on either side. Chance is drawn from the
    rows themselves: the same table is told the same way every time, and nobody who does not have it
    can draw again.

    `least` is the fewest rows that may be told; chance is drawn from `key`.

    Examples
    --------
    >>> rounding = Rounding(10, key=1)
    >>> counts = [0, 3, 20, 25, 37]
    >>> rounding.of(counts, "example") % 10
    array([0, 0, 0, 0, 0])
    >>> bool((abs(rounding.of(counts, "example") - counts) < 10).all())
    True
    """

    least: int
    key: int

    @classmethod
    def for_rows(cls, cohorts: Cohorts, least: int) -> Rounding:
        """The rounding of a table."""
        found = hashlib.sha256()
        for array in (cohorts.codes, cohorts.target_codes, cohorts.weights, cohorts.offsets):
            found.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
        return cls(least, int.from_bytes(found.digest()))

    def of(self, counts: Any, *about: str) -> NDArray[np.int64]:
        """Rounded counts; what has another name is rounded by chance of its own."""
        name = int.from_bytes(hashlib.sha256(repr(about).encode()).digest())
        chance = np.random.default_rng([self.key, name]).random(np.shape(counts))
        return rounded_by(counts, chance, self.least)


def rounded_by(counts: Any, chance: Floats, least: int) -> NDArray[np.int64]:
    """Counts rounded up or down to multiples by chance, a number between 0 and 1 for each."""
    multiples = np.asarray(counts) / least
    below = np.floor(multiples)
    told: NDArray[np.int64] = (below + (chance < multiples - below)).astype(np.int64)
    return told * least


def withheld_cells(found: CellCounts, rounding: Rounding, *about: str) -> CellCounts:
    """The cells of a set: small ones merged, all counts rounded."""
    counts = found.in_rows
    told = rounding.of(counts, *about)
    kept = (counts.sum(axis=1) >= rounding.least) & (told.sum(axis=1) > 0)
    values = [value for value, keep in zip(found.values, kept, strict=True) if keep]
    others = rounding.of(counts[~kept].sum(axis=0), *about, ANY_OTHER)
    if not others.any():
        return CellCounts(values, told[kept])
    rest = (ANY_OTHER,) * len(found.values[0])
    return CellCounts([*values, rest], np.vstack([told[kept], others]))


def withheld_cohorts(cohorts: Cohorts, rounding: Rounding) -> Cohorts:
    """Subgroups without their rows: how many there are of each class, rounded.

    There is one row a subgroup and class; its features have no value but whether they were
    recorded.
    """
    least, n_classes = rounding.least, len(cohorts.classes)
    by_class = np.array(
        [np.bincount(c.target, weights=c.weights, minlength=n_classes) for c in cohorts]
    )
    _check_classes(cohorts, by_class.sum(axis=0), least)
    effective = cohorts.effective
    if effective is not None:  # rows shared out over the classes as their weights are
        by_class = np.array(
            [
                np.bincount(c.target, weights=c.counts, minlength=n_classes)
                * (c.size / c.effective_size)
                for c in cohorts
            ]
        )
        effective = np.maximum(np.rint(effective / least), 1.0) * least
    told = rounding.of(by_class, "classes")
    nothing = told.sum(axis=1) == 0  # many classes, and few rows of each
    told[nothing, by_class[nothing].argmax(axis=1)] = least
    place, target = np.nonzero(told)
    codes = np.where(cohorts.missing[place].T, NOT_RECORDED, 0).astype(cohorts.codes.dtype)
    labels = {
        name: _common(cohorts, feature, least) for feature, name in enumerate(cohorts.features)
    }
    return replace(
        cohorts,
        codes=np.ascontiguousarray(codes),
        target_codes=target.astype(cohorts.target_codes.dtype),
        weights=told[place, target],
        offsets=np.searchsorted(place, np.arange(len(cohorts) + 1)).astype(np.int64),
        categories=tuple(labels.values()),
        gap_codes=tuple(() for _ in cohorts.features),
        columns=tuple(_audit(audit, labels, rounding) for audit in cohorts.columns),
        notes=tuple(_notes(cohorts.notes, rounding)),
        seen=cohorts.names,
        masses=None,
        heaviest=None,
        effective=effective,
        joined=(),  # parts may have fewer rows than may be told
        ranks=no_ranks(),
        grids=no_grids(),
    )


def withheld_scores(
    by_size: Mapping[int, CompletedScores], cohorts: Cohorts, ceiling: Floats, least: int
) -> dict[int, CompletedScores]:
    """Scores and bounds rounded to what so many rows weigh, in the order that they were in.

    `cohorts` is what is left of the subgroups, and `ceiling` what no score can exceed by that.
    """
    step = np.array([least / cohort.size for cohort in cohorts])[:, None]
    sizes = sorted(by_size)
    scores = np.concatenate([by_size[size].score for size in sizes], axis=1)
    order = np.array([np.unique(line, return_inverse=True)[1] for line in scores])
    told = step * (np.floor(scores / step + 0.5) + IN_ORDER * order)
    told = np.minimum(told, ceiling[:, None])
    ends = np.cumsum([by_size[size].score.shape[1] for size in sizes])[:-1]
    found = {}
    for size, score in zip(sizes, np.split(told, ends, axis=1), strict=True):
        own = by_size[size]
        low = np.minimum(step * np.floor(own.low / step), score)
        high = np.minimum(step * np.ceil(own.high / step), ceiling[:, None])
        found[size] = replace(own, score=score, low=low, high=np.maximum(high, score))
    return found


def withheld_shortlist(shortlist: Shortlist, rounding: Rounding) -> Shortlist:
    """What is known of a shortlist without its rows."""
    rows = max(int(rounding.of(shortlist.rows, "rows looked at")), rounding.least)
    return replace(shortlist, rows=rows, held_back=shortlist.held_back[:0])


def _check_classes(cohorts: Cohorts, by_class: Floats, least: int) -> None:
    """Raise where a class of the target has too few rows to be named at all."""
    rare = [label for label, n in zip(cohorts.classes, by_class, strict=True) if n < least]
    if rare:
        raise MisfeatError(
            "The target {column!r} has fewer than {least} rows of the class {label!r}; merge it "
            "with another class, or lower {setting}.",
            column=cohorts.target,
            least=least,
            label=rare[0],
            setting=Setting("min_cell", least),
        )


def _common(cohorts: Cohorts, feature: int, least: int) -> tuple[str, ...]:
    """What the categories of a feature mean, of those that have enough rows."""
    labels = cohorts.categories[feature]
    codes = cohorts.codes[feature]
    held = codes >= 0
    counts = np.bincount(codes[held], weights=cohorts.weights[held], minlength=len(labels))
    common = [label for label, count in zip(labels, counts, strict=True) if count >= least]
    return (*common, ANY_OTHER) if len(common) < len(labels) else tuple(common)


def _audit(
    audit: ColumnAudit, labels: Mapping[str, tuple[str, ...]], rounding: Rounding
) -> ColumnAudit:
    """How a column was treated, without what few rows hold of it."""
    kept = audit.categories if audit.role == "target" else labels.get(audit.column, ())
    return replace(
        audit,
        categories=kept,
        edges=audit.edges if audit.role == "group" else (),
        example="",
        suspects=(),
        why_suspect="",
        missing=int(rounding.of(audit.missing, "missing", audit.column)),
    )


def _notes(notes: Sequence[str], rounding: Rounding) -> Iterator[str]:
    """What happened to rows, how many of them rounded; nothing of too few, and no single values."""
    for note in notes:
        if isinstance(note, Message) and "examples" in note.about:
            continue
        if not isinstance(note, Message) or "rows" not in note.about:
            yield note
        elif rows := int(rounding.of(note.about["rows"], "note", note.template)):
            yield Message(note.template, **{**note.about, "rows": rows})
