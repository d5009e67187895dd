"""How far some work is, and how long the rest takes, from what its steps tell."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ENOUGH_TO_TELL = 0.2
"""The share of a step that must be done before it tells how long the rest takes."""
LONG_ENOUGH_TO_TELL = 10.0
"""Seconds of a step after which less of it will do: its first parts may have waited for others."""
LEAST_TO_TELL = 0.05
"""The share that even then must be done."""
BEFORE_IT_IS_KNOWN = 0.05
"""The share of the whole that steps make up before it is known how long others take."""
ALMOST = 0.99
"""The whole is not said to be done before it is."""


@dataclass
class Step:
    """How far one step is."""

    what: str
    began: float
    """When it began, or began anew."""
    first: int
    done: int
    total: int
    """How much was done then, is done now, and is to be done."""
    told: float
    """When that was last told."""

    def tell(self, done: int, total: int, now: float) -> None:
        """Note how far it is; less than before is the same work once more."""
        if done < self.done:
            self.began, self.first = now, done
        self.done, self.total, self.told = done, total, now

    @property
    def share(self) -> float:
        """The share of it that is done."""
        return min(self.done / self.total, 1.0) if self.total else 1.0

    def left(self) -> float | None:
        """Seconds that the rest took when it was last told; None where it is too early to tell."""
        if self.done >= self.total:
            return 0.0
        share, past = (self.done - self.first) / self.total, self.told - self.began
        if share < (ENOUGH_TO_TELL if past < LONG_ENOUGH_TO_TELL else LEAST_TO_TELL):
            return None
        return past * (self.total - self.done) / (self.done - self.first)


class Course:
    """All the steps of some work, one after the other.

    Neither the share that is done nor the time that is left ever goes back: where the rest takes
    longer than it seemed, both stand still until they are right again.

    The steps are parts of one whole, of which `expect` says how long they take, or else each counts
    for itself.

    Examples
    --------
    >>> now = [0.0]
    >>> course = Course(whole=True, clock=lambda: now[0])
    >>> course.expect({"Scoring": 10.0, "Testing": 30.0})
    >>> course.tell("Scoring", 0, 4)
    >>> now[0] = 10.0
    >>> course.tell("Scoring", 4, 4)
    >>> course.share, course.left
    (0.25, 30.0)
    """

    def __init__(self, whole: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._whole, self._clock = whole, clock
        self._began = clock()
        self._expected: dict[str, float] = {}
        self._begun: set[str] = set()
        self._step: Step | None = None
        self._share = 0.0
        self._left: float | None = None

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Say how long steps that are still to come will take; later words replace earlier ones."""
        self._expected |= seconds

    def tell(self, what: str, done: int, total: int) -> None:
        """Say how far a step is."""
        now = self._clock()
        if self._step is None or self._step.what != what:
            self._step = Step(what, now, done, done, total, now)
            self._begun.add(what)
            if not self._whole:
                self._share, self._left = 0.0, None
        elif done < self._step.done and not self._whole:
            self._share, self._left = 0.0, None
        self._step.tell(done, total, now)

    @property
    def step(self) -> Step | None:
        """The step that is being done."""
        return self._step

    @property
    def share(self) -> float:
        """The share of the whole that is done, or of the step where there is no whole."""
        self._share = max(self._share, self._found_share())
        return self._share

    @property
    def left(self) -> float | None:
        """Seconds that are left; None where that is not known."""
        found = self._found_left()
        if found is not None:
            self._left = found if self._left is None else min(self._left, found)
        return self._left

    def _found_share(self) -> float:
        if self._step is None:
            return 0.0
        if not self._whole:
            return self._step.share
        if not self._expected:
            return BEFORE_IT_IS_KNOWN * self._step.share
        left, past = self._found_left(), self._clock() - self._began
        if left is None or past + left <= 0:
            return 0.0
        return min(past / (past + left), ALMOST)

    def _found_left(self) -> float | None:
        if self._step is None or (self._whole and not self._expected):
            return None
        now, expected = self._clock(), self._expected.get(self._step.what)
        own = self._step.left()
        if own is not None:
            own -= now - self._step.told
        elif expected is not None:
            own = expected - (now - self._step.began)
        if own is None:
            return None
        later = (took for what, took in self._expected.items() if what not in self._begun)
        return max(own, 0.0) + sum(later)
