"""CodingParameters: how columns become codes and rows subgroups, each parameter said once."""

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any

from misfeat.parameters import declaration as takes
from misfeat.parameters.declaration import parameter, with_parameters


@with_parameters
class CodingParameters:
    """The parameters of `misfeat.Coding`, apart from the estimator, so that reading them is fast.

    {parameters}
    """

    _: KW_ONLY
    bins: int | Mapping[str, Any] = parameter(takes.anything("int or dict"), default=5)
    max_categories: int | None = parameter(takes.an_integer(least=2, none=True), default=None)
    target: str = parameter(takes.one_of("auto", "classes", "number"), default="auto")
    missing_values: Any = parameter(takes.anything("value, list or dict"), default=None)
    read: Mapping[str, str] | None = parameter(takes.anything("dict or None"), default=None)
    missing_threshold: float = parameter(takes.a_share(), default=0.95)
    sporadic: str = parameter(takes.one_of("category", "available"), default="category")
    min_rows: int | None = parameter(takes.an_integer(none=True), default=None)
    small_groups: str = parameter(takes.one_of("merge", "drop"), default="merge")
    missing_groups: str = parameter(takes.one_of("own", "drop"), default="own")
    max_sets: int | None = parameter(takes.an_integer(none=True), default=1_000_000)
    max_rows: int | None = parameter(takes.an_integer(none=True), default=None)
