"""One sentence on how much rows count, where that is not one each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.exceptions import Message
from misfeat.words.names import joined

if TYPE_CHECKING:
    from misfeat.cohorts import Cohorts


def with_weights(told: Message, cohorts: Cohorts, subgroup: str | None = None) -> Message:
    """A sentence, and behind it by what rows are weighted and what they are worth.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "y": [0, 1, 0, 1], "w": [1, 2, 3, 4]}
    >>> cohorts = build_cohorts(table, "y", sample_weight="w")
    >>> print(with_weights(Message("Nothing is told."), cohorts))
    Nothing is told. Rows are weighted by w: 4 rows, worth 3 of equal weight.
    """
    columns = {
        role: [audit.column for audit in cohorts.columns if audit.role == role]
        for role in ("weight", "design")
    }
    if not columns["weight"] and cohorts.effective is None:
        return told
    own = [cohort for cohort in cohorts if subgroup in (None, cohort.name)]
    rows = sum(cohort.size for cohort in own)
    if cohorts.effective is None:
        worth = Message("{rows:,} rows in all", rows=rows)
    else:
        effective = round(sum(cohort.effective_size for cohort in own))
        worth = Message(
            "{rows:,} rows, worth {effective:,} of equal weight", rows=rows, effective=effective
        )
    words = {"weight": "weighted by {columns}", "design": "drawn by {columns}"}
    said = [Message(words[role], columns=joined(named)) for role, named in columns.items() if named]
    both = Message("{first} and {second}", first=said[0], second=said[-1])
    return Message(
        "{told} Rows are {said}: {worth}.",
        told=told,
        said=said[0] if len(said) == 1 else both,
        worth=worth,
    )
