"""Compiles the kernels that tests need and `misfeat doctor` leaves, while the code is looked at.

    python .ci/compile.py

Tests run in several processes, each of which would compile them where it asks first: those of
predicted tables take a core a minute and more.
"""

from __future__ import annotations

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts


def main() -> None:
    """Fit what has kernels of its own: predictions of rows as they are, and samples of sets."""
    data = make_cohorts(3, 100, 4, hide=0.3, random_state=0)
    chosen = ({"estimate": "sample"}, {"estimate": "above_chance"}, {"budget": 0.5})
    for settings in (*chosen, {"estimate": "sample", "completer": "knn"}):
        selector = SubgroupSelector(data.groups, size=3, **settings)
        selector.fit(data.columns, data.target).top_k()


if __name__ == "__main__":
    main()
