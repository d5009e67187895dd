"""From a selection to the findings that the report tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.show.report.findings import Findings
from misfeat.show.report.lattice import sizes_that_fit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.selection.selection import Selection

NOT_ASKED = "This was not checked: the report was made without validation."
WITHHELD = "This was not checked: no rows are kept that could be left out (min_cell)."
NOTHING_PREDICTED = "Every subgroup recorded every feature: nothing was predicted."


def gather(
    selection: Selection,
    size: int | None = None,
    k: int | None = None,
    costs: Mapping[str, float] | None = None,
    validate: bool = True,
) -> Findings:
    """Ask a selection everything that the report tells.

    Parameters
    ----------
    selection : Selection
        What a fit found.
    size : int, default=None
        Features per set. Defaults to the selection's `size`.
    k : int, default=None
        Sets per subgroup. Defaults to the selection's `k`.
    costs : mapping of str to float, default=None
        What recording a feature costs.
    validate : bool, default=True
        Whether parts of the table are left out on purpose, to tell how far answers hold.
    """
    size = selection.size if size is None else size
    k = selection.k if k is None else k
    top = selection.best_sets(size, k)
    sizes = {1, size, *sizes_that_fit(selection.missing, size)}
    withheld = selection.book.rows_withheld
    if withheld:
        sizes.discard(selection.size + 1)  # no rows are kept to score it
    scores = {one: selection.completed(one) for one in sorted(sizes)}
    predicted = any(held.predicted.any() for held in scores.values())
    measure = selection.book.measure
    estimated = predicted or measure.above_chance
    trusted = selection.trusts(size, k) if validate and estimated and not withheld else None
    not_trusted = NOTHING_PREDICTED
    if estimated:
        not_trusted = WITHHELD if withheld else NOT_ASKED
    return Findings(
        cohorts=selection.cohorts,
        features=selection.feature_names,
        missing=selection.missing,
        ceiling=measure.ceiling,
        estimate=selection.book.estimate.name,
        measure=measure.name,
        unit=measure.unit,
        size=size,
        k=k,
        confidence=selection.confidence,
        top=top,
        worths=selection.worths(size=size, costs=costs),
        scores=scores,
        trust=trusted,
        trust_in_words=not_trusted if trusted is None else selection.validation or "",
        cautions=[caution.words for caution in selection.caution_list(size)],
        settings=selection.asked.settings,
    )
