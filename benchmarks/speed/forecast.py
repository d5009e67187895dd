"""What the steps of a run cost, beside the forecast: seconds of one core.

    python benchmarks/speed/forecast.py > benchmarks/speed/forecast.txt

The constants of `misfeat.show.forecast` are from here.
"""

from __future__ import annotations

import time
from math import comb

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.machine import progress
from misfeat.show.first_screen import first_screen
from misfeat.show.forecast import Ahead, forecast

CASES = ((3, 200, 6, 0.3), (8, 1500, 16, 0.2), (12, 1500, 30, 0.2), (12, 1500, 30, 0.0))
"""Subgroups, rows of each, features, and the share that is hidden; the first warms up."""


class Costs:
    """Adds up the processor time of every step."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._step, self._since = "", time.process_time()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note that a step is so far."""
        now = time.process_time()
        if self._step:
            self.spent[self._step] = self.spent.get(self._step, 0.0) + now - self._since
        self._step, self._since = what if done < total else "", now

    def close(self) -> None:
        """Note that the last step is over."""
        self("", 1, 1)


def main() -> None:
    for n_cohorts, n_rows, n_features, hide in CASES:
        data = make_cohorts(n_cohorts, n_rows, n_features, hide=hide, random_state=0)
        costs = Costs()
        progress._display = lambda _, costs=costs: costs
        with progress.progress_shown(True):
            selector = SubgroupSelector(data.groups, n_jobs=1, verbose=1, random_state=0)
            selection = selector.fit(data.columns, data.target).selection_
            screen = first_screen(selection)
            selection.trusts()
        print(
            f"{n_cohorts} subgroups of {n_rows} rows, {comb(n_features, 3)} sets of 3 of "
            f"{n_features} features, {hide:.0%} hidden, {screen.effort.deals} deals"
        )
        expected = forecast(selection, screen.effort, Ahead(tested=True, validated=True))
        for what, seconds in expected.items():
            print(f"  {what}: {costs.spent.get(what, 0.0):.2f} s, forecast {seconds:.2f} s")


if __name__ == "__main__":
    main()
