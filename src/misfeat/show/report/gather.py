"""From a fitted selector to the findings that the report tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.completion.settings import confidence_of
from misfeat.selection.cautions import cautions
from misfeat.show.report.findings import Findings
from misfeat.show.report.lattice import sizes_that_fit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.selector import SubgroupSelector

NOT_ASKED = "This was not checked: the report was made without validation."
NOTHING_PREDICTED = "Every score is exact: nothing was predicted, so nothing has to be trusted."


def gather(
    selector: SubgroupSelector,
    size: int | None = None,
    k: int | None = None,
    costs: Mapping[str, float] | None = None,
    validate: bool = True,
) -> Findings:
    """Ask a fitted selector everything that the report tells.

    Parameters
    ----------
    selector : SubgroupSelector
        Fitted.
    size, k : int, default=None
        Features in a set, and sets of each cohort; the selector's where None.
    costs : mapping of str to float, default=None
        What recording a feature costs.
    validate : bool, default=True
        Whether features are hidden on purpose, to see how well they are predicted.
    """
    size = selector.size if size is None else size
    k = selector.k if k is None else k
    top = selector.best_sets(size, k)
    measure = selector._book.measure
    sizes = {1, size, *sizes_that_fit(measure.missing, size)}
    scores = {one: selector._scores_of(one) for one in sorted(sizes)}
    predicted = any(held.predicted.any() for held in scores.values())
    trusted = selector._trust(size, k, rounds=4) if validate and predicted else None
    if trusted is None:
        words = NOT_ASKED if predicted else NOTHING_PREDICTED
    else:
        words = selector.validation_
    return Findings(
        cohorts=selector.cohorts_,
        features=measure.features,
        missing=measure.missing,
        ceiling=measure.ceiling,
        measure=selector.measure,
        size=size,
        k=k,
        confidence=confidence_of(selector.completer_),
        top=top,
        worths=selector.worths(size=size, costs=costs),
        scores=scores,
        trust=trusted,
        trust_in_words=words,
        cautions=cautions(selector, size),
        settings=_settings(selector),
    )


def _settings(selector: SubgroupSelector) -> dict[str, str]:
    """The parameters that differ from their defaults, as Python would write them."""
    defaults = type(selector)().get_params(deep=False)
    return {
        name: repr(value)
        for name, value in selector.get_params(deep=False).items()
        if repr(value) != repr(defaults.get(name))
    }
