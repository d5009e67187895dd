"""How long work may take; when the time is up, steps that answers can do without are left out."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, TypeVar

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")
SECONDS = 60.0
"""Of a minute."""
MOST = 1e9
"""Minutes that make sense."""


class OutOfTimeError(Exception):
    """The time is up, within a step that may be left out."""


@dataclass(frozen=True)
class _Deadline:
    minutes: float
    end: float
    clock: Callable[[], float]


_deadline: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)
_may_end: ContextVar[bool] = ContextVar("may_end", default=False)


@contextmanager
def max_minutes(
    minutes: float | None, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Have fits and reports within a block give the best answer that so many minutes allow for.

    What a block has no time for is left out, never guessed: first the sets of the largest sizes,
    then tests against chance, validation, and draws of rows. What is left out is said with the
    answer (`cautions`), in the report, and in the saved selection. Coding the table and the scores
    of the smallest sets are never left out, and a piece of work that has begun is finished, so that
    the time may be exceeded somewhat.

    Parameters
    ----------
    minutes : float or None
        Above 0; None is no limit.
    clock : callable
        Tells the seconds.

    Examples
    --------
    >>> import misfeat
    >>> from misfeat.datasets import load_heart
    >>> heart = load_heart()
    >>> with misfeat.max_minutes(5):
    ...     selector = misfeat.SubgroupSelector("site", size=2).fit(heart.columns, heart.target)
    """
    if minutes is None:
        yield
        return
    minutes = _checked(minutes)
    token = _deadline.set(_Deadline(minutes, clock() + SECONDS * minutes, clock))
    try:
        yield
    finally:
        _deadline.reset(token)


def _checked(minutes: object) -> float:
    is_number = isinstance(minutes, Real) and not isinstance(minutes, bool)
    if not is_number or not 0 < float(minutes) <= MOST:  # type: ignore[arg-type]
        raise MisfeatError(
            "{setting}; it must be a number of minutes above 0, at most {most:,.0f}.",
            setting=Setting("max_minutes", minutes),
            most=MOST,
        )
    return float(minutes)  # type: ignore[arg-type]


def minutes_allowed() -> float | None:
    """How many minutes the work at hand may take; None where there is no limit."""
    deadline = _deadline.get()
    return None if deadline is None else deadline.minutes


def check_time() -> None:
    """Raise where the time is up and what is being done may be left out."""
    deadline = _deadline.get()
    if deadline is not None and _may_end.get() and deadline.clock() >= deadline.end:
        raise OutOfTimeError


def in_time(work: Callable[[], Result]) -> Result | None:
    """What some work gives, or None where the time is up before it is done.

    The work calls `check_time` now and then, as all tasks do, leaves nothing half done when that
    raises, and gives something other than None.
    """
    token = _may_end.set(True)
    try:
        return work()
    except OutOfTimeError:
        return None
    finally:
        _may_end.reset(token)
