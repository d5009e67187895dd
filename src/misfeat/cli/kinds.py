"""Of which kind a value from a settings file is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def is_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_flag(value: Any) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, bool)


def listed(value: Any) -> list[Any]:
    """The parts of a list, or the one value that there is."""
    return list(value) if isinstance(value, list | tuple) else [value]


def each(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value, or every part of a list, is of a kind."""
    return lambda value: all(map(fits, listed(value)))


def by_name(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value is a table of things of a kind, or says the same in texts."""
    return lambda value: (
        all(map(fits, value.values())) if isinstance(value, dict) else each(is_text)(value)
    )
