"""Cohorts as if they had not recorded some of their features."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.model import NOT_RECORDED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts


def hide_features(cohorts: Cohorts, mask: NDArray[np.bool_]) -> Cohorts:
    """Cohorts that never recorded the features that a mask of (cohort, feature) marks.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> cohorts = build_cohorts({"a": [0, 1], "b": [1, 0], "y": [0, 1]}, "y")
    >>> hide_features(cohorts, np.array([[True, False]])).missing_features("all rows")
    ('a',)
    """
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    codes = np.where(mask[cohort_of].T, np.array(NOT_RECORDED, cohorts.codes.dtype), cohorts.codes)
    return replace(cohorts, codes=codes, missing=cohorts.missing | mask)
