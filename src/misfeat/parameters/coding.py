"""CodingParameters: how columns become codes and rows subgroups, each parameter said once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any

from misfeat.parameters.declaration import (
    a_share,
    an_integer,
    anything,
    one_of,
    parameter,
    with_parameters,
)


@with_parameters
class CodingParameters:
    """The parameters of `misfeat.Coding`, apart from the estimator, so that reading them is fast.

    {parameters}
    """

    _: KW_ONLY
    bins: int | Mapping[str, Any] = parameter(anything("int or dict"), default=5)
    max_categories: int | None = parameter(an_integer(least=2, none=True), default=None)
    target: str = parameter(one_of("auto", "classes", "number"), default="auto")
    missing_values: Any = parameter(anything("value, list or dict"), default=None)
    read: Mapping[str, str] | None = parameter(anything("dict or None"), default=None)
    missing_threshold: float = parameter(a_share(), default=0.95)
    sporadic: str = parameter(one_of("category", "available"), default="category")
    min_rows: int | None = parameter(an_integer(none=True), default=None)
    small_groups: str = parameter(one_of("merge", "drop"), default="merge")
    missing_groups: str = parameter(one_of("own", "drop"), default="own")
    max_sets: int | None = parameter(an_integer(none=True), default=1_000_000)
    max_rows: int | None = parameter(an_integer(none=True), default=None)
