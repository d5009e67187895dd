"""Checks of what completers are given; every error names the parameter and what it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, check_count
from misfeat.parameters.declaring import a_level

if TYPE_CHECKING:
    from misfeat.completion.model import Known


def check_known(known: Known, size: int) -> None:
    """Raise unless there are sets of `size` and `known` has their scores."""
    check_count(size, "size")
    largest = len(known.exact.by_size) - 1
    if size > largest:
        raise MisfeatError(
            "{setting}, but by_size ends at size {largest}; give larger sets.",
            setting=Setting("size", size),
            largest=largest,
        )


def check_confidence(confidence: object) -> None:
    """Raise unless a number strictly between 0 and 1, or None."""
    a_level().check(confidence, "confidence")


def check_probability(value: object, name: str) -> None:
    """Raise unless a number strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise MisfeatError("{setting}; it must lie between 0 and 1.", setting=Setting(name, value))


def check_share(value: object, name: str) -> None:
    """Raise unless a number of at least 0 and below 1."""
    if not is_number(value) or not 0 <= value < 1:
        raise MisfeatError(
            "{setting}; it must be at least 0 and below 1.", setting=Setting(name, value)
        )


def check_not_negative(value: object, name: str) -> None:
    """Raise unless a finite number of at least 0."""
    if not is_number(value) or not 0 <= value < np.inf:
        raise MisfeatError(
            "{setting}; it must be a number that is not negative.", setting=Setting(name, value)
        )


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; True and False are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
