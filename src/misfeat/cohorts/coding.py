"""Coding: the settings by which the columns of a table become codes, and its rows subgroups."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from misfeat.parameters.coding import CodingParameters
from misfeat.parameters.declaring import with_parameters


@with_parameters
class Coding(CodingParameters, BaseEstimator):  # type: ignore[misc]
    """How the columns of a table become codes, and which rows become subgroups.

    {parameters}

    Examples
    --------
    >>> from misfeat import Coding, SubgroupSelector
    >>> table = {"age": [20, 30, 50, 60], "y": [0, 0, 1, 1]}
    >>> selector = SubgroupSelector(size=1, coding=Coding(bins={"age": [40]})).fit(table, "y")
    >>> selector.cohorts_.categories
    (('<=40', '>40'),)
    >>> selector.set_params(coding__bins=2).coding
    Coding(bins=2)
    """
