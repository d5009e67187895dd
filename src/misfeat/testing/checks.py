"""What contract checks share: each has a name, runs alone, and says what is wrong in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Check(NamedTuple):
    """One thing that an extension has to keep.

    Attributes
    ----------
    name : str
        What it is, as the name of a test.
    run : callable
        Raises an AssertionError where it is not kept.
    """

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run it."""
        self.run()


def run_all(checks: Iterable[Check]) -> None:
    """Run checks one after the other; the first that fails raises."""
    for check in checks:
        check()


def demand(kept: object, words: str) -> None:
    """Raise an AssertionError unless something is kept; also where assertions are switched off."""
    if not kept:
        raise AssertionError(words)
