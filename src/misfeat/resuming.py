"""What the steps of a fit depend on, so that a fit that was stopped finds those it finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.model import Cohorts, ColumnAudit
from misfeat.cohorts.product_sums import ProductSums
from misfeat.exceptions import MisfeatError
from misfeat.machine.packing import UnpackableError, packed
from misfeat.machine.steps import Form, Steps, keeps_steps
from misfeat.reading.files import files_behind
from misfeat.restoring import encoded_parameters
from misfeat.selection.checking import check_cohorts
from misfeat.selection.checking_tables import check_sums

if TYPE_CHECKING:
    Built = tuple[Cohorts, ProductSums | None]

CHANGE_NOTHING = ("n_jobs", "verbose", "columns")
"""Parameters that no step depends on."""
_KINDS = (Cohorts, ColumnAudit, ProductSums)


def _fit_together(built: Built) -> bool:
    cohorts, sums = built
    check_cohorts(cohorts)
    if sums is not None:
        check_sums(sums, cohorts)
    return True


BUILT: Form[Built] = Form(_KINDS, _fit_together)
"""Coded rows, and sums of products where a measure needs them."""


def steps_of_files(selector: Any, X: object, *columns: object) -> Steps:
    """Steps that depend on the files of a table; of other tables none are kept.

    `columns` are the names of the target, subgroups and weights, or None; values are not kept.
    """
    if not keeps_steps() or not all(isinstance(one, str | None) for one in columns):
        return Steps()
    files, settings = files_behind(X), _settings(selector)
    if files is None or settings is None:
        return Steps()
    return Steps("files", files, list(columns), settings)


def steps_of_rows(selector: Any, cohorts: Cohorts, sums: ProductSums | None) -> Steps:
    """Steps that depend on the coded rows of a table."""
    settings = _settings(selector) if keeps_steps() else None
    if settings is None:
        return Steps()
    try:
        return Steps("rows", packed((cohorts, sums), _KINDS), settings)
    except UnpackableError:
        return Steps()


def seed_of(seed: int | None, steps: Steps) -> int | None:
    """The seed of a fit; where none was given but steps are kept, one is drawn and kept, too."""
    if seed is not None or not steps.are_kept:
        return seed
    drawn = steps.one("seed", lambda: str(np.random.SeedSequence().entropy))
    return int(drawn)


def _settings(selector: Any) -> dict[str, Any] | None:
    """The parameters as plain values; None where they cannot be held, or rows must not be."""
    if selector._nested("coding").min_cell > 1:
        return None
    try:
        found = encoded_parameters(selector)
    except MisfeatError:  # a completer of somebody else's
        return None
    return {name: value for name, value in found.items() if name not in CHANGE_NOTHING}
